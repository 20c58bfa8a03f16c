"""A ring all-reduce that runs, with the numbers that every rank holds and its rounds by name."""

from typing import Any

from core.course.labs_own import ring_run, ring_sums
from runtime.rows import Row
from ui.comm_cost.rounds import shares
from ui.page import Page
from ui.players import ring_player as player


def running_ring(page: Page[Any]) -> None:
    """One ring of four ranks, at rest at its start; a step goes from round to round."""
    ring, say = ring_run(), page.prose.plain
    each_half = [Row(number=number + 1) for number in range(len(ring.rounds) // 2)]
    names = [say(f"collectives.round_{half}", row) for half in ("scatter", "gather") for row in each_half]
    course = shares(
        ring,
        ring.end_s,
        title=say("collectives.ring"),
        detail=say("collectives.ring_detail"),
        total=say("collectives.ring_total"),
        numbers=ring_sums(ring),
        names=(say("collectives.round_none"), *names),
    )
    stops = [player.Stop(0.0, say("collectives.round_none"))]
    stops += [player.Stop(one.end_s / ring.end_s, name) for one, name in zip(ring.rounds, names, strict=True)]
    ticks = [player.Stop(one.start + one.latency / 2, str(number)) for number, one in enumerate(course.rounds, 1)]
    player.ring_player(
        [course],
        stops,
        ticks,
        key="running_ring",
        alt=say("collectives.ring_alt"),
        present=page.look.present,
        position="{{now}}",
    )
    page.as_table(lambda: held_rows(course), "running_ring", say("collectives.ring_alt"))


def held_rows(course: player.Course) -> list[dict[str, str]]:
    """A row a round, a column a rank: the numbers that it holds after that round, chunk by chunk."""
    return [
        {"round": name, **{f"r{rank}": " ".join(chunks) for rank, chunks in enumerate(state)}}
        for name, state in zip(course.names, course.numbers, strict=True)
    ]
