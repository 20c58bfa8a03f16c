"""Links: α a hop, β one direction, and the launch cost of a collective, each with where it is from.

Vendors print NVLink and xGMI two-way: halved here. Ports sold in Gb/s are divided by eight. A node's link is
shared by its GPUs; a GPU's is its own. The two `-lab` rows are the labs' napkin model, with no launch cost.

The other rows' `base_s` and `latency_s` explain *measured* small all-reduces: where one machine was measured at
several N, a line through them. Between nodes, α is their time, less the launch, less what the GPUs inside a node
cost, over the 2(G-1) hops of G nodes: only clean pairs of one GPU a node say it without a subtraction.
`measured_bytes_per_s` is the ring busbw of large payloads; where more than one level of a machine took part, the
figure is no speed of one link and stands in `measured_note` alone.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from core.catalog.lookup import by_key, find
from core.catalog.measured_link import measured_link_of
from core.catalog.timed_rings import L40S
from core.specs import GpuSpec, LinkFamily, LinkSpec

_NCCL = 6.6e-6
"""Launch of a ring all-reduce in the LL protocol. Source: NVIDIA/nccl src/graph/tuning.cc."""


_ONE_SHOT_A100, _ONE_SHOT_H100, _ONE_SHOT_L40S = (5.07e-6, 0.17e-6), (4.26e-6, 0.12e-6), (5.2e-6, 0.0)
_ONE_SHOT_B200 = (6.92e-6, 0.14e-6)
"""One stage of vLLM's kernel in a CUDA graph, for the first peer and each more: lines through measured 8 KiB
all-reduces at N = 2, 4, 8 (A100 5.29, 5.53, 6.32 µs; H100 4.38, 4.81, 5.11; B200 6.99, 7.13, 7.82; L40S at N = 2
5.72). Source: aiconfigurator silicon data."""


_SWITCH_H100 = (9.4e-6, 201e9)
"""A line through what eight H100 took by vLLM 0.24 in a CUDA graph from 512 KiB to 64 MiB (11.99, 14.97, 19.39,
30.8, 50.7, 92.4, 177.8, 344 µs), where that release sums in the switch. Source: aiconfigurator silicon data."""
_SWITCH_B200 = (9.4e-6, 354e9)
"""In no table: an H100's, its bytes in the ratio of what NCCL's sums in both switches reach, 841 to 478 GB/s."""


class _Kind(NamedTuple):
    """What links of a family share."""

    family: LinkFamily
    reach: Literal["node", "network"] = "network"
    scope: Literal["gpu", "node"] = "gpu"
    rates_at: str = ""


_PORTS = "stas00/ml-engineering network/README.md, seen 2026-11-23"
_LANES = "torvalds/linux drivers/infiniband/core/sysfs.c, seen 2026-11-23"
_CARDS = "docs.olcf.ornl.gov/systems/frontier_user_guide.html, seen 2026-11-23"
_ADAPTERS = "docs.nvidia.com/networking/display/mlnxofedv587061lts, seen 2026-11-23"
_NVLINK, _XGMI, _PCIE = _Kind("nvlink", "node"), _Kind("xgmi", "node"), _Kind("pcie", "node")
_INFINIBAND, _SLINGSHOT = _Kind("infiniband", rates_at=_LANES), _Kind("slingshot", rates_at=_CARDS)
_ROCE, _EFA = _Kind("roce", rates_at=_ADAPTERS), _Kind("efa", scope="node", rates_at=_PORTS)
_ETHERNET = _Kind("ethernet", scope="node", rates_at=_ADAPTERS)


def _row(
    key: str,
    name: str,
    kind: _Kind,
    latency_s: float,
    bandwidth_bytes_per_s: float,
    base_s: float,
    source: str,
    **fields: Any,
) -> LinkSpec:
    """A link; `fields` are LinkSpec's others. A network's source says besides where its ports' rate stands."""
    return LinkSpec(
        key,
        name,
        latency_s,
        bandwidth_bytes_per_s,
        base_s,
        scope=kind.scope,
        reach=kind.reach,
        family=kind.family,
        source="; ".join(filter(None, (source, kind.rates_at))),
        **fields,
    )


# fmt: off
LINKS: Mapping[str, LinkSpec] = by_key((
    # key, name, kind, α s a hop, β bytes/s one way, launch s
    _row("nvlink-lab", "NVLink, rough", _NVLINK, 3e-6, 300e9, 0.0,
         aliases=("nvlink",),
         source="the labs' assumption: 3 µs a hop; 300 GB/s is NVLink 3 (A100), 600 GB/s two-way halved"),
    _row("ethernet-10g-lab", "10 GbE, rough", _ETHERNET, 50e-6, 1.25e9, 0.0,
         measured_series="a10g-tcp", aliases=("10gbe", "ethernet"),
         source="the labs' assumption: 50 µs a hop (not a round trip); 10 Gb/s over eight"),
    _row("nvlink-2", "NVLink 2 (V100)", _NVLINK, 0.85e-6, 150e9, 9.4e-6,
         lanes=6, capability="7.0", napkin_key="nvlink-lab", kernel_s=_ONE_SHOT_A100, aliases=("nvswitch-1",),
         source=("300 GB/s two-way halved: manualshelf.com/manual/dell/high-performance-computing-solution-"
                 "resources, seen 2026-11-23; α and base taken over from NVLink 3")),
    _row("nvlink-3", "NVLink 3 (A100)", _NVLINK, 0.85e-6, 300e9, 9.4e-6,
         measured_bytes_per_s=230e9, lanes=12, capability="8.0", napkin_key="nvlink-lab",
         kernel_s=_ONE_SHOT_A100, aliases=("nvswitch-2",),
         measured_note="ring busbw 226 to 235 GB/s over 8 GPUs, 209 over 4",
         source=("600 GB/s two-way halved (aiconfigurator systems: 300); α, base: line through 8 KiB NCCL 2.27 "
                 "all-reduces at N = 2, 4, 8 (10.97, 14.68, 21.27 µs, aiconfigurator)")),
    _row("nvlink-4", "NVLink 4 (H100, H200)", _NVLINK, 0.76e-6, 450e9, 5.3e-6,
         measured_bytes_per_s=365e9, in_switch_bytes_per_s=478e9, lanes=18, capability="9.0",
         napkin_key="nvlink-lab", kernel_s=_ONE_SHOT_H100, switch_sum=_SWITCH_H100, aliases=("nvswitch-3",),
         measured_note=("ring busbw 363 to 370 GB/s over 8 GPUs; a copy between two 396; in-switch reductions "
                        "print 473 to 483"),
         source=("900 GB/s two-way halved (aiconfigurator systems: 450); α, base: line through 8 KiB NCCL 2.29 "
                 "all-reduces at N = 2, 4, 8 (6.77, 10.04, 15.96 µs, aiconfigurator)")),
    _row("nvlink-3-a800", "NVLink 3 (A800)", _NVLINK, 0.85e-6, 200e9, 9.4e-6,
         lanes=8, capability="8.0", kernel_s=_ONE_SHOT_A100,
         source=("400 GB/s two-way halved: aiwiki.ai/wiki/nvidia_a800, seen 2026-11-28; α and base taken over "
                 "from NVLink 3")),
    _row("nvlink-4-h800", "NVLink 4 (H800)", _NVLINK, 0.76e-6, 200e9, 5.3e-6,
         lanes=8, capability="9.0", kernel_s=_ONE_SHOT_H100,
         source=("400 GB/s two-way halved: aiwiki.ai/wiki/nvidia_h800, seen 2026-11-28; α and base taken over "
                 "from NVLink 4")),
    _row("nvlink-bridge", "NVLink bridge (A40, A6000, 3090)", _NVLINK, 0.85e-6, 56.25e9, 9.4e-6,
         lanes=4, capability="8.6", kernel_s=_ONE_SHOT_A100,
         source=("112.5 GB/s two-way halved: relationship-nepal.org/900-2g133-0000-000.html, seen 2026-11-28; α "
                 "and base taken over from NVLink 3")),
    _row("nvlink-5", "NVLink 5 (B200)", _NVLINK, 1.3e-6, 900e9, 7.8e-6,
         measured_bytes_per_s=678e9, in_switch_bytes_per_s=841e9, lanes=18, capability="10.0",
         napkin_key="nvlink-lab", kernel_s=_ONE_SHOT_B200, switch_sum=_SWITCH_B200, aliases=("nvswitch-4",),
         measured_note="ring busbw 673 to 682 GB/s; in-switch reductions print 838 to 845",
         source=("1,800 GB/s two-way halved (aiconfigurator systems: 900); α, base: line through 8 KiB NCCL 2.29 "
                 "all-reduces at N = 2, 4, 8 (10.48, 15.66, 26.02 µs, aiconfigurator)")),
    _row("pcie-3", "PCIe 3 x16", _PCIE, 1.4e-6, 15.75e9, _NCCL,
         measured_bytes_per_s=10.5e9, kernel_s=_ONE_SHOT_L40S,
         measured_note="ring busbw 10.5 GB/s over 4 GPUs; 4.0 over 2 without P2P",
         source=("8 GT/s x 16 lanes, 128b/130b, over eight; α: 14.8 µs for small all-reduces of 4 V100 PCIe, "
                 "less the launch, over 6 hops")),
    _row("pcie-4", "PCIe 4 x16", _PCIE, 1.2e-6, 31.5e9, 5.7e-6,
         measured_bytes_per_s=20e9, measured_rings=L40S, switched_bytes_per_s=25.3e9, measured_series="l40s-nccl",
         kernel_s=_ONE_SHOT_L40S,
         measured_note="ring busbw 19.7 GB/s over 2 GPUs, 5.1 over 4, 1.5 over 8; 25.3 over 4 behind switches",
         source=("16 GT/s x 16 lanes, 128b/130b, over eight; α, base: line through 8 KiB NCCL all-reduces at N ="
                 " 2, 4 (8.09, 12.98 µs, L40S, aiconfigurator); at N = 8, across sockets, 32.5 µs")),
    _row("pcie-4-no-p2p", "PCIe 4 x16, no P2P", _PCIE, 1.2e-6, 31.5e9, 5.7e-6,
         measured_bytes_per_s=3e9,
         measured_note="ring busbw 2.2 to 3.9 GB/s over 2 GPUs: every byte goes through the host's memory",
         source=("the wire of PCIe 4 x16; GeForce drivers refuse peer-to-peer, so copies are staged; α and base "
                 "taken over from PCIe 4, both too small by that")),
    _row("pcie-5", "PCIe 5 x16", _PCIE, 1.2e-6, 63e9, 5.7e-6,
         measured_bytes_per_s=42e9, switched_bytes_per_s=42e9, kernel_s=_ONE_SHOT_L40S,
         measured_note="ring busbw 39 to 46 GB/s over 8 GPUs behind switches, 27 over 4 without",
         source="32 GT/s x 16 lanes, 128b/130b, over eight; α and base taken over from PCIe 4"),
    _row("pcie-5-no-p2p", "PCIe 5 x16, no P2P", _PCIE, 1.2e-6, 63e9, 5.7e-6,
         measured_bytes_per_s=6e9,
         measured_note="in no table: taken as twice what the wire half as wide reaches without P2P",
         source=("the wire of PCIe 5 x16; GeForce drivers refuse peer-to-peer, so copies are staged; α and base "
                 "taken over from PCIe 4, both too small by that")),
    _row("pcie-6", "PCIe 6 x16", _PCIE, 1.2e-6, 121e9, 5.7e-6, kernel_s=_ONE_SHOT_L40S,
         source="64 GT/s x 16 lanes in flits, 121 GB/s one way after overhead; α and base taken over from PCIe 4"),
    _row("xgmi-mi250x", "xGMI, 4 x MI250X", _XGMI, 0.88e-6, 50e9, _NCCL,
         source=("links of 50 GB/s one way, the fewest of two neighbors one: AMD's own "
                 "docs/conceptual/gpu-arch/mi250.md, seen 2026-11-28; α and base taken over from xGMI, 8 x "
                 "MI300X")),
    _row("xgmi-mi300x", "xGMI, 8 x MI300X", _XGMI, 0.88e-6, 448e9, _NCCL,
         measured_bytes_per_s=313e9, aliases=("xgmi-mi325x",),
         measured_note="ring busbw 313 GB/s over 8 GPUs, 48 over 2: a mesh of 7 links, and a pair has one of them",
         source=("7 links of 128 GB/s two-way, halved: emergentmind.com/topics/amd-mi300x-gpu, seen 2026-11-23; "
                 "α: 18.9 µs for small RCCL all-reduces of 8, less the launch, over 14 hops")),
    _row("xgmi-mi355x", "xGMI, 8 x MI355X", _XGMI, 2.8e-6, 535e9, 7.9e-6,
         measured_bytes_per_s=407e9,
         measured_note=("ring busbw 407 GB/s over 8 GPUs, 134 over 4, 44 over 2: a mesh of 7 links, and a pair "
                        "has one of them"),
         source=("data sheet as remembered, MI355X: 7 links of 153 GB/s two-way, halved; α, base: line through "
                 "small RCCL all-reduces at N = 2, 4, 8 (13.4, 25.7, 46.6 µs)")),
    _row("ib-edr", "InfiniBand EDR", _INFINIBAND, 3e-6, 12.5e9, _NCCL,
         source=("100 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces "
                 "between two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)")),
    _row("ib-hdr", "InfiniBand HDR", _INFINIBAND, 3e-6, 25e9, _NCCL,
         measured_bytes_per_s=23.75e9,
         measured_note="host to host 23.75 GB/s",
         published_as="hdr|200 gb/s ib",
         source=("200 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces "
                 "between two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)")),
    _row("ib-ndr", "InfiniBand NDR", _INFINIBAND, 3e-6, 50e9, _NCCL,
         published_as="ndr|400 gb/s ib",
         source=("400 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces "
                 "between two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)")),
    _row("ib-xdr", "InfiniBand XDR", _INFINIBAND, 3e-6, 100e9, _NCCL,
         source=("800 Gb/s a port over eight, one port a GPU; α: 12.6 µs for small all-reduces between two nodes"
                 " of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)")),
    _row("roce-400g", "RoCE 400G", _ROCE, 14e-6, 50e9, _NCCL,
         measured_bytes_per_s=38e9,
         measured_note="ring busbw 32 to 45 GB/s between two nodes of one GPU",
         source=("400 Gb/s a NIC over eight, one NIC a GPU; α: 35 µs for small all-reduces between two nodes of "
                 "one H200, less the launch, over 2 hops")),
    _row("efa-p4d", "EFA, AWS p4d", _EFA, 74e-6, 50e9, _NCCL,
         measured_note="2 nodes of 8 A100: busbw 44 to 78 GB/s, of both levels, so no speed of this link",
         source=("4 x 100 Gb/s a node over eight; α: 162 to 177 µs for small all-reduces of 2 x 8, less 21 µs "
                 "inside a node, over 2 hops")),
    _row("efa-p5", "EFA, AWS p5", _EFA, 26e-6, 400e9, _NCCL,
         measured_note="2 nodes of 8 H100: busbw 444 to 487 GB/s, of both levels, so no speed of this link",
         source=("3,200 Gb/s a node over eight; α: 66 to 71 µs for small all-reduces of 2 x 8, less 16 µs inside"
                 " a node, over 2 hops")),
    _row("slingshot-11", "Slingshot 11", _SLINGSHOT, 4.4e-6, 25e9, _NCCL,
         measured_bytes_per_s=22.9e9,
         measured_note="busbw 22.9 GB/s between two nodes of one GH200",
         source=("200 Gb/s a NIC over eight, one NIC a GPU; α: 18.8 µs for small all-reduces of 2 nodes of 4 "
                 "GH200, less 10 µs inside a node, over 2 hops")),
    _row("ethernet-1g", "1 GbE", _ETHERNET, 85.2e-6, 0.125e9, _NCCL,
         source="1 Gb/s over eight; α taken over from 10 GbE"),
    _row("ethernet-10g", "10 GbE, NCCL over TCP", _ETHERNET, 85.2e-6, 1.25e9, _NCCL,
         measured_bytes_per_s=0.8e9, measured_series="a10g-tcp", napkin_key="ethernet-10g-lab",
         aliases=("ethernet-10gbe",),
         measured_note="ring busbw 0.8 GB/s between two nodes of A10G over TCP",
         source=("10 Gb/s over eight; α: 177 µs for small all-reduces between two nodes of A10G over TCP, less the "
                 "launch, over 2 hops")),
    _row("ethernet-25g", "25 GbE, NCCL over TCP", _ETHERNET, 51e-6, 3.125e9, _NCCL,
         source="25 Gb/s over eight; α taken over from 50 GbE"),
    _row("ethernet-40g", "40 GbE, NCCL over TCP", _ETHERNET, 51e-6, 5e9, _NCCL,
         source="40 Gb/s over eight; α taken over from 50 GbE"),
    _row("ethernet-50g", "50 GbE, NCCL over TCP", _ETHERNET, 51e-6, 6.25e9, _NCCL,
         measured_bytes_per_s=2e9,
         measured_note="busbw 2 GB/s between two nodes of T4 over TCP",
         source=("50 Gb/s over eight; α: 108 µs for small all-reduces between two nodes of T4 over TCP, less the "
                 "launch, over 2 hops")),
    _row("ethernet-100g", "100 GbE, NCCL over TCP", _ETHERNET, 24e-6, 12.5e9, _NCCL,
         source="100 Gb/s over eight; α taken over from 200 GbE"),
    _row("ethernet-200g", "200 GbE, NCCL over TCP", _ETHERNET, 24e-6, 25e9, _NCCL,
         measured_bytes_per_s=5.5e9,
         measured_note="5 to 6 GB/s over TCP: the stack, not the wire, is the limit",
         source=("200 Gb/s over eight; α: 57.5 µs for small all-reduces of 2 nodes of 4 GH200 over TCP, less 10 "
                 "µs inside a node, over 2 hops")),
    _row("ethernet-400g", "400 GbE, NCCL over TCP", _ETHERNET, 24e-6, 50e9, _NCCL,
         source="400 Gb/s over eight; α taken over from 200 GbE"),
), "core/catalog/links.py")
# fmt: on
"""Every link, under its key."""


def link(name: str) -> LinkSpec:
    """The link that `name` means: a row's key or alias, or a key of one's own (core.catalog.measured_link).

    Raises UnknownNameError.
    """
    return measured_link_of(name) or find("link", LINKS, name)


def timed_row(napkin: LinkSpec, gpu: GpuSpec) -> LinkSpec:
    """The row that stands for a link of the labs' napkin: what joins such GPUs, or the network of its bandwidth.

    So GPUs without NVLink are joined by PCIe. Another link is its own row.
    """
    rows = [row for row in LINKS.values() if row.napkin_key == napkin.key]
    if not rows:
        return napkin
    return rows[0] if napkin.reach == "network" else LINKS[gpu.link_key]
