"""TP × PP: what each composition of a number of GPUs pays, and to which link.

Tensor parallelism talks inside every layer, over the fastest link it can reach; a pipeline hands over once between
stages. Letters: N GPUs = tp · pp, L layers, T tokens, one batch a microbatch.
Ignored: overlap, launches, the KV cache, uneven stages, the embedding's and the head's own collectives.
"""

from dataclasses import dataclass
from fractions import Fraction

from core.comm_cost import allreduce_payload_bytes, allreduce_time_s
from core.errors import IndivisibleError, divisors
from core.schedules.actions import whole
from core.schedules.serving import Pipe, steady_decode
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.step_model import decode_step_s, prefill_step_s


@dataclass(frozen=True)
class Cluster:
    """GPUs of one kind, `gpus_per_node` to a node: `link` inside it, `network` between nodes."""

    gpu: GpuSpec
    link: LinkSpec
    network: LinkSpec
    gpus_per_node: int = 8

    def tp_link(self, tp_size: int) -> LinkSpec:
        """The link a tensor-parallel group of neighbours lives on: the network as soon as it leaves the node."""
        return self.link if tp_size <= self.gpus_per_node else self.network

    def hop_link(self, tp_size: int, boundary: int) -> LinkSpec:
        """The link between stage `boundary` and the next, stages filling nodes in order."""
        last, first = (boundary + 1) * tp_size - 1, (boundary + 1) * tp_size
        return self.link if last // self.gpus_per_node == first // self.gpus_per_node else self.network


@dataclass(frozen=True)
class Layout:
    """One composition and its bill. Times of one decode step and of one prompt, for one batch."""

    tp_size: int
    pp_size: int
    compute_s: float
    all_reduce_s: float
    handoff_s: float
    network_handoffs: int
    ttft_s: float
    itl_alone_s: float
    itl_full_s: float
    tokens_per_s: float

    @property
    def name(self) -> str:
        """As it is written: `TP=4 PP=2`."""
        return f"TP={self.tp_size} PP={self.pp_size}"


def compositions(gpus: int) -> list[tuple[int, int]]:
    """Every (tp, pp) whose product is `gpus`, the widest TP first."""
    return [(tp, gpus // tp) for tp in reversed(divisors(whole("gpus", gpus)))]


def layout(
    model: ModelSpec, cluster: Cluster, tp_size: int, pp_size: int, *, batch: int = 1, prompt_tokens: int = 2048
) -> Layout:
    """One composition priced: its stages' times, the all-reduces inside them, the hand-overs between them.

        t_s = step / (tp · pp) + 2L/pp all-reduces

    Decode is memory-bound: a stage reads its weights once for each microbatch, so `itl_full_s` is with as many
    batches in flight as there are stages, each of the whole `batch`. Time to the first token is of one prompt in
    one piece.
    Raises IndivisibleError when the layers do not divide over the stages.
    """
    if model.num_hidden_layers % whole("pp_size", pp_size):
        raise IndivisibleError("num_hidden_layers", model.num_hidden_layers, "pp_size", pp_size)
    decode_s, prefill_s = decode_step_s(model, cluster.gpu), prefill_step_s(model, cluster.gpu, prompt_tokens)
    decode = _bill(model, cluster, tp_size, pp_size, batch)
    prefill = _bill(model, cluster, tp_size, pp_size, prompt_tokens)
    stage_s = decode_s / (tp_size * pp_size) + decode.all_reduce_s / pp_size
    hops = tuple(Fraction(hop) for hop in decode.hops_s)
    pipe = Pipe((Fraction(stage_s),) * pp_size, hops)
    alone, full = steady_decode(pipe, 1), steady_decode(pipe, pp_size)
    return Layout(
        tp_size=tp_size,
        pp_size=pp_size,
        compute_s=decode_s / tp_size,
        all_reduce_s=decode.all_reduce_s,
        handoff_s=sum(decode.hops_s),
        network_handoffs=sum(cluster.hop_link(tp_size, place) is cluster.network for place in range(pp_size - 1)),
        ttft_s=prefill_s / tp_size + prefill.all_reduce_s + sum(prefill.hops_s),
        itl_alone_s=float(alone.cycle),
        itl_full_s=float(full.cycle),
        tokens_per_s=float(batch * full.items_per_time),
    )


@dataclass(frozen=True)
class _Bill:
    """What one pass over `tokens` pays: every all-reduce of all stages, and each hand-over."""

    all_reduce_s: float
    hops_s: tuple[float, ...]


def _bill(model: ModelSpec, cluster: Cluster, tp_size: int, pp_size: int, tokens: int) -> _Bill:
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    one = allreduce_time_s(payload, tp_size, cluster.tp_link(tp_size))
    links = (cluster.hop_link(tp_size, boundary) for boundary in range(pp_size - 1))
    hops = tuple(link.base_s + link.latency_s + payload / link.bandwidth_bytes_per_s for link in links)
    return _Bill(2 * model.num_hidden_layers * one, hops)


def layouts(
    model: ModelSpec, cluster: Cluster, gpus: int, *, batch: int = 1, prompt_tokens: int = 2048
) -> list[Layout]:
    """Every composition of `gpus` that the model's layers and heads allow, the widest TP first."""
    return [
        layout(model, cluster, tp, pp, batch=batch, prompt_tokens=prompt_tokens)
        for tp, pp in compositions(gpus)
        if model.num_hidden_layers % pp == 0 and model.num_attention_heads % tp == 0
    ]
