"""The price of one all-reduce of a served engine: by whoever makes it, over a link as it was measured.

N ranks, n payload_bytes, s + p·(N-2) one stage of the kernel (`LinkSpec.kernel_s`), β the link's bandwidth. Labs,
planner, clinic and commands all ask here, so that one payload over one link has one price. Who makes the sum is
core.collectives.who_sums' answer, for the newest release read.
"""

from dataclasses import dataclass, replace

from core.collectives.cost import (
    CollectiveCost,
    as_measured,
    in_switch_all_reduce,
    one_shot_all_reduce,
    ring_all_reduce,
    two_shot_all_reduce,
)
from core.collectives.custom_all_reduce import MAX_BYTES
from core.collectives.releases import RELEASES_READ
from core.collectives.who_sums import Kernel, kernel_over
from core.comm_cost.bill import Bill, Step
from core.specs import LinkSpec, ModelSpec

IN_SWITCH_WAIT_S = 25e-6
"""What NCCL charges a sum in the switch before its first byte. Source: NVIDIA/nccl src/graph/tuning.cc, NVLS."""

_IN_SWITCH_RANKS = 8
"""GPUs over which the links' `in_switch_bytes_per_s` were measured."""

_NEWEST = RELEASES_READ[-1]


@dataclass(frozen=True)
class Picked:
    """The kernel an engine picks, one sum by it, and the bill of a step's sums."""

    kernel: Kernel
    one_sum: CollectiveCost
    bill: Bill


def picked_kernel(payload_bytes: float, ranks: int, link: LinkSpec, release: str = _NEWEST) -> Kernel:
    """What carries one all-reduce over a link; NCCL where the link has no kernel timed."""
    return kernel_over(link, ranks, payload_bytes, release)


def picked_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec, release: str = _NEWEST) -> CollectiveCost:
    """The cost of one all-reduce by what an engine picks, on a link as it was measured.

    One stage: s + p·(N-2) + (N-1)·n/β. Two: twice the stage, and 2(N-1)/N·n/β. Symmetric memory: t + n/β', the sum
    made in the switch. FlashInfer's kernels were not timed here: they are taken to be as fast as the faster of one
    and two stages up to 8 MiB, as the faster of a ring and the switch above. Ignored: the copy into the kernel's
    buffer outside of a CUDA graph, 15 to 18 µs on an H100.
    """
    measured, name = as_measured(link), picked_kernel(payload_bytes, ranks, link, release)
    ring = ring_all_reduce(payload_bytes, ranks, measured)
    if name == "NCCL" or link.kernel_s is None:
        return ring
    first_s, further_s = link.kernel_s
    direct = replace(measured, base_s=0.0, latency_s=first_s + further_s * (ranks - 2))
    one, two = (shots(payload_bytes, ranks, direct) for shots in (one_shot_all_reduce, two_shot_all_reduce))
    if name == "FlashInfer" and payload_bytes <= MAX_BYTES:
        return min(one, two, key=_total_s)
    if name in ("symmetric memory", "FlashInfer"):
        switched = _switched(payload_bytes, ranks, measured)
        return (
            ring
            if switched is None
            else switched
            if name == "symmetric memory"
            else min(ring, switched, key=_total_s)
        )
    return one if name == "one stage" else two


def large_bytes_per_s(ranks: int, link: LinkSpec) -> float:
    """The bandwidth that large payloads reach over a link, as measured, where so many ranks share it."""
    measured = as_measured(link)
    if not measured.rings or ranks < 2:
        return measured.bandwidth_bytes_per_s
    large = ring_all_reduce(2 * MAX_BYTES, ranks, measured)
    return large.traffic_bytes / large.bandwidth_s


def _total_s(cost: CollectiveCost) -> float:
    return cost.total_s


def _switched(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost | None:
    """One sum in the switch by PyTorch's symmetric memory, its copies counted; None where none was timed."""
    if link.switch_sum is None:
        return None
    wait_s, bytes_per_s = link.switch_sum
    switch = replace(link, base_s=0.0, latency_s=wait_s, bandwidth_bytes_per_s=bytes_per_s)
    return in_switch_all_reduce(payload_bytes, ranks, switch)


def in_switch_cost(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost | None:
    """One all-reduce that NCCL has the NVLink switch add up (NVLink SHARP): n up, n down, at the measured speed.

        t + n/β',  β' = busbw · N / 2(N-1) at the N = 8 of the measurement

    None for two ranks, which NCCL does not send there, and over links whose switch cannot add.
    """
    if link.in_switch_bytes_per_s is None or ranks <= 2:
        return None
    beta = link.in_switch_bytes_per_s * _IN_SWITCH_RANKS / (2 * (_IN_SWITCH_RANKS - 1))
    switched = replace(link, base_s=0.0, latency_s=IN_SWITCH_WAIT_S, bandwidth_bytes_per_s=beta)
    return in_switch_all_reduce(payload_bytes, ranks, switched)


def sums_of(model: ModelSpec, ranks: int, tokens: int, link: LinkSpec, release: str = _NEWEST) -> CollectiveCost:
    """The cost of all the sums of one step of `tokens` rows, by the kernel an engine picks."""
    return picked_bill(Step(model, ranks, tokens), link, release).bill.cost


def picked_bill(step: Step, link: LinkSpec, release: str = _NEWEST) -> Picked:
    """The bill of a step by the kernel an engine picks for it."""
    one_sum = picked_all_reduce(step.payload_bytes, step.tp_size, link, release)
    name = picked_kernel(step.payload_bytes, step.tp_size, link, release)
    return Picked(name, one_sum, Bill(step, one_sum.times(step.all_reduces), named=link.named))
