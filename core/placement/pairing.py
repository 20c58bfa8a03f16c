"""Which GPUs of a node go together: ranks that talk most stand nearest to each other in its topology."""

from collections.abc import Sequence

from core.errors import Remark, remark
from core.placement.layout import Layout
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
    ways = (_farthest(seen, engine) for engine in engines)
    worst = max(ways, key=lambda way: NEAREST.index(way) if way in NEAREST else -1)
    return remark("placement.pairing", devices=devices, way=worst, whole=seen.worst_way)


def _groups(seen: Topology, gpus: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """As many groups of a size as there are, the nearest first."""
    left, groups = list(gpus), list[tuple[int, ...]]()
    for reach in range(len(NEAREST) + 1):
        for cluster in _cliques(seen, left, reach):
            while len(cluster) >= size:
                groups.append(tuple(cluster[:size]))
                left = [gpu for gpu in left if gpu not in cluster[:size]]
                cluster = cluster[size:]
    return groups


def _cliques(seen: Topology, gpus: Sequence[int], reach: int) -> list[list[int]]:
    """GPUs grouped by who is no farther than that from every other of the group, lowest first."""
    cliques: list[list[int]] = []
    for gpu in gpus:
        home = next((one for one in cliques if all(_distance(seen, gpu, other) <= reach for other in one)), None)
        if home is None:
            cliques.append([gpu])
        else:
            home.append(gpu)
    return cliques


def _distance(seen: Topology, one: int, other: int) -> int:
    way = seen.links.get((min(one, other), max(one, other)), "")
    if way in NEAREST:
        return 1 + NEAREST.index(way)
    return 0 if way.startswith("NV") or way == "XGMI" else len(NEAREST)


def _farthest(seen: Topology, gpus: Sequence[int]) -> str:
    """The way between the two of a group that are farthest apart."""
    pairs = [(one, other) for one in gpus for other in gpus if (one, other) in seen.links]
    return seen.links[max(pairs, key=lambda pair: _distance(seen, *pair))]
