"""The accelerators' figures against what vendors print, as stored pages had it on 23 November 2026.

Most are copies of a data sheet by others; MI300X's and the DGX B200's are the vendor's own documents, the H200's is
NVIDIA's description of its machine for MLPerf.
"""

import re
from typing import NamedTuple

import pytest

from core.catalog import GPUS, LINKS, gpu, link, model
from tests.each import each


class Sheet(NamedTuple):
    """What a page prints of a GPU: GB, GB/s of memory, dense TFLOP/s, GB/s of its links both ways, its PCIe."""

    page: str
    gb: float | None = None
    gb_per_s: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    fp4: float | None = None
    two_way: float | None = None
    pcie: int | None = None


KLOCKWOOD = "glennklockwood.com/garden/processors"
THUNDER = "thundercompute.com/blog/nvidia-a100-specs-full-guide"
NOTES = "mngaonkar.github.io/nvidia-generative-ai-notes/docs/gpu-hardware.html"
BEKMAN = "stas00/ml-engineering compute/accelerator/README.md"
TOMS_CHINA = "tomshardware.com/pc-components/gpus/new-nvidia-ai-gpus-designed-to-get-around-us-export-bans"
TOMS_ULTRA = "tomshardware.com/pc-components/gpus/nvidia-shares-blackwell-ultras-secrets-nvfp4-boost-detailed"
VERDA = "verda.com/blog/gb300-nvl72-architecture"
SHEETS = [
    ("v100-sxm2", Sheet("manualshelf.com: Dell's guide to V100-SXM2, page 17", gb_per_s=900, two_way=300)),
    ("v100-sxm2", Sheet("pcper.com/2018/03/nvidia-announces-dgx-2-with-16-gv100s-8-100gb-nics", 32, two_way=300)),
    ("v100-sxm2", Sheet("gist.github.com/syhw/b8067966a498b604b4750e9458f36804", bf16=125)),
    ("a10g", Sheet("baseten.co/blog/nvidia-a10-vs-a10g-for-ml-model-inference", 24, 600, 70)),
    ("rtx-3090",
     Sheet("holynerdvana.blogspot.com, of Tom's Hardware: 142 TFLOPS summed in fp16, half in fp32", 24, 936, 71)),
    ("rtx-6000-ada", Sheet("grafikkarten.com/de/news: 568 tensor cores of 512 operations", 48, 960)),
    ("rtx-6000-ada",
     Sheet("cputronic.com: 2,505 MHz; a 4090 has 512 at 2,520", 48, None, 568 * 512 * 2.505e-3 / 2, pcie=4)),
    ("a100-80gb-sxm", Sheet(f"{KLOCKWOOD}/A100, of data sheet 1758950 r4", 80, 2039, 312, None, None, 600, 4)),
    ("a100-40gb-sxm", Sheet(f"{KLOCKWOOD}/A100", 40, 1555, 312, None, None, 600, 4)),
    ("a100-80gb-pcie", Sheet(THUNDER, 80, 1935, pcie=4)),
    ("h100-sxm", Sheet(NOTES, 80, 3350, 989, 1979, two_way=900)),
    ("h100-sxm", Sheet("mlcommons/inference_results_v3.1 Dell XE9680_H100_SXM_80GBx8_TRT.json", 80, pcie=5)),
    ("h100-pcie", Sheet(BEKMAN, 80, 2000, 756, 1513)),
    ("h100-pcie", Sheet("manuals.plus: NVIDIA product brief PB-11133-001 v02", pcie=5)),
    ("h200-sxm",
     Sheet("mlcommons/inference_results_v4.1 NVIDIA H200-SXM-141GBx8_TRT_MaxQ.json", 141, two_way=900, pcie=5)),
    ("h200-sxm", Sheet(NOTES, 141, 4800, 989, 1979, two_way=900)),
    ("h20-sxm", Sheet(TOMS_CHINA, 96, 4000, 148, 296)),
    ("h20-sxm", Sheet("willitrunai.com/es/gpus/h20-96gb", 96, 4000, two_way=900)),
    ("gh200", Sheet(BEKMAN, 96, 4000)),
    ("h100-nvl", Sheet("aiminingco.com/gpu/h100-nvl/specs: 3.9 TB/s of HBM3", 94, 3938)),
    ("h100-nvl", Sheet("grokipedia.com/page/210100120: 6,016 bits, 3.93 TB/s", 94, pcie=5)),
    ("h200-nvl", Sheet("saulelectric.com/nvidia-h200.html, PCIe air-cooled", 141, 4800, pcie=5)),
    ("h20-3e-sxm", Sheet("sgl-project benchmark of Qwen3-235B on H20-3e: 143 GB a GPU, rounded up", 141)),
    ("h800-sxm", Sheet("philisun.com/technical-analysis/nvidia-h800-vs-h100", 80, 3350, two_way=400)),
    ("a800-80gb-sxm", Sheet("aiwiki.ai/wiki/nvidia_a800: the A100 but for 400 GB/s", 80, 2039, 312, two_way=400)),
    ("a30", Sheet("ai-dynamo/aiconfigurator systems/a30.yaml", None, 933, 165, pcie=4)),
    ("l40", Sheet("mullet.se/product.html, product 355414, NVIDIA's table", 48, 864, 181.05, 362, pcie=4)),
    ("a40", Sheet("relationship-nepal.org/900-2g133-0000-000.html", 48, 696, pcie=4)),
    ("a40", Sheet("hmc-tech.com/gpu/nvidia-l40-vs-nvidia-a40", 48, None, 149.67)),
    ("t4", Sheet("NVIDIA's data sheet as remembered: GDDR6, 65 TFLOPS mixed", 16, 320, 65, pcie=3)),
    ("gb10", Sheet("ai-infrastructure.net/dgx-spark: 1,000 TOPS in FP4, sparse", 128, 273, None, None, 500)),
    ("mi250x", Sheet("zexron.com: of both dies 128 GB, 3.2 TB/s, 383 TFLOPS", 64, 1600, 191.5)),
    ("mi250x", Sheet("ROCm docs/conceptual/gpu-arch/mi250.md: 50 GB/s one way a link", None, 1600, two_way=100)),
    ("b200-sxm",
     Sheet("docs.nvidia.com/dgx/dgxb200-user-guide: 1,440 GB, 14.4 TB/s over 8", 180, two_way=1800, pcie=5)),
    ("b200-sxm", Sheet("docs.vultr.com/inference-cookbook hardware-overview", None, None, None, 4500, 9000, 1800)),
    ("b200-sxm", Sheet(VERDA, 180, 7700, 2250, 4500, 9000, 1800)),
    ("b300-sxm", Sheet(VERDA, None, 7700, 2250, 4500, 14000, 1800)),
    ("b300-sxm", Sheet(f"{KLOCKWOOD}/B300", 288, None, 2250, 4500, 13125, 1800, 6)),
    ("b300-sxm", Sheet(TOMS_ULTRA, 288, pcie=6)),
    ("gb200", Sheet("mlcommons/inference_results_v6.1 Crusoe GB200-NVL72_GB200-186GB", 186)),
    ("gb200", Sheet(f"{KLOCKWOOD}/B200", None, 8000, 2500, 5000, 10000, 1800)),
    ("gb300", Sheet(VERDA, None, 8000, 2500, 5000, 15000, 1800)),
    ("gb300", Sheet(TOMS_ULTRA, 288, 8000, pcie=6)),
    ("l40s", Sheet("mullet.se product 355414, NVIDIA's table", 48, 864, 362.05, 733, pcie=4)),
    ("l20", Sheet(TOMS_CHINA, 48, 864, 119.5, 239)),
    ("l4", Sheet("grokipedia.com/page/NVIDIA_L4_vs_L40S, sparse halved", 24, 300, 121, 242.5)),
    ("a6000", Sheet("servethehome.com/nvidia-rtx-a6000-48gb-gpu-drops-quadro-designation", 48, 768, pcie=4)),
    ("a6000", Sheet("llmperf.net/categories/gpu/Nvidia-A6000-GPUs", 48, 768, 154.8, pcie=4)),
    ("rtx-4090", Sheet("waredb.com/processor/nvidia-geforce-rtx-4090", 24, 1008, 165.15, 330.3)),
    ("rtx-5090", Sheet("libertify.com: NVIDIA RTX Blackwell GPU architecture", 32, 1792)),
    ("rtx-pro-6000", Sheet("gpu.name: PCIe of the Workstation Edition's data sheet", 96, pcie=5)),
    ("mi300x",
     Sheet("ROCm/legacy-rocm-build docs/conceptual/gpu-arch/mi300.md", None, 5300, 1307.4, 2614.9, pcie=5)),
    ("mi300x", Sheet("emergentmind.com/topics/amd-mi300x-gpu: 7 links of 128 GB/s", 192, 5300, two_way=896)),
    ("mi325x", Sheet("awesomeagents.ai/hardware/amd-mi325x", 256, 6000, 1307.4, 2614.9)),
    ("mi325x", Sheet("wiaix.com/amd-instincttm-mi325x-accelerators", None, 6000, pcie=5)),
    ("mi355x", Sheet("boston-uk-l.azurewebsites.net/blog/2025/08/14/amd-instinct-mi355x.aspx", 288, 8000)),
    ("mi355x", Sheet("mlcommons/inference_results_v6.0 AMD 87xMI355X_22xEPYC_9575F", 288, pcie=5)),
    ("mi355x",
     Sheet("world-today-news.com of ISSCC 2026: 8,192 operations in FP8 a clock and unit, 256 units at 2.4 GHz",
           None, None, None, 5033)),
]  # fmt: skip
"""Sheets round: 733 for twice 362.05, 14 PFLOPS for 13.5. No figure may be farther off than that."""


@each(("key", "sheet"), SHEETS)
def test_a_card_has_what_its_sheet_prints(key, sheet):
    row = gpu(key)
    printed = {
        row.memory_bytes / 1e9: sheet.gb,
        row.memory_bytes_per_s / 1e9: sheet.gb_per_s,
        row.bf16_flops / 1e12: sheet.bf16,
    }
    assert {
        ours: says for ours, says in printed.items() if says is not None and ours != pytest.approx(says, rel=1e-3)
    } == {}
    for ours, says in ((row.fp8_flops, sheet.fp8), (row.fp4_flops, sheet.fp4)):
        assert says is None or (ours or 0) / 1e12 == pytest.approx(says, rel=0.04)
    if sheet.two_way is not None:
        assert link(row.link_key).bandwidth_bytes_per_s / 1e9 == pytest.approx(sheet.two_way / 2, rel=0.01)
    assert sheet.pcie is None or link(row.bus_key).key == f"pcie-{sheet.pcie}"


def test_releases_of_one_shape_are_read_as_far_as_their_own_configs_say():
    """ai-dynamo/aiconfigurator model_configs of 21 August 2026: of 70 that name a row, M2.7's alone differed."""
    assert model("MiniMaxAI/MiniMax-M2.7").max_position_embeddings == 204_800
    assert model("MiniMaxAI/MiniMax-M2.5").max_position_embeddings == 196_608


def test_every_gpu_was_held_to_a_sheet():
    assert GPUS.keys() == {key for key, _ in SHEETS}


PORTS = {
    # stas00/ml-engineering network/README.md of 22 August 2026: interfaces of a node, Gb/s of one
    "efa-p4d": (4, 100),
    "efa-p5": (32, 100),
    # docs.olcf.ornl.gov/systems/frontier_user_guide.html: cards of 200 Gb/s (25 GB/s)
    "slingshot-11": (1, 200),
    # torvalds/linux drivers/infiniband/core/sysfs.c: Gb/s of a lane, of which a port has four
    "ib-edr": (4, 25),
    "ib-hdr": (4, 50),
    "ib-ndr": (4, 100),
    "ib-xdr": (4, 200),
    # docs.nvidia.com/networking/display/mlnxofedv587061lts/Release+Notes: what a ConnectX-7 has of Ethernet
    "roce-400g": (1, 400),
    **{f"ethernet-{rate}g": (1, rate) for rate in (1, 10, 25, 40, 50, 100, 200, 400)},
}
LANES = {"pcie-3": (8, 128 / 130), "pcie-4": (16, 128 / 130), "pcie-5": (32, 128 / 130), "pcie-6": (64, 242 / 256)}
"""GT/s of one of sixteen lanes, and what its code leaves of them: of a flit of PCIe 6, 242 bytes of 256."""


def test_a_network_has_the_rate_of_its_ports():
    rows = {key: row for key, row in LINKS.items() if row.reach == "network" and not key.endswith("-lab")}
    told = {key: ports * gbps / 8 for key, (ports, gbps) in PORTS.items()}
    assert {key: row.bandwidth_bytes_per_s / 1e9 for key, row in rows.items()} == told
    assert all("seen 2026" in row.source for row in rows.values())
    pages = {row.family: re.search(r"\S+(?=, seen 2026)", row.source)[0] for row in rows.values()}
    assert len({pages[kind] for kind in ("infiniband", "slingshot", "efa", "roce")}) == 4


def test_a_bus_has_the_rate_of_its_lanes():
    for key, (rate, left) in LANES.items():
        assert link(key).bandwidth_bytes_per_s == pytest.approx(16 * rate * left / 8 * 1e9, rel=2e-3)
