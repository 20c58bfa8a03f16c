"""Read a startup log: every figure an engine prints, predicted from its model's config and held to it."""

import streamlit as st

from core.catalog import MODELS, model
from core.models.hf_config import model_from_config
from core.startup_log import exercises as cases
from core.startup_log import weight_rules
from core.startup_log.reader import read_log
from core.startup_log.records import Given, Report
from ui import address, inputs, paste, scenes
from ui.startup_log import charts, report, words

AS_LOGGED, UNDECIDED = "as the log says", "undecided"
EXERCISES = {exercise.key: exercise for exercise in cases.exercises()}

page = scenes.open_page("startup_log", asking=("exercises",))
with page.controls("read"):
    named = page.control(inputs.select, "model", "says.model", [AS_LOGGED, *MODELS], AS_LOGGED)
    tp_size = inputs.whole(page.label("says.tp_as_log_says", zero=0), page.key("tp"), 0, 1024, 0)
    pp_size = inputs.whole(page.label("says.pp_as_log_says", zero=0), page.key("pp"), 0, 256, 0)
    with st.popover("config.json", help=page.label("says.model_that_catalog_lacks")):
        config = paste.pasted(
            page.label("says.model_s_config_json"), page.key("config"), kinds=("json", "txt"), height=110
        )
with page.controls("exercises"):
    titles = {key: words.exercise("", exercise) for key, exercise in EXERCISES.items()}
    case = inputs.option(page.label("says.case"), page.key("case"), titles, next(iter(titles)))
shown = {name: inputs.flag(page.key(f"{exercise.key}_shown")) for name, exercise in EXERCISES.items()}
for exercise in EXERCISES.values():
    address.hear(page.key(f"{exercise.key}_said"))


@st.cache_data(scope="session", max_entries=2, show_spinner=False)
def report_of(text: str, config: str, name: str, tp: int, pp: int) -> Report:
    catalogued = None if name == AS_LOGGED else model(name)
    spec = paste.read(model_from_config, config) if config.strip() else catalogued
    return paste.read(read_log, text, Given(spec, tp or None, pp or None))


def read() -> None:
    label = page.label("says.startup_log_vllm_sglang")
    with st.popover(page.label("says.another_log")) if page.look.present else st.container(key="paste"):
        text = paste.pasted(label, page.key("text"), kinds=("txt", "log", "out", "md"), height=90)
    if not text:
        page.reading("read.example")
    with page.guarded():
        report.draw(page, report_of(text or report.EXAMPLE, config, named, tp_size, pp_size), "read")


def exercises() -> None:
    exercise = EXERCISES[case]
    log = words.log(exercise)
    st.code(log, language=None, wrap_lines=True)
    page.say(f"exercises.ask_{exercise.key}")
    options = {UNDECIDED: page.label("option.undecided"), **words.answers(exercise)}
    label = page.label("says.your_answer")
    choice = inputs.option(label, page.key(f"{exercise.key}_said"), options, UNDECIDED)
    if not shown[case]:
        ready = choice != UNDECIDED or page.look.present
        state = page.key(f"{exercise.key}_shown")
        st.button(
            page.label("says.reveal"),
            key="show",
            shortcut="V",
            disabled=not ready,
            on_click=inputs.remember,
            args=(state, True),
        )
        return
    with page.beside(f"exercises.note_{exercise.key}"):
        sign = "open" if choice == UNDECIDED else "ok" if choice == exercise.answer else "off"
        page.verdict(sign, f"exercises.right_{exercise.key}")
        with page.guarded():
            report.draw(page, read_log(log), exercise.key)


def formulas() -> None:
    with page.beside(
        "formulas.heads", "formulas.rotary", "formulas.allocator", "formulas.cache", "formulas.smallest"
    ):
        rows = weight_rules.steps()
        page.figure(charts.shrinking_residuals(rows, page.look), "formulas.reading", rows, "weights_rules")
        page.equation(*(page.label(f"equation.{side}", block=16) for side in ("left", "right")))
        page.reading("formulas.scenario")
        with page.guarded(), st.expander(page.label("says.every_tensor_one_rank")):
            table = weight_rules.tensor_rows(page.scenario.model_spec, page.scenario.tp)
            page.table(table, "formulas.scenario")


page.play(
    lambda: words.fields(page.scenario, paste.LIMIT_CHARACTERS),
    read=read,
    exercises=exercises,
    formulas=formulas,
)
