"""Lab 03: the bars, lines and circles of its figures, from core's bills."""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import nan
from typing import Literal

from core.catalog import link as find_link
from core.catalog import model as find_model
from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import Bill, Step, balance_payload_bytes, bill
from core.comm_cost.measured import MeasuredPoint, measured_bill
from core.comm_cost.readings import Reading, readings
from core.errors import OutOfRangeError
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
from core.specs import LinkSpec
from core.steps.model import decode_step_s, prefill_step_s
from core.units import bandwidth, grouped, percent, plain, seconds, significant
from runtime.prose import said

Phase = Literal["decode", "prefill"]

_COMPARED = ("pcie-4", "ib-ndr")
LONG_S = 10.0
"""From here on a time is told in seconds."""


@dataclass(frozen=True)
class BillRow:
    """One bar of the figure, in milliseconds and in words."""

    name: str
    detail: str
    compute_ms: float
    latency_ms: float
    bandwidth_ms: float
    compute: str
    waiting: str
    in_words: str
    measured_ms: float = nan
    measured: str = ""


def short_name(link: LinkSpec) -> str:
    """A link's name without what qualifies it."""
    return re.split(r",(?![^(]*\))", link.name)[0].replace(" ", "\u00a0")


def compute_s(scenario: Scenario, phase: Phase) -> float:
    """What the step computes at TP=1, before anyone talks."""
    model, gpu = scenario.model_spec, scenario.gpu_spec
    if phase == "decode":
        return decode_step_s(model, gpu, scenario.weight_dtype)
    return prefill_step_s(model, gpu, scenario.prompt_tokens, scenario.batch)


def tokens(scenario: Scenario, phase: Phase) -> int:
    """Rows of activations in the step: one a sequence, or a whole prompt each."""
    return scenario.batch * (1 if phase == "decode" else scenario.prompt_tokens)


def step_of(scenario: Scenario, phase: Phase) -> Step:
    """The step that a scenario asks about, its compute whole."""
    return Step(scenario.model_spec, scenario.tp, tokens(scenario, phase), compute_s(scenario, phase))


def broken_equations(scenario: Scenario) -> tuple[str, ...]:
    """The equations that this model breaks at this number of ranks; none where it splits."""
    return check_tp_size(scenario.model_spec, scenario.tp).broken


def allowed_sizes(scenario: Scenario) -> list[int]:
    """The numbers of ranks that this model does split over."""
    return [size.tp_size for size in tp_sizes(scenario.model_spec) if size.verdict != "refused"]


def compared_links(scenario: Scenario) -> list[LinkSpec]:
    """The scenario's own two links, and two that lie between them."""
    keys = dict.fromkeys((scenario.link, *_COMPARED, scenario.network))
    return [find_link(key) for key in keys]


def measured_on(scenario: Scenario, link: LinkSpec) -> str | None:
    """The measured series that is the nearest thing to this link on this GPU, if there is one."""
    gpu = scenario.gpu_spec
    return (gpu.measured_series if link.family == "nvlink" else link.measured_series) or None


def measurement(scenario: Scenario, phase: Phase, link: LinkSpec, points: Sequence[MeasuredPoint]) -> Bill | None:
    """The bill at a machine's own times, where one was measured at this size and number of ranks."""
    series = measured_on(scenario, link)
    if series is None:
        return None
    try:
        return measured_bill(points, series, step_of(scenario, phase))
    except OutOfRangeError:
        return None


def software(series: str | None, points: Sequence[MeasuredPoint]) -> str:
    """What was measured, in words: the software and the machine."""
    point = next(point for point in points if point.series == series)
    return f"{point.software.split(';')[0]}, {point.machine}"


def bill_row(priced: Bill, name: str, detail: str) -> BillRow:
    """A bill as a bar. The launch of each collective is waiting too, and is drawn with the latency."""
    parts, compute = sum_in_ms(priced.waiting_s, priced.bandwidth_s), priced.step.rank_compute_s
    return BillRow(
        name=name,
        detail=detail,
        compute_ms=1e3 * compute,
        latency_ms=1e3 * priced.waiting_s,
        bandwidth_ms=1e3 * priced.bandwidth_s,
        compute=f"compute, {step_in_words(compute)}",
        waiting=f"latency, {seconds(priced.waiting_s)}",
        in_words=f"{parts}, {percent(priced.comm_fraction)}",
    )


def sum_in_ms(latency_s: float, bandwidth_s: float) -> str:
    """Two terms and their sum, to the decimals the sum has at three figures: in ms, from ten seconds on in s."""
    unit, times = ("s", 1.0) if latency_s + bandwidth_s >= LONG_S else ("ms", 1e3)
    decimals = len(significant(times * (latency_s + bandwidth_s)).partition(".")[2])
    terms = (f"{times * term_s:.{decimals}f}" for term_s in (latency_s, bandwidth_s, latency_s + bandwidth_s))
    return "{} + {} = {} ".format(*terms) + unit


def step_in_words(step_s: float) -> str:
    """A step's compute, in ms as long as that is readable: `8 ms`, `780 s`."""
    return seconds(step_s) if step_s >= LONG_S else f"{plain(1e3 * step_s)} ms"


def link_row(scenario: Scenario, phase: Phase, link: LinkSpec, points: Sequence[MeasuredPoint]) -> BillRow:
    """The bar of one link, with the measured bill beside it where there is one."""
    row = bill_row(bill(step_of(scenario, phase), link), short_name(link), terms(link))
    found = measurement(scenario, phase, link, points)
    if found is None:
        return row
    words = f"measured {significant(1e3 * found.comm_s)} ms, {software(measured_on(scenario, link), points)}"
    return BillRow(**{**row.__dict__, "measured_ms": 1e3 * found.total_s, "measured": words})


def link_rows(
    scenario: Scenario, phase: Phase, links: Sequence[LinkSpec], points: Sequence[MeasuredPoint]
) -> list[BillRow]:
    """One bar a link."""
    return [link_row(scenario, phase, link, points) for link in links]


def terms(link: LinkSpec) -> str:
    """A link's constants in words, the launch only where it is not zero."""
    launch = f" + {seconds(link.base_s)} launch" if link.base_s else ""
    fitted = f", fitted at N = {link.measured_ranks}" if link.measured_ranks else ""
    return f"{plain(1e6 * link.latency_s)} µs a hop{launch}, {bandwidth(link.bandwidth_bytes_per_s)}{fitted}"


def network_readings(scenario: Scenario, phase: Phase) -> tuple[Reading, ...]:
    """The bill over the network under each assumption, the labs' own first."""
    return readings(step_of(scenario, phase), scenario.network_spec)


def reading_rows(found: Sequence[Reading]) -> list[BillRow]:
    """One bar an assumption."""
    return [bill_row(reading.bill, said("comm_cost", f"reading.{reading.key}"), "") for reading in found]


@dataclass(frozen=True)
class CurvePoint:
    """One point of the model's line; the term that rules gives its colour."""

    link: str
    name: str
    payload_bytes: float
    time_us: float
    rules: str


def curve(scenario: Scenario, link: LinkSpec, low: int = 9, high: int = 26, steps: int = 4) -> list[CurvePoint]:
    """A link's ring all-reduce from 2**low to 2**high bytes, turning colour where the two terms meet."""
    ranks = max(2, scenario.tp)
    meet = balance_payload_bytes(ranks, link)
    sizes = sorted({2 ** (low + i / steps) for i in range((high - low) * steps + 1)} | {meet})

    def point(size: float, rules: str) -> CurvePoint:
        cost = ring_all_reduce(size, ranks, link)
        return CurvePoint(link.key, short_name(link), size, 1e6 * cost.total_s, rules)

    return [point(n, "latency") for n in sizes if n <= meet] + [point(n, "bandwidth") for n in sizes if n >= meet]


@dataclass(frozen=True)
class OwnBill:
    """What the bench asks: a link and a step of one's own. As text it is the pin in the URL."""

    latency_us: float
    bandwidth_gb_s: float
    tokens: int
    step_ms: float
    tp: int
    model: str

    def text(self) -> str:
        """The pin: the six values between underscores."""
        return "_".join(f"{value:g}" if isinstance(value, float) else str(value) for value in astuple(self))

    @classmethod
    def from_text(cls, text: str) -> "OwnBill | None":
        """The bill a pin means; None for anything that is not one."""
        try:
            latency, bandwidth_gb, rows, step, tp, name = text.split("_")
            own = cls(float(latency), float(bandwidth_gb), int(rows), float(step), int(tp), find_model(name).key)
            own.bill()
        except (ValueError, OverflowError):
            return None
        return own

    def link(self) -> LinkSpec:
        """The link of this bill."""
        return LinkSpec("own", "your link", 1e-6 * self.latency_us, 1e9 * self.bandwidth_gb_s)

    def bill(self) -> Bill:
        """This bill, priced."""
        return bill(Step(find_model(self.model), self.tp, self.tokens, 1e-3 * self.step_ms), self.link())

    def row(self, name: str) -> BillRow:
        """This bill as a bar."""
        rows = "1 token" if self.tokens == 1 else f"{grouped(self.tokens)} tokens"
        return bill_row(self.bill(), name, f"{terms(self.link())}, TP={self.tp}, {rows}, {self.model}")


@dataclass(frozen=True)
class Mark:
    """A payload worth pointing at."""

    payload_bytes: float
    name: str


def marks(scenario: Scenario) -> list[Mark]:
    """The payloads of this scenario's decode step and of its prefill."""
    phases: tuple[Phase, ...] = ("decode", "prefill")
    return [Mark(step_of(scenario, phase).payload_bytes, phase) for phase in phases]


@dataclass(frozen=True)
class MeasuredDot:
    """One measured all-reduce, as an open circle."""

    machine: str
    payload_bytes: int
    time_us: float


def measured_points(scenario: Scenario, points: Sequence[MeasuredPoint]) -> list[MeasuredDot]:
    """The measured all-reduces that stand beside this scenario's two links, at its number of ranks."""
    links = (scenario.link_spec, scenario.network_spec)
    series = {measured_on(scenario, link) for link in links}
    return [
        MeasuredDot(point.machine, point.payload_bytes, 1e6 * point.time_s)
        for point in points
        if point.series in series and point.ranks == scenario.tp and 512 <= point.payload_bytes <= 2**26
    ]


def share_terms(priced: Bill) -> tuple[tuple[str, str], ...]:
    """The bill's share of the step as it is worked by hand, in ms: letters, then values."""
    comm, step = significant(1e3 * priced.comm_s), plain(1e3 * priced.step.rank_compute_s)
    return ("bill", "step + bill"), (comm, f"{step} + {comm}")
