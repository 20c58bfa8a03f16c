"""Which GPUs of a node go together: ranks that talk most stand nearest to each other in its topology."""

from collections.abc import Sequence

from core.errors import Remark, remark
from core.placement.cluster import ClusterSpec, more_tables
from core.placement.layout import Layout
from core.placement.nearness import REACHES, farthest, within
from core.placement.plan import Plan
from core.placement.topology import NEAREST, Topology
from core.specs import GpuSpec

VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "HIP_VISIBLE_DEVICES"}
"""What hides the other GPUs from an engine, by what its kernels are launched through."""


def engine_gpus(seen: Topology, layout: Layout) -> tuple[tuple[int, ...], ...]:
    """The GPUs of each engine of one node, those of a tensor-parallel group one after another.

    Empty where an engine takes more than the node.
    """
    each = layout.gpus_per_replica
    engines = _groups(seen, range(seen.gpus), each)[: layout.replicas]
    return tuple(
        tuple(gpu for group in _groups(seen, engine, layout.tp_size) for gpu in group) for engine in engines
    )


def of_machine(seen: Topology, plan: Plan, cluster: ClusterSpec) -> list[Remark]:
    """What a machine's own text says of a plan: what else it holds, and which GPUs go together."""
    said = more_tables(cluster, seen), pairing(seen, plan.layout, cluster.gpu)
    return [one for one in said if one is not None]


def pairing(seen: Topology, layout: Layout, gpu: GpuSpec) -> Remark | None:
    """Which GPUs each engine is to see; None where all of a node are as near, or every engine has one or all."""
    engines = engine_gpus(seen, layout)
    if not engines or layout.gpus_per_replica == 1 or len(set(seen.links.values())) < 2:
        return None
    if layout.gpus_per_replica == seen.gpus and engines == (tuple(range(seen.gpus)),):
        return None
    devices = tuple(f"{VISIBLE[gpu.stack]}={','.join(map(str, engine))}" for engine in engines)
    if len(engines) == 1:
        return remark("placement.pairing_one", devices=devices[0])
    ways = (farthest(seen, engine) for engine in engines)
    worst = max(ways, key=lambda way: NEAREST.index(way) if way in NEAREST else -1)
    return remark("placement.pairing", devices=devices, way=worst, whole=seen.worst_way)


def _groups(seen: Topology, gpus: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """As many groups of a size as there are, the nearest first."""
    left, groups = list(gpus), list[tuple[int, ...]]()
    for reach in REACHES:
        for cluster in within(seen, left, reach):
            while len(cluster) >= size:
                groups.append(tuple(cluster[:size]))
                left = [gpu for gpu in left if gpu not in cluster[:size]]
                cluster = cluster[size:]
    return groups
