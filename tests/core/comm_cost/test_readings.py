"""Units that slip, each with its factor and the verdict it flips."""

import pytest

from core.catalog import link, model
from core.comm_cost.bill import Step
from core.comm_cost.readings import unit_slips

LLAMA = model("llama-3-8b")


def by_key(found):
    return {slip.key: slip for slip in found}


def test_each_slip_is_its_factor():
    """Prefill over 10 GbE is all bytes: bits for bytes make it 8 times too cheap, GiB for GB 7 %."""
    found = by_key(unit_slips(Step(LLAMA, 2, 2048), link("ethernet-10g-lab")))
    right = found["right"].bill.bandwidth_s
    assert right / found["bits_for_bytes"].bill.bandwidth_s == pytest.approx(8)
    assert right / found["both_ways_for_one"].bill.bandwidth_s == pytest.approx(2)
    assert right / found["binary_for_decimal"].bill.bandwidth_s == pytest.approx(1.0737, abs=1e-4)
    assert found["round_trip_for_hop"].bill.bandwidth_s == right


def test_a_round_trip_for_a_hop_doubles_the_wait_only():
    found = by_key(unit_slips(Step(LLAMA, 2), link("ethernet-10g-lab")))
    assert found["round_trip_for_hop"].bill.waiting_s == pytest.approx(2 * found["right"].bill.waiting_s)


def test_a_slip_flips_a_verdict_where_the_bill_is_near_its_edge():
    """A decode over NVLink is noise by any unit; on 10 GbE beside a 12 ms step it is 36 %, and 52 % by a slip."""
    nvlink = unit_slips(Step(LLAMA, 2), link("nvlink-lab"))
    assert not any(slip.flips for slip in nvlink)
    halved = by_key(unit_slips(Step(LLAMA, 2, compute_s=12e-3), link("ethernet-10g-lab")))
    assert halved["right"].bill.verdict == "noticeable"
    assert halved["round_trip_for_hop"].flips
    assert not halved["right"].flips
