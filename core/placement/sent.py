"""The collectives of one step inside an engine, each under its own name: how many, of what, over which link.

A step's time for its links is the sum of these, so no bill can hold what the step does not pay.
"""

from dataclasses import dataclass, replace
from typing import Literal

from core.collectives.cost import CollectiveCost, as_measured
from core.comm_cost.decode_attention import context_exchange
from core.comm_cost.expert_parallel import even_exchange, expected_copies
from core.comm_cost.kernels import picked_kernel
from core.placement.cluster import ClusterSpec
from core.placement.layout import Layout
from core.specs import LinkSpec, ModelSpec
from core.steps.model import ACTIVATION_BYTES, TensorGroup

Op = Literal["all-reduces", "all-gathers", "reduce-scatters", "all-to-alls", "hand-overs"]


@dataclass(frozen=True)
class Sent:
    """Collectives of one kind and size in a step; `kernel` makes them, `one` is what each costs."""

    op: Op
    link: LinkSpec
    count: float
    payload_bytes: float
    one: CollectiveCost
    kernel: str = "NCCL"

    @property
    def time_s(self) -> float:
        """All of them, one after another."""
        return self.count * self.one.total_s

    @property
    def waiting_s(self) -> float:
        """The part that no bandwidth shortens."""
        return self.count * self.one.waiting_s

    def times(self, count: float) -> "Sent":
        return replace(self, count=self.count * count)


def sent_in_step(
    model: ModelSpec, cluster: ClusterSpec, group: TensorGroup, layout: Layout, tokens: float, decodes: bool = True
) -> tuple[Sent, ...]:
    """What one pass of `tokens` rows through all layers sends, on each copy of attention; no draft counted.

    TP: an all-reduce for each sum. EP: two all-to-alls for each layer of experts, and the sums that are left.
    A context shared out (DCP): queries and sums of the softmax gathered, outputs scattered as they add up.
    """
    sums = model.all_reduces if layout.tp_size > 1 else 0
    rows: list[Sent] = []
    if layout.ep_size > 1:
        rows.append(_exchanged(model, cluster, layout, tokens))
        exchanged = 0 if model.side_by_side else model.sparse_layers
        sums = sums - exchanged if layout.tp_size > 1 else 0
    if sums:
        link, payload = cluster.slowest_link(layout.tp_size), tokens * model.hidden_size * ACTIVATION_BYTES
        kernel = "NCCL" if group.crosses else picked_kernel(payload, layout.tp_size, link)
        rows.insert(0, Sent("all-reduces", link, sums, payload, group.all_reduce(payload), kernel))
    if layout.dcp_size > 1 and decodes:
        rows += _shared_out(model, cluster, layout, tokens)
    return tuple(rows)


def _exchanged(model: ModelSpec, cluster: ClusterSpec, layout: Layout, tokens: float) -> Sent:
    """Dispatch and combine of every layer of experts, each rank's tokens sent once to each rank they go to."""
    link, copies = cluster.slowest_link(layout.ep_size), expected_copies(model, layout.ep_size, True)
    together = max(1, round(tokens * layout.dp_size))
    one = even_exchange(model, together, layout.ep_size, as_measured(link), copies)
    payload = -(-together // layout.ep_size) * copies * model.hidden_size * ACTIVATION_BYTES
    return Sent("all-to-alls", link, 2 * model.sparse_layers, payload, one)


def _shared_out(model: ModelSpec, cluster: ClusterSpec, layout: Layout, tokens: float) -> list[Sent]:
    link, shared = cluster.slowest_link(layout.dcp_size), layout.dcp_size
    heads = model.num_attention_heads * shared / layout.tp_size
    each = context_exchange(model, tokens * heads, shared, as_measured(link))
    ops: dict[str, Op] = {"all_gather": "all-gathers", "reduce_scatter": "reduce-scatters"}
    return [Sent(ops[one.op], link, model.num_hidden_layers, one.payload_bytes, one.cost) for one in each]
