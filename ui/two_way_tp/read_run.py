"""A run as it is read: where its time went, its letters on a clock, its lines, and what goes wrong."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.placement.reached import Reached, reached
from core.two_way_tp.reconcile import slowdown
from core.two_way_tp.run_log import RunLog, Slowed, Step
from runtime.captures import Capture
from runtime.kept import kept, kept_of
from ui import address, tested
from ui.figures.style import Figure
from ui.page import Page
from ui.players.pace_player import pace_player
from ui.startup_log.log_table import answer_table, log_table
from ui.theme import Look
from ui.two_way_tp import charts, pictures
from ui.two_way_tp import rows as rows_of

MOST_PERCENT = 200
"""Of one process's pace, that two may be said to have."""
_PLAYED_S = 2.5


def play(page: Page[Any], log: RunLog, revealed: bool) -> None:
    """Play the letters of the question, two processes' at the pace that was said, or at the machine's."""
    slower = float(f"{_PLAYED_S / (pictures.LETTERS * log.single_token_s):.1g}")
    pace_player(
        key="real_pace",
        figure=pictures.FIGURE,
        slider="" if revealed else page.key("guess"),
        percent=100 / slowdown(log) if revealed else page.guess(MOST_PERCENT),
        letters=pictures.LETTERS,
        letter_s=log.single_token_s,
        slower=max(1, round(slower)),
        measured=revealed,
        present=page.look.present,
    )


def token_figure(page: Page[Any], log: RunLog, reading: str) -> None:
    """Where a token's time goes on one process and on two."""
    table = rows_of.token_bars(log)
    page.figure(charts.stacked_bars(table, page.look), reading, table, "one_token")


def reached_on_gpus(page: Page[Any]) -> Reached | None:
    """What a served engine reaches by the scenario's cut of its model; None where nothing is cut."""
    return reached(page.scenario)


def served(page: Page[Any]) -> None:
    """What the same cut gives on the scenario's GPUs, and how far such times were off; no wall has room for it."""
    found = page.once(reached_on_gpus)
    if found is not None and not page.look.present:
        page.say(f"served.{found.because}")
        tested.beside_times(page.scenario.gpu_spec, page.scenario.model_spec)


@kept
def _clocks(log: RunLog, look: Look) -> tuple[Figure, ...]:
    """Every letter on both ranks' clocks."""
    return tuple(charts.token_timeline(rows_of.timeline(step), look, 1e3 * step.whole_s) for step in log.steps)


@kept
def _marked(log: RunLog, look: Look) -> tuple[Figure, ...]:
    """The letters, each of them marked once."""
    return tuple(charts.letters(rows_of.letters(log, step.number), look) for step in log.steps)


def see(page: Page[Any], log: RunLog, step: Step) -> None:
    """One letter on both ranks' clocks, and the letters so far: the browser turns by the slider."""
    number, slider = log.steps.index(step), page.key("token")
    with page.beside("see.note_sums", "see.note_gather"):
        page.reading("see.written")
        clock = page.turning(_clocks(log, page.look), number, slider, first=1)
        page.figure(clock, "see.reading", lambda: rows_of.timeline(step), "one_letter")
        with st.container(key="aside_letters"):
            letters = page.turning(_marked(log, page.look), number, slider, first=1)
            page.figure(letters, "see.letters", lambda: rows_of.letters(log, step.number), "letters")


@kept_of
def _token(log: RunLog, look: Look) -> Figure:
    """Where a token's time goes."""
    return charts.stacked_bars(rows_of.token_bars(log), look)


@kept_of
def _slowed(slowed: Slowed, look: Look) -> Figure:
    """Where each rank's step went while one of them slept."""
    return charts.stacked_bars(rows_of.slowed_bars(slowed), look)


def count(page: Page[Any], capture: Capture, logs: Sequence[RunLog]) -> None:
    """Every line of the run beside its prediction; the browser turns its figure to the other runs on offer."""
    log = capture.log
    with st.container(key="aside_manifest", horizontal=True, vertical_alignment="center"):
        page.say("count.source")
        with st.popover(page.label("says.manifest"), width="content"):
            st.code(capture.result_text, language="json")
        st.button(page.label("says.run_here"), on_click=address.write, args=({page.key("scene"): "bench"},))
    rows = rows_of.log_rows(rows_of.shown(log))[int(page.look.present) :]
    meanings = {topic: page.prose.plain(f"count.{topic}") for topic in rows_of.SHOWN_TOPICS}
    st.html(log_table(rows, meanings, page.prose.plain("count.table"), page.look.present))
    if page.look.present:
        return
    chart = page.turning([_token(one, page.look) for one in logs], logs.index(log), page.key("run"))
    page.figure(chart, "count.reading", lambda: rows_of.token_bars(log), "one_token")


def break_it(page: Page[Any], log: RunLog, kind: str, logs: Sequence[RunLog]) -> None:
    """What one mistake does to the run: another answer, or the same answer late."""
    if kind == "slow":
        slowed = [one.slowed for one in logs if one.slowed]
        if log.slowed:
            drawn = [_slowed(one, page.look) for one in (slowed if len(slowed) == len(logs) else [log.slowed])]
            chart = page.turning(drawn, logs.index(log) % len(drawn), page.key("run"))
            page.figure(chart, "break_it.reading_slow", rows_of.slowed_bars(log.slowed), "slow_rank")
        return
    page.say("break_it.ask")
    st.html(answer_table(rows_of.answers(log, kind), page.prose.plain("break_it.ask")))
    page.reading(f"break_it.reading_{kind}")
