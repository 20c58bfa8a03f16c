"""What the log reader asks: of the run whose log is read, and of each exercise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.catalog import MODELS, model
from core.models.hf_config import model_from_config
from core.startup_log.exercises import Exercise, exercises
from core.startup_log.reader import read_log
from core.startup_log.records import Given, Report
from ui import paste
from ui.page import Page
from ui.question import Choice, Switch, Whole, ask
from ui.startup_log import report, words

AS_LOGGED, UNDECIDED = "as the log says", "undecided"
EXERCISES: Mapping[str, Exercise] = {exercise.key: exercise for exercise in exercises()}


def _said() -> Any:
    return ask(UNDECIDED, Choice((UNDECIDED, "a", "b", "c")), "says.your_answer")


@dataclass(frozen=True)
class Question:
    """Every field of the log reader; of each exercise, by its key, what was said and if its answer is shown."""

    model: str = ask(AS_LOGGED, Choice((AS_LOGGED, *MODELS), listed=True), "says.model")
    tp: int = ask(0, Whole(0, 1024), "says.tp_as_log_says")
    pp: int = ask(0, Whole(0, 256), "says.pp_as_log_says")
    case: str = ask(next(iter(EXERCISES)), Choice(tuple(EXERCISES)), "says.case")
    heads_said: str = _said()
    dtype_said: str = _said()
    second_said: str = _said()
    heavier_said: str = _said()
    per_rank_said: str = _said()
    heads_shown: bool = ask(False, Switch())
    dtype_shown: bool = ask(False, Switch())
    second_shown: bool = ask(False, Switch())
    heavier_shown: bool = ask(False, Switch())
    per_rank_shown: bool = ask(False, Switch())


def draw_reading_controls(page: Page[Question]) -> None:
    """Draw what is known of the run besides its log."""
    with page.controls("model"):
        for size in ("tp", "pp"):
            page.control(size, page.label(f"says.{size}_as_log_says", zero=0))
        with st.popover("config.json", help=page.label("says.model_that_catalog_lacks")):
            label = page.label("says.model_s_config_json")
            paste.draw(label, page.key("config"), kinds=("json", "txt"), height=110)


def reading(page: Page[Question], text: str) -> Report:
    """Return what a log says, or the example where there is none."""
    asked, config = page.question, paste.text_in(page.key("config"))
    return _report(text or report.EXAMPLE, config, asked.model, asked.tp, asked.pp)


@st.cache_data(scope="session", max_entries=2, show_spinner=False)
def _report(text: str, config: str, name: str, tp: int, pp: int) -> Report:
    catalogued = None if name == AS_LOGGED else model(name)
    spec = paste.read(model_from_config, config) if config.strip() else catalogued
    return paste.read(read_log, text, Given(spec, tp or None, pp or None))


def draw_cases(page: Page[Question]) -> None:
    """Draw the choice of an exercise, by its title."""
    titles = {key: words.exercise("", exercise) for key, exercise in EXERCISES.items()}
    with page.controls():
        page.control("case", format_func=titles.__getitem__)


def draw_answers(page: Page[Question], exercise: Exercise) -> tuple[str, bool]:
    """Draw what may be answered; return what was, and whether the answer is shown."""
    options = {UNDECIDED: page.label("option.undecided"), **words.answers(exercise)}
    page.control(f"{exercise.key}_said", format_func=options.__getitem__)
    return getattr(page.question, f"{exercise.key}_said"), getattr(page.question, f"{exercise.key}_shown")
