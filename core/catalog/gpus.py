"""Accelerators: what a data sheet says in our units, and the memory a driver leaves.

Vendors print bf16 FLOP/s with 2:4 sparsity: halved here where they do. `memory_bytes` is the capacity as sold;
`usable_memory_bytes` is what the driver reports as the device's total, before any process allocates: the figure
in PyTorch's out-of-memory message. It is less than the name says in GiB and mostly more than it says in GB.
"""

from collections.abc import Mapping
from typing import NamedTuple

from core.catalog.links import link
from core.catalog.lookup import by_key, find
from core.specs import GpuSpec
from core.units import GB, GIB


class _Family(NamedTuple):
    """What cards of a generation share: FP8 and FP4 as multiples of their bf16 (0: none), and links."""

    gpu_class: str
    fp8: float = 0
    fp4: float = 0
    link_key: str = "pcie-4"
    bus_key: str = "pcie-4"
    nvlink_domain: int | None = None
    measured_series: str = ""


def _row(
    key: str,
    name: str,
    family: _Family,
    bf16_tflops: float,
    gb_per_s: float,
    sold_gb: int,
    usable_gib: float,
    aliases: tuple[str, ...],
    source: str,
) -> GpuSpec:
    """An accelerator. The usable capacity is printed in GiB to two decimals.

    vLLM serves more at once where there are 70 GiB, but on an A100. Source: vllm/engine/arg_utils.py,
    get_batch_defaults: the larger step made an A100 slower (pull request 17885).
    """
    flops = bf16_tflops * 1e12
    large = usable_gib >= 70 and family.gpu_class != "a100"
    return GpuSpec(
        key=key,
        name=name,
        bf16_flops=flops,
        memory_bytes_per_s=gb_per_s * 1e9,
        memory_bytes=sold_gb * GB,
        usable_memory_bytes=round(usable_gib * GIB),
        fp8_flops=family.fp8 * flops or None,
        fp4_flops=family.fp4 * flops or None,
        gpu_class=family.gpu_class,
        nvlink=link(family.link_key).family == "nvlink",
        link_key=family.link_key,
        bus_key=family.bus_key,
        nvlink_domain=family.nvlink_domain,
        measured_series=family.measured_series,
        vllm_batched_tokens=8192 if large else 2048,
        vllm_sequences=1024 if large else 256,
        aliases=aliases,
        source=source,
    )


_A100 = _Family("a100", link_key="nvlink-3", measured_series="a100-nccl")
_HOPPER = _Family("hopper", 2, link_key="nvlink-4", bus_key="pcie-5", measured_series="h100-nccl")
_HOPPER_PCIE = _HOPPER._replace(link_key="pcie-5")
_BLACKWELL = _Family("blackwell", 2, 4, link_key="nvlink-5", bus_key="pcie-5")
_NVL72 = _BLACKWELL._replace(nvlink_domain=72)
_AMPERE = _Family("ampere-gddr")
_AMPERE_GEFORCE = _AMPERE._replace(link_key="pcie-4-no-p2p")
_ADA = _Family("ada", 2)
_ADA_GEFORCE = _ADA._replace(link_key="pcie-4-no-p2p")
_RTX_BLACKWELL = _Family("rtx-blackwell", 2, 4, link_key="pcie-5", bus_key="pcie-5")
_CDNA3 = _Family("cdna3", 2, link_key="xgmi-mi300x", bus_key="pcie-5")
_CDNA4 = _Family("cdna4", 2, 4, link_key="xgmi-mi355x", bus_key="pcie-5")

# fmt: off
GPUS: Mapping[str, GpuSpec] = by_key((
    # key, name, family, dense bf16 TFLOP/s, memory GB/s, GB as sold, GiB usable, other names, source
    _row("a100-80gb-sxm", "A100 SXM 80 GB", _A100, 312, 2039, 80, 79.15,
         ("a100", "a100-80gb", "a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB"),
         "312 TFLOPS dense, 2,039 GB/s: ai-dynamo/aiconfigurator systems/a100_sxm.yaml; 79.15 GiB total in "
         "public out-of-memory messages"),
    _row("a100-40gb-sxm", "A100 SXM 40 GB", _A100, 312, 1555, 40, 39.49,
         ("a100-40gb", "a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB"),
         "312 TFLOPS dense, 1,555 GB/s: hahnyuan/LLM-Viewer hardware_params.py; 39.49 GiB total in public "
         "out-of-memory messages and vLLM startup logs"),
    _row("h100-sxm", "H100 SXM 80 GB", _HOPPER, 989, 3350, 80, 79.19,
         ("h100", "h100-80gb", "h100-80gb-sxm", "h100-sxm5", "NVIDIA H100 80GB HBM3"),
         "989 TFLOPS dense (1,979 sparse halved), 3.35 TB/s: ai-dynamo/aiconfigurator systems/h100_sxm.yaml; "
         "79.19 GiB total in public out-of-memory messages (79.11 under older drivers)"),
    _row("h100-pcie", "H100 PCIe 80 GB", _HOPPER_PCIE, 756, 2000, 80, 79.19,
         ("NVIDIA H100 PCIe",),
         "756 TFLOPS dense (1,513 sparse halved), 2 TB/s: ai-dynamo/aiconfigurator systems/h100_pcie.yaml; "
         "usable memory taken as the SXM card's, unconfirmed"),
    _row("h200-sxm", "H200 SXM 141 GB", _HOPPER, 989, 4800, 141, 139.80,
         ("h200", "h200-141gb", "NVIDIA H200"),
         "989 TFLOPS dense, 4.8 TB/s: ai-dynamo/aiconfigurator systems/h200_sxm.yaml; 139.80 GiB total in "
         "public out-of-memory messages"),
    _row("b200-sxm", "B200 SXM 180 GB", _BLACKWELL, 2250, 8000, 180, 178.35,
         ("b200", "NVIDIA B200"),
         "2,250 TFLOPS dense, 8 TB/s: karpathy/nanochat harness/runtime.py (ai-dynamo/aiconfigurator "
         "systems/b200_sxm.yaml has 7.7 TB/s); 178.35 GiB total in public out-of-memory messages"),
    _row("gb200", "GB200 186 GB", _NVL72, 2500, 8000, 186, 184.31,
         ("gb200-nvl72", "NVIDIA GB200"),
         "2,500 TFLOPS dense, 8 TB/s: ai-dynamo/aiconfigurator systems/gb200.yaml; 184.31 GiB total in public "
         "out-of-memory messages"),
    _row("l40s", "L40S 48 GB", _ADA, 362, 864, 48, 44.39,
         ("NVIDIA L40S",),
         "362 TFLOPS dense, 864 GB/s: ai-dynamo/aiconfigurator systems/l40s.yaml; 44.39 GiB total in public "
         "out-of-memory messages (ECC on)"),
    _row("l4", "L4 24 GB", _ADA, 121, 300, 24, 22.03,
         ("NVIDIA L4",),
         "121 TFLOPS dense (242 sparse halved), 300 GB/s: ai-dynamo/aiconfigurator systems/l4.yaml; 22.03 GiB "
         "total in public out-of-memory messages (ECC on)"),
    _row("a10g", "A10G 24 GB", _AMPERE, 70, 600, 24, 22.07,
         ("NVIDIA A10G",),
         "70 TFLOPS dense (140 sparse halved), 600 GB/s: NVIDIA's data sheet as remembered, unconfirmed here; "
         "22.07 GiB total in public out-of-memory messages (ECC on)"),
    _row("rtx-3090", "GeForce RTX 3090 24 GB", _AMPERE_GEFORCE, 71, 936, 24, 23.69,
         ("3090", "rtx3090", "NVIDIA GeForce RTX 3090"),
         "71 TFLOPS dense with fp32 accumulation, 936 GB/s: karpathy/nanochat harness/runtime.py; 23.69 GiB "
         "total in public out-of-memory messages; an NVLink bridge is sold apart"),
    _row("rtx-4090", "GeForce RTX 4090 24 GB", _ADA_GEFORCE, 165, 1008, 24, 23.64,
         ("4090", "rtx4090", "NVIDIA GeForce RTX 4090"),
         "165 TFLOPS dense with fp32 accumulation, 1,008 GB/s: karpathy/nanochat harness/runtime.py; 23.64 GiB "
         "total in public out-of-memory messages; no NVLink, no P2P"),
    _row("rtx-5090", "GeForce RTX 5090 32 GB", _RTX_BLACKWELL, 209.5, 1792, 32, 31.37,
         ("5090", "rtx5090", "NVIDIA GeForce RTX 5090"),
         "209.5 TFLOPS dense with fp32 accumulation, 1,792 GB/s: karpathy/nanochat harness/runtime.py; 31.37 "
         "GiB total in public out-of-memory messages"),
    _row("rtx-6000-ada", "RTX 6000 Ada 48 GB", _ADA, 364, 960, 48, 47.50,
         ("NVIDIA RTX 6000 Ada Generation",),
         "364 TFLOPS dense (728 sparse halved), 960 GB/s: NVIDIA's data sheet as remembered, unconfirmed here; "
         "47.50 GiB total in public out-of-memory messages (ECC off)"),
    _row("rtx-pro-6000", "RTX PRO 6000 Blackwell 96 GB", _RTX_BLACKWELL, 467.8, 1792, 96, 94.97,
         ("rtx-6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
         "467.8 TFLOPS dense as reckoned for the Server Edition, 1,792 GB/s: ai-dynamo/aiconfigurator "
         "systems/rtx_pro_6000_server.yaml (the Workstation Edition is sold at 503.8, 1,007.6 sparse, as "
         "remembered); 94.97 GiB total in public out-of-memory messages"),
    _row("mi300x", "Instinct MI300X 192 GB", _CDNA3, 1307.4, 5300, 192, 191.69,
         ("AMD Instinct MI300X",),
         "1,307.4 TFLOPS dense, 5.3 TB/s: karpathy/nanochat harness/runtime.py; 191.69 GiB total in public "
         "out-of-memory messages: AMD sells GiB as GB"),
    _row("mi325x", "Instinct MI325X 256 GB", _CDNA3, 1307.4, 6000, 256, 255.69,
         ("AMD Instinct MI325X",),
         "1,307.4 TFLOPS dense, 6 TB/s: karpathy/nanochat harness/runtime.py; 255.69 GiB total in one public "
         "out-of-memory message: AMD sells GiB as GB"),
    _row("mi355x", "Instinct MI355X 288 GB", _CDNA4, 2516, 8000, 288, 287.98,
         ("AMD Instinct MI355X",),
         "2,516 TFLOPS dense (AMD's data sheet as remembered; karpathy/nanochat harness/runtime.py has 2,500), "
         "8 TB/s; 287.98 GiB total in public out-of-memory messages: AMD sells GiB as GB"),
))
# fmt: on
"""Every accelerator, under its key."""


def gpu(name: str) -> GpuSpec:
    """The accelerator that `name` means.

    Raises UnknownNameError.
    """
    return find("GPU", GPUS, name)
