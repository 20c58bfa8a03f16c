"""The communication bill of tensor parallelism: what one step of a model pays to its link.

T tokens in the step, d hidden_size, L layers, N tp_size, b bytes an element. Every decoder layer ends its
attention and its MLP in an all-reduce of the activations, [T, d]. A bill keeps its terms apart: latency,
bandwidth, launch.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from core.collectives.cost import (
    Algorithm,
    CollectiveCost,
    collective_cost,
    ring_all_reduce,
)
from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.ledger import Collective
from core.models.parameters import held_weight_bytes, read_weight_bytes
from core.sharding_math.step_ledger import ends_ledger, step_ledger
from core.specs import GpuSpec, LinkSpec, ModelSpec

LAB_STEP_S = 8e-3
"""The labs' decode step: 16.06 GB of weights over 2.039 TB/s, 7.88 ms, rounded. See `weight_streaming_s`."""

NOISE_BELOW_FRACTION = 0.10
FATAL_ABOVE_FRACTION = 0.40

Verdict = Literal["noise", "noticeable", "fatal"]


def allreduce_payload_bytes(tokens: int, hidden_size: int, bytes_per_element: float = 2) -> float:
    """Bytes of the activations one all-reduce sums: a row of `hidden_size` for each token.

    n = T · d · b
    """
    require_positive(tokens=tokens, hidden_size=hidden_size, bytes_per_element=bytes_per_element)
    return tokens * hidden_size * bytes_per_element


def ring_allreduce_traffic_per_rank(payload_bytes: float, ranks: int) -> float:
    """Bytes each rank sends in a ring all-reduce.

        2(N-1)/N · n

    It approaches 2n and never reaches it. One rank sends nothing.
    """
    require_positive(ranks=ranks)
    return 2 * (ranks - 1) * payload_bytes / ranks


def allreduce_time_s(payload_bytes: float, ranks: int, link: LinkSpec) -> float:
    """Duration of a ring all-reduce on a link.

    T = t0 + 2(N-1)·α + 2(N-1)/N · n/β
    """
    return ring_all_reduce(payload_bytes, ranks, link).total_s


def tp_comm_time_per_step(model: ModelSpec, tokens: int, tp_size: int, link: LinkSpec) -> float:
    """What tensor parallelism pays its link in one forward pass over `tokens`: two all-reduces a layer.

    2L · T(T · d · b, N)
    """
    payload_bytes = allreduce_payload_bytes(tokens, model.hidden_size)
    return all_reduces_per_step(model, tp_size) * allreduce_time_s(payload_bytes, tp_size, link)


def comm_fraction(comm_s: float, step_s: float) -> float:
    """The share of the wall clock that goes to communication, when none of it is hidden behind compute.

    comm / (step + comm), never comm / step
    """
    require_non_negative(comm_s=comm_s, step_s=step_s)
    require_positive(step_and_comm_s=comm_s + step_s)
    return comm_s / (step_s + comm_s)


def all_reduces_per_step(model: ModelSpec, tp_size: int) -> int:
    """Two a layer, attention then MLP; none when one rank holds the layer.

    A parallel block (GPT-J, PaLM) would have one.
    """
    require_positive(tp_size=tp_size)
    return 2 * model.num_hidden_layers if tp_size > 1 else 0


@dataclass(frozen=True)
class PricedCollective:
    """One entry of a ledger and what it costs on a link."""

    op: str
    layer: str
    payload_bytes: int
    cost: CollectiveCost

    @property
    def time_s(self) -> float:
        """Launch, latency and bandwidth together."""
        return self.cost.total_s


def price(ledger: Iterable[Collective], link: LinkSpec, algorithm: str = "ring") -> tuple[PricedCollective, ...]:
    """Every collective of a ledger at what it costs on a link.

    Raises UnknownNameError for a collective that the algorithm does not do.
    """
    return tuple(
        PricedCollective(
            op=entry.op,
            layer=entry.layer,
            payload_bytes=entry.payload_bytes,
            cost=collective_cost(entry.op, algorithm, entry.payload_bytes, entry.ranks, link),
        )
        for entry in ledger
    )


@dataclass(frozen=True)
class StepBill:
    """One step's compute and what it pays its link, terms apart. `extras` are not in `comm_s`."""

    model: str
    link: str
    tp_size: int
    tokens: int
    payload_bytes: int
    all_reduces: int
    step_s: float
    latency_s: float
    bandwidth_s: float
    base_s: float
    extras: tuple[PricedCollective, ...]

    @property
    def comm_s(self) -> float:
        """The layers' all-reduces, one after another."""
        return self.base_s + self.latency_s + self.bandwidth_s

    @property
    def total_s(self) -> float:
        """Compute, then communication, nothing hidden."""
        return self.step_s + self.comm_s

    @property
    def comm_fraction(self) -> float:
        """comm / (step + comm)."""
        return comm_fraction(self.comm_s, self.step_s)

    @property
    def bandwidth_fraction(self) -> float:
        """The share of the bill that is bytes on the wire; 0 where there is no bill."""
        return self.bandwidth_s / self.comm_s if self.comm_s else 0.0

    @property
    def verdict(self) -> Verdict:
        """The bill in one word."""
        return judge(self.comm_fraction)


def step_bill(
    model: ModelSpec,
    tp_size: int,
    tokens: int,
    link: LinkSpec,
    step_s: float = LAB_STEP_S,
    logits_tokens: int | None = None,
    all_reduce: Algorithm = ring_all_reduce,
) -> StepBill:
    """The bill of one forward pass over `tokens`, its compute being `step_s`.

    `all_reduce` is the algorithm of the layers' all-reduces; the extras are priced as rings.
    """
    require_positive(tp_size=tp_size, tokens=tokens)
    ledger = step_ledger(model, tokens, tp_size)
    payload_bytes = round(allreduce_payload_bytes(tokens, model.hidden_size))
    cost = all_reduce(payload_bytes, tp_size, link).times(ledger.count("all_reduce"))
    return StepBill(
        model=model.key,
        link=link.key,
        tp_size=tp_size,
        tokens=tokens,
        payload_bytes=payload_bytes,
        all_reduces=ledger.count("all_reduce"),
        step_s=step_s,
        latency_s=cost.latency_s,
        bandwidth_s=cost.bandwidth_s,
        base_s=cost.base_s,
        extras=price(ends_ledger(model, tokens, tp_size, logits_tokens), link),
    )


def weight_streaming_s(
    model: ModelSpec, gpu: GpuSpec, dtype: str = "bf16", counted: Literal["held", "read"] = "held"
) -> float:
    """The least a decode step at TP=1 can take: its weights, once, through the GPU's memory.

        W / BW: 16.06 GB / 2.039 TB/s = 7.88 ms for Llama-3-8B on an A100-80GB

    `held` counts every weight, as the labs do; `read` leaves out the embedding, which is looked up. Ignored: the
    KV cache, compute, launches and the share of the bandwidth that kernels reach.
    """
    weight_bytes = held_weight_bytes(model, dtype) if counted == "held" else read_weight_bytes(model, dtype)
    return weight_bytes / gpu.memory_bytes_per_s


def judge(fraction: float) -> Verdict:
    """Noise under a tenth of the step, fatal over four tenths, noticeable between."""
    if fraction < NOISE_BELOW_FRACTION:
        return "noise"
    return "fatal" if fraction > FATAL_ABOVE_FRACTION else "noticeable"


@dataclass(frozen=True)
class Reading:
    """One bill read under one assumption, and the verdict it leads to."""

    key: Literal["labs", "divided_step", "hop_from_round_trip", "divided_step_and_round_trip", "two_way_bandwidth"]
    assumption: str
    bill: StepBill


def readings(
    model: ModelSpec, tp_size: int, tokens: int, link: LinkSpec, step_s: float = LAB_STEP_S
) -> tuple[Reading, ...]:
    """The bill as the labs read it, and as it reads when one assumption is another: the first is the default.

    The step may shrink with the ranks; a quoted latency may have been a round trip; a quoted bandwidth may have
    counted both directions.
    """
    halved_hop = replace(link, latency_s=link.latency_s / 2)
    both_ways = replace(link, bandwidth_bytes_per_s=2 * link.bandwidth_bytes_per_s)

    def bill(on: LinkSpec, step: float) -> StepBill:
        return step_bill(model, tp_size, tokens, on, step)

    divided_s = step_s / tp_size
    return (
        Reading("labs", "the step whole, the latency a hop, the bandwidth one way", bill(link, step_s)),
        Reading("divided_step", "compute divided by the ranks", bill(link, divided_s)),
        Reading("hop_from_round_trip", "the latency was a round trip: half of it a hop", bill(halved_hop, step_s)),
        Reading(
            "divided_step_and_round_trip",
            "compute divided by the ranks, and the latency was a round trip",
            bill(halved_hop, divided_s),
        ),
        Reading("two_way_bandwidth", "both directions' bandwidth taken for one", bill(both_ways, step_s)),
    )


@dataclass(frozen=True)
class Claim:
    """A verdict of the labs, put as a threshold, and whether one bill meets it."""

    key: Literal["nvlink_is_noise", "ethernet_is_fatal"]
    bound: Literal["below", "above"]
    threshold_fraction: float
    fraction: float

    @property
    def holds(self) -> bool:
        """Whether the fraction lies on the claim's side of the threshold, strictly."""
        if self.bound == "below":
            return self.fraction < self.threshold_fraction
        return self.fraction > self.threshold_fraction


def nvlink_is_noise(bill: StepBill) -> Claim:
    """The claim that communication is under 10 % of the step. It needs a fast link and a step of milliseconds."""
    return Claim("nvlink_is_noise", "below", NOISE_BELOW_FRACTION, bill.comm_fraction)


def ethernet_is_fatal(bill: StepBill) -> Claim:
    """The claim that communication is over 40 % of the step. It needs 50 µs to be a hop, not a round trip."""
    return Claim("ethernet_is_fatal", "above", FATAL_ABOVE_FRACTION, bill.comm_fraction)


def step_where_fraction_is(comm_s: float, fraction: float) -> float:
    """The step at which a bill is just `fraction` of the whole: a shorter step makes it more.

    comm · (1 - f) / f

    Raises OutOfRangeError unless 0 < f < 1.
    """
    if not 0 < fraction < 1:
        raise OutOfRangeError("fraction", fraction, "must lie between 0 and 1")
    return comm_s * (1 - fraction) / fraction


def balance_payload_bytes(ranks: int, link: LinkSpec) -> float:
    """The payload at which a ring all-reduce's bytes take as long as its waiting, launch included.

    n* = (t0 + 2(N-1)·α) · β · N / (2(N-1)); without a launch cost, N·α·β

    Below it latency rules, above it bandwidth. Raises OutOfRangeError for one rank, which does neither.
    """
    if ranks < 2:
        raise OutOfRangeError("ranks", ranks, "send nothing; use 2 or more")
    hops = 2 * (ranks - 1)
    return (link.base_s + hops * link.latency_s) * link.bandwidth_bytes_per_s * ranks / hops
