"""Read a startup log: every figure an engine prints, predicted from its model's config and held to it."""

from collections.abc import Mapping

import streamlit as st

from core.startup_log import weight_rules
from core.startup_log.reader import read_log
from ui import paste, scenes
from ui.page import Page
from ui.shortcuts import shortcut
from ui.startup_log import bench, charts, report, words
from ui.startup_log.bench import EXERCISES, UNDECIDED, Question


def fields(page: Page[Question]) -> Mapping[str, object]:
    return words.fields(page.scenario, paste.LIMIT_CHARACTERS)


def read(page: Page[Question]) -> None:
    bench.draw_reading_controls(page)
    label, key = page.label("says.startup_log_vllm_sglang"), page.key("text")
    with st.popover(page.label("says.another_log")) if page.look.present else st.container(key="paste"):
        paste.draw(label, key, kinds=("txt", "log", "out", "md"), height=90)
    text = paste.text_in(key)
    if not text:
        page.reading("read.example")
    with page.guarded():
        report.draw(page, bench.reading(page, text), "read")


def exercises(page: Page[Question]) -> None:
    bench.draw_cases(page)
    exercise = EXERCISES[page.question.case]
    st.code(words.log(exercise), language=None, wrap_lines=True)
    page.say(f"exercises.ask_{exercise.key}")
    choice, shown = bench.draw_answers(page, exercise)
    if not shown:
        st.button(
            page.label("says.reveal"),
            key="show",
            shortcut=shortcut("V"),
            disabled=choice == UNDECIDED and not page.look.present,
            on_click=page.write,
            kwargs={f"{exercise.key}_shown": True},
        )
        return
    with page.beside(f"exercises.note_{exercise.key}"):
        sign = "open" if choice == UNDECIDED else "ok" if choice == exercise.answer else "off"
        page.verdict(sign, f"exercises.right_{exercise.key}")
        with page.guarded():
            report.draw(page, read_log(words.log(exercise)), exercise.key)


def formulas(page: Page[Question]) -> None:
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


scenes.play("startup_log", Question, fields, read=read, exercises=exercises, formulas=formulas)
