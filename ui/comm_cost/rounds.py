"""Lab 03's ring player: an all-reduce's messages as they cross the link, beside the stopwatch that prices them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.collectives.clock import AllReduce, Course
from core.steps import view as views
from runtime.prose import named
from runtime.quantities import seconds
from ui import held_axes, scenario_bar
from ui.comm_cost import rows_rounds as rows
from ui.page import Page
from ui.players import ring_player as player
from ui.question import Choice, ask

THE_LINK, THE_NETWORK = "the link", "the network"


@dataclass(frozen=True)
class RoundsQuestion:
    """What crosses what: how many ranks, over which of the scenario's two links."""

    wire_n: int | None = ask(None, Choice((2, 4, 8)), "says.ranks")
    wire_link: str = ask(THE_LINK, Choice((THE_LINK, THE_NETWORK)), "says.over")


def ring_ranks(page: Page[RoundsQuestion]) -> int:
    """Return how many ranks the ring has: as asked, or the scenario's where it has a ring to look at."""
    tp = page.scenario.tp
    return page.question.wire_n or (tp if tp in (4, 8) else 4)


def all_reduce_of(page: Page[RoundsQuestion], view: views.View) -> AllReduce:
    """Return the all-reduce that is asked for, with the scenario's slow rank."""
    link = view.link if page.question.wire_link == THE_LINK else view.network
    return AllReduce(ring_ranks(page), view.step.payload_bytes, link, float(page.scenario.slowdown))


def draw_controls(page: Page[Any], races: bool) -> None:
    """Draw what the bill or the race asks; on a wall the race takes the room of numbers and of the slow rank."""
    if not (races and page.look.present):
        page.control("numbers")
    if not races:
        return
    page.control("wire_n", usual=ring_ranks(page))
    page.control("wire_link")
    if not page.look.present:
        scenario_bar.draw_straggler()


def draw(page: Page[RoundsQuestion], all_reduce: AllReduce) -> None:
    """Ring, tree and one-shot on one clock, at rest at its start."""
    raced, slow = rows.races(all_reduce), all_reduce.slowdown > 1
    told = [
        (named("comm_cost", name), rows.detail(course, all_reduce))
        for name, course in zip(rows.ALGORITHMS.values(), raced, strict=True)
    ]
    play(
        page,
        raced,
        told,
        "wire",
        f"see.reading_wire_{rows.rules(raced[0])}",
        all_reduce.ranks - 1 if slow else None,
    )
    blocks = ("see.wire_colours", "see.wire_blocks", "see.wire_slow" if slow else "see.wire_alike")
    with st.container(key="aside_wire"):
        for region, block in zip(st.columns(3, gap="medium"), blocks, strict=True):
            with region:
                page.note(block)


def play(
    page: Page[Any],
    courses: Sequence[Course],
    told: Sequence[tuple[str, str]],
    key: str,
    reading: str,
    slow_rank: int | None = None,
) -> None:
    """Courses side by side on one clock, each under its title and detail, at rest at its start."""
    longest_s = held_axes.span(key, max(course.end_s for course in courses))
    stops, ticks = (
        [player.Stop(one.time_s / longest_s, one.text) for one in moments]
        for moments in (rows.stops(courses), rows.ticks(longest_s))
    )
    drawn = [
        shares(course, longest_s, title=title, detail=detail, total=seconds(course.end_s), slow_rank=slow_rank)
        for course, (title, detail) in zip(courses, told, strict=True)
    ]
    player.ring_player(drawn, stops, ticks, key=key, alt=page.prose.plain(reading), present=page.look.present)
    page.reading(reading)


def shares(course: Course, longest_s: float, **told: Any) -> player.Course:
    """A course as shares of the longest."""
    return player.Course(
        end=course.end_s / longest_s,
        ranks=course.program.ranks,
        chunks=course.program.chunks,
        rounds=tuple(
            player.Round(
                start=one.start_s / longest_s,
                latency=one.latency_s / longest_s,
                bandwidth=one.bandwidth_s / longest_s,
                messages=tuple(player.Message(sent.source, sent.target, len(sent.chunks)) for sent in one.messages),
            )
            for one in course.rounds
        ),
        held=tuple(
            tuple(tuple(tuple(sorted(part)) for part in chunks) for chunks in state) for state in course.held
        ),
        **told,
    )
