"""TP × PP: what each composition of a number of GPUs pays, and to which link.

Tensor parallelism talks inside every layer, over the fastest link it can reach; a pipeline hands over once between
stages. A stage reads its weights once for each microbatch, so cutting a batch into microbatches does not shrink
their time, until a batch is so large that its arithmetic takes longer.
Letters: N GPUs = tp · pp, L layers, B sequences.
Ignored: overlap, launches, the KV cache, uneven stages, the embedding's and the head's own collectives.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

from core.collectives.cost import CollectiveCost, as_measured
from core.comm_cost.bill import Bill, Step
from core.comm_cost.kernels import picked_bill
from core.errors import IndivisibleError, divisors
from core.pipeline_bubble.schedules.actions import whole
from core.pipeline_bubble.schedules.serving import Pipe, steady_decode
from core.specs import GPUS_PER_NODE, GpuSpec, LinkSpec, ModelSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.model import prefill_step_s


@dataclass(frozen=True)
class Cluster:
    """GPUs of one kind, `gpus_per_node` to a node: `link` inside it, `network` between nodes."""

    gpu: GpuSpec
    link: LinkSpec
    network: LinkSpec
    gpus_per_node: int = GPUS_PER_NODE

    def tp_link(self, tp_size: int) -> LinkSpec:
        """The link a tensor-parallel group of neighbours lives on: the network as soon as it leaves the node."""
        return self.link if tp_size <= self.gpus_per_node else self.network

    def hop_link(self, tp_size: int, boundary: int) -> LinkSpec:
        """The link between stage `boundary` and the next, stages filling nodes in order."""
        last, first = (boundary + 1) * tp_size - 1, (boundary + 1) * tp_size
        return self.link if last // self.gpus_per_node == first // self.gpus_per_node else self.network


@dataclass(frozen=True)
class Layout:
    """One composition and its bill. Times of a token of one sequence, of all, and of one prompt.

    `latency_s` is the part of the all-reduces and hand-overs that is waiting, the rest of them is bytes.
    """

    tp_size: int
    pp_size: int
    compute_s: float
    all_reduce_s: float
    handoff_s: float
    latency_s: float
    network_handoffs: int
    sums_over_network: bool
    ttft_s: float
    itl_alone_s: float
    itl_full_s: float
    tokens_per_s: float

    @property
    def handoffs(self) -> int:
        """Of a token on its way through the stages."""
        return self.pp_size - 1

    @property
    def bandwidth_s(self) -> float:
        """The part of the all-reduces and hand-overs that is bytes."""
        return self.all_reduce_s + self.handoff_s - self.latency_s

    @property
    def name(self) -> str:
        """As it is written: `TP=4 PP=2`."""
        return f"TP={self.tp_size} PP={self.pp_size}"


def compositions(gpus: int) -> list[tuple[int, int]]:
    """Every (tp, pp) whose product is `gpus`, the widest TP first."""
    return [(tp, gpus // tp) for tp in reversed(divisors(whole("gpus", gpus)))]


def layout(
    model: ModelSpec,
    cluster: Cluster,
    tp_size: int,
    pp_size: int,
    *,
    sequences: int = 1,
    prompt_tokens: int = 2048,
    dtype: str = "bf16",
) -> Layout:
    """One composition priced: its stages' times, the all-reduces inside them, the hand-overs between them.

        t_s = step / (tp · pp) + 2L/pp all-reduces

    An all-reduce is the kernel's that an engine picks, on the link as it was measured, as in lab 03.
    The bill is of a token of one sequence alone. The B `sequences` go round in min(pp, B) microbatches of equal
    size: `itl_full_s` is their cycle. Time to the first token is of one prompt in one piece.
    Raises IndivisibleError when the layers do not divide over the stages.
    """
    if model.num_hidden_layers % whole("pp_size", pp_size):
        raise IndivisibleError("num_hidden_layers", model.num_hidden_layers, "pp_size", pp_size)
    in_flight = min(pp_size, whole("sequences", sequences))

    def over(tokens: int, compute_s: float) -> _Pass:
        return _pass(Step(model, tp_size, tokens, compute_s, divided=True), cluster, pp_size)

    together = ceil(sequences / in_flight)
    alone, full = (over(rows, batched_decode_step_s(model, cluster.gpu, rows, dtype)) for rows in (1, together))
    itl_full_s = full.cycle_s(in_flight)
    prompt_s = prefill_step_s(model, cluster.gpu, prompt_tokens, dtype=dtype)
    return Layout(
        tp_size=tp_size,
        pp_size=pp_size,
        compute_s=alone.bill.step.rank_compute_s,
        all_reduce_s=alone.bill.comm_s,
        handoff_s=sum(alone.hops_s),
        latency_s=alone.latency_s,
        network_handoffs=sum(cluster.hop_link(tp_size, stage) is cluster.network for stage in range(pp_size - 1)),
        sums_over_network=cluster.tp_link(tp_size) is not cluster.link,
        ttft_s=over(prompt_tokens, prompt_s).total_s,
        itl_alone_s=alone.cycle_s(1),
        itl_full_s=itl_full_s,
        tokens_per_s=sequences / itl_full_s,
    )


@dataclass(frozen=True)
class _Pass:
    """One pass over some tokens: its step's bill, every all-reduce of all stages in it, and each hand-over."""

    bill: Bill
    hops: tuple[CollectiveCost, ...]

    @property
    def hops_s(self) -> tuple[float, ...]:
        return tuple(hop.total_s for hop in self.hops)

    @property
    def latency_s(self) -> float:
        return self.bill.waiting_s + sum(hop.base_s + hop.latency_s for hop in self.hops)

    @property
    def total_s(self) -> float:
        return self.bill.total_s + sum(self.hops_s)

    def cycle_s(self, in_flight: int) -> float:
        """Time between two tokens of a sequence, with equal stages and so many such passes in flight."""
        stages = len(self.hops) + 1
        pipe = Pipe((Fraction(self.bill.total_s / stages),) * stages, tuple(map(Fraction, self.hops_s)))
        return float(steady_decode(pipe, in_flight).cycle)


def _pass(step: Step, cluster: Cluster, pp_size: int) -> _Pass:
    links = [cluster.hop_link(step.tp_size, stage) for stage in range(pp_size - 1)]
    hops = tuple(hand_over(step.payload_bytes, link) for link in links)
    return _Pass(picked_bill(step, cluster.tp_link(step.tp_size)).bill, hops)


HANDED_OVER = 2
"""Rows a token that a stage hands to the next: its activations, and the residual that is not yet added to them.

Source: vLLM 0.33.0 model_executor/models/llama.py, make_empty_intermediate_tensors_factory(["hidden_states",
"residual"], …): two tensors, sent one after the other."""


def hand_over(payload_bytes: float, link: LinkSpec) -> CollectiveCost:
    """One stage's rows sent to the next in two messages, over a link as it was measured: 2 · (base + α + n/β)."""
    measured = as_measured(link)
    sending_s = payload_bytes / measured.bandwidth_bytes_per_s
    one = CollectiveCost(1, payload_bytes, measured.latency_s, sending_s, measured.base_s)
    return one.times(HANDED_OVER)


@lru_cache(maxsize=256)
def layouts(
    model: ModelSpec,
    cluster: Cluster,
    gpus: int,
    *,
    sequences: int = 1,
    prompt_tokens: int = 2048,
    dtype: str = "bf16",
) -> tuple[Layout, ...]:
    """Every composition of `gpus` that the model's layers and heads allow, the widest TP first."""
    return tuple(
        layout(model, cluster, tp, pp, sequences=sequences, prompt_tokens=prompt_tokens, dtype=dtype)
        for tp, pp in compositions(gpus)
        if model.num_hidden_layers % pp == 0 and model.num_attention_heads % tp == 0
    )
