"""Accelerators: what a data sheet says in our units, and the memory a driver leaves.

Vendors print bf16 FLOP/s with 2:4 sparsity: halved here where they do. `memory_bytes` is the capacity as sold;
`usable_memory_bytes` is what the driver reports as the device's total, before any process allocates: the figure
in PyTorch's out-of-memory message. It is less than the name says in GiB and mostly more than it says in GB.
"""

from collections.abc import Mapping

from core.catalog.lookup import by_key, find
from core.specs import GpuSpec
from core.units import GB, GIB


def _usable(gib: float) -> int:
    """Bytes of a capacity that is printed in GiB to two decimals."""
    return round(gib * GIB)


GPUS: Mapping[str, GpuSpec] = by_key(
    (
        GpuSpec(
            key="a100-80gb-sxm",
            name="A100 SXM 80 GB",
            bf16_flops=312e12,
            memory_bytes_per_s=2039e9,
            memory_bytes=80 * GB,
            usable_memory_bytes=_usable(79.15),
            nvlink=True,
            aliases=(
                "a100",
                "a100-80gb",
                "a100-sxm4-80gb",
                "NVIDIA A100-SXM4-80GB",
            ),
            source="NVIDIA A100 data sheet: 312 TFLOPS dense, 2,039 GB/s; PyTorch reports 79.15 GiB",
        ),
        GpuSpec(
            key="a100-40gb-sxm",
            name="A100 SXM 40 GB",
            bf16_flops=312e12,
            memory_bytes_per_s=1555e9,
            memory_bytes=40 * GB,
            usable_memory_bytes=_usable(39.49),
            nvlink=True,
            aliases=(
                "a100-40gb",
                "a100-sxm4-40gb",
                "NVIDIA A100-SXM4-40GB",
            ),
            source="NVIDIA A100 data sheet: 312 TFLOPS dense, 1,555 GB/s; vLLM startup logs print 39.49 GiB",
        ),
        GpuSpec(
            key="h100-sxm",
            name="H100 SXM 80 GB",
            bf16_flops=989e12,
            memory_bytes_per_s=3350e9,
            memory_bytes=80 * GB,
            usable_memory_bytes=_usable(79.19),
            nvlink=True,
            aliases=(
                "h100",
                "h100-80gb",
                "h100-80gb-sxm",
                "h100-sxm5",
                "NVIDIA H100 80GB HBM3",
            ),
            source=(
                "NVIDIA H100 data sheet: 1,979 TFLOPS sparse halved, 3.35 TB/s; PyTorch reports 79.19 GiB (79.11 "
                "under older drivers)"
            ),
        ),
        GpuSpec(
            key="h100-pcie",
            name="H100 PCIe 80 GB",
            bf16_flops=756e12,
            memory_bytes_per_s=2000e9,
            memory_bytes=80 * GB,
            usable_memory_bytes=_usable(79.19),
            nvlink=False,
            aliases=("NVIDIA H100 PCIe",),
            source="NVIDIA H100 data sheet: 1,513 TFLOPS sparse halved, 2 TB/s; memory taken as the SXM card's",
        ),
        GpuSpec(
            key="h200-sxm",
            name="H200 SXM 141 GB",
            bf16_flops=989e12,
            memory_bytes_per_s=4800e9,
            memory_bytes=141 * GB,
            usable_memory_bytes=_usable(139.80),
            nvlink=True,
            aliases=(
                "h200",
                "h200-141gb",
                "NVIDIA H200",
            ),
            source="NVIDIA H200 data sheet: 1,979 TFLOPS sparse halved, 4.8 TB/s; PyTorch reports 139.80 GiB",
        ),
        GpuSpec(
            key="b200-sxm",
            name="B200 SXM 180 GB",
            bf16_flops=2250e12,
            memory_bytes_per_s=8000e9,
            memory_bytes=180 * GB,
            usable_memory_bytes=_usable(178.35),
            nvlink=True,
            aliases=(
                "b200",
                "NVIDIA B200",
            ),
            source=(
                "NVIDIA HGX B200 data sheet: 4.5 PFLOPS sparse halved, 8 TB/s, 180 GB; PyTorch reports 178.35 GiB"
            ),
        ),
        GpuSpec(
            key="gb200",
            name="GB200 186 GB",
            bf16_flops=2500e12,
            memory_bytes_per_s=8000e9,
            memory_bytes=186 * GB,
            usable_memory_bytes=_usable(184.31),
            nvlink=True,
            aliases=(
                "gb200-nvl72",
                "NVIDIA GB200",
            ),
            source=(
                "NVIDIA GB200 NVL72 data sheet, a GPU: 5 PFLOPS sparse halved, 8 TB/s, 186 GB; PyTorch reports "
                "184.31 GiB"
            ),
        ),
        GpuSpec(
            key="l40s",
            name="L40S 48 GB",
            bf16_flops=362e12,
            memory_bytes_per_s=864e9,
            memory_bytes=48 * GB,
            usable_memory_bytes=_usable(44.39),
            nvlink=False,
            aliases=("NVIDIA L40S",),
            source=(
                "NVIDIA L40S data sheet: 733 TFLOPS sparse, 362 dense, 864 GB/s; PyTorch reports 44.39 GiB (ECC on)"
            ),
        ),
        GpuSpec(
            key="l4",
            name="L4 24 GB",
            bf16_flops=121e12,
            memory_bytes_per_s=300e9,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(22.03),
            nvlink=False,
            aliases=("NVIDIA L4",),
            source="NVIDIA L4 data sheet: 242 TFLOPS sparse halved, 300 GB/s; PyTorch reports 22.03 GiB (ECC on)",
        ),
        GpuSpec(
            key="a10g",
            name="A10G 24 GB",
            bf16_flops=70e12,
            memory_bytes_per_s=600e9,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(22.07),
            nvlink=False,
            aliases=("NVIDIA A10G",),
            source=(
                "NVIDIA A10G data sheet: 140 TFLOPS sparse halved, 600 GB/s; PyTorch reports 22.07 GiB (ECC on)"
            ),
        ),
        GpuSpec(
            key="rtx-3090",
            name="GeForce RTX 3090 24 GB",
            bf16_flops=71e12,
            memory_bytes_per_s=936e9,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(23.69),
            nvlink=False,
            aliases=(
                "3090",
                "rtx3090",
                "NVIDIA GeForce RTX 3090",
            ),
            source=(
                "NVIDIA GA102 whitepaper: 142 TFLOPS sparse halved (fp32 accumulate), 936 GB/s; PyTorch reports "
                "23.69 GiB; an NVLink bridge is sold apart"
            ),
        ),
        GpuSpec(
            key="rtx-4090",
            name="GeForce RTX 4090 24 GB",
            bf16_flops=165e12,
            memory_bytes_per_s=1008e9,
            memory_bytes=24 * GB,
            usable_memory_bytes=_usable(23.64),
            nvlink=False,
            aliases=(
                "4090",
                "rtx4090",
                "NVIDIA GeForce RTX 4090",
            ),
            source=(
                "NVIDIA Ada whitepaper: 330 TFLOPS sparse halved (fp32 accumulate), 1,008 GB/s; PyTorch reports "
                "23.64 GiB; no NVLink, no P2P"
            ),
        ),
        GpuSpec(
            key="rtx-5090",
            name="GeForce RTX 5090 32 GB",
            bf16_flops=209.5e12,
            memory_bytes_per_s=1792e9,
            memory_bytes=32 * GB,
            usable_memory_bytes=_usable(31.37),
            nvlink=False,
            aliases=(
                "5090",
                "rtx5090",
                "NVIDIA GeForce RTX 5090",
            ),
            source=(
                "NVIDIA Blackwell whitepaper: 419 TFLOPS sparse halved (fp32 accumulate), 1,792 GB/s; PyTorch "
                "reports 31.37 GiB"
            ),
        ),
        GpuSpec(
            key="rtx-6000-ada",
            name="RTX 6000 Ada 48 GB",
            bf16_flops=364e12,
            memory_bytes_per_s=960e9,
            memory_bytes=48 * GB,
            usable_memory_bytes=_usable(47.50),
            nvlink=False,
            aliases=("NVIDIA RTX 6000 Ada Generation",),
            source=(
                "NVIDIA RTX 6000 Ada data sheet: 728 TFLOPS sparse halved, 960 GB/s; memory with ECC off, 47.4 to "
                "47.5 GiB (44.43 with ECC on)"
            ),
        ),
        GpuSpec(
            key="rtx-pro-6000",
            name="RTX PRO 6000 Blackwell 96 GB",
            bf16_flops=503.8e12,
            memory_bytes_per_s=1792e9,
            memory_bytes=96 * GB,
            usable_memory_bytes=_usable(94.97),
            nvlink=False,
            aliases=(
                "rtx-6000",
                "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            ),
            source=(
                "NVIDIA RTX PRO Blackwell whitepaper: 1,007.6 TFLOPS sparse halved, 1,792 GB/s; PyTorch reports "
                "94.97 GiB"
            ),
        ),
        GpuSpec(
            key="mi300x",
            name="Instinct MI300X 192 GB",
            bf16_flops=1307.4e12,
            memory_bytes_per_s=5300e9,
            memory_bytes=192 * GB,
            usable_memory_bytes=_usable(191.69),
            nvlink=False,
            aliases=("AMD Instinct MI300X",),
            source=(
                "AMD MI300X data sheet: 1,307.4 TFLOPS dense, 5.3 TB/s; PyTorch reports 191.69 GiB (191.98 under "
                "older drivers): AMD sells GiB as GB"
            ),
        ),
        GpuSpec(
            key="mi325x",
            name="Instinct MI325X 256 GB",
            bf16_flops=1307.4e12,
            memory_bytes_per_s=6000e9,
            memory_bytes=256 * GB,
            usable_memory_bytes=_usable(255.69),
            nvlink=False,
            aliases=("AMD Instinct MI325X",),
            source=(
                "AMD MI325X data sheet: 1,307.4 TFLOPS dense, 6 TB/s; PyTorch reports 255.69 GiB (255.98 under "
                "older drivers): AMD sells GiB as GB"
            ),
        ),
        GpuSpec(
            key="mi355x",
            name="Instinct MI355X 288 GB",
            bf16_flops=2516e12,
            memory_bytes_per_s=8000e9,
            memory_bytes=288 * GB,
            usable_memory_bytes=_usable(287.98),
            nvlink=False,
            aliases=("AMD Instinct MI355X",),
            source=(
                "AMD MI355X data sheet: 2,516 TFLOPS dense, 8 TB/s; PyTorch reports 287.98 GiB: AMD sells GiB as GB"
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
