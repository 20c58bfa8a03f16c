"""Who makes an all-reduce in which release of vLLM: FlashInfer, its own kernel, symmetric memory or NCCL.

The one place that answers it: pages, commands and prices ask here. A release asks each in turn whether it takes a
payload, and the first that does makes the sum. NCCL's own symmetric memory, the quantized kernel of AMD's and
FlashInfer's over PCIe are off unless asked for, and left out.

Source: `CudaCommunicator.all_reduce` and the files of each candidate, in the wheels of 0.16.0 to 0.33.0.
"""

from dataclasses import dataclass
from typing import Literal

from core.collectives.custom_all_reduce import (
    STRICTLY_BELOW_SINCE,
    WORLD_SIZES,
    Machine,
    at_least,
    decide,
    in_symmetric_memory,
    max_bytes,
)
from core.collectives.releases import RELEASES_READ
from core.errors import require_positive
from core.specs import LinkSpec
from core.units import KIB, MIB

Kernel = Literal["FlashInfer", "one stage", "two stages", "half butterfly", "symmetric memory", "NCCL"]

SYMMETRIC_MEMORY_MOST = {
    "9.0": {2: 64 * MIB, 4: 32 * MIB, 6: 64 * MIB, 8: 64 * MIB},
    "10.0": {2: 8 * MIB, 4: 32 * MIB, 6: 128 * MIB, 8: 128 * MIB},
    "10.3": {2: 4 * MIB, 4: 32 * MIB, 6: 32 * MIB, 8: 64 * MIB},
}
"""The largest payload that symmetric memory takes itself, as 0.28.0 to 0.33.0 have it; above, it is NCCL's."""

FLASHINFER_MOST = {
    "9.0": {2: 64 * MIB, 4: 2 * MIB, 8: MIB // 2},
    "10.0": {2: 64 * MIB, 4: 32 * MIB, 8: MIB},
    "10.3": {2: 64 * MIB, 4: 64 * MIB, 8: 4 * MIB},
}
"""The largest payload that FlashInfer takes, by compute capability and ranks; it is asked first.

Source: `FI_ALLREDUCE_FUSION_MAX_SIZE_MB` in vLLM's compilation/passes/fusion/allreduce_rms_fusion.py, read for
sums alone too by device_communicators/flashinfer_all_reduce.py. Over multicast its buffers may hold a third of it.
"""
FLASHINFER_LARGER = {("10.0", 8): (128 * MIB, "0.33.0"), ("10.3", 4): (80 * MIB, "0.32.0"),
                     ("10.3", 8): (64 * MIB, "0.32.0")}  # fmt: skip
"""More where NVLink multicasts, as far as it was tuned, and since when: `FI_MNNVL_ALLREDUCE_MAX_SIZE_MB`."""
FLASHINFER_FUSED_SINCE = "0.17.0"
"""Sums with the norm after them are FlashInfer's by default (`enable_allreduce_rms_fusion`), which 0.16.0 has off;
up to 0.20.0 without data parallelism and pipelines only."""
FLASHINFER_ALONE_SINCE = "0.29.0"
"""`VLLM_ALLREDUCE_USE_FLASHINFER` is on by default: every sum of a tensor-parallel group is offered to it."""

_COMMS = "vllm/distributed/device_communicators"
_SAID_BY: dict[Kernel, str] = {
    "FlashInfer": f"{_COMMS}/flashinfer_all_reduce.py, FlashInferAllReduce.should_use_fi_ar",
    "one stage": f"{_COMMS}/custom_all_reduce.py, CustomAllreduce.should_custom_ar",
    "two stages": f"{_COMMS}/custom_all_reduce.py, CustomAllreduce.should_custom_ar",
    "half butterfly": "csrc/custom_all_reduce.cuh, cross_device_reduce_half_butterfly",
    "symmetric memory": f"{_COMMS}/symm_mem.py, SymmMemCommunicator.should_use_symm_mem",
    "NCCL": f"{_COMMS}/pynccl.py, PyNcclCommunicator.all_reduce",
}
_FUSED = "vllm/compilation/passes/fusion/allreduce_rms_fusion.py, AllReduceFusionPass"


@dataclass(frozen=True)
class Summed:
    """Who makes one all-reduce: the kernel, the release that was asked, and the file and name that say so."""

    kernel: Kernel
    release: str
    said_by: str


def who_sums(machine: Machine, payload_bytes: int) -> Summed:
    """The kernel that carries one all-reduce of a payload on a machine, in its release, with its citation.

    FlashInfer up to `flashinfer_most`; then the release's own kernel: one stage where N = 2, or with full NVLink
    and N ≤ 4 below 512 KiB or N ≤ 8 below 256 KiB, two stages above, up to its cap; then symmetric memory; NCCL.
    Four PCIe GPUs, where a release took them, met in a half butterfly.
    """
    require_positive(payload_bytes=payload_bytes)
    name = _kernel(machine, payload_bytes)
    fused = name == "FlashInfer" and not at_least(machine, FLASHINFER_ALONE_SINCE)
    return Summed(name, machine.release, _FUSED if fused else _SAID_BY[name])


def flashinfer_most(machine: Machine) -> int:
    """The largest payload that FlashInfer takes on a machine; 0 where it is off."""
    off = machine.flashinfer is False or not at_least(machine, FLASHINFER_FUSED_SINCE)
    if off or machine.rocm or machine.nodes > 1 or not machine.full_nvlink:
        return 0
    ranks, capability = machine.world_size, machine.compute_capability
    most = FLASHINFER_MOST.get(capability, {}).get(ranks, 0)
    if (capability, ranks) == ("10.3", 8) and not at_least(machine, FLASHINFER_ALONE_SINCE):
        most = 2 * MIB
    larger, since = FLASHINFER_LARGER.get((capability, ranks), (0, RELEASES_READ[-1]))
    return max(most, larger) if at_least(machine, since) else most


def machine_over(link: LinkSpec, ranks: int, release: str = RELEASES_READ[-1]) -> Machine:
    """The ranks of one node joined by a link, as the rules ask about them."""
    return Machine(
        release,
        ranks,
        full_nvlink=link.is_fabric,
        p2p=link.kernel_s is not None or link.is_fabric,
        rocm=link.family == "xgmi",
        compute_capability=link.capability or "8.9",
    )


def kernel_over(link: LinkSpec, ranks: int, payload_bytes: float, release: str = RELEASES_READ[-1]) -> Kernel:
    """What carries one all-reduce over a link, in a release; NCCL where the link has no kernel timed.

    Ranks that GPUs do not come in, links between nodes and PCIe without peer access are NCCL's.
    """
    if link.kernel_s is None or link.reach == "network" or ranks not in WORLD_SIZES or payload_bytes < 1:
        return "NCCL"
    return who_sums(machine_over(link, ranks, release), _whole(payload_bytes)).kernel


def _whole(payload_bytes: float) -> int:
    """Whole bytes of an average: to a multiple of 16, in which rows of activations come."""
    return max(16, round(payload_bytes / 16) * 16)


def _kernel(machine: Machine, payload_bytes: int) -> Kernel:
    if payload_bytes <= flashinfer_most(machine):
        return "FlashInfer"
    reduces = decide(machine).reduces and machine.nodes == 1
    if not (reduces and payload_bytes % 16 == 0 and _within(machine, payload_bytes)):
        return "symmetric memory" if _symmetric_takes(machine, payload_bytes) else "NCCL"
    if machine.world_size > 2 and not machine.full_nvlink:
        return "half butterfly"
    small = payload_bytes < (512 * KIB if machine.world_size <= 4 else 256 * KIB)
    return "one stage" if machine.world_size == 2 or small else "two stages"


def _symmetric_takes(machine: Machine, payload_bytes: int) -> bool:
    """Whether symmetric memory carries a payload: where it runs, in one node, up to its own cap."""
    if not in_symmetric_memory(machine) or machine.nodes > 1 or payload_bytes % 4:
        return False
    return payload_bytes <= SYMMETRIC_MEMORY_MOST[machine.compute_capability][machine.world_size]


def _within(machine: Machine, payload_bytes: int) -> bool:
    cap = max_bytes(machine)
    strict = at_least(machine, STRICTLY_BELOW_SINCE)
    return payload_bytes < cap if strict else payload_bytes <= cap
