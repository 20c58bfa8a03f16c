"""Accelerators: what a data sheet says in our units, and the memory a driver leaves.

Vendors print bf16 FLOP/s with 2:4 sparsity: halved here where they do. `memory_bytes` is the capacity as sold;
`usable_memory_bytes` is what the driver reports as the device's total, before any process allocates.
"""

from collections.abc import Mapping

from core.catalog.lookup import by_key, find
from core.specs import GpuSpec
from core.units import GB, GIB

_TFLOPS = 10**12
_GB_PER_S = 10**9


def _usable(gib: float) -> int:
    """Bytes of a capacity that a log prints in GiB to two decimals."""
    return round(gib * GIB)


GPUS: Mapping[str, GpuSpec] = by_key(
    (
        GpuSpec(
            key="a100-80gb-sxm",
            name="A100 SXM 80 GB",
            bf16_flops=312 * _TFLOPS,
            memory_bytes_per_s=2039 * _GB_PER_S,
            memory_bytes=80 * GB,
            usable_memory_bytes=_usable(79.15),
            nvlink=True,
            aliases=("a100", "a100-80gb", "a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB"),
            source="NVIDIA A100 data sheet: 312 TFLOPS dense, 2,039 GB/s; PyTorch reports 79.15 GiB",
        ),
        GpuSpec(
            key="a100-40gb-sxm",
            name="A100 SXM 40 GB",
            bf16_flops=312 * _TFLOPS,
            memory_bytes_per_s=1555 * _GB_PER_S,
            memory_bytes=40 * GB,
            usable_memory_bytes=_usable(39.49),
            nvlink=True,
            aliases=("a100-40gb", "a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB"),
            source="NVIDIA A100 data sheet: 312 TFLOPS dense, 1,555 GB/s; vLLM logs print 39.49 GiB",
        ),
        GpuSpec(
            key="h100-sxm",
            name="H100 SXM 80 GB",
            bf16_flops=989 * _TFLOPS,
            memory_bytes_per_s=3350 * _GB_PER_S,
            memory_bytes=80 * GB,
            usable_memory_bytes=_usable(79.11),
            nvlink=True,
            aliases=("h100", "h100-80gb", "h100-80gb-sxm", "NVIDIA H100 80GB HBM3"),
            source="NVIDIA H100 data sheet: 1,979 TFLOPS sparse halved, 3.35 TB/s; PyTorch reports 79.11 GiB",
        ),
        GpuSpec(
            key="h200-sxm",
            name="H200 SXM 141 GB",
            bf16_flops=989 * _TFLOPS,
            memory_bytes_per_s=4800 * _GB_PER_S,
            memory_bytes=141 * GB,
            usable_memory_bytes=_usable(139.81),
            nvlink=True,
            aliases=("h200", "h200-141gb", "NVIDIA H200"),
            source="NVIDIA H200 data sheet: 1,979 TFLOPS sparse halved, 4.8 TB/s; PyTorch reports 139.81 GiB",
        ),
        GpuSpec(
            key="b200-sxm",
            name="B200 SXM 180 GB",
            bf16_flops=2250 * _TFLOPS,
            memory_bytes_per_s=8000 * _GB_PER_S,
            memory_bytes=180 * GB,
            usable_memory_bytes=_usable(178.35),
            nvlink=True,
            aliases=("b200", "NVIDIA B200"),
            source=(
                "NVIDIA DGX B200 data sheet: 4.5 PFLOPS sparse halved, 8 TB/s, 180 GB; PyTorch reports 178.35 GiB"
            ),
        ),
        GpuSpec(
            key="l40s",
            name="L40S 48 GB",
            bf16_flops=362 * _TFLOPS,
            memory_bytes_per_s=864 * _GB_PER_S,
            memory_bytes=48 * GB,
            usable_memory_bytes=_usable(44.40),
            nvlink=False,
            aliases=("NVIDIA L40S",),
            source=(
                "NVIDIA L40S data sheet: 733 TFLOPS sparse, 362 dense, 864 GB/s; PyTorch reports 44.40 GiB (ECC on)"
            ),
        ),
        GpuSpec(
            key="l4",
            name="L4 24 GB",
            bf16_flops=121 * _TFLOPS,
            memory_bytes_per_s=300 * _GB_PER_S,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(22.05),
            nvlink=False,
            aliases=("NVIDIA L4",),
            source="NVIDIA L4 data sheet: 242 TFLOPS sparse halved, 300 GB/s; PyTorch reports 22.05 GiB (ECC on)",
        ),
        GpuSpec(
            key="rtx-4090",
            name="GeForce RTX 4090 24 GB",
            bf16_flops=165 * _TFLOPS,
            memory_bytes_per_s=1008 * _GB_PER_S,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(23.64),
            nvlink=False,
            aliases=("4090", "rtx4090", "NVIDIA GeForce RTX 4090"),
            source=(
                "NVIDIA Ada whitepaper: 330 TFLOPS sparse halved (fp32 accumulate), 1,008 GB/s; PyTorch reports "
                "23.64 GiB"
            ),
        ),
    )
)
"""Every accelerator, under its key."""


def gpu(name: str) -> GpuSpec:
    """The accelerator that `name` means.

    Raises UnknownNameError.
    """
    return find("GPU", GPUS, name)
