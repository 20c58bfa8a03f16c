"""Tensor parallelism across the node boundary: the same all-reduces, on two links of very different speed.

L GPUs a node, G nodes, N = L·G = tp_size. Inside a node everything runs on the inner link; past it, a hierarchical
all-reduce keeps all but 1/L of the payload off the network, and a flat ring does not.
"""

from dataclasses import dataclass

from core.collectives.across import hierarchical_all_reduce
from core.comm_cost.bill import Bill, Step, bill
from core.errors import require_divides, require_positive
from core.specs import LinkSpec


@dataclass(frozen=True)
class NodeBill:
    """The bill of one step over nodes, its two levels apart.

    `flat` is one ring through every GPU instead: each of its steps waits for the slowest hop, a network's.
    """

    nodes: int
    gpus_per_node: int
    inside: Bill
    network: Bill
    flat: Bill

    @property
    def whole(self) -> Bill:
        """Both levels, one after another."""
        return Bill(self.inside.step, self.inside.cost.plus(self.network.cost))

    @property
    def network_fraction(self) -> float:
        """The share of the bill that the network takes; 0 inside one node."""
        return self.network.comm_s / self.whole.comm_s if self.whole.comm_s else 0.0


def node_bill(step: Step, gpus_per_node: int, inside: LinkSpec, network: LinkSpec) -> NodeBill:
    """The bill of a step with TP over as many nodes as it takes, `gpus_per_node` GPUs in each.

    Raises IndivisibleError where the last node would not be full.
    """
    require_positive(gpus_per_node=gpus_per_node)
    local = min(step.tp_size, gpus_per_node)
    nodes = require_divides("tp_size", step.tp_size, "gpus_per_node", local)
    cost = hierarchical_all_reduce(step.payload_bytes, local, nodes, inside, network)
    return NodeBill(
        nodes=nodes,
        gpus_per_node=local,
        inside=Bill(step, cost.inside.times(step.all_reduces)),
        network=Bill(step, cost.network.times(step.all_reduces)),
        flat=bill(step, network if nodes > 1 else inside),
    )
