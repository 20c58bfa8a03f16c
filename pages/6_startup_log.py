"""Read a startup log: every figure an engine prints, predicted from its model's config and held to it."""

import streamlit as st

from core.catalog import MODELS, model
from core.models.hf_config import model_from_config
from core.startup_log import weight_rules
from core.startup_log.reader import read_log
from core.startup_log.records import Given, Report
from runtime.prose import named as label_of
from runtime.prose import said as phrase
from ui import inputs, paste, scenes
from ui.figures.frames import frame
from ui.prose import escape
from ui.startup_log import charts, fields
from ui.startup_log import exercises as cases
from ui.startup_log import report as rows_of
from ui.startup_log.log_table import log_table

AS_LOGGED, UNDECIDED = "as the log says", "undecided"
MEANINGS = ("weights", "kv_tokens", "gpu_blocks", "cpu_blocks", "max_concurrency", "kv_size", "bytes_per_token")
QUANTITIES = {
    label_of("startup_log", name): block for name, block in zip(rows_of.QUANTITY_NAMES, MEANINGS, strict=True)
}
EXERCISES = {exercise.key: exercise for exercise in cases.exercises()}

page = scenes.open_page("startup_log", asking=("exercises",))
with page.controls("read"):
    named = inputs.select(phrase("startup_log", "says.model"), page.key("model"), [AS_LOGGED, *MODELS], AS_LOGGED)
    tp_size = inputs.whole(phrase("startup_log", "says.tp_as_log_says", zero=0), page.key("tp"), 0, 1024, 0)
    pp_size = inputs.whole(phrase("startup_log", "says.pp_as_log_says", zero=0), page.key("pp"), 0, 256, 0)
    with st.popover("config.json", help=phrase("startup_log", "says.model_that_catalog_lacks")):
        config = paste.pasted(
            phrase("startup_log", "says.model_s_config_json"), page.key("config"), kinds=("json", "txt"), height=110
        )
with page.controls("exercises"):
    titles = {key: exercise.title for key, exercise in EXERCISES.items()}
    case = inputs.option(phrase("startup_log", "says.case"), page.key("case"), titles, next(iter(titles)))
shown = {name: inputs.flag(page.key(f"{exercise.key}_shown")) for name, exercise in EXERCISES.items()}
for exercise in EXERCISES.values():
    inputs.hear(page.key(f"{exercise.key}_said"))


@st.cache_data(scope="session", max_entries=2, show_spinner=False)
def report_of(text: str, config: str, name: str, tp: int, pp: int) -> Report:
    catalogued = None if name == AS_LOGGED else model(name)
    spec = paste.read(model_from_config, config) if config.strip() else catalogued
    return paste.read(read_log, text, Given(spec, tp or None, pp or None))


def read() -> None:
    label = phrase("startup_log", "says.startup_log_vllm_sglang")
    with st.popover(phrase("startup_log", "says.another_log")) if page.look.present else st.container(key="paste"):
        text = paste.pasted(label, page.key("text"), kinds=("txt", "log", "out", "md"), height=90)
    if not text:
        page.reading("read.example")
    with page.guarded():
        tell(report_of(text or rows_of.EXAMPLE, config, named, tp_size, pp_size), "read")


def tell(report: Report, name: str) -> None:
    """A report: what the log is about, each figure in its line, the residuals, and what else is said."""
    page.fill(fields.report(report))
    page.say("read.about")
    found = rows_of.check_rows(report)
    meanings = {quantity: page.prose.text(f"meaning.{block}") for quantity, block in QUANTITIES.items()}
    caption = page.prose.plain("read.caption")
    printed = phrase("startup_log", "says.what_engine_printed")
    if found:
        st.html(log_table(rows_of.log_rows(found), meanings, caption, page.look.present, printed))
    else:
        page.reading("read.nothing")
    if report.remarks:
        with st.container(key=f"aside_remarks_{name}"):
            st.markdown("\n".join(f"- {escape(note)}" for note in rows_of.notes(report)))
    if name == "read" and any(row.predicted is not None for row in found):
        with st.container(key="aside_residuals"):
            table = frame(found)
            page.figure(charts.residual_marks(table, page.look), "read.reading", table, "startup_log")


def exercises() -> None:
    exercise = EXERCISES[case]
    st.code(exercise.log, language=None, wrap_lines=True)
    page.say(f"exercises.ask_{exercise.key}")
    options = {UNDECIDED: phrase("startup_log", "option.undecided"), **exercise.answers}
    label = phrase("startup_log", "says.your_answer")
    said = inputs.option(label, page.key(f"{exercise.key}_said"), options, UNDECIDED)
    if not shown[case]:
        ready = said != UNDECIDED or page.look.present
        state = page.key(f"{exercise.key}_shown")
        st.button(
            phrase("startup_log", "says.reveal"),
            key="show",
            shortcut="V",
            disabled=not ready,
            on_click=inputs.remember,
            args=(state, True),
        )
        return
    figure, margin = page.split()
    with figure:
        sign = "open" if said == UNDECIDED else "ok" if said == exercise.answer else "off"
        page.verdict(sign, f"exercises.right_{exercise.key}")
        with page.guarded():
            tell(cases.exercise_report(exercise), exercise.key)
    with margin:
        page.note(f"exercises.note_{exercise.key}")


def formulas() -> None:
    figure, margin = page.split()
    with figure:
        found = frame(weight_rules.steps())
        page.figure(charts.shrinking_residuals(found, page.look), "formulas.reading", found, "weights_rules")
        page.equation("tokens", "⌊ left ÷ (16 · bytes a token and rank) ⌋ · 16")
        page.reading("formulas.scenario")
        with page.guarded(), st.expander(phrase("startup_log", "says.every_tensor_one_rank")):
            table = frame(weight_rules.tensor_rows(page.scenario.model_spec, page.scenario.tp))
            st.dataframe(table, hide_index=True, alt=page.prose.plain("formulas.scenario"))
    with margin:
        page.note("formulas.heads", "formulas.rotary", "formulas.allocator", "formulas.cache", "formulas.smallest")


page.play(
    lambda: fields.fields(page.scenario),
    read=read,
    exercises=exercises,
    formulas=formulas,
    limits=lambda: page.say("limits.body"),
)
