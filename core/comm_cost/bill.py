"""The communication bill of tensor parallelism: what one step of a model pays to its link.

T tokens in the step, d hidden_size, L layers, N tp_size, b bytes an element. Every decoder layer ends its
attention and its MLP in an all-reduce of the activations, [T, d]. A bill keeps its terms apart: latency,
bandwidth, launch.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from core.collectives.cost import Algorithm, CollectiveCost, collective_cost, ring_all_reduce
from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.models.weights import read_weight_bytes, step_weight_bytes
from core.sharding_math.step_ledger import ends_ledger
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.units import Named

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
    """Seconds that tensor parallelism pays its link in a forward pass over `tokens`: two all-reduces a layer.

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
    """Two a layer where attention and an MLP follow each other; none when one rank holds the layer."""
    require_positive(tp_size=tp_size)
    return model.all_reduces if tp_size > 1 else 0


@dataclass(frozen=True)
class Step:
    """One forward pass over `tokens` by `tp_size` ranks: what is computed, and what must be summed.

    `compute_s` is the whole step on one GPU. The labs' napkin puts it whole beside the bill of any number of ranks;
    `divided`, each rank computes its share of it. `sequences` have one next token each: a decode step's are its
    tokens, and of a prefill only each prompt's last token needs scores.
    """

    model: ModelSpec
    tp_size: int
    tokens: int = 1
    compute_s: float = LAB_STEP_S
    divided: bool = False
    sequences: int | None = None

    def __post_init__(self) -> None:
        require_positive(tp_size=self.tp_size, tokens=self.tokens)

    @property
    def payload_bytes(self) -> int:
        """What one all-reduce sums, in 2-byte activations."""
        return round(allreduce_payload_bytes(self.tokens, self.model.hidden_size))

    @property
    def all_reduces(self) -> int:
        return all_reduces_per_step(self.model, self.tp_size)

    @property
    def rank_compute_s(self) -> float:
        """What one rank computes before and between them."""
        return self.compute_s / self.tp_size if self.divided else self.compute_s


@dataclass(frozen=True)
class Bill:
    """What a step pays for its all-reduces, one after another, nothing hidden behind compute.

    `cost` has the terms a model tells apart; `untold_s` is time that was measured, and is of no term. `named` is
    which of the three kinds of number it is.
    """

    step: Step
    cost: CollectiveCost
    untold_s: float = 0.0
    named: Named = "modeled"

    @property
    def waiting_s(self) -> float:
        """Launches and hops: what no bandwidth shortens."""
        return self.cost.base_s + self.cost.latency_s

    @property
    def bandwidth_s(self) -> float:
        """n/β: what the link takes for the bytes, waiting left out."""
        return self.cost.bandwidth_s

    @property
    def comm_s(self) -> float:
        return self.cost.total_s + self.untold_s

    @property
    def total_s(self) -> float:
        return self.step.rank_compute_s + self.comm_s

    @property
    def comm_fraction(self) -> float:
        """comm / (compute + comm)."""
        return comm_fraction(self.comm_s, self.step.rank_compute_s)

    @property
    def speedup(self) -> float:
        """How many times as fast as one GPU, which computes the whole step and sends nothing: below 1, slower."""
        return self.step.compute_s / self.total_s

    @property
    def bandwidth_fraction(self) -> float:
        """The share of the bill that is bytes; 0 where there is no bill."""
        return self.bandwidth_s / self.comm_s if self.comm_s else 0.0

    @property
    def waiting_fraction(self) -> float:
        """What is left of it; 0 too where there is no bill."""
        return 1 - self.bandwidth_fraction if self.comm_s else 0.0

    @property
    def one_s(self) -> float:
        """What one of its all-reduces takes; 0 where there is none."""
        return self.comm_s / self.step.all_reduces if self.step.all_reduces else 0.0

    @property
    def verdict(self) -> Verdict:
        """Noise under a tenth of the step, fatal over four tenths, noticeable between."""
        if self.comm_fraction < NOISE_BELOW_FRACTION:
            return "noise"
        return "fatal" if self.comm_fraction > FATAL_ABOVE_FRACTION else "noticeable"


def bill(step: Step, link: LinkSpec, all_reduce: Algorithm = ring_all_reduce) -> Bill:
    """The bill of a step on a link, each of its all-reduces by one algorithm."""
    one = all_reduce(step.payload_bytes, step.tp_size, link)
    return Bill(step, one.times(step.all_reduces), named=link.named)


@dataclass(frozen=True)
class PricedCollective:
    """One entry of a ledger and what it costs on a link."""

    op: str
    layer: str
    payload_bytes: int
    cost: CollectiveCost

    @property
    def time_s(self) -> float:
        return self.cost.total_s


def priced_ends(step: Step, link: LinkSpec) -> tuple[PricedCollective, ...]:
    """What both ends of the model send beside a step's bill, cut by vocabulary and priced as rings.

    Logits are made for the step's sequences alone.
    """
    return tuple(
        PricedCollective(
            op=entry.op,
            layer=entry.layer,
            payload_bytes=entry.payload_bytes,
            cost=collective_cost(entry.op, "ring", entry.payload_bytes, entry.ranks, link),
        )
        for entry in ends_ledger(step.model, step.tokens, step.tp_size, step.sequences)
    )


def weight_streaming_s(
    model: ModelSpec,
    gpu: GpuSpec,
    dtype: str = "bf16",
    counted: Literal["step", "read"] = "step",
    tokens: float = 1,
) -> float:
    """The weights of a step over `tokens` tokens, once, through the GPU's memory.

        step / BW: 16.06 GB / 2.039 TB/s = 7.88 ms, Llama-3-8B on an A100-80GB: all the weights, as the labs count
        read / BW: 15.01 GB / 2.039 TB/s = 7.36 ms: the least a decode step at TP=1 can take, for the embedding is
                   looked up and not streamed

    Of a mixture, either counts only the experts that its tokens are routed to.
    Ignored: the KV cache, compute, launches and the share of the bandwidth that kernels reach.
    """
    weight_bytes = step_weight_bytes if counted == "step" else read_weight_bytes
    return weight_bytes(model, dtype, tokens) / gpu.memory_bytes_per_s


def balance_payload_bytes(ranks: int, link: LinkSpec) -> float:
    """The payload at which a ring all-reduce's bytes take as long as its waiting, launch included.

    n* = (t0 + 2(N-1)·α) · β · N / (2(N-1)); without a launch cost, N·α·β

    With a ramp κ its bytes fall short of β and it is r² of that, r² + κ·r = 1. Where rings were timed it is found
    between their payloads. Below it latency rules, above it bandwidth.

    Raises OutOfRangeError for one rank, which does neither.
    """
    if ranks < 2:
        raise OutOfRangeError("ranks", ranks, "send_nothing", least=2)
    hops = 2 * (ranks - 1)
    if link.rings:
        return _balance_of_rings(ranks, link)
    root = (sqrt(link.ramp**2 + 4) - link.ramp) / 2
    return root**2 * (link.base_s + hops * link.latency_s) * link.bandwidth_bytes_per_s * ranks / hops


def _balance_of_rings(ranks: int, link: LinkSpec) -> float:
    """The payload between 1 byte and 1 TiB where a timed ring's bytes take what it waits, to a millionth."""
    low, high = 1.0, 2.0**40
    while high / low > 1 + 1e-7:
        middle = sqrt(low * high)
        one = ring_all_reduce(middle, ranks, link)
        low, high = (middle, high) if one.bandwidth_s < one.waiting_s else (low, middle)
    return high
