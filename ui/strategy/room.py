"""The collectives room: an operation's algorithms side by side, message by message, on one clock."""

from collections.abc import Sequence

import streamlit as st

from ui import held_axes
from ui.comm_cost.rows_rounds import ticks
from ui.players import ring_player as player
from ui.scenes import Page
from ui.strategy.rows_scenes import Timed, arrivals, port_rows


def _play(page: Page, timed: Sequence[Timed]) -> None:
    """Every algorithm of one operation, at rest at its start."""
    longest_s = held_axes.span("ring", max(one.end_s for one in timed))
    player.ring_player(
        [_course(one, longest_s) for one in timed],
        [player.Stop(moment.time_s / longest_s, moment.text) for moment in arrivals(timed)],
        [player.Stop(moment.time_s / longest_s, moment.text) for moment in ticks(longest_s)],
        key="collectives_ring",
        alt=page.prose.plain("collectives.reading"),
        present=page.look.present,
    )
    page.reading("collectives.reading")


def _course(one: Timed, longest_s: float) -> player.Course:
    """An algorithm as shares of the longest."""
    program = one.played.program
    return player.Course(
        title=one.name,
        detail=one.detail,
        total=one.total,
        end=one.end_s / longest_s,
        ranks=program.ranks,
        chunks=program.chunks,
        rounds=tuple(
            player.Round(
                round_.start_s / longest_s,
                round_.latency_s / longest_s,
                round_.bandwidth_s / longest_s,
                tuple(player.Message(sent.source, sent.target, len(sent.chunks)) for sent in round_.messages),
            )
            for round_ in one.rounds
        ),
        held=tuple(
            tuple(tuple(tuple(sorted(part)) for part in chunks) for chunks in state) for state in one.played.held
        ),
    )


def draw(page: Page, op: str, algorithms: Sequence[Timed]) -> None:
    """The scene: a collective's algorithms on one clock, and who sends how much through which port."""
    page.data_sheet = "link"
    figure, margin = page.split()
    with figure:
        _play(page, algorithms)
    with margin:
        uses = op.replace("-", "_").replace("/", "_")
        page.note(f"collectives.{uses}", "collectives.colours")
    with st.container(key="aside_ports"):
        page.say("collectives.port")
        page.table(port_rows(algorithms), "collectives.port")
