"""A scenario's step in one phase, the links it may go over, and what each is paid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from core.catalog import link as find_link
from core.collectives.cost import as_measured
from core.comm_cost.bill import Bill, Step, bill
from core.comm_cost.kernels import picked_bill, picked_kernel
from core.comm_cost.measured import MeasuredPoint, measured_bill
from core.comm_cost.submission import LINKS
from core.errors import OutOfRangeError
from core.models.weights import held_weight_bytes
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
from core.specs import LinkSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.model import prefill_step_s

Phase = Literal["decode", "prefill"]
PHASES: tuple[Phase, ...] = ("decode", "prefill")

_NEAREST_NETWORK = "ib-ndr"
_SERIES_OF_KERNEL = ("-nccl", "-vllm-graph")


@dataclass(frozen=True)
class View:
    """A scenario's step in one phase, and the numbers its links have: as measured, or the lab's napkin.

    The napkin leaves the step whole beside the bill and prices a ring on its own two links; a figure has the links
    of one or of the other. As measured, the step is divided and an engine picks the kernel.
    """

    scenario: Scenario
    phase: Phase = "decode"
    napkin: bool = False

    @cached_property
    def step(self) -> Step:
        model, gpu = self.scenario.model_spec, self.scenario.gpu_spec
        if self.phase == "decode":
            compute_s = batched_decode_step_s(model, gpu, self.scenario.batch, self.scenario.weight_dtype)
        else:
            prompts, tokens = self.scenario.batch, self.scenario.prompt_tokens
            compute_s = prefill_step_s(model, gpu, tokens, prompts, dtype=self.scenario.weight_dtype)
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
        return find_link(LINKS[0]) if self.napkin else self.scenario.timed.link_spec

    @property
    def network(self) -> LinkSpec:
        return find_link(LINKS[1]) if self.napkin else self.scenario.timed.network_spec

    @property
    def asked(self) -> LinkSpec:
        """The link that the question is about: the node's, or its GPUs' PCIe where the node has a fabric."""
        return self.bus if self.link.is_fabric else self.link

    @property
    def bus(self) -> LinkSpec:
        """The PCIe that the scenario's GPU has."""
        gpu = self.scenario.gpu_spec
        return next(row for row in map(find_link, (gpu.link_key, gpu.bus_key)) if row.family == "pcie")

    @property
    def nearest_network(self) -> LinkSpec:
        return find_link(_NEAREST_NETWORK)

    @property
    def links(self) -> list[LinkSpec]:
        return [self.link, self.network]

    @property
    def compared(self) -> list[LinkSpec]:
        """Those, and between them PCIe and InfiniBand; the napkin has no more than its own."""
        between = () if self.napkin else (self.asked, self.nearest_network)
        return list({row.key: row for row in (self.link, *between, self.network)}.values())

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


def ring_series(view: View, link: LinkSpec) -> str:
    """What NCCL was timed at over a link, whatever an engine would pick."""
    return view.series(link).replace(_SERIES_OF_KERNEL[1], _SERIES_OF_KERNEL[0])


@dataclass(frozen=True)
class Gain:
    """What TP gains over a link: the speed-ups of a prefill and of a decode step."""

    link: LinkSpec
    prefill: float
    decode: float


@dataclass(frozen=True)
class Rule:
    """Why TP stays on a fabric: a prefill at `ranks` and a decode step at `many`, over three links."""

    ranks: int
    many: int
    fabric: Gain
    pcie: Gain
    network: Gain


def rule(view: View) -> Rule:
    """The scenario's own NVLink, or an A100's, beside its GPU's own PCIe and the nearest of the networks.

    xGMI's hop was timed under RCCL and PCIe's under NCCL: of the two, neither may be called the faster.
    """
    ranks = max(2, view.scenario.tp)
    many = max((size for size in view.allowed if ranks <= size <= max(8, ranks)), default=ranks)
    prefill = View(replace(view.scenario, tp=ranks), "prefill")
    decode = View(replace(view.scenario, tp=many))

    def over(link: LinkSpec) -> Gain:
        return Gain(link, prefill.price(link).speedup, decode.price(link).speedup)

    fabric = prefill.link if prefill.link.family == "nvlink" else find_link("nvlink-3")
    return Rule(ranks, many, over(fabric), over(view.bus), over(view.nearest_network))
