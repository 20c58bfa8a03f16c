"""Lab 03's ring player: an all-reduce's messages as they cross the link, beside the stopwatch that prices them."""

from contextlib import AbstractContextManager

import streamlit as st

from ui import held_axes, inputs, scenario_bar
from ui.comm_cost import rows_rounds as rows
from ui.comm_cost import rows_view as views
from ui.players import ring_player as player
from ui.scenes import Page

THE_LINK, THE_NETWORK = "the link", "the network"


def ask(page: Page, view: views.View, region: AbstractContextManager[object], seen: bool) -> rows.AllReduce:
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
    return rows.AllReduce(ranks, view.step.payload_bytes, link, float(scenario.slowdown))


def draw(page: Page, all_reduce: rows.AllReduce) -> None:
    """Ring, tree and one-shot on one clock, at rest at its start."""
    raced = rows.races(all_reduce)
    longest_s = held_axes.span("wire", max(race.end_s for race in raced))

    reading = f"see.reading_wire_{rows.rules(raced[0])}"

    def stop(moment: rows.Moment) -> player.Stop:
        return player.Stop(moment.time_s / longest_s, moment.text)

    player.ring_player(
        [course(race, all_reduce, longest_s) for race in raced],
        [stop(moment) for moment in rows.stops(raced)],
        [stop(moment) for moment in rows.ticks(longest_s)],
        key="wire",
        alt=page.prose.plain(reading),
        present=page.look.present,
    )
    page.reading(reading)
    slow = "see.wire_slow" if all_reduce.slowdown > 1 else "see.wire_alike"
    with st.container(key="aside_wire"):
        for region, block in zip(
            st.columns(3, gap="medium"), ("see.wire_colours", "see.wire_blocks", slow), strict=True
        ):
            with region:
                page.note(block)


def course(race: rows.Race, all_reduce: rows.AllReduce, longest_s: float) -> player.Course:
    """A race as shares of the longest."""
    return player.Course(
        title=race.name,
        detail=rows.detail(race, all_reduce),
        total=race.total,
        end=race.end_s / longest_s,
        ranks=all_reduce.ranks,
        chunks=race.program.chunks,
        slow_rank=all_reduce.ranks - 1 if all_reduce.slowdown > 1 else None,
        rounds=tuple(
            player.Round(
                start=round_.start_s / longest_s,
                latency=round_.latency_s / longest_s,
                bandwidth=round_.bandwidth_s / longest_s,
                messages=tuple(
                    player.Message(message.source, message.target, len(message.chunks))
                    for message in round_.messages
                ),
            )
            for round_ in race.rounds
        ),
        held=tuple(tuple(tuple(tuple(sorted(part)) for part in chunks) for chunks in state) for state in race.held),
    )
