"""Lab 03's ring player: an all-reduce's messages as they cross the link, beside the stopwatch that prices them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import streamlit as st

from core.collectives.clock import AllReduce, Course
from core.steps import view as views
from runtime.prose import named
from runtime.quantities import seconds
from ui import held_axes, inputs, scenario_bar
from ui.comm_cost import rows_rounds as rows
from ui.players import ring_player as player
from ui.scenes import Page

THE_LINK, THE_NETWORK = "the link", "the network"


def ask(page: Page, view: views.View, region: AbstractContextManager[object], seen: bool) -> AllReduce:
    """What crosses what: ranks, which of the scenario's two links, and one slow port. Asked in `place`."""
    scenario = page.scenario
    # two ranks have no ring to look at: the labs' own TP=2 opens on four
    usual = scenario.tp if scenario.tp in (4, 8) else 4
    with region:
        ranks = page.control(inputs.choice, "wire_n", "says.ranks", [2, 4, 8], usual)
        over = page.control(inputs.choice, "wire_link", "says.over", [THE_LINK, THE_NETWORK], THE_LINK)
        if seen:
            scenario_bar.straggler()
    link = view.link if over == THE_LINK else view.network
    return AllReduce(ranks, view.step.payload_bytes, link, float(scenario.slowdown))


def draw(page: Page, all_reduce: AllReduce) -> None:
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
    page: Page,
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
