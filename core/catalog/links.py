"""Links: α a hop, β one direction, and the launch cost of a collective, each with where it is from.

Vendors print NVLink and xGMI two-way: halved here. Ports sold in Gb/s are divided by eight. A node's link is
shared by its GPUs; a GPU's is its own. The two `-lab` rows are the labs' napkin model, with no launch cost.

The other rows' `base_s` and `latency_s` explain *measured* small all-reduces: where one machine was measured at
several N, a line through them. `measured_bytes_per_s` is the ring busbw of large payloads; where more than one
level of a machine took part, the figure is no speed of one wire and stands in `measured_note` alone.
"""

from collections.abc import Mapping

from core.catalog.lookup import by_key, find
from core.catalog.networks import NETWORK
from core.catalog.own_link import own_link_of
from core.specs import LinkSpec

_LAB = (
    LinkSpec(
        key="nvlink-lab",
        name="NVLink, napkin",
        latency_s=3e-6,
        bandwidth_bytes_per_s=300e9,
        aliases=("nvlink",),
        source="the labs' assumption: 3 µs a hop; 300 GB/s is NVLink 3 (A100), 600 GB/s two-way halved",
    ),
    LinkSpec(
        key="ethernet-10g-lab",
        name="10 GbE, napkin",
        latency_s=50e-6,
        bandwidth_bytes_per_s=1.25e9,
        scope="node",
        reach="network",
        aliases=("10gbe", "ethernet"),
        source="the labs' assumption: 50 µs a hop (not a round trip); 10 Gb/s over eight",
    ),
)

_INSIDE = (
    LinkSpec(
        key="nvlink-2",
        name="NVLink 2 (V100)",
        latency_s=0.85e-6,
        bandwidth_bytes_per_s=150e9,
        base_s=9.4e-6,
        aliases=("nvswitch-1",),
        source="V100 data sheet as remembered: 300 GB/s two-way halved; α and base taken over from NVLink 3",
    ),
    LinkSpec(
        key="nvlink-3",
        name="NVLink 3 (A100)",
        latency_s=0.85e-6,
        bandwidth_bytes_per_s=300e9,
        base_s=9.4e-6,
        measured_bytes_per_s=230e9,
        measured_note="ring busbw 226 to 235 GB/s over 8 GPUs, 209 over 4",
        aliases=("nvswitch-2",),
        source=(
            "600 GB/s two-way halved (aiconfigurator systems: 300); α, base: line through 8 KiB NCCL 2.27 "
            "all-reduces at N = 2, 4, 8 (10.97, 14.68, 21.27 µs, aiconfigurator)"
        ),
    ),
    LinkSpec(
        key="nvlink-4",
        name="NVLink 4 (H100, H200)",
        latency_s=0.76e-6,
        bandwidth_bytes_per_s=450e9,
        base_s=5.3e-6,
        measured_bytes_per_s=365e9,
        measured_note=(
            "ring busbw 363 to 370 GB/s over 8 GPUs; a copy between two 396; in-switch reductions print 473 to 483"
        ),
        aliases=("nvswitch-3",),
        source=(
            "900 GB/s two-way halved (aiconfigurator systems: 450); α, base: line through 8 KiB NCCL 2.29 "
            "all-reduces at N = 2, 4, 8 (6.77, 10.04, 15.96 µs, aiconfigurator)"
        ),
    ),
    LinkSpec(
        key="nvlink-5",
        name="NVLink 5 (B200)",
        latency_s=0.76e-6,
        bandwidth_bytes_per_s=900e9,
        base_s=5.3e-6,
        measured_bytes_per_s=678e9,
        measured_note="ring busbw 673 to 682 GB/s; in-switch reductions print 838 to 845",
        aliases=("nvswitch-4",),
        source="1,800 GB/s two-way halved (aiconfigurator systems: 900); α and base taken over from NVLink 4",
    ),
    LinkSpec(
        key="pcie-3",
        name="PCIe 3 x16",
        latency_s=1.4e-6,
        bandwidth_bytes_per_s=15.75e9,
        base_s=6.6e-6,
        measured_bytes_per_s=10.5e9,
        measured_note="ring busbw 10.5 GB/s over 4 GPUs; 4.0 over 2 without P2P",
        source=(
            "8 GT/s x 16 lanes, 128b/130b, over eight; α: 14.8 µs for small all-reduces of 4 V100 PCIe, less "
            "the launch, over 6 hops"
        ),
    ),
    LinkSpec(
        key="pcie-4",
        name="PCIe 4 x16",
        latency_s=1.2e-6,
        bandwidth_bytes_per_s=31.5e9,
        base_s=5.7e-6,
        measured_bytes_per_s=15e9,
        measured_note="ring busbw 25.3 GB/s over 4 GPUs with P2P, 15 over 8, 2.2 to 3.9 over 2 without P2P",
        source=(
            "16 GT/s x 16 lanes, 128b/130b, over eight; α, base: line through 8 KiB NCCL all-reduces at N = "
            "2, 4 (8.09, 12.98 µs, L40S, aiconfigurator); at N = 8, across sockets, 32.5 µs"
        ),
    ),
    LinkSpec(
        key="pcie-4-no-p2p",
        name="PCIe 4 x16, no P2P",
        latency_s=1.2e-6,
        bandwidth_bytes_per_s=31.5e9,
        base_s=5.7e-6,
        measured_bytes_per_s=3e9,
        measured_note="ring busbw 2.2 to 3.9 GB/s over 2 GPUs: every byte goes through the host's memory",
        source=(
            "the wire of PCIe 4 x16; GeForce drivers refuse peer-to-peer, so copies are staged; α and base taken "
            "over from PCIe 4, both too small by that"
        ),
    ),
    LinkSpec(
        key="pcie-5",
        name="PCIe 5 x16",
        latency_s=1.2e-6,
        bandwidth_bytes_per_s=63e9,
        base_s=5.7e-6,
        measured_bytes_per_s=42e9,
        measured_note="ring busbw 39 to 46 GB/s over 8 GPUs behind switches, 27 over 4 without",
        source="32 GT/s x 16 lanes, 128b/130b, over eight; α and base taken over from PCIe 4",
    ),
    LinkSpec(
        key="pcie-6",
        name="PCIe 6 x16",
        latency_s=1.2e-6,
        bandwidth_bytes_per_s=121e9,
        base_s=5.7e-6,
        source="64 GT/s x 16 lanes in flits, 121 GB/s one way after overhead; α and base taken over from PCIe 4",
    ),
    LinkSpec(
        key="xgmi-mi300x",
        name="xGMI, 8 x MI300X",
        latency_s=0.88e-6,
        bandwidth_bytes_per_s=448e9,
        base_s=6.6e-6,
        measured_bytes_per_s=313e9,
        measured_note="ring busbw 313 GB/s over 8 GPUs, 48 over 2: a mesh of 7 links, and a pair has one of them",
        aliases=("xgmi-mi325x",),
        source=(
            "MI300X data sheet as remembered: 7 links of 128 GB/s two-way, halved; α: 18.9 µs for small RCCL "
            "all-reduces of 8, less the launch, over 14 hops"
        ),
    ),
    LinkSpec(
        key="xgmi-mi355x",
        name="xGMI, 8 x MI355X",
        latency_s=2.8e-6,
        bandwidth_bytes_per_s=535e9,
        base_s=7.9e-6,
        measured_bytes_per_s=407e9,
        measured_note=(
            "ring busbw 407 GB/s over 8 GPUs, 134 over 4, 44 over 2: a mesh of 7 links, and a pair has one of them"
        ),
        source=(
            "MI355X data sheet as remembered: 7 links of 153 GB/s two-way, halved; α, base: line through small "
            "RCCL all-reduces at N = 2, 4, 8 (13.4, 25.7, 46.6 µs)"
        ),
    ),
)

LINKS: Mapping[str, LinkSpec] = by_key((*_LAB, *_INSIDE, *NETWORK))
"""Every link, under its key."""


def link(name: str) -> LinkSpec:
    """The link that `name` means: a row's key or alias, or a key of one's own (core.catalog.own_link).

    Raises UnknownNameError.
    """
    return own_link_of(name) or find("link", LINKS, name)
