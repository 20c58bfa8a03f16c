"""The machines a model is placed on: GPUs, the NVLink domains and nodes they stand in, and the NICs between.

"Never across" is about domains, not boxes: in a GB200 NVL72 seventy-two GPUs share one NVLink, four to a node; two
bridged GPUs in a box of eight are a domain of two.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from core.catalog import GPUS
from core.catalog import gpu as find_gpu
from core.catalog import link as find_link
from core.errors import OutOfRangeError, Remark, UnknownNameError, remark, require_positive
from core.placement.nearness import nearer
from core.placement.topology import NEAREST, Topology
from core.scenario import Scenario
from core.specs import GpuSpec, LinkSpec
from core.steps.model import CROSSING_S, TensorGroup

MOST_GPUS = 2048


@dataclass(frozen=True)
class ClusterSpec:
    """GPUs of one kind in equal nodes.

    `link` joins the `nvlink_domain` GPUs of a domain (a node's, where it is not said), `bus` the domains inside a
    node, `network` the nodes. `nics_per_node` of the network's ports serve a node; where it is not said, as many as
    the network's row means: one a GPU, or one a node. Of `nearer`, so many GPUs are joined by a better link than a
    node's: those behind one switch, or at one socket.
    """

    gpu: GpuSpec
    link: LinkSpec
    network: LinkSpec
    gpus_per_node: int = 8
    nodes: int = 1
    nvlink_domain: int | None = None
    nics_per_node: int | None = None
    bus: LinkSpec | None = None
    nearer: tuple[tuple[int, LinkSpec], ...] = ()

    def __post_init__(self) -> None:
        require_positive(gpus_per_node=self.gpus_per_node, nodes=self.nodes)
        if self.gpus > MOST_GPUS:
            raise OutOfRangeError("gpus", self.gpus, f"must be at most {MOST_GPUS}")
        told = {"nvlink_domain": self.nvlink_domain, "nics_per_node": self.nics_per_node}
        require_positive(**{name: value for name, value in told.items() if value is not None})

    @property
    def gpus(self) -> int:
        return self.gpus_per_node * self.nodes

    @cached_property
    def domain(self) -> int:
        """GPUs that share one `link`, at most all there are."""
        return min(self.nvlink_domain or self.gpus_per_node, self.gpus)

    @cached_property
    def island(self) -> int:
        """GPUs that reach each other without the network: a node's, or a domain's where that spans nodes."""
        return max(self.domain, self.gpus_per_node)

    @cached_property
    def port(self) -> LinkSpec:
        """The network as one GPU has it while all of its node send: its share of the node's NICs, or one NIC's all.

        β · min(1, NICs / GPUs a node)
        """
        nics = self.nics_per_node or (self.gpus_per_node if self.network.scope == "gpu" else 1)
        return self.network.scaled(min(1.0, nics / self.gpus_per_node), scope="gpu")

    @cached_property
    def inner(self) -> LinkSpec:
        """The slowest link inside an island: `link`, or the bus where domains are smaller than the node."""
        return self.link if self.domain >= self.gpus_per_node else self.bus or find_link(self.gpu.bus_key)

    def crosses(self, ranks: int) -> bool:
        """Whether a group of neighbours this large must use the network."""
        return ranks > self.island

    def slowest_link(self, ranks: int) -> LinkSpec:
        """The slowest link that a group of neighbours this large needs."""
        return next((link for size, link in self._reaches if ranks <= size), self.port)

    @cached_property
    def _reaches(self) -> tuple[tuple[int, LinkSpec], ...]:
        """How many GPUs are joined by which link without the network, the fewest first."""
        every = (*self.nearer, (self.domain, self.link), (self.island, self.inner))
        return tuple(sorted(every, key=lambda reach: reach[0]))

    def group(self, ranks: int) -> TensorGroup:
        """A tensor-parallel group of neighbours on its links."""
        if ranks <= self.domain:
            return TensorGroup(ranks, self.slowest_link(ranks), self.domain)
        inside = self.inner if self.crosses(ranks) else self.slowest_link(ranks)
        return TensorGroup(ranks, inside, self.island, self.port, CROSSING_S)

    def hop(self, tp_size: int, boundary: int) -> LinkSpec:
        """The link between pipeline stage `boundary` and the next, stages filling domains in order."""
        first = (boundary + 1) * tp_size
        for size, link in self._reaches:
            if (first - 1) // size == first // size:
                return link
        return self.port

    def groups_of(self, ranks: int) -> int:
        """How many groups of neighbours there are room for, none of them over a boundary that it could avoid."""
        if ranks > self.island:
            return self.gpus // ranks
        return (self.gpus // self.island) * (self.island // ranks)


def custom_gpu(memory_bytes: float, memory_bytes_per_s: float, bf16_flops: float) -> GpuSpec:
    """A GPU that is not in the catalog, by the three figures that a placement needs.

    Raises OutOfRangeError for figures that no GPU has.
    """
    for name, value in (("memory_bytes", memory_bytes), ("memory_bytes_per_s", memory_bytes_per_s)):
        if not 0 < value < 1e16:
            raise OutOfRangeError(name, value, "must be above 0, and no more than a GPU can have")
    return GpuSpec(
        key="own",
        name="your GPU",
        bf16_flops=bf16_flops,
        memory_bytes_per_s=memory_bytes_per_s,
        memory_bytes=round(memory_bytes),
        usable_memory_bytes=round(memory_bytes),
        nvlink=True,
        source="as given",
    )


def usual_cluster(gpu: GpuSpec, gpus_per_node: int, nodes: int = 1) -> ClusterSpec:
    """These GPUs on their usual link; between nodes the scenario's network, 10 GbE, until one is named."""
    network = find_link(Scenario().network)
    return ClusterSpec(gpu, find_link(gpu.link_key), network, gpus_per_node, nodes, gpu.nvlink_domain)


def seen_cluster(cluster: ClusterSpec, seen: Topology, gpus_per_node: int | None = None) -> ClusterSpec:
    """A cluster of such nodes as a table shows one of: its GPUs, its links, who shares them, and its NICs.

    Where all of a node share NVLink, how many nodes do so too is as it was: the table shows only one. With fewer
    `gpus_per_node` than it shows, what they share by it ends at the node.
    """
    refuse_another(cluster.gpu, seen.names)
    gpus = gpus_per_node or seen.gpus
    joined = seen.nvlink_present and (seen.domain > 1 or seen.gpus == 1)
    shared = seen.domain if joined else seen.gpus
    whole = joined and seen.domain == seen.gpus
    link = seen_link(cluster.gpu, cluster.link, seen)
    bus = cluster.bus or (None if cluster.link.is_fabric else cluster.link)
    ways = [] if whole else _ways_over(bus or find_link(cluster.gpu.bus_key), seen, gpus)
    if ways:
        bus = ways[-1][1]
    return replace(
        cluster,
        link=link if joined or bus is None else bus,
        bus=bus,
        nearer=tuple(ways[:-1]),
        gpus_per_node=gpus,
        nvlink_domain=cluster.nvlink_domain if whole else min(shared, gpus),
        nics_per_node=cluster.nics_per_node or len(seen.near_nics or seen.nics) or None,
    )


def more_tables(cluster: ClusterSpec, seen: Topology) -> Remark | None:
    """What a text holds beside the table that a cluster is of; None where its nodes are as many as the tables."""
    tables = len(seen.tables)
    if tables < 2 or (tables == cluster.nodes and len(set(seen.tables)) == 1):
        return None
    code = "more_tables" if len(set(seen.tables)) == 1 else "unlike_tables"
    return remark(f"placement.{code}", tables=tables, gpus=seen.gpus, each=seen.tables, nodes=cluster.nodes)


def _ways_over(bus: LinkSpec, seen: Topology, gpus: int) -> list[tuple[int, LinkSpec]]:
    """How many GPUs of a machine are joined by which way over PCIe, the fewest first; of `gpus` in all."""
    over = [(size, way) for size, way in (*nearer(seen), (seen.gpus, seen.worst_way)) if way in NEAREST]
    ways = [(size, over_pcie(bus, way)) for size, way in over]
    return [(size, way) for size, way in ways if size < gpus] + [(gpus, way) for size, way in ways if size >= gpus][
        :1
    ]


def refuse_another(gpu: GpuSpec, names: Iterable[str]) -> None:
    """Raise OutOfRangeError where what was pasted names another GPU than the one that was said.

    A name of the catalog has to be its row's; of another the word that tells models apart has to be there.
    """
    known = next((word for word in gpu.key.split("-") if any(letter.isdigit() for letter in word)), "")
    for name in names if gpu.key in GPUS and known else ():
        try:
            same = find_gpu(name).key == gpu.key
        except UnknownNameError:
            same = re.search(rf"(?<![a-z0-9]){re.escape(known)}(?![0-9])", name.lower()) is not None
        if not same:
            raise OutOfRangeError("topology", name, f"is not {gpu.name}; name the GPU that the table is of")


def seen_link(gpu: GpuSpec, usual: LinkSpec, seen: Topology) -> LinkSpec:
    """The usual link, unless a table contradicts it: PCIe where it shows no NVLink, NVLink where it does.

        β · bonded links / links of a GPU

    A GPU that is not known to have NVLink is taken to have that of an A100.

    Raises OutOfRangeError where the table can only be another GPU's: more links than the GPU has, or AMD's.
    """
    if not seen.nvlink_present:
        return over_pcie(find_link(gpu.bus_key) if usual.is_fabric else usual, seen.worst_way)
    link = usual if usual.is_fabric else find_link(gpu.bridge_key)
    whole = link.lanes
    if seen.of_amd and gpu.nvlink:
        raise OutOfRangeError(
            "topology", "XGMI", f"joins GPUs of AMD, and {gpu.name} is none; name the GPU that the table is of"
        )
    if (gpu.nvlink or gpu.bridged) and 0 < whole < seen.most_bonded:
        raise OutOfRangeError(
            "topology",
            f"NV{seen.most_bonded}",
            f"bonds more than the {whole} links of {gpu.name}; name the GPU that the table is of",
        )
    if not 0 < seen.bonded < whole:
        return link
    return link.scaled(seen.bonded / whole, name=f"{link.name}, {seen.bonded} links of {whole}")


PHB_SHARE = 5 / 6
"""What an Intel CPU leaves of PCIe between two GPUs: it cuts their traffic into 64-byte packets.

Source: NCCL src/graph/topo.h, INTEL_P2P_OVERHEAD.
"""
SOCKET_BYTES_PER_S = 10e9
"""Between the sockets of a machine, one way.

Source: NCCL src/graph/topo.h, SKL_QPI_BW; AMD_BW is 16, SRP_QPI_BW 22.
"""
_THROUGH_CPU, _ACROSS_SOCKETS = ("PHB", "NODE"), ("SOC", "SYS")


def over_pcie(link: LinkSpec, way: str) -> LinkSpec:
    """PCIe as the farthest pair of a machine has it: under a switch, through its CPU, or across sockets.

    PIX, PXB: β      PHB, NODE: 5/6 · β      SYS: min(5/6 · β, between sockets)

    Behind a switch rings have what was measured behind one, not what a server without switches took.
    """
    if way in ("PIX", "PXB") and link.switched_bytes_per_s:
        return replace(link, measured_bytes_per_s=link.switched_bytes_per_s, measured_rings=())
    if way not in (*_THROUGH_CPU, *_ACROSS_SOCKETS):
        return link
    most = SOCKET_BYTES_PER_S if way in _ACROSS_SOCKETS else float("inf")
    measured = link.measured_bytes_per_s
    return replace(
        link,
        name=f"{link.name}, {way}",
        bandwidth_bytes_per_s=min(most, PHB_SHARE * link.bandwidth_bytes_per_s),
        measured_bytes_per_s=None if measured is None else min(most, PHB_SHARE * measured),
    )
