"""Tensor parallelism across the node boundary: the same all-reduces, on two links of very different speed.

L GPUs a node, G nodes, N = L·G = tp_size. Inside a node everything runs on the inner link; past it, a hierarchical
all-reduce keeps all but 1/L of the payload off the network, and a flat ring does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core.collectives.cost import CollectiveCost, hierarchical_all_reduce, ring_all_reduce
from core.comm_cost.bill import (
    LAB_STEP_S,
    Verdict,
    all_reduces_per_step,
    allreduce_payload_bytes,
    comm_fraction,
    judge,
)
from core.errors import require_divides, require_positive
from core.specs import LinkSpec, ModelSpec


@dataclass(frozen=True)
class NodeBill:
    """The bill of one step over nodes, its two levels apart.

    `flat_s` is one ring through every GPU instead: each of its steps waits for the slowest hop, a network's.
    """

    model: str
    tp_size: int
    tokens: int
    nodes: int
    gpus_per_node: int
    payload_bytes: int
    all_reduces: int
    step_s: float
    inside: CollectiveCost
    network: CollectiveCost
    flat_s: float

    @property
    def comm_s(self) -> float:
        """Both levels, one after another, for all layers."""
        return self.inside.total_s + self.network.total_s

    @property
    def network_fraction(self) -> float:
        """The share of the bill that the network takes; 0 inside one node."""
        return self.network.total_s / self.comm_s if self.comm_s else 0.0

    @property
    def comm_fraction(self) -> float:
        """comm / (step + comm)."""
        return comm_fraction(self.comm_s, self.step_s)

    @property
    def verdict(self) -> Verdict:
        """The bill in one word."""
        return judge(self.comm_fraction)


def node_bill(
    model: ModelSpec,
    tp_size: int,
    tokens: int,
    gpus_per_node: int,
    inside: LinkSpec,
    network: LinkSpec,
    step_s: float = LAB_STEP_S,
) -> NodeBill:
    """The bill of a step with TP over as many nodes as it takes, `gpus_per_node` GPUs in each.

    Raises IndivisibleError where the last node would not be full.
    """
    require_positive(tp_size=tp_size, tokens=tokens, gpus_per_node=gpus_per_node)
    local = min(tp_size, gpus_per_node)
    nodes = require_divides("tp_size", tp_size, "gpus_per_node", local)
    payload_bytes = round(allreduce_payload_bytes(tokens, model.hidden_size))
    count = all_reduces_per_step(model, tp_size)
    cost = hierarchical_all_reduce(payload_bytes, local, nodes, inside, network)
    flat = ring_all_reduce(payload_bytes, tp_size, network if nodes > 1 else inside)
    return NodeBill(
        model=model.key,
        tp_size=tp_size,
        tokens=tokens,
        nodes=nodes,
        gpus_per_node=local,
        payload_bytes=payload_bytes,
        all_reduces=count,
        step_s=step_s,
        inside=cost.inside.times(count),
        network=cost.network.times(count),
        flat_s=flat.times(count).total_s,
    )


def node_sweep(
    model: ModelSpec,
    tp_sizes: Iterable[int],
    tokens: int,
    gpus_per_node: int,
    inside: LinkSpec,
    network: LinkSpec,
    step_s: float = LAB_STEP_S,
) -> tuple[NodeBill, ...]:
    """The bill at each TP size: where it crosses the node, it jumps."""
    return tuple(node_bill(model, size, tokens, gpus_per_node, inside, network, step_s) for size in tp_sizes)
