"""Accelerators: what a data sheet says in our units, and the memory a driver leaves.

Vendors print bf16 FLOP/s with 2:4 sparsity: halved here where they do. `memory_bytes` is the capacity as sold;
`usable_memory_bytes` is what the driver reports as the device's total, before any process allocates: the figure
in PyTorch's out-of-memory message. It is less than the name says in GiB and mostly more than it says in GB.
"""

from collections.abc import Mapping
from typing import NamedTuple

from core.catalog.links import link
from core.catalog.lookup import by_key, find
from core.specs import GPUS_PER_NODE, GpuSpec, Stack
from core.units import GB, GIB


class _Family(NamedTuple):
    """What GPUs of a generation share: FP8 and FP4 as multiples of their bf16 (0: none), links, software."""

    gpu_class: str
    capability: int | None
    fp8: float = 0
    fp4: float = 0
    link_key: str = "pcie-4"
    bus_key: str = "pcie-4"
    nvlink_domain: int | None = None
    measured_series: str = ""
    bridged: bool = False
    bridge_key: str = "nvlink-3"
    stack: Stack = "cuda"
    gpus_per_node: int = GPUS_PER_NODE


def _row(
    key: str,
    name: str,
    family: _Family,
    bf16_tflops: float,
    gb_per_s: float,
    sold_gb: int,
    usable_gib: float,
    aliases: tuple[str, ...],
    published_as: str,
    source: str,
) -> GpuSpec:
    """An accelerator. The usable capacity is printed in GiB to two decimals."""
    flops = bf16_tflops * 1e12
    batched_tokens, sequences = _vllm_limits(family, usable_gib)
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
        stack=family.stack,
        capability=family.capability,
        bridged=family.bridged,
        bridge_key=family.bridge_key,
        gpus_per_node=family.gpus_per_node,
        nvlink=link(family.link_key).family == "nvlink",
        link_key=family.link_key,
        bus_key=family.bus_key,
        nvlink_domain=family.nvlink_domain,
        measured_series=family.measured_series,
        vllm_batched_tokens=batched_tokens,
        vllm_sequences=sequences,
        aliases=aliases,
        published_as=published_as,
        source=source,
    )


def _vllm_limits(family: _Family, usable_gib: float) -> tuple[int, int]:
    """Tokens a step and sequences at once of a vLLM server that was not told otherwise: by memory, A100s apart.

    Source: vllm/engine/arg_utils.py, get_batch_defaults: from 70 GiB the larger ones, but an A100 is slower with
    them (pull request 17885); from 160 GiB the largest, since release 0.28.
    """
    if usable_gib >= 160:
        return 16384, 1024
    return (8192, 1024) if usable_gib >= 70 and family.gpu_class != "a100" else (2048, 256)


_VOLTA = _Family("volta", 70, link_key="nvlink-2", bus_key="pcie-3")
_A100 = _Family("a100", 80, link_key="nvlink-3", measured_series="a100-nccl")
_A100_PCIE = _A100._replace(link_key="pcie-4", bridged=True)
_HOPPER = _Family("hopper", 90, 2, link_key="nvlink-4", bus_key="pcie-5", measured_series="h100-nccl")
_HOPPER_PCIE = _HOPPER._replace(link_key="pcie-5")
_HOPPER_NVL = _HOPPER_PCIE._replace(bridged=True, bridge_key="nvlink-4")
_A800 = _A100._replace(link_key="nvlink-3-a800", measured_series="")
_H800 = _HOPPER._replace(link_key="nvlink-4-h800", measured_series="")
_BLACKWELL = _Family("blackwell", 100, 2, 4, link_key="nvlink-5", bus_key="pcie-5")
_NVL72 = _BLACKWELL._replace(nvlink_domain=72)
_BLACKWELL_ULTRA, _NVL72_ULTRA = (row._replace(fp4=6, bus_key="pcie-6") for row in (_BLACKWELL, _NVL72))
_TURING = _Family("turing", 75, link_key="pcie-3", bus_key="pcie-3")
_AMPERE = _Family("ampere-gddr", 86, bridge_key="nvlink-bridge")
_AMPERE_BRIDGED = _AMPERE._replace(bridged=True)
_AMPERE_GEFORCE = _AMPERE._replace(link_key="pcie-4-no-p2p", bridged=True)
_ADA = _Family("ada", 89, 2)
_ADA_GEFORCE = _ADA._replace(link_key="pcie-4-no-p2p")
_RTX_BLACKWELL = _Family("rtx-blackwell", 120, 2, 4, link_key="pcie-5", bus_key="pcie-5")
_GEFORCE_BLACKWELL = _RTX_BLACKWELL._replace(fp4=8, link_key="pcie-5-no-p2p")
_SPARK = _RTX_BLACKWELL._replace(gpu_class="gb10", capability=121, gpus_per_node=1)
_CDNA2 = _Family("cdna2", None, link_key="xgmi-mi250x", bus_key="pcie-4", stack="rocm")
_CDNA3 = _Family("cdna3", None, 2, link_key="xgmi-mi300x", bus_key="pcie-5", stack="rocm")
_CDNA4 = _Family("cdna4", None, 2, 4, link_key="xgmi-mi355x", bus_key="pcie-5", stack="rocm")

# fmt: off
GPUS: Mapping[str, GpuSpec] = by_key((
    # key, name, family, dense bf16 TFLOP/s, memory GB/s, GB as sold, GiB usable, other names, in tables, source
    _row("a100-80gb-sxm", "A100 SXM 80 GB", _A100, 312, 2039, 80, 79.15,
         ("a100", "a100-80gb", "a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB"), "a100",
         "312 TFLOPS dense, 2,039 GB/s: ai-dynamo/aiconfigurator systems/a100_sxm.yaml; 79.15 GiB total in "
         "public out-of-memory messages"),
    _row("a100-40gb-sxm", "A100 SXM 40 GB", _A100, 312, 1555, 40, 39.49,
         ("a100-40gb", "a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB"), r"a100.*\b40 ?g",
         "312 TFLOPS dense, 1,555 GB/s: hahnyuan/LLM-Viewer hardware_params.py; 39.49 GiB total in public "
         "out-of-memory messages and vLLM startup logs"),
    _row("a100-80gb-pcie", "A100 PCIe 80 GB", _A100_PCIE, 312, 1935, 80, 79.15,
         ("a100-pcie", "NVIDIA A100 80GB PCIe"), "a100.*pcie",
         "312 TFLOPS dense, 1,935 GB/s: NVIDIA's data sheet as quoted at "
         "thundercompute.com/blog/nvidia-a100-specs-full-guide, seen 2026-11-23; usable memory taken as the SXM "
         "GPU's, unconfirmed; an NVLink bridge is sold apart"),
    _row("a800-80gb-sxm", "A800 SXM 80 GB", _A800, 312, 2039, 80, 79.33,
         ("a800", "a800-80gb", "NVIDIA A800-SXM4-80GB"), "a800",
         "dense as the A100's, 400 GB/s of NVLink: aiwiki.ai/wiki/nvidia_a800, seen 2026-11-28; 79.33 GiB total "
         "in a public out-of-memory message that does not name the GPU, unconfirmed"),
    _row("a30", "A30 24 GB", _A100_PCIE, 165, 933, 24, 23.50,
         ("NVIDIA A30",), r"\ba30\b",
         "165 TFLOPS dense, 933 GB/s: ai-dynamo/aiconfigurator systems/a30.yaml; usable memory of 24 GB taken "
         "below that of other GPUs, unconfirmed; an NVLink bridge is sold apart"),
    _row("v100-sxm2", "V100 SXM2 32 GB", _VOLTA, 125, 900, 32, 31.73,
         ("v100", "v100-32gb", "Tesla V100-SXM2-32GB"), "v100",
         "125 TFLOPS in fp16, in place of bf16, which it has not; 900 GB/s: NVIDIA's data sheet as quoted at "
         "manualshelf.com/manual/dell/high-performance-computing-solution-resources, seen 2026-11-23; 31.73 GiB "
         "total in public out-of-memory messages"),
    _row("h100-sxm", "H100 SXM 80 GB", _HOPPER, 989, 3350, 80, 79.19,
         ("h100", "h100-80gb", "h100-80gb-sxm", "h100-sxm5", "NVIDIA H100 80GB HBM3"), "h100",
         "989 TFLOPS dense (1,979 sparse halved), 3.35 TB/s: ai-dynamo/aiconfigurator systems/h100_sxm.yaml; "
         "79.19 GiB total in public out-of-memory messages (79.11 under older drivers)"),
    _row("h100-pcie", "H100 PCIe 80 GB", _HOPPER_PCIE, 756, 2000, 80, 79.19,
         ("NVIDIA H100 PCIe",), "h100.*pcie",
         "756 TFLOPS dense (1,513 sparse halved), 2 TB/s: ai-dynamo/aiconfigurator systems/h100_pcie.yaml; "
         "usable memory taken as the SXM GPU's, unconfirmed"),
    _row("h100-nvl", "H100 NVL 94 GB", _HOPPER_NVL, 835.5, 3938, 94, 93.10,
         ("NVIDIA H100 NVL",), "h100.*nvl",
         "835.5 TFLOPS dense (1,671 sparse halved), 3,938 GB/s: NVIDIA's data sheet as remembered; "
         "aiminingco.com/gpu/h100-nvl/specs, seen 2026-11-28, has 94 GB, 3.9 TB/s; 93.10 GiB total in public "
         "out-of-memory messages; an NVLink bridge is sold apart"),
    _row("h800-sxm", "H800 SXM 80 GB", _H800, 989, 3350, 80, 79.19,
         ("h800", "h800-80gb", "NVIDIA H800"), "h800",
         "dense as the H100's, 400 GB/s of NVLink: aiwiki.ai/wiki/nvidia_h800, seen 2026-11-28; usable memory "
         "taken as the H100's, unconfirmed"),
    _row("h200-nvl", "H200 NVL 141 GB", _HOPPER_NVL, 835.5, 4800, 141, 139.80,
         ("NVIDIA H200 NVL",), "h200.*nvl",
         "835.5 TFLOPS dense (1,671 sparse halved), 4.8 TB/s: NVIDIA's data sheet as remembered; usable memory "
         "taken as the SXM GPU's: in public notes of a machine, whose nvidia-smi prints 143,771 MiB; an NVLink "
         "bridge is sold apart"),
    _row("h200-sxm", "H200 SXM 141 GB", _HOPPER, 989, 4800, 141, 139.80,
         ("h200", "h200-141gb", "NVIDIA H200"), "h200",
         "989 TFLOPS dense, 4.8 TB/s: ai-dynamo/aiconfigurator systems/h200_sxm.yaml; 139.80 GiB total in "
         "public out-of-memory messages"),
    _row("h20-sxm", "H20 SXM 96 GB", _HOPPER, 148, 4000, 96, 95.09,
         ("h20", "h20-96gb", "NVIDIA H20"), r"\bh20\b",
         "148 TFLOPS dense, 4 TB/s: public tables of accelerators (citsjtu2020/LLM-Prof hardware_spec.md has 4,022 "
         "GB/s); 95.09 GiB total in a public out-of-memory message that does not name the GPU, unconfirmed"),
    _row("h20-3e-sxm", "H20-3e SXM 141 GB", _HOPPER, 148, 4800, 141, 139.80,
         ("h20-3e", "h20-141gb", "NVIDIA H20-3e"), r"\bh20-?3e",
         "148 TFLOPS dense as the H20's, 4.8 TB/s: NVIDIA's data sheet as remembered; usable memory taken as the "
         "H200's: in public notes of a machine, whose nvidia-smi prints 143,771 MiB"),
    _row("gh200", "GH200 96 GB", _HOPPER, 989, 4000, 96, 94.50,
         ("gh200-96gb", "NVIDIA GH200 480GB"), r"\bgh200",
         "989 TFLOPS dense as the H100's, 4 TB/s: public tables of accelerators; 94.5 GiB in public notes of a "
         "machine, whose nvidia-smi prints 97,871 MiB; four to a node on NVLink, as at CSCS"),
    _row("b200-sxm", "B200 SXM 180 GB", _BLACKWELL, 2250, 7700, 180, 178.35,
         ("b200", "NVIDIA B200"), r"\bb200",
         "2,250 TFLOPS dense: karpathy/nanochat harness/runtime.py; 7.7 TB/s: NVIDIA's data sheet as quoted at "
         "ai-dynamo/aiconfigurator systems/b200_sxm.yaml, and so has pytorch/ao/pull/4002: the driver's 7,680 bits "
         "at 3,996 MHz (earlier sheets: 8); 178.35 GiB total in public out-of-memory messages"),
    _row("b300-sxm", "B300 SXM 288 GB", _BLACKWELL_ULTRA, 2250, 7700, 288, 267.69,
         ("b300", "NVIDIA B300 SXM6 AC"), r"\bb300",
         "2,250 TFLOPS dense and six times that in FP4 (108 dense PFLOPS over eight in an HGX B300): NVIDIA's data "
         "sheet as quoted at verda.com/blog/gb300-nvl72-architecture, seen 2026-11-23, which has 14 PFLOPS, 270 "
         "GB, 7.7 TB/s (earlier sheets: 8); PCIe 6: tomshardware.com/pc-components/gpus; 267.69 GiB total in "
         "public out-of-memory messages"),
    _row("gb200", "GB200 186 GB", _NVL72, 2500, 8000, 186, 184.31,
         ("gb200-nvl72", "NVIDIA GB200"), "gb200",
         "2,500 TFLOPS dense, 8 TB/s: ai-dynamo/aiconfigurator systems/gb200.yaml; 184.31 GiB total in public "
         "out-of-memory messages"),
    _row("gb300", "GB300 288 GB", _NVL72_ULTRA, 2500, 8000, 288, 276.50,
         ("gb300-nvl72", "NVIDIA GB300"), "gb300",
         "2,500 TFLOPS dense and six times that in FP4, 8 TB/s: NVIDIA's data sheet as quoted at "
         "verda.com/blog/gb300-nvl72-architecture, seen 2026-11-23, which has 279 GB; "
         "276.50 GiB total in public out-of-memory messages"),
    _row("l40s", "L40S 48 GB", _ADA, 362, 864, 48, 44.39,
         ("NVIDIA L40S",), "l40s",
         "362 TFLOPS dense, 864 GB/s: ai-dynamo/aiconfigurator systems/l40s.yaml; 44.39 GiB total in public "
         "out-of-memory messages (ECC on)"),
    _row("l40", "L40 48 GB", _ADA, 181.05, 864, 48, 44.39,
         ("NVIDIA L40",), r"\bl40\b",
         "181.05 TFLOPS dense, 864 GB/s: mullet.se/product.html, seen 2026-11-28; usable memory taken as the "
         "L40S's, unconfirmed"),
    _row("l20", "L20 48 GB", _ADA, 119.5, 864, 48, 44.39,
         ("NVIDIA L20",), r"\bl20\b",
         "119.5 TFLOPS dense, 864 GB/s: citsjtu2020/LLM-Prof hardware_spec.md; usable memory taken as the L40S's, "
         "unconfirmed"),
    _row("l4", "L4 24 GB", _ADA, 121, 300, 24, 22.03,
         ("NVIDIA L4",), r"\bl4\b",
         "121 TFLOPS dense (242 sparse halved), 300 GB/s: ai-dynamo/aiconfigurator systems/l4.yaml; 22.03 GiB "
         "total in public out-of-memory messages (ECC on)"),
    _row("a10g", "A10G 24 GB", _AMPERE, 70, 600, 24, 22.07,
         ("NVIDIA A10G",), "a10g",
         "70 TFLOPS dense (140 sparse halved), 600 GB/s: NVIDIA's data sheet as quoted at "
         "baseten.co/blog/nvidia-a10-vs-a10g-for-ml-model-inference, seen 2026-11-23; 22.07 GiB "
         "total in public out-of-memory messages (ECC on)"),
    _row("a40", "A40 48 GB", _AMPERE_BRIDGED, 149.7, 696, 48, 44.34,
         ("NVIDIA A40",), r"\ba40\b",
         "149.7 TFLOPS dense: hmc-tech.com/gpu/nvidia-l40-vs-nvidia-a40, seen 2026-11-28; 696 GB/s: "
         "relationship-nepal.org/900-2g133-0000-000.html, seen 2026-11-28; 44.34 GiB total in a public "
         "out-of-memory message that does not name the GPU, unconfirmed; an NVLink bridge is sold apart"),
    _row("t4", "T4 16 GB", _TURING, 65, 320, 16, 14.74,
         ("NVIDIA T4", "Tesla T4"), r"\bt4\b",
         "65 TFLOPS in fp16, in place of bf16, which it has not; 320 GB/s: NVIDIA's data sheet as remembered; "
         "14.74 GiB total in public out-of-memory messages (ECC on)"),
    _row("a6000", "RTX A6000 48 GB", _AMPERE_BRIDGED, 154.8, 768, 48, 47.53,
         ("rtx-a6000", "NVIDIA RTX A6000"), "a6000",
         "154.8 TFLOPS dense (309.7 sparse halved), 768 GB/s: NVIDIA's data sheet as quoted at "
         "llmperf.net/categories/gpu/Nvidia-A6000-GPUs, seen 2026-11-23; 47.53 GiB total "
         "in public out-of-memory messages; an NVLink bridge is sold apart"),
    _row("rtx-3090", "GeForce RTX 3090 24 GB", _AMPERE_GEFORCE, 71, 936, 24, 23.69,
         ("3090", "rtx3090", "NVIDIA GeForce RTX 3090"), "3090",
         "71 TFLOPS dense accumulating in fp32, 936 GB/s: karpathy/nanochat harness/runtime.py; 23.69 GiB "
         "total in public out-of-memory messages; an NVLink bridge is sold apart"),
    _row("rtx-4090", "GeForce RTX 4090 24 GB", _ADA_GEFORCE, 165, 1008, 24, 23.64,
         ("4090", "rtx4090", "NVIDIA GeForce RTX 4090"), "4090",
         "165 TFLOPS dense accumulating in fp32, 1,008 GB/s: karpathy/nanochat harness/runtime.py; 23.64 GiB "
         "total in public out-of-memory messages; no NVLink, no P2P"),
    _row("rtx-5090", "GeForce RTX 5090 32 GB", _GEFORCE_BLACKWELL, 209.5, 1792, 32, 31.37,
         ("5090", "rtx5090", "NVIDIA GeForce RTX 5090"), "5090",
         "209.5 TFLOPS dense accumulating in fp32, 1,792 GB/s: karpathy/nanochat harness/runtime.py; 1,676 dense "
         "in FP4 (3,352 sparse halved): NVIDIA's architecture paper as remembered; 31.37 GiB total in public "
         "out-of-memory messages; no NVLink, no P2P"),
    _row("rtx-6000-ada", "RTX 6000 Ada 48 GB", _ADA, 364, 960, 48, 47.50,
         ("NVIDIA RTX 6000 Ada Generation",), "6000.*ada",
         "364 TFLOPS dense by our own count: 568 tensor cores at 2,505 MHz: "
         "cputronic.com/de/gpu/nvidia-rtx-6000-ada-generation, seen 2026-11-23; 960 GB/s: "
         "grafikkarten.com/de/news/nvidia-rtx-6000-grafikkarte-der-ada-generation, seen 2026-11-23; 47.50 "
         "GiB total in public out-of-memory messages (ECC off)"),
    _row("rtx-pro-6000", "RTX PRO 6000 Blackwell 96 GB", _RTX_BLACKWELL, 467.8, 1597, 96, 94.97,
         ("rtx-6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition"), "pro 6000",
         "the Server Edition: 467.8 TFLOPS dense as reckoned in ai-dynamo/aiconfigurator "
         "systems/rtx_pro_6000_server.yaml; 1,597 GB/s: NVIDIA's data sheet of December 2025, as public notes "
         "quote it (1,792 is the Workstation Edition's, which aiconfigurator has); 94.97 GiB total in public "
         "out-of-memory messages"),
    _row("gb10", "GB10 (DGX Spark) 128 GB", _SPARK, 125, 273, 128, 119.70,
         ("dgx-spark", "NVIDIA GB10"), r"\bgb10\b",
         "125 TFLOPS dense by our own count: an eighth of 1,000 sparse in FP4; 128 GB that the CPU shares, 273 "
         "GB/s: ai-infrastructure.net/dgx-spark, seen 2026-11-28; 119.70 GiB total in public out-of-memory "
         "messages; one to a node"),
    _row("mi250x", "Instinct MI250X 64 GB, one die of two", _CDNA2, 191.5, 1600, 64, 63.98,
         ("mi250x-gcd", "AMD Instinct MI250X"), "mi250x",
         "191.5 TFLOPS dense, half of 383: zexron.com/amd-mi250-x, seen 2026-11-28; 1.6 TB/s: AMD's own "
         "docs/conceptual/gpu-arch/mi250.md, seen 2026-11-28; each of its two dies is a GPU; 63.98 GiB total in "
         "public out-of-memory messages: AMD sells GiB as GB"),
    _row("mi300x", "Instinct MI300X 192 GB", _CDNA3, 1307.4, 5300, 192, 191.69,
         ("AMD Instinct MI300X",), "mi300x",
         "1,307.4 TFLOPS dense, 5.3 TB/s: AMD's own ROCm/legacy-rocm-build docs/conceptual/gpu-arch/mi300.md, seen "
         "2026-11-23; 191.69 GiB total in public "
         "out-of-memory messages: AMD sells GiB as GB"),
    _row("mi325x", "Instinct MI325X 256 GB", _CDNA3, 1307.4, 6000, 256, 255.69,
         ("AMD Instinct MI325X",), "mi325x",
         "1,307.4 TFLOPS dense, 6 TB/s: karpathy/nanochat harness/runtime.py; 255.69 GiB total in one public "
         "out-of-memory message: AMD sells GiB as GB"),
    _row("mi355x", "Instinct MI355X 288 GB", _CDNA4, 2516, 8000, 288, 287.98,
         ("AMD Instinct MI355X",), "mi355x",
         "2,516 TFLOPS dense (AMD's data sheet as remembered; karpathy/nanochat harness/runtime.py has 2,500), "
         "8 TB/s; 287.98 GiB total in public out-of-memory messages: AMD sells GiB as GB"),
), "core/catalog/gpus.py")
# fmt: on
"""Every accelerator, under its key."""


def gpu(name: str) -> GpuSpec:
    """The accelerator that `name` means.

    Raises UnknownNameError.
    """
    return find("GPU", GPUS, name)
