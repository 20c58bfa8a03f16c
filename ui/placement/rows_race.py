"""The race of plans: who takes part, and each lane's queue, cache and times at every sample of the clock."""

from collections.abc import Sequence

from core.strategy.entrants import Entrant
from core.strategy.race import Lane, Race
from runtime.prose import said
from runtime.quantities import grouped, percent, seconds
from runtime.rows import Row

STOPS = 24
SAMPLES = 10
"""Between two stops."""


def entrant_cells(entered: Sequence[Entrant]) -> list[tuple[str, ...]]:
    """All that take part, numbered from 1, and what one of their engines takes, in the order of `race_head`."""
    return [
        (
            str(number),
            name(entrant),
            detail(entrant),
            seconds(entrant.cost.prefill_s + entrant.cost.prefill_delay_s),
            seconds(entrant.cost.decode_at(1)),
            seconds(entrant.cost.decode_at(entrant.cost.most_running)),
            grouped(entrant.slots),
        )
        for number, entrant in enumerate(entered, 1)
    ]


HEADS = ("number", "plan", "layout", "prompt", "alone", "full", "slots")
"""The columns of that table, by their words' names."""


def name(entrant: Entrant) -> str:
    return said("placement", f"race_kind.{entrant.kind}")


def detail(entrant: Entrant) -> str:
    """Its layout; of readers and writers, how many of each."""
    return said("placement", "race.apart", entrant) if entrant.readers else entrant.layout.name


def lane_rows(ran: Race) -> list[Row]:
    return [
        Row(
            number=number,
            plan=name(lane.entrant),
            layout=detail(lane.entrant),
            answer_s=lane.answer_s,
            ttft_s=lane.ttft_s,
            itl_ms=1e3 * lane.itl_s,
            most_waiting=lane.most_waiting,
            fullest_cache=lane.most_fill,
        )
        for number, lane in enumerate(ran.lanes, 1)
    ]


def sample_times(end_s: float) -> list[float]:
    """Every moment that is drawn, from the start to when the race is called, or to the end of a longer axis."""
    return [end_s * sample / (STOPS * SAMPLES) for sample in range(STOPS * SAMPLES + 1)]


def standings(lane: Lane, times_s: Sequence[float]) -> list[dict[str, str]]:
    """A lane's numbers at each of the moments, in words."""
    not_yet = said("placement", "race.not_yet")
    seen = zip(
        lane.waiting_at(times_s).tolist(),
        lane.running_at(times_s).tolist(),
        lane.fill_at(times_s).tolist(),
        lane.ttft_at(times_s),
        lane.itl_at(times_s),
        lane.done_at(times_s).tolist(),
        strict=True,
    )
    return [
        {
            "waiting": str(waiting),
            "running": str(running),
            "cache": percent(fill, 0),
            "first": not_yet if first_s is None else seconds(first_s),
            "between": not_yet if between_s is None else seconds(between_s),
            "done": said("placement", "race.done", done=done, all=lane.requests),
        }
        for waiting, running, fill, first_s, between_s, done in seen
    ]


def verdict(ran: Race, index: int) -> str:
    """A lane's place, and how long its answers took."""
    order = sorted(range(len(ran.lanes)), key=lambda other: ran.lanes[other].answer_s)
    rank = order.index(index) + 1
    block = "race.verdict_first" if rank == 1 else "race.verdict"
    return said("placement", block, ran.lanes[index], place=rank)
