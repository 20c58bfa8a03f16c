"""The all-reduce an engine would pick for a step: its own kernel under the cap, NCCL's ring above it.

N ranks, n payload_bytes, s + p·(N-2) one stage of the kernel (`LinkSpec.kernel_s`), β the link's bandwidth.
The rules are vLLM's (core.collectives.custom_all_reduce), the newest release read.
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
from core.collectives.custom_all_reduce import WORLD_SIZES, Kernel, Machine, kernel
from core.collectives.releases import RELEASES_READ
from core.comm_cost.bill import Bill, Step
from core.specs import LinkSpec

IN_SWITCH_WAIT_S = 25e-6
"""What NCCL charges a sum in the switch before its first byte. Source: NVIDIA/nccl src/graph/tuning.cc, NVLS."""

_IN_SWITCH_RANKS = 8
"""GPUs over which the links' `in_switch_bytes_per_s` were measured."""


@dataclass(frozen=True)
class Picked:
    """The kernel an engine picks, one sum by it, and the bill of a step's sums."""

    kernel: Kernel
    one_sum: CollectiveCost
    bill: Bill


def picked_kernel(payload_bytes: int, ranks: int, link: LinkSpec) -> Kernel:
    """What carries one all-reduce over a link, symmetric memory apart; NCCL where the link has no kernel timed.

    Ranks that GPUs do not come in, links between nodes and PCIe without peer access are NCCL's.
    """
    if link.kernel_s is None or link.reach == "network" or ranks not in WORLD_SIZES:
        return "NCCL"
    machine = Machine(RELEASES_READ[-1], ranks, full_nvlink=link.is_fabric, symmetric_memory=False)
    return kernel(machine, payload_bytes)


def picked_all_reduce(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost:
    """The cost of one all-reduce by what an engine picks, on a link as it was measured.

    One stage: s + p·(N-2) + (N-1)·n/β. Two: twice the stage, and 2(N-1)/N·n/β. Ignored: the copy into the kernel's
    buffer outside of a CUDA graph, 15 to 18 µs on an H100.
    """
    measured = as_measured(link)
    name = picked_kernel(round(payload_bytes), ranks, link)
    if name == "NCCL" or link.kernel_s is None:
        return ring_all_reduce(payload_bytes, ranks, measured)
    first_s, further_s = link.kernel_s
    direct = replace(measured, base_s=0.0, latency_s=first_s + further_s * (ranks - 2))
    shots = one_shot_all_reduce if name == "one stage" else two_shot_all_reduce
    return shots(payload_bytes, ranks, direct)


def in_switch_cost(payload_bytes: float, ranks: int, link: LinkSpec) -> CollectiveCost | None:
    """One all-reduce that the NVLink switch adds up (NVLink SHARP): n up, n down, at the speed that was measured.

        t + n/β',  β' = busbw · N / 2(N-1) at the N = 8 of the measurement

    None for two ranks, which NCCL does not send there, and over links whose switch cannot add.
    """
    if link.in_switch_bytes_per_s is None or ranks <= 2:
        return None
    beta = link.in_switch_bytes_per_s * _IN_SWITCH_RANKS / (2 * (_IN_SWITCH_RANKS - 1))
    switched = replace(link, base_s=0.0, latency_s=IN_SWITCH_WAIT_S, bandwidth_bytes_per_s=beta)
    return in_switch_all_reduce(payload_bytes, ranks, switched)


def picked_bill(step: Step, link: LinkSpec) -> Picked:
    """The bill of a step by the kernel an engine picks for it."""
    one_sum = picked_all_reduce(step.payload_bytes, step.tp_size, link)
    name = picked_kernel(step.payload_bytes, step.tp_size, link)
    return Picked(name, one_sum, Bill(step, one_sum.times(step.all_reduces)))
