"""How near the GPUs of a machine are to each other: who is within a reach, and how many stay nearer than all do."""

from collections.abc import Sequence

from core.placement.topology import NEAREST, Topology, kept_together

REACHES = range(len(NEAREST) + 1)
"""0 is NVLink or xGMI; each way over PCIe is one more, nearest first."""


def distance(seen: Topology, one: int, other: int) -> int:
    """The reach that two GPUs are apart."""
    way = seen.links.get((min(one, other), max(one, other)), "")
    if way in NEAREST:
        return 1 + NEAREST.index(way)
    return 0 if way.startswith("NV") or way == "XGMI" else len(NEAREST)


def within(seen: Topology, gpus: Sequence[int], reach: int) -> list[list[int]]:
    """GPUs grouped by who is no farther than that from every other of the group, lowest first."""
    groups: list[list[int]] = []
    for gpu in gpus:
        home = next((one for one in groups if all(distance(seen, gpu, other) <= reach for other in one)), None)
        if home is None:
            groups.append([gpu])
        else:
            home.append(gpu)
    return groups


def farthest(seen: Topology, gpus: Sequence[int]) -> str:
    """The way between the two of a group that are farthest apart."""
    pairs = [(one, other) for one in gpus for other in gpus if (one, other) in seen.links]
    return seen.links[max(pairs, key=lambda pair: distance(seen, *pair))]


def nearer(seen: Topology) -> tuple[tuple[int, str], ...]:
    """How many GPUs stay together over a way that is nearer than the machine's farthest: sizes and ways.

    A way counts by as many GPUs as every engine of that size finds in one of its groups.
    """
    found: list[tuple[int, str]] = []
    for reach in REACHES:
        groups = within(seen, range(seen.gpus), reach)
        size = kept_together([len(group) for group in groups])
        if (found[-1][0] if found else 1) < size < seen.gpus:
            ways = (farthest(seen, group) for group in groups if len(group) > 1)
            found.append((size, max(ways, key=lambda way: NEAREST.index(way) if way in NEAREST else -1)))
    return tuple(found)
