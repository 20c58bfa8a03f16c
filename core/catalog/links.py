"""Links: α a hop, β one direction, and the launch cost of a collective, each with where it is from.

Vendors print NVLink and xGMI two-way: halved here. Ports sold in Gb/s are divided by eight. A node's link is
shared by its GPUs; a GPU's is its own. The two `-lab` rows are the labs' napkin model, with no launch cost.

The other rows' `base_s` and `latency_s` explain *measured* small all-reduces: where one machine was measured at
several N, a line through them; between nodes, the small-message time less the launch and less what the GPUs inside
a node cost, over the 2(G-1) hops of G nodes. `measured_bytes_per_s` is the ring busbw of large payloads.
"""

from collections.abc import Mapping

from core.catalog.lookup import by_key, find
from core.specs import LinkSpec

_NCCL_BASE_S = 6.6e-6
"""Launch of a ring all-reduce in the LL protocol. Source: NVIDIA/nccl src/graph/tuning.cc."""

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
        key="nvlink-3",
        name="NVLink 3 (A100)",
        latency_s=0.85e-6,
        bandwidth_bytes_per_s=300e9,
        base_s=9.4e-6,
        measured_bytes_per_s=230e9,
        measured_note="ring busbw 226–235 GB/s over 8 GPUs, 209 over 4",
        source=(
            "A100 data sheet: 600 GB/s two-way halved; α, base: line through 8 KiB NCCL 2.27 all-reduces at N "
            "= 2, 4, 8 (10.97, 14.68, 21.27 µs, aiconfigurator)"
        ),
    ),
    LinkSpec(
        key="nvlink-4",
        name="NVLink 4 (H100, H200)",
        latency_s=0.76e-6,
        bandwidth_bytes_per_s=450e9,
        base_s=5.3e-6,
        measured_bytes_per_s=365e9,
        measured_note="ring busbw 363–370 GB/s; a copy between two GPUs 396; in-switch reductions print 473–483",
        source=(
            "H100 data sheet: 900 GB/s two-way halved; α, base: line through 8 KiB NCCL 2.29 all-reduces at N "
            "= 2, 4, 8 (6.77, 10.04, 15.96 µs, aiconfigurator)"
        ),
    ),
    LinkSpec(
        key="nvlink-5",
        name="NVLink 5 (B200)",
        latency_s=0.76e-6,
        bandwidth_bytes_per_s=900e9,
        base_s=5.3e-6,
        measured_bytes_per_s=678e9,
        measured_note="ring busbw 673–682 GB/s; in-switch reductions print 838–845",
        source=(
            "B200 data sheet: 1,800 GB/s two-way halved; α and base taken over from NVLink 4, not measured at "
            "several N"
        ),
    ),
    LinkSpec(
        key="pcie-4",
        name="PCIe 4 x16",
        latency_s=1.22e-6,
        bandwidth_bytes_per_s=31.5e9,
        base_s=5.6e-6,
        measured_bytes_per_s=15e9,
        measured_note="ring busbw 25.3 GB/s over 4 GPUs with P2P, 15 over 8, 2.2–3.9 over 2 without P2P",
        source=(
            "16 GT/s x 16 lanes, 128b/130b, over eight; α, base: 8 KiB NCCL all-reduces of L40S at N = 2 and "
            "4 (8.09, 12.98 µs, aiconfigurator); at N = 8, across sockets, 32.5 µs"
        ),
    ),
    LinkSpec(
        key="pcie-5",
        name="PCIe 5 x16",
        latency_s=1.22e-6,
        bandwidth_bytes_per_s=63e9,
        base_s=5.6e-6,
        measured_bytes_per_s=42e9,
        measured_note="ring busbw 39–46 GB/s over 8 GPUs behind switches, 27 over 4 without",
        source="32 GT/s x 16 lanes, 128b/130b, over eight; α and base taken over from PCIe 4",
    ),
)

_NETWORK = (
    LinkSpec(
        key="ib-hdr",
        name="InfiniBand HDR",
        latency_s=2.7e-6,
        bandwidth_bytes_per_s=25e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        measured_bytes_per_s=23.75e9,
        measured_note="host to host 23.75 GB/s",
        source=(
            "200 Gb/s a port over eight, one port a GPU as in a DGX; α: a network hop of NCCL's tuner (ring, LL)"
        ),
    ),
    LinkSpec(
        key="ib-ndr",
        name="InfiniBand NDR",
        latency_s=2.7e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        source=(
            "400 Gb/s a port over eight, one port a GPU as in a DGX; α: a network hop of NCCL's tuner (ring, LL)"
        ),
    ),
    LinkSpec(
        key="roce-400g",
        name="RoCE 400G",
        latency_s=13.7e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        measured_bytes_per_s=38e9,
        measured_note="ring busbw 32–45 GB/s between two nodes of one GPU",
        source=(
            "400 Gb/s a NIC over eight, one NIC a GPU; α: small all-reduces of 34 µs between two nodes of one "
            "GPU, less the launch"
        ),
    ),
    LinkSpec(
        key="ethernet-10g",
        name="10 GbE, NCCL over TCP",
        latency_s=84e-6,
        bandwidth_bytes_per_s=1.25e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_bytes_per_s=0.8e9,
        measured_note="ring busbw 0.8 GB/s between two A10G nodes over TCP",
        aliases=("ethernet-10gbe",),
        source=(
            "10 Gb/s over eight; α: small all-reduces of 175 µs between two A10G nodes over TCP, less the launch"
        ),
    ),
    LinkSpec(
        key="ethernet-100g",
        name="100 GbE, NCCL over TCP",
        latency_s=35e-6,
        bandwidth_bytes_per_s=12.5e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_bytes_per_s=5.5e9,
        measured_note="TCP reaches 5–6 GB/s on 200 Gb/s: the stack, not the wire, is the limit",
        source="100 Gb/s over eight; α: small all-reduces over TCP take 53–101 µs at N = 2, less the launch",
    ),
)

LINKS: Mapping[str, LinkSpec] = by_key(_LAB + _INSIDE + _NETWORK)
"""Every link, under its key."""


def link(name: str) -> LinkSpec:
    """The link that `name` means.

    Raises UnknownNameError.
    """
    return find("link", LINKS, name)
