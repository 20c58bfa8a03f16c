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
            source=(
                "312 TFLOPS dense, 2,039 GB/s: ai-dynamo/aiconfigurator systems/a100_sxm.yaml; 79.15 GiB total in"
                " public out-of-memory messages"
            ),
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
            source=(
                "312 TFLOPS dense, 1,555 GB/s: hahnyuan/LLM-Viewer hardware_params.py; 39.49 GiB total in public "
                "out-of-memory messages and vLLM startup logs"
            ),
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
                "989 TFLOPS dense (1,979 sparse halved), 3.35 TB/s: ai-dynamo/aiconfigurator "
                "systems/h100_sxm.yaml; 79.19 GiB total in public out-of-memory messages (79.11 under older "
                "drivers)"
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
            source=(
                "756 TFLOPS dense (1,513 sparse halved), 2 TB/s: ai-dynamo/aiconfigurator systems/h100_pcie.yaml;"
                " usable memory taken as the SXM card's, unconfirmed"
            ),
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
            source=(
                "989 TFLOPS dense, 4.8 TB/s: ai-dynamo/aiconfigurator systems/h200_sxm.yaml; 139.80 GiB total in "
                "public out-of-memory messages"
            ),
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
                "2,250 TFLOPS dense, 8 TB/s: karpathy/nanochat harness/runtime.py (ai-dynamo/aiconfigurator "
                "systems/b200_sxm.yaml has 7.7 TB/s); 178.35 GiB total in public out-of-memory messages"
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
                "2,500 TFLOPS dense, 8 TB/s: ai-dynamo/aiconfigurator systems/gb200.yaml; 184.31 GiB total in "
                "public out-of-memory messages"
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
                "362 TFLOPS dense, 864 GB/s: ai-dynamo/aiconfigurator systems/l40s.yaml; 44.39 GiB total in "
                "public out-of-memory messages (ECC on)"
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
            source=(
                "121 TFLOPS dense (242 sparse halved), 300 GB/s: ai-dynamo/aiconfigurator systems/l4.yaml; 22.03 "
                "GiB total in public out-of-memory messages (ECC on)"
            ),
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
                "70 TFLOPS dense (140 sparse halved), 600 GB/s: NVIDIA's data sheet as remembered, unconfirmed "
                "here; 22.07 GiB total in public out-of-memory messages (ECC on)"
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
                "71 TFLOPS dense with fp32 accumulation, 936 GB/s: karpathy/nanochat harness/runtime.py; 23.69 "
                "GiB total in public out-of-memory messages; an NVLink bridge is sold apart"
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
                "165 TFLOPS dense with fp32 accumulation, 1,008 GB/s: karpathy/nanochat harness/runtime.py; 23.64"
                " GiB total in public out-of-memory messages; no NVLink, no P2P"
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
                "209.5 TFLOPS dense with fp32 accumulation, 1,792 GB/s: karpathy/nanochat harness/runtime.py; "
                "31.37 GiB total in public out-of-memory messages"
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
                "364 TFLOPS dense (728 sparse halved), 960 GB/s: NVIDIA's data sheet as remembered, unconfirmed "
                "here; 47.50 GiB total in public out-of-memory messages (ECC off)"
            ),
        ),
        GpuSpec(
            key="rtx-pro-6000",
            name="RTX PRO 6000 Blackwell 96 GB",
            bf16_flops=467.8e12,
            memory_bytes_per_s=1792e9,
            memory_bytes=96 * GB,
            usable_memory_bytes=_usable(94.97),
            nvlink=False,
            aliases=(
                "rtx-6000",
                "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            ),
            source=(
                "467.8 TFLOPS dense as reckoned for the Server Edition, 1,792 GB/s: ai-dynamo/aiconfigurator "
                "systems/rtx_pro_6000_server.yaml (the Workstation Edition is sold at 503.8, 1,007.6 sparse, as "
                "remembered); 94.97 GiB total in public out-of-memory messages"
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
                "1,307.4 TFLOPS dense, 5.3 TB/s: karpathy/nanochat harness/runtime.py; 191.69 GiB total in public"
                " out-of-memory messages: AMD sells GiB as GB"
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
                "1,307.4 TFLOPS dense, 6 TB/s: karpathy/nanochat harness/runtime.py; 255.69 GiB total in one "
                "public out-of-memory message: AMD sells GiB as GB"
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
                "2,516 TFLOPS dense (AMD's data sheet as remembered; karpathy/nanochat harness/runtime.py has "
                "2,500), 8 TB/s; 287.98 GiB total in public out-of-memory messages: AMD sells GiB as GB"
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
