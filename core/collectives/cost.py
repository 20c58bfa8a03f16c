"""What a collective costs, algorithm by algorithm, in closed form.

n payload_bytes, N ranks, α link.latency_s a step, β link.bandwidth_bytes_per_s one way, t0 link.base_s once. A ring
on a link whose `ramp` is κ > 0 does not reach β at once: its bytes take κ·√(waiting · bytes/β) more; waiting is t0
and hops. Exchanges in one step do: tables of all-to-alls show none of it. A link whose `rings` were timed has its
bandwidth by the ranks that share it.
Links are full duplex and a rank has one port: in a step it sends and receives at once, to and from one peer
or, in the direct algorithms, to and from all of them through the same link. Ignored: overlap, reduction
arithmetic, protocol switches, contention inside a switch.

Every form here is also run message by message in core.collectives.programs, which counts the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log, sqrt
from types import MappingProxyType

from core.errors import OutOfRangeError, UnknownNameError, require_non_negative, require_positive
from core.specs import LinkSpec, Rings
from core.units import MIB


@dataclass(frozen=True)
class CollectiveCost:
    """The terms of one collective. `traffic_bytes` is what passes one rank's port on the critical path."""

    steps: int
    traffic_bytes: float
    latency_s: float
    bandwidth_s: float
    base_s: float = 0.0

    @property
    def waiting_s(self) -> float:
        """t0 + steps·α: what no bandwidth shortens."""
        return self.base_s + self.latency_s

    @property
    def total_s(self) -> float:
        """t0 + steps·α + traffic/β."""
        return self.waiting_s + self.bandwidth_s

    def times(self, count: int) -> "CollectiveCost":
        """The cost of `count` of them, one after another."""
        return CollectiveCost(**{name: count * term for name, term in vars(self).items()})

    def plus(self, other: "CollectiveCost") -> "CollectiveCost":
        """The cost of this one, then another."""
        return CollectiveCost(**{name: term + vars(other)[name] for name, term in vars(self).items()})


Algorithm = Callable[[float, int, LinkSpec], CollectiveCost]
"""`(payload_bytes, ranks, link) -> CollectiveCost`, one signature for the family."""


def ring_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of a ring all-reduce: reduce-scatter, then all-gather, N-1 hops each.

        T = t0 + 2(N-1)·α + 2(N-1)/N · n/β

    Source: Thakur, Rabenseifner & Gropp 2005; Patarasuk & Yuan 2009; nccl-tests doc/PERFORMANCE.md for β.
    """
    return _cost(2 * (ranks - 1), 2 * _others_share(payload_bytes, ranks), ranks, link, ring=True)


def ring_reduce_scatter(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of a ring reduce-scatter of n bytes on every rank: each is left with n/N of the sum.

    T = t0 + (N-1)·α + (N-1)/N · n/β
    """
    return _cost(ranks - 1, _others_share(payload_bytes, ranks), ranks, link, ring=True)


def ring_all_gather(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of a ring all-gather to n bytes on every rank: each began with n/N of them.

    T = t0 + (N-1)·α + (N-1)/N · n/β
    """
    return _cost(ranks - 1, _others_share(payload_bytes, ranks), ranks, link, ring=True)


def recursive_doubling_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of exchanging the whole payload with partners 1, 2, 4, … away.

        T = t0 + s·α + s·n/β,  s = lg N;  where N is not a power of two, s = ⌊lg N⌋ + 2

    The two more fold the surplus ranks in before and out after. Source: Thakur et al. 2005, §4.4.
    """
    steps = ranks.bit_length() - 1 + (0 if is_power_of_two(ranks) else 2)
    return _cost(steps, steps * payload_bytes, ranks, link)


def rabenseifner_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of recursive halving (reduce-scatter), then recursive doubling (all-gather).

        T = t0 + 2 lg N·α + 2(N-1)/N · n/β

    Raises OutOfRangeError unless N is a power of two. Source: Thakur et al. 2005, §4.5.
    """
    require_power_of_two(ranks)
    return _cost(2 * (ranks.bit_length() - 1), 2 * _others_share(payload_bytes, ranks), ranks, link)


def binomial_tree_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of reducing up a binomial tree and broadcasting down, the payload not cut into a pipeline.

        T = t0 + 2⌈lg N⌉·α + 2⌈lg N⌉·n/β

    NCCL's trees pipeline chunks and pay about 2n/β instead.
    """
    steps = 2 * (ranks - 1).bit_length()
    return _cost(steps, steps * payload_bytes, ranks, link)


def one_shot_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of every rank reading every peer's whole payload at once, and adding.

        T = t0 + α + (N-1)·n/β

    Source: vLLM csrc/custom_all_reduce.cuh, one stage.
    """
    return _cost(1, (ranks - 1) * payload_bytes, ranks, link)


def two_shot_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of a direct reduce-scatter, then a direct all-gather, one step each.

        T = t0 + 2α + 2(N-1)/N · n/β

    Source: vLLM csrc/custom_all_reduce.cuh, two stages.
    """
    return _cost(2, 2 * _others_share(payload_bytes, ranks), ranks, link)


def in_switch_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of sending n up to a switch that adds, while the sum comes down: one step, n each way.

        T = t0 + α + n/β

    What NVLink SHARP (NVLS) and InfiniBand SHARP do, without their limits.
    """
    return _cost(1, payload_bytes, ranks, link)


def direct_all_to_all(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of sending every peer its n/N of one rank's buffer at once.

    T = t0 + α + (N-1)/N · n/β
    """
    return _cost(1, _others_share(payload_bytes, ranks), ranks, link)


def pairwise_all_to_all(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of the same in N-1 rounds, one partner a round.

    T = t0 + (N-1)·α + (N-1)/N · n/β
    """
    return _cost(ranks - 1, _others_share(payload_bytes, ranks), ranks, link)


ALGORITHMS: Mapping[tuple[str, str], Algorithm] = MappingProxyType(
    {
        ("all_reduce", "ring"): ring_all_reduce,
        ("all_reduce", "recursive_doubling"): recursive_doubling_all_reduce,
        ("all_reduce", "rabenseifner"): rabenseifner_all_reduce,
        ("all_reduce", "binomial_tree"): binomial_tree_all_reduce,
        ("all_reduce", "one_shot"): one_shot_all_reduce,
        ("all_reduce", "two_shot"): two_shot_all_reduce,
        ("all_reduce", "in_switch"): in_switch_all_reduce,
        ("reduce_scatter", "ring"): ring_reduce_scatter,
        ("all_gather", "ring"): ring_all_gather,
        ("all_to_all", "direct"): direct_all_to_all,
        ("all_to_all", "pairwise"): pairwise_all_to_all,
    }
)
"""Each cost under the collective it is of and the algorithm's name."""


def algorithms_of(op: str) -> tuple[str, ...]:
    """The algorithms of one collective.

    Raises UnknownNameError for a collective that is not one.
    """
    names = tuple(name for known, name in ALGORITHMS if known == op)
    if not names:
        raise UnknownNameError("collective", op, dict.fromkeys(known for known, _ in ALGORITHMS))
    return names


def collective_cost(op: str, algorithm: str, payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """Cost of one collective by a named algorithm.

    Raises UnknownNameError when the two do not belong together, OutOfRangeError for sizes it cannot be of.
    """
    names = algorithms_of(op)
    if algorithm not in names:
        raise UnknownNameError("algorithm", algorithm, names, op=op)
    return ALGORITHMS[op, algorithm](payload_bytes, ranks, link)


RAMPS: Mapping[str, float] = MappingProxyType(
    {"nvlink": 0.95, "xgmi": 0.3, "pcie": 0.45}
    | dict.fromkeys(("infiniband", "roce", "efa", "slingshot", "ethernet"), 1.15)
)
"""κ by family: medians of what open nccl-tests tables show from 16 KiB to 64 MiB; for networks, of one GPU a node.

Over measured NVLink all-reduces of those sizes two numbers are a median 22 % off, with κ 7 %."""


@lru_cache(maxsize=256)
def as_measured(link: LinkSpec) -> LinkSpec:
    """A link at the ring bandwidth that was measured on it, reached as gradually as its family's tables show.

    Where rings of several sizes were timed, a price follows them. The labs' napkin links and links of one's own
    stay as they are.
    """
    if link.base_s == 0 or link.family == "":
        return link
    beta = link.measured_bytes_per_s or link.bandwidth_bytes_per_s
    return replace(link, bandwidth_bytes_per_s=beta, ramp=RAMPS[link.family], rings=link.measured_rings)


def shared(link: LinkSpec, gpus: int) -> LinkSpec:
    """A link as each of `gpus` of one node sees it that send over it at once: a node's port is divided among them.

    Everything that charges a link between nodes goes through here.
    """
    require_positive(gpus=gpus)
    if link.scope == "gpu":
        return link
    return replace(link, bandwidth_bytes_per_s=link.bandwidth_bytes_per_s / gpus)


def is_power_of_two(ranks: int) -> bool:
    """Whether `ranks` is 1, 2, 4, 8, …"""
    return ranks > 0 and ranks & (ranks - 1) == 0


def require_power_of_two(ranks: int) -> None:
    """Raise OutOfRangeError for a number of ranks that halving would leave uneven."""
    if not is_power_of_two(ranks):
        raise OutOfRangeError("ranks", ranks, "power_of_two", a=2, b=4, c=8, d=16)


def _others_share(payload_bytes: float, ranks: int) -> float:
    """(N-1)/N · n: the bytes of a payload that belong to other ranks."""
    require_positive(ranks=ranks)
    return (ranks - 1) * payload_bytes / ranks


def _cost(steps: int, traffic_bytes: float, ranks: int, link: LinkSpec, ring: bool = False) -> CollectiveCost:
    """Steps and bytes priced on a link; a ring's bytes reach its bandwidth gradually.

    One rank has nobody to talk to and launches nothing.
    """
    require_positive(ranks=ranks)
    require_non_negative(traffic_bytes=traffic_bytes)
    if ranks == 1:
        return CollectiveCost(steps=0, traffic_bytes=0.0, latency_s=0.0, bandwidth_s=0.0)
    latency_s, bandwidth_s = steps * link.latency_s, traffic_bytes / link.bandwidth_bytes_per_s
    if link.rings:
        bandwidth_s = max(bandwidth_s, _timed_bytes_s(traffic_bytes, ranks, link, ring))
    elif ring:
        bandwidth_s += link.ramp * sqrt((link.base_s + latency_s) * bandwidth_s)
    return CollectiveCost(steps, traffic_bytes, latency_s, bandwidth_s, base_s=link.base_s)


_LARGE_BYTES = 16 * MIB
"""Where the rings of a table give a bandwidth for exchanges that are none."""


def _timed_bytes_s(traffic_bytes: float, ranks: int, link: LinkSpec, ring: bool) -> float:
    """The bytes of a collective by the rings that were timed over as many ranks, or the next more that were.

    t(n) - t0 - 2(M-1)·α,  n = traffic · M / 2(M-1);  no ring: as many bytes at the rate of a large one
    """
    timed = next((one for one in link.rings if one.ranks >= ranks), link.rings[-1])
    hops = 2 * (timed.ranks - 1)
    if ring:
        payload, rate = traffic_bytes * timed.ranks / hops, 1.0
    else:
        payload, rate = _LARGE_BYTES, traffic_bytes / (_LARGE_BYTES * hops / timed.ranks)
    return rate * (_between(timed, payload) - link.base_s - hops * link.latency_s)


def _between(timed: Rings, payload_bytes: float) -> float:
    """The time at a payload: a straight line in log time over log bytes; beyond the last, at its rate."""
    (low, low_s), *others = timed.times
    if payload_bytes <= low:
        return low_s
    for high, high_s in others:
        if payload_bytes <= high:
            return exp(log(low_s) + log(payload_bytes / low) / log(high / low) * log(high_s / low_s))
        low, low_s = high, high_s
    return low_s * payload_bytes / low
