"""What one rank sends in a training step, by the axis it serves, and which link that axis lies on.

Ψ bytes of one rank's weights, N data-parallel ranks, t tensor-parallel ones, A bytes of a microbatch's activations
at a layer's edge (tokens · h · 2), m microbatches, L layers. Ranks are spread as Megatron distributes them: the
tensor-parallel ones are neighbours, then expert and data parallelism, then the stages.
Ignored: overlap with compute, the collectives of the embedding and the head, and the sum of the gradient's norm.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from core.collectives.cost import CollectiveCost, collective_cost
from core.errors import require_positive
from core.ledger import Op
from core.specs import LinkSpec, ModelSpec
from core.strategy.training.activations import BYTES
from core.strategy.training.layout import RankParameters, Strategy, rank_parameters
from core.strategy.training.memory import Job

Axis = Literal["dp", "tp", "pp", "ep"]
_ALGORITHM = {"all_to_all": "direct"}


@dataclass(frozen=True)
class Transfer:
    """One kind of collective of a step: `count` of them, `payload_bytes` the full tensor on one rank.

    `group_span` is how many neighbouring ranks its group lies among: what decides whether it leaves a node.
    """

    axis: Axis
    op: Op
    why: str
    payload_bytes: float
    ranks: int
    count: int
    group_span: int

    @property
    def sent_bytes(self) -> float:
        """What one rank sends in all.

        all-reduce 2(N-1)/N · n, the others (N-1)/N · n, send n
        """
        share = {"all_reduce": 2 * (self.ranks - 1) / self.ranks, "send": 1.0}
        return self.count * self.payload_bytes * share.get(self.op, (self.ranks - 1) / self.ranks)

    def crosses_nodes(self, gpus_per_node: int) -> bool:
        require_positive(gpus_per_node=gpus_per_node)
        return self.group_span > gpus_per_node

    def cost(self, link: LinkSpec) -> CollectiveCost:
        """All of them, one after another, on one link: rings, direct all-to-alls, and sends of one hop."""
        if self.op == "send":
            bytes_s = self.payload_bytes / link.bandwidth_bytes_per_s
            one = CollectiveCost(1, self.payload_bytes, link.latency_s, bytes_s, link.base_s)
        else:
            algorithm = _ALGORITHM.get(self.op, "ring")
            one = collective_cost(self.op, algorithm, self.payload_bytes, self.ranks, link)
        return one.times(self.count)


def training_traffic(
    model: ModelSpec, strategy: Strategy, job: Job | None = None, stage: int = 0
) -> tuple[Transfer, ...]:
    """Every transfer of a step that a rank of a stage takes part in. One rank alone has none.

    Raises IndivisibleError and OutOfRangeError as `rank_parameters` does.
    """
    job = job or Job()
    own = rank_parameters(model, strategy, stage)
    traffic = [
        *_data_parallel(own, strategy, job),
        *_tensor_parallel(model, own.num_layers, strategy, job),
        *_expert_parallel(model, strategy, job),
        *_pipeline(model, strategy, job, stage),
    ]
    return tuple(
        transfer for transfer in traffic if transfer.ranks > 1 and transfer.payload_bytes and transfer.count
    )


def sent_bytes(transfers: Iterable[Transfer], axis: Axis | None = None) -> float:
    """What one rank sends in a step, along one axis or all."""
    return sum(transfer.sent_bytes for transfer in transfers if axis in (None, transfer.axis))


def _data_parallel(own: RankParameters, strategy: Strategy, job: Job) -> Iterator[Transfer]:
    """Gradients and weights, over all data-parallel ranks; routed experts only over their own replicas."""
    shared = (own.layers + own.ends, strategy.dp_size)
    experts = (own.experts, strategy.expert_replicas)
    for parameters, ranks in (shared, experts):
        yield from _sharded(parameters, ranks, strategy, job)


def _sharded(parameters: float, ranks: int, strategy: Strategy, job: Job) -> Iterator[Transfer]:
    """DDP sums gradients, 2Ψ; ZeRO-1 and 2 scatter their sums and gather weights, 2Ψ; ZeRO-3 gathers twice, 3Ψ.

    From ZeRO-2 on no rank can keep a whole gradient over microbatches, so each one is scattered; in ZeRO-3 each
    gathers the weights anew, once where they are not dropped after the forward.
    Source: Rajbhandari et al. 2020, arXiv 1910.02054, section 7.
    """
    weights, gradients = parameters * job.precision.weight, parameters * job.precision.gradient
    span = strategy.tp_size * strategy.dp_size
    zero, m = strategy.zero, job.microbatches

    def transfer(op: Op, why: str, payload: float, count: int) -> Transfer:
        return Transfer("dp", op, why, payload, ranks, count, span)

    if zero == 0:
        yield transfer("all_reduce", "gradients", gradients, 1)
        return
    yield transfer("reduce_scatter", "gradients", gradients, m if zero >= 2 else 1)
    if zero < 3:
        yield transfer("all_gather", "updated weights", weights, 1)
        return
    yield transfer("all_gather", "weights for the forward", weights, m)
    if strategy.reshard:
        yield transfer("all_gather", "weights for the backward", weights, m)


def _tensor_parallel(model: ModelSpec, layers: int, strategy: Strategy, job: Job) -> Iterator[Transfer]:
    """Two all-reduces a layer forward and two back; with SP each is a gather and a scatter.

    With SP the gathered inputs are gathered again for the weights' gradients, two more a layer. Full recomputation
    runs the forward's once more.
    Source: Shoeybi et al. 2019, arXiv 1909.08053; Korthikanti et al. 2022, arXiv 2205.05198, section 4.2.2.
    """
    t, payload = strategy.tp_size, float(BYTES * job.tokens * model.hidden_size)
    passes = 3 if strategy.recompute == "full" else 2
    each = 2 * passes * layers * job.microbatches
    if not strategy.sequence_parallel:
        yield Transfer("tp", "all_reduce", "activations and their gradients", payload, t, each, t)
        return
    again = 2 * layers * job.microbatches
    yield Transfer("tp", "all_gather", "activations and their gradients", payload, t, each, t)
    yield Transfer("tp", "reduce_scatter", "activations and their gradients", payload, t, each, t)
    yield Transfer("tp", "all_gather", "inputs again, for the weights' gradients", payload, t, again, t)


def _expert_parallel(model: ModelSpec, strategy: Strategy, job: Job) -> Iterator[Transfer]:
    """Dispatch and combine in each layer of experts, forward and back; each moves K rows a token.

    Full recomputation runs the forward's once more. With even routing: the busiest rank sends more.
    """
    if model.moe is None:
        return
    rows = job.tokens * model.moe.num_experts_per_tok
    sparse = model.sparse_layers / strategy.pp_size
    passes = 3 if strategy.recompute == "full" else 2
    yield Transfer(
        "ep",
        "all_to_all",
        "tokens to their experts and back",
        float(BYTES * rows * model.hidden_size) / (strategy.tp_size if strategy.sequence_parallel else 1),
        strategy.ep_size,
        round(2 * passes * sparse * job.microbatches),
        strategy.tp_size * strategy.ep_size,
    )


def _pipeline(model: ModelSpec, strategy: Strategy, job: Job, stage: int) -> Iterator[Transfer]:
    """A stage sends activations on and their gradients back, once a microbatch; the ends have one neighbour.

    With SP each tensor-parallel rank sends its own part of the sequence; without, all of them send the whole.
    """
    payload = BYTES * job.tokens * model.hidden_size / (strategy.tp_size if strategy.sequence_parallel else 1)
    for why, neighbour in (("activations onward", stage + 1), ("gradients back", stage - 1)):
        if 0 <= neighbour < strategy.pp_size:
            yield Transfer("pp", "send", why, payload, 2, job.microbatches, strategy.world_size)
