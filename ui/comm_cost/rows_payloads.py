"""Lab 03: an all-reduce's time against its payload: the model's line, measured circles, payloads worth a mark."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import balance_payload_bytes
from core.comm_cost.measured import MeasuredPoint
from core.specs import LinkSpec
from core.steps.view import PHASES, View, ring_series
from runtime.catalog_words import short_name
from runtime.kept import kept
from runtime.prose import named
from runtime.rows import Row, table


def ruled(
    series: str, name: str, sizes: Iterable[float], meet: float, time_us: Callable[[float], float]
) -> list[Row]:
    """A line that turns color at the size where its two terms meet, a point of both colors there."""
    around = sorted({*sizes, meet})
    parts = [("latency", n) for n in around if n <= meet] + [("bandwidth", n) for n in around if n >= meet]
    points = ((series, name, n, time_us(n), term) for term, n in parts)
    return table("link name payload_bytes time_us rules", points)


def curve(view: View, link: LinkSpec) -> list[Row]:
    """A link's ring all-reduce over the ranks of the view, whatever its payload."""
    return _curve(max(2, view.scenario.tp), link, view.timed(link))


@kept
def _curve(ranks: int, link: LinkSpec, timed: LinkSpec) -> list[Row]:
    """The same from 512 B to 64 MiB in steps of a quarter of a doubling."""
    meet = balance_payload_bytes(ranks, timed)
    sizes = (2 ** (quarters / 4) for quarters in range(4 * 9, 4 * 26 + 1))
    return ruled(link.key, short_name(link), sizes, meet, lambda n: 1e6 * ring_all_reduce(n, ranks, timed).total_s)


@kept
def marks(view: View) -> list[Row]:
    """The payloads worth pointing at: of this scenario's decode step and of its prefill."""
    return [
        Row(payload_bytes=replace(view, phase=phase).step.payload_bytes, name=named("comm_cost", phase))
        for phase in PHASES
    ]


@kept
def measured_points(view: View, points: Sequence[MeasuredPoint]) -> list[Row]:
    """NCCL's measured all-reduces that stand beside the page's two links, at its number of ranks."""
    series = {ring_series(view, link) for link in view.links}
    return [
        Row(
            machine=named("comm_cost", point.machine), payload_bytes=point.payload_bytes, time_us=1e6 * point.time_s
        )
        for point in points
        if point.series in series and point.ranks == view.scenario.tp and 512 <= point.payload_bytes <= 2**26
    ]
