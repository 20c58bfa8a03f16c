"""Links between nodes, as core.catalog.links describes its rows.

α is the time of measured small all-reduces, less the launch, less what the GPUs inside a node cost, over the
2(G-1) hops of G nodes. Only clean pairs of one GPU a node say it without a subtraction.
"""

from core.specs import LinkSpec

_NCCL_BASE_S = 6.6e-6
"""Launch of a ring all-reduce in the LL protocol. Source: NVIDIA/nccl src/graph/tuning.cc."""

NETWORK = (
    LinkSpec(
        key="ib-edr",
        name="InfiniBand EDR",
        latency_s=3e-6,
        bandwidth_bytes_per_s=12.5e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        source=(
            "100 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces between "
            "two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)"
        ),
    ),
    LinkSpec(
        key="ib-hdr",
        name="InfiniBand HDR",
        latency_s=3e-6,
        bandwidth_bytes_per_s=25e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        measured_bytes_per_s=23.75e9,
        measured_note="host to host 23.75 GB/s",
        source=(
            "200 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces between "
            "two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)"
        ),
    ),
    LinkSpec(
        key="ib-ndr",
        name="InfiniBand NDR",
        latency_s=3e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        source=(
            "400 Gb/s a port over eight, one port a GPU as in a DGX; α: 12.6 µs for small all-reduces between "
            "two nodes of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)"
        ),
    ),
    LinkSpec(
        key="ib-xdr",
        name="InfiniBand XDR",
        latency_s=3e-6,
        bandwidth_bytes_per_s=100e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        source=(
            "800 Gb/s a port over eight, one port a GPU; α: 12.6 µs for small all-reduces between two nodes "
            "of one L40S over ConnectX, less the launch, over 2 hops (NCCL's tuner: 2.7)"
        ),
    ),
    LinkSpec(
        key="roce-400g",
        name="RoCE 400G",
        latency_s=14e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        measured_bytes_per_s=38e9,
        measured_note="ring busbw 32 to 45 GB/s between two nodes of one GPU",
        source=(
            "400 Gb/s a NIC over eight, one NIC a GPU; α: 35 µs for small all-reduces between two nodes of "
            "one H200, less the launch, over 2 hops"
        ),
    ),
    LinkSpec(
        key="efa-p4d",
        name="EFA, AWS p4d",
        latency_s=74e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_note="2 nodes of 8 A100: busbw 44 to 78 GB/s, of both levels, so no speed of this wire",
        source=(
            "4 x 100 Gb/s a node over eight; α: 162 to 177 µs for small all-reduces of 2 x 8, less 21 µs "
            "inside a node, over 2 hops"
        ),
    ),
    LinkSpec(
        key="efa-p5",
        name="EFA, AWS p5",
        latency_s=26e-6,
        bandwidth_bytes_per_s=400e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_note="2 nodes of 8 H100: busbw 444 to 487 GB/s, of both levels, so no speed of this wire",
        source=(
            "3,200 Gb/s a node over eight; α: 66 to 71 µs for small all-reduces of 2 x 8, less 16 µs inside a "
            "node, over 2 hops"
        ),
    ),
    LinkSpec(
        key="slingshot-11",
        name="Slingshot 11",
        latency_s=4.4e-6,
        bandwidth_bytes_per_s=25e9,
        base_s=_NCCL_BASE_S,
        reach="network",
        measured_bytes_per_s=22.9e9,
        measured_note="busbw 22.9 GB/s between two nodes of one GH200",
        source=(
            "200 Gb/s a NIC over eight, one NIC a GPU; α: 18.8 µs for small all-reduces of 2 nodes of 4 "
            "GH200, less 10 µs inside a node, over 2 hops"
        ),
    ),
    LinkSpec(
        key="ethernet-1g",
        name="1 GbE",
        latency_s=84e-6,
        bandwidth_bytes_per_s=0.125e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        source="1 Gb/s over eight; α taken over from 10 GbE",
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
            "10 Gb/s over eight; α: 177 µs for small all-reduces between two A10G nodes over TCP, less the "
            "launch, over 2 hops"
        ),
    ),
    LinkSpec(
        key="ethernet-25g",
        name="25 GbE, NCCL over TCP",
        latency_s=51e-6,
        bandwidth_bytes_per_s=3.125e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        source="25 Gb/s over eight; α taken over from 50 GbE",
    ),
    LinkSpec(
        key="ethernet-40g",
        name="40 GbE, NCCL over TCP",
        latency_s=51e-6,
        bandwidth_bytes_per_s=5e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        source="40 Gb/s over eight; α taken over from 50 GbE",
    ),
    LinkSpec(
        key="ethernet-50g",
        name="50 GbE, NCCL over TCP",
        latency_s=51e-6,
        bandwidth_bytes_per_s=6.25e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_bytes_per_s=2e9,
        measured_note="busbw 2 GB/s between two T4 nodes over TCP",
        source=(
            "50 Gb/s over eight; α: 108 µs for small all-reduces between two T4 nodes over TCP, less the "
            "launch, over 2 hops"
        ),
    ),
    LinkSpec(
        key="ethernet-100g",
        name="100 GbE, NCCL over TCP",
        latency_s=24e-6,
        bandwidth_bytes_per_s=12.5e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        source="100 Gb/s over eight; α taken over from 200 GbE",
    ),
    LinkSpec(
        key="ethernet-200g",
        name="200 GbE, NCCL over TCP",
        latency_s=24e-6,
        bandwidth_bytes_per_s=25e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        measured_bytes_per_s=5.5e9,
        measured_note="5 to 6 GB/s over TCP: the stack, not the wire, is the limit",
        source=(
            "200 Gb/s over eight; α: 57.5 µs for small all-reduces of 2 nodes of 4 GH200 over TCP, less 10 µs "
            "inside a node, over 2 hops"
        ),
    ),
    LinkSpec(
        key="ethernet-400g",
        name="400 GbE, NCCL over TCP",
        latency_s=24e-6,
        bandwidth_bytes_per_s=50e9,
        base_s=_NCCL_BASE_S,
        scope="node",
        reach="network",
        source="400 Gb/s over eight; α taken over from 200 GbE",
    ),
)
"""From 1 GbE to InfiniBand XDR."""
