"""Lab 03: what its page looks at, and the bars, lines and circles of its figures, from core's bills."""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from math import nan
from typing import Literal

from core import units
from core.catalog import LINKS
from core.catalog import link as find_link
from core.catalog import model as find_model
from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.bill import Bill, Step, balance_payload_bytes, bill
from core.comm_cost.kernels import picked_bill, picked_kernel
from core.comm_cost.measured import MeasuredPoint, measured_bill
from core.comm_cost.readings import Reading
from core.errors import OutOfRangeError
from core.models.weights import held_weight_bytes
from core.numbers import figure, whole
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
from core.specs import LinkSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.model import prefill_step_s
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import bandwidth, local, percent, plain, seconds, significant

Phase = Literal["decode", "prefill"]
PHASES: tuple[Phase, ...] = ("decode", "prefill")

_NAPKIN = ("nvlink-lab", "ethernet-10g-lab")
_COMPARED = ("pcie-4", "ib-ndr")
_SERIES_OF_KERNEL = ("-nccl", "-vllm-graph")
LONG_S = 1.0
"""From here on a time is told in seconds."""


@dataclass(frozen=True)
class View:
    """A scenario's step in one phase, and the numbers its links have: as measured, or the lab's napkin.

    The napkin leaves the step whole beside the bill and prices a ring on its own two links; a figure has the links
    of one or of the other. As measured, the step is divided and an engine picks the kernel.
    """

    scenario: Scenario
    phase: Phase = "decode"
    napkin: bool = False

    @property
    def step(self) -> Step:
        """The step that is priced."""
        model, gpu = self.scenario.model_spec, self.scenario.gpu_spec
        if self.phase == "decode":
            compute_s = batched_decode_step_s(model, gpu, self.scenario.batch, self.scenario.weight_dtype)
        else:
            compute_s = prefill_step_s(model, gpu, self.scenario.prompt_tokens, self.scenario.batch)
        return Step(
            model,
            self.scenario.tp,
            self.tokens,
            compute_s,
            divided=not self.napkin,
            sequences=self.scenario.batch,
        )

    @property
    def tokens(self) -> int:
        """Rows of activations in the step: one a sequence, or a whole prompt each."""
        return self.scenario.batch * (1 if self.phase == "decode" else self.scenario.prompt_tokens)

    @property
    def link(self) -> LinkSpec:
        """What joins the GPUs of a node."""
        return find_link(_NAPKIN[0]) if self.napkin else self._row(self.scenario.link_spec)

    @property
    def network(self) -> LinkSpec:
        """What joins nodes."""
        return find_link(_NAPKIN[1]) if self.napkin else self._row(self.scenario.network_spec)

    @property
    def asked(self) -> LinkSpec:
        """The link that the question is about: the node's, or PCIe where the node has a fabric."""
        return find_link("pcie-4") if self.link.is_fabric else self.link

    @property
    def links(self) -> list[LinkSpec]:
        """The page's own two links."""
        return [self.link, self.network]

    @property
    def compared(self) -> list[LinkSpec]:
        """Those, and between them two that were measured; the napkin has no more than its own."""
        between = () if self.napkin else map(find_link, _COMPARED)
        return list({row.key: row for row in (self.link, *between, self.network)}.values())

    def _row(self, link: LinkSpec) -> LinkSpec:
        """The row that stands for a napkin link: the GPU's own, or the one of the napkin's bandwidth."""
        rows = {row.key: row for row in LINKS.values() if row.napkin_key == link.key}
        same = [row for row in rows.values() if row.bandwidth_bytes_per_s == link.bandwidth_bytes_per_s]
        return rows.get(self.scenario.gpu_spec.link_key) or (same[0] if same else link)

    def timed(self, link: LinkSpec) -> LinkSpec:
        """A link with the bandwidth and the ramp that were measured on it; the napkin's as it is."""
        return as_measured(link)

    def price(self, link: LinkSpec, step: Step | None = None) -> Bill:
        """The bill of this step, or of another, over one link."""
        priced = self.step if step is None else step
        return bill(priced, link) if self.napkin else picked_bill(priced, link).bill

    def kernel(self, link: LinkSpec) -> str:
        """Whose all-reduce it is: "ring", or the engine's kernel."""
        name = "NCCL" if self.napkin else picked_kernel(self.step.payload_bytes, self.step.tp_size, link)
        return "ring" if name == "NCCL" else name

    def series(self, link: LinkSpec) -> str:
        """The measured series that is the nearest thing to this link on this GPU; "" where there is none."""
        gpu = self.scenario.gpu_spec
        series = gpu.measured_series if link.family == "nvlink" else link.measured_series
        return series if self.kernel(link) == "ring" else series.replace(*_SERIES_OF_KERNEL)

    def measured(self, link: LinkSpec, points: Sequence[MeasuredPoint]) -> Bill | None:
        """The bill at a machine's own times, where one was timed at this size and number of ranks."""
        try:
            return measured_bill(points, self.series(link), self.step)
        except OutOfRangeError:
            return None

    @property
    def fits(self) -> Literal["one", "shared", "none"]:
        """What holds the weights: one GPU, no fewer than all of them, or not even all."""
        held = held_weight_bytes(self.scenario.model_spec, self.scenario.weight_dtype)
        room = self.scenario.gpu_spec.usable_memory_bytes
        return "one" if held <= room else "shared" if held / self.scenario.tp <= room else "none"

    @property
    def broken(self) -> tuple[str, ...]:
        """The equations that this model breaks at this number of ranks; none where it splits."""
        return check_tp_size(self.scenario.model_spec, self.scenario.tp).broken

    @property
    def allowed(self) -> list[int]:
        """The numbers of ranks that this model does split over."""
        return [size.tp_size for size in tp_sizes(self.scenario.model_spec) if size.verdict != "refused"]


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


def bar(
    name: str, detail: str, waiting_s: float, bandwidth_s: float, in_words: str, compute_s: float = 0.0
) -> BillRow:
    """A bar of these terms. The launch of each collective is waiting too, and is drawn with the latency."""
    return BillRow(
        name=name,
        detail=detail,
        compute_ms=1e3 * compute_s,
        latency_ms=1e3 * waiting_s,
        bandwidth_ms=1e3 * bandwidth_s,
        compute=f"{named('shell', 'compute')}, {step_in_words(compute_s)}" if compute_s else "",
        waiting=f"{named('shell', 'latency')}, {seconds(waiting_s)}" if waiting_s else "",
        in_words=in_words,
    )


def bill_row(priced: Bill, name: str, detail: str, share: bool = False) -> BillRow:
    """A bill as a bar: of a divided step with its speed-up, of a whole one or asked for with its share."""
    compute_s = priced.step.rank_compute_s
    if priced.step.divided and not share:
        in_words = f"{sum_in_ms(compute_s, priced.comm_s)}, {significant(priced.speedup)} ×"
    else:
        in_words = f"{sum_in_ms(priced.waiting_s, priced.bandwidth_s)}, {percent(priced.comm_fraction)}"
    return bar(name, detail, priced.waiting_s, priced.bandwidth_s, in_words, compute_s)


def one_gpu_row(step: Step) -> BillRow:
    """The whole step on one GPU, which sends nothing."""
    return bar(said("comm_cost", "bar.one_gpu"), "", 0.0, 0.0, step_in_words(step.compute_s), step.compute_s)


def link_row(view: View, link: LinkSpec, points: Sequence[MeasuredPoint]) -> BillRow:
    """The bar of one link, with the measured bill beside it where there is one."""
    row = bill_row(view.price(link), short_name(link), terms(link, view.kernel(link)))
    found = view.measured(link, points)
    if found is None:
        return row
    words = said(
        "comm_cost",
        "says.measured_ms",
        total_s=found.total_s,
        software=software(view.series(link), points),
    )
    return replace(row, measured_ms=1e3 * found.total_s, measured=words)


@kept
def link_rows(view: View, links: Sequence[LinkSpec], points: Sequence[MeasuredPoint]) -> list[BillRow]:
    """One GPU, then one bar a link; the napkin, whose step is whole, has no need of the first."""
    first = [] if view.napkin else [one_gpu_row(view.step)]
    return [*first, *(link_row(view, link, points) for link in links)]


def reading_rows(found: Sequence[Reading]) -> list[BillRow]:
    """One bar an assumption."""
    return [
        bill_row(reading.bill, said("comm_cost", f"reading.{reading.key}"), "", share=True) for reading in found
    ]


def short_name(link: LinkSpec) -> str:
    """A link's name without what qualifies it."""
    return re.split(r",(?![^(]*\))", link.name)[0].replace(" ", "\u00a0")


def terms(link: LinkSpec, kernel: str = "ring") -> str:
    """What a link's price is made of, in words; the launch only where it is not zero."""
    wire = as_measured(link)
    speed = bandwidth(wire.bandwidth_bytes_per_s)
    if kernel != "ring" and link.kernel_s is not None:
        return said(
            "comm_cost",
            "says.s_each",
            kernel=named("comm_cost", kernel),
            kernel_s=significant(1e6 * link.kernel_s[0]),
            speed=speed,
        )
    launch = f" {said('comm_cost', 'says.and_launch', base_s=seconds(link.base_s))}" if link.base_s else ""
    fitted = said("comm_cost", "says.fitted_n", measured_ranks=link.measured_ranks) if link.measured_ranks else ""
    return said(
        "comm_cost", "says.s_hop", latency_s=plain(1e6 * link.latency_s), launch=launch, speed=speed, fitted=fitted
    )


def software(series: str, points: Sequence[MeasuredPoint]) -> str:
    """What was measured, in words: the software and the machine."""
    point = next(point for point in points if point.series == series)
    name = point.software.split(";")[0]
    for what, block in ((" custom all-reduce", "says.own_kernel"), (" over TCP", "says.over_tcp")):
        name = said("comm_cost", block, software=name.removesuffix(what)) if name.endswith(what) else name
    return f"{name}, {named('comm_cost', point.machine)}"


def sum_in_ms(first_s: float, second_s: float) -> str:
    """Two terms and their sum to its third figure, in ms or from a second on in s; a small term has two."""
    total_s = first_s + second_s
    unit, size = ("s", 1.0) if total_s >= LONG_S else ("ms", 1e-3)
    total = units.significant(total_s / size)
    places = len(total.partition(".")[2]) or 3 - len(total)

    def written(part_s: float) -> str:
        part = round(part_s / size, places)
        return local(f"{part:.{max(places, 0)}f}" if part or not part_s else units.significant(part_s / size, 2))

    return f"{written(first_s)} + {written(second_s)} = {local(total)} {unit}"


def step_in_words(step_s: float) -> str:
    """A step's compute, in ms as long as that is readable: `8 ms`, `780 s`."""
    return seconds(step_s) if step_s >= LONG_S else f"{plain(1e3 * step_s)} ms"


def result_terms(priced: Bill) -> tuple[tuple[str, str] | str, ...]:
    """The speed-up as it is worked by hand, in ms; the napkin's share, where the step is whole."""
    comm, whole = significant(1e3 * priced.comm_s), plain(1e3 * priced.step.compute_s)
    if not priced.step.divided:
        return (
            ("bill", said("comm_cost", "says.step_bill")),
            (comm, f"{whole} + {comm}"),
            percent(priced.comm_fraction),
        )
    mine = plain(1e3 * priced.step.rank_compute_s)
    letters = (said("comm_cost", "says.one_gpu_s_step"), said("comm_cost", "says.compute_n_communication"))
    return letters, (whole, f"{mine} + {comm}"), f"{significant(priced.speedup)} ×"


@dataclass(frozen=True)
class CurvePoint:
    """One point of the model's line; the term that rules gives its colour."""

    link: str
    name: str
    payload_bytes: float
    time_us: float
    rules: str


@kept
def curve(view: View, link: LinkSpec, low: int = 9, high: int = 26, steps: int = 4) -> list[CurvePoint]:
    """A link's ring all-reduce from 2**low to 2**high bytes, turning colour where the two terms meet."""
    ranks, wire = max(2, view.scenario.tp), view.timed(link)
    meet = balance_payload_bytes(ranks, wire)
    sizes = sorted({2 ** (low + i / steps) for i in range((high - low) * steps + 1)} | {meet})

    def point(size: float, rules: str) -> CurvePoint:
        cost = ring_all_reduce(size, ranks, wire)
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
            latency, gb, rows, step, tp, name = text.split("_")
            own = cls(figure(latency), figure(gb), whole(rows), figure(step), whole(tp), find_model(name).key)
            own.bill()
        except (ValueError, OverflowError):
            return None
        return own

    def link(self) -> LinkSpec:
        """The link of this bill."""
        return LinkSpec(
            "own", said("comm_cost", "says.your_link_2"), 1e-6 * self.latency_us, 1e9 * self.bandwidth_gb_s
        )

    def bill(self, divided: bool = True) -> Bill:
        """This bill, priced as a ring."""
        return bill(Step(find_model(self.model), self.tp, self.tokens, 1e-3 * self.step_ms, divided), self.link())

    def row(self, name: str, divided: bool = True) -> BillRow:
        """This bill as a bar."""
        rows = said("comm_cost", "says.tokens", tokens=self.tokens)
        return bill_row(self.bill(divided), name, f"{terms(self.link())}, TP={self.tp}, {rows}, {self.model}")


@dataclass(frozen=True)
class Mark:
    """A payload worth pointing at."""

    payload_bytes: float
    name: str


@kept
def marks(view: View) -> list[Mark]:
    """The payloads of this scenario's decode step and of its prefill."""
    phases: tuple[Phase, ...] = ("decode", "prefill")
    return [Mark(replace(view, phase=phase).step.payload_bytes, named("comm_cost", phase)) for phase in phases]


@dataclass(frozen=True)
class MeasuredDot:
    """One measured all-reduce, as an open circle."""

    machine: str
    payload_bytes: int
    time_us: float


def ring_series(view: View, link: LinkSpec) -> str:
    """What NCCL was timed at over a link, whatever an engine would pick."""
    return view.series(link).replace(_SERIES_OF_KERNEL[1], _SERIES_OF_KERNEL[0])


@kept
def measured_points(view: View, points: Sequence[MeasuredPoint]) -> list[MeasuredDot]:
    """NCCL's measured all-reduces that stand beside the page's two links, at its number of ranks."""
    series = {ring_series(view, link) for link in view.links}
    return [
        MeasuredDot(named("comm_cost", point.machine), point.payload_bytes, 1e6 * point.time_s)
        for point in points
        if point.series in series and point.ranks == view.scenario.tp and 512 <= point.payload_bytes <= 2**26
    ]


def slips(priced: Bill) -> dict[str, float]:
    """Wrong answers to the question, as speeds in per cent of one GPU's, by their names in room.md."""
    whole_s, mine_s, comm_s = priced.step.compute_s, priced.step.rank_compute_s, priced.comm_s
    wrong = {"free": mine_s, "one_a_layer": mine_s + comm_s / 2, "undivided": whole_s + comm_s}
    return {name: 100 * whole_s / total_s for name, total_s in wrong.items()}
