"""Lab 03: an all-reduce's time against its payload: the model's line, measured circles, payloads worth a mark."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import balance_payload_bytes
from core.comm_cost.measured import MeasuredPoint
from core.specs import LinkSpec
from core.steps.view import PHASES, View, ring_series
from runtime.catalog_words import short_name
from runtime.kept import kept
from runtime.prose import named


@dataclass(frozen=True)
class CurvePoint:
    """One point of the model's line; the term that rules gives its colour."""

    link: str
    name: str
    payload_bytes: float
    time_us: float
    rules: str


def ruled(
    series: str, name: str, sizes: Iterable[float], meet: float, time_us: Callable[[float], float]
) -> list[CurvePoint]:
    """A line that turns color at the size where its two terms meet, a point of both colors there."""
    around = sorted({*sizes, meet})
    parts = [("latency", n) for n in around if n <= meet] + [("bandwidth", n) for n in around if n >= meet]
    return [CurvePoint(series, name, n, time_us(n), term) for term, n in parts]


def curve(view: View, link: LinkSpec) -> list[CurvePoint]:
    """A link's ring all-reduce over the ranks of the view, whatever its payload."""
    return _curve(max(2, view.scenario.tp), link, view.timed(link))


@kept
def _curve(
    ranks: int, link: LinkSpec, timed: LinkSpec, low: int = 9, high: int = 26, steps: int = 4
) -> list[CurvePoint]:
    """The same from 2**low to 2**high bytes, turning colour where the two terms meet."""
    meet = balance_payload_bytes(ranks, timed)
    sizes = (2 ** (low + i / steps) for i in range((high - low) * steps + 1))
    return ruled(link.key, short_name(link), sizes, meet, lambda n: 1e6 * ring_all_reduce(n, ranks, timed).total_s)


@dataclass(frozen=True)
class Mark:
    """A payload worth pointing at."""

    payload_bytes: float
    name: str


@kept
def marks(view: View) -> list[Mark]:
    """The payloads of this scenario's decode step and of its prefill."""
    return [Mark(replace(view, phase=phase).step.payload_bytes, named("comm_cost", phase)) for phase in PHASES]


@dataclass(frozen=True)
class MeasuredDot:
    """One measured all-reduce, as an open circle."""

    machine: str
    payload_bytes: int
    time_us: float


@kept
def measured_points(view: View, points: Sequence[MeasuredPoint]) -> list[MeasuredDot]:
    """NCCL's measured all-reduces that stand beside the page's two links, at its number of ranks."""
    series = {ring_series(view, link) for link in view.links}
    return [
        MeasuredDot(named("comm_cost", point.machine), point.payload_bytes, 1e6 * point.time_s)
        for point in points
        if point.series in series and point.ranks == view.scenario.tp and 512 <= point.payload_bytes <= 2**26
    ]
