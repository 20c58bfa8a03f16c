"""The unit lens: what a link's numbers become when a unit slips, and which verdict the slip flips.

Vendors print bits and both directions, operating systems powers of two, ping a round trip. Each slip is a factor.
"""

from dataclasses import dataclass, replace
from typing import Literal

from core.comm_cost.bill import LAB_STEP_S, StepBill, step_bill
from core.specs import LinkSpec, ModelSpec
from core.units import GB, GIB

SlipKey = Literal[
    "right", "bits_for_bytes", "both_ways_for_one", "binary_for_decimal", "round_trip_for_hop", "hop_for_round_trip"
]


@dataclass(frozen=True)
class UnitSlip:
    """One link read with a slip: by what its numbers were multiplied, and the bill it leads to."""

    key: SlipKey
    bandwidth_factor: float
    latency_factor: float
    bill: StepBill
    flips: bool


def unit_slips(
    model: ModelSpec, tp_size: int, tokens: int, link: LinkSpec, step_s: float = LAB_STEP_S
) -> tuple[UnitSlip, ...]:
    """The bill read rightly, then with each slip. `flips` says that its verdict is another.

    10 Gb/s read as 10 GB/s is 8 times too fast; 600 GB/s both ways read as one is 2 times; GB read as GiB is 7 %;
    a round trip read as a hop is 2 times too slow, a hop halved as if it were a round trip 2 times too fast.
    """
    slips: tuple[tuple[SlipKey, float, float], ...] = (
        ("right", 1.0, 1.0),
        ("bits_for_bytes", 8.0, 1.0),
        ("both_ways_for_one", 2.0, 1.0),
        ("binary_for_decimal", GIB / GB, 1.0),
        ("round_trip_for_hop", 1.0, 2.0),
        ("hop_for_round_trip", 1.0, 0.5),
    )
    right = step_bill(model, tp_size, tokens, link, step_s)
    return tuple(
        UnitSlip(key, bandwidth, latency, bill, bill.verdict != right.verdict)
        for key, bandwidth, latency in slips
        for bill in [step_bill(model, tp_size, tokens, _slipped(link, bandwidth, latency), step_s)]
    )


def _slipped(link: LinkSpec, bandwidth_factor: float, latency_factor: float) -> LinkSpec:
    return replace(
        link,
        bandwidth_bytes_per_s=bandwidth_factor * link.bandwidth_bytes_per_s,
        latency_s=latency_factor * link.latency_s,
    )
