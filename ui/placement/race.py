"""The planner's race: the winner is named first, then the plans run side by side."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.placement.planner import Placement
from core.strategy.race import LOADS, Race, RaceSetup, asked
from runtime import workers
from runtime.kept import kept_of
from runtime.quantities import seconds
from ui import beside, held_axes, tested
from ui.page import Page
from ui.placement import rows_race as rows
from ui.players import race_player as player
from ui.question import Choice, ask
from ui.room.line import Line

LIGHT, RUSH = "light", "rush"


@dataclass(frozen=True)
class RaceQuestion:
    """The load of a race: how close together its requests come."""

    race_load: str = ask(RUSH, Choice(tuple(LOADS), words="race_load"), "race_load.label")


@dataclass(frozen=True)
class Pick(Choice[int]):
    """One of the numbered plans, or none yet."""

    def draw(self, label: str, stem: str, **given: Any) -> None:
        if st.session_state[given["key"]] not in self.options:
            st.session_state[given["key"]] = None
        st.segmented_control(label, self.options, **given)


@kept_of
def _asked(placement: Placement, load: str) -> RaceSetup:
    question = placement.question
    at_once = question.cluster.gpus <= beside.AT_ONCE_GPUS
    return asked(question, load, placement.plans) if at_once else workers.run(asked, question, load)


def scene(page: Page[RaceQuestion], placement: Placement) -> None:
    """The whole scene: who races, the guess, and after it the race."""
    load = page.question.race_load
    page.controls("race_load")
    question, asked = placement.question, _asked(placement, load)
    if len(asked.entered) < 2:
        page.reading("race.alone")
        return
    page.fill({"race": asked})
    numbers = list(range(1, len(asked.entered) + 1))
    label = page.prose.plain("race.label")
    above = st.container()
    line = Line("placement", "race", lambda: asked.named, len(numbers), "", 1, 0)
    guess, _ = page.predict_with_room(line, Pick(numbers), label, lambda: asked.answer)
    if not guess.revealed:
        with above:
            page.say("race.ask")
            st.markdown(_table(page, asked, load))
        with st.container(key="aside_race_rule"):
            page.note("race.rule")
        tested.beside_times(question.cluster.gpu, question.model)
        return
    page.fill({"winner": asked.winner, "winner_name": rows.name(asked.winner.entrant)})
    _play(page, asked.ran, guess.said)
    if guess.said is not None:
        right = guess.said == asked.named
        page.verdict("ok" if right else "off", "race.right" if right else "race.wrong")
    with st.container(key="aside_race"):
        page.reading("race.reading")
        page.folded(page.prose.plain("race.table"), "race", lambda: _told(page, asked, load))
        page.note("race.note")
    tested.beside_times(question.cluster.gpu, question.model)


def _told(page: Page[RaceQuestion], asked: RaceSetup, load: str) -> None:
    st.markdown(_table(page, asked, load))
    page.table(rows.lane_rows(asked.ran), "race.reading")


def _table(page: Page[RaceQuestion], asked: RaceSetup, load: str) -> str:
    """Who takes part, as a table in Markdown; a wall has room for short heads and this load's own pace."""
    left_out = ("full" if load == LIGHT else "alone") if page.look.present else ""
    shown = [column for column, head in enumerate(rows.HEADS) if head != left_out]
    short = {head: f"race_head_wall.{head}" for head in rows.HEADS if page.look.present}
    blocks = [short[head] if page.prose.has(short.get(head, "")) else f"race_head.{head}" for head in rows.HEADS]
    heads = [page.prose.text(block) for block in blocks]
    lines = [heads, ["---"] * len(heads), *rows.entrant_cells(asked.entered)]
    return "\n".join(f"| {' | '.join(line[column] for column in shown)} |" for line in lines)


def _play(page: Page[RaceQuestion], ran: Race, named: int | None) -> None:
    end_s = held_axes.span("race", ran.end_s)
    samples = rows.sample_times(end_s)
    stops = samples[:: rows.SAMPLES]
    lanes = [
        player.Lane(
            title=f"{number}  {rows.name(lane.entrant)}",
            detail=rows.detail(lane.entrant),
            waiting=lane.waiting_at(samples).tolist(),
            fill=lane.fill_at(samples).round(4).tolist(),
            standings=rows.standings(lane, stops),
            verdict=rows.verdict(ran, number - 1),
            first=number - 1 == ran.winner,
            named=number == named,
        )
        for number, lane in enumerate(ran.lanes, 1)
    ]
    player.race_player(
        lanes,
        [seconds(time_s) for time_s in stops],
        most_waiting=round(held_axes.span("race queue", max(max(lane.waiting) for lane in lanes))),
        key="race",
        alt=page.prose.plain("race.alt"),
        present=page.look.present,
    )
