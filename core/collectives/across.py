"""An all-reduce over nodes of several GPUs: its closed form, and what it waits besides, as open tables have it.

Between payloads that wait and those that pour, NCCL switches protocols and cuts its pieces, and a ring that
crosses a network is far from both of its limits. The wait is the same whatever the link and however many GPUs are
in the node: a share of the time instead would charge a slow hop inside twice.
"""

from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

from core.collectives.cost import CollectiveCost, ring_all_reduce, shared
from core.errors import require_positive
from core.specs import LinkSpec
from core.units import KIB, MIB

WAITS: tuple[tuple[float, float], ...] = (
    (8 * KIB, 11e-6),
    (128 * KIB, 20e-6),
    (512 * KIB, 60e-6),
    (4 * MIB, 60e-6),
    (16 * MIB, 30e-6),
    (64 * MIB, 0.0),
)
"""Payload, and seconds over the closed form: rounded medians of the tables of `HELD`. Above, the tables lie under
the form, at 0.9 to 0.7 of it: they have more of a network than one ring, and it is left as it is."""


class Tables(NamedTuple):
    """How many published tables a form was held to, up to which payload, and how far it is off on their rows."""

    n: int
    most_bytes: int
    median_error: float
    p90_error: float


HELD = Tables(n=19, most_bytes=32 * MIB, median_error=0.23, p90_error=0.71)
"""Two nodes and once four, from 1 KiB, nccl-tests and rccl-tests in eager mode: A100 with HDR and EFA, H100 with
NDR, EFA and TCPXO, H200 with one NIC, B200 with NDR and RoCE, GH200 with Slingshot and TCP, L40S with RDMA, MI300X
and MI355X with RoCE. MI300X took up to four times as long, MI355X as little as half."""


class Far(NamedTuple):
    """Measured over told where the form is known to be bad: the worst row over plain TCP, over RoCE between MI300X
    and over a transport of the cloud's own. A table's first row, in which its start shows, is left out."""

    tcp: float
    mi300x: float
    tcpxo: float


FAR = Far(tcp=4.5, mi300x=4.1, tcpxo=0.15)
"""Of GH200 with Slingshot by TCP alone, at 256 KiB; MI300X at 8 KiB; H100 with GPUDirect-TCPXO at 32 MiB."""


@dataclass(frozen=True)
class HierarchicalCost:
    """An all-reduce over nodes of GPUs, its two levels kept apart."""

    inside: CollectiveCost
    network: CollectiveCost

    @property
    def total_s(self) -> float:
        """The levels run one after the other."""
        return self.inside.total_s + self.network.total_s


def hierarchical_all_reduce(
    payload_bytes: float, gpus_per_node: int, nodes: int, inside: LinkSpec, network: LinkSpec
) -> HierarchicalCost:
    """Cost of reduce-scatter inside each of G nodes of L GPUs, all-reduce of the pieces across, all-gather inside.

        T = t0 + 2(L-1)·α_in + 2(L-1)/L · n/β_in + w(n) + 2(G-1)·α_out + 2(G-1)/G · (n/L)/β_out

    A link that belongs to the node is shared by its L GPUs. The launch is paid once, the inner link's, or the
    network's where a node has one GPU; `w` is what tables show besides, on a network whose launch is known.
    """
    require_positive(nodes=nodes)
    within = ring_all_reduce(payload_bytes, gpus_per_node, inside)
    across = ring_all_reduce(payload_bytes / gpus_per_node, nodes, shared(network, gpus_per_node))
    if gpus_per_node == 1:
        return HierarchicalCost(within, across)
    return HierarchicalCost(
        within, replace(across, base_s=crossing_wait_s(payload_bytes) if across.base_s else 0.0)
    )


def crossing_wait_s(payload_bytes: float) -> float:
    """What an all-reduce over nodes of several GPUs waits besides; between two payloads by the size's logarithm."""
    sizes = [size for size, _ in WAITS]
    if payload_bytes <= sizes[0]:
        return WAITS[0][1]
    if payload_bytes >= sizes[-1]:
        return WAITS[-1][1]
    right = next(index for index, size in enumerate(sizes) if size >= payload_bytes)
    (low, first), (high, second) = WAITS[right - 1], WAITS[right]
    return first + log(payload_bytes / low) / log(high / low) * (second - first)
