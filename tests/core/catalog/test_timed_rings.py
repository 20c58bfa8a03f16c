"""A link's price by the ranks that share it, against what was timed."""

from math import isclose

import pytest

from core.catalog import link
from core.catalog.timed_rings import L40S
from core.collectives.cost import as_measured, ring_all_gather, ring_all_reduce, ring_reduce_scatter
from core.placement.cluster import over_pcie
from core.units import KIB, MIB
from runtime.measurements import measured_all_reduces


def test_the_rings_are_the_rows_of_the_table_of_measurements():
    found = {(one.ranks, size): time_s for one in L40S for size, time_s in one.times}
    timed = {
        (one.ranks, one.payload_bytes): one.time_s for one in measured_all_reduces() if one.series == "l40s-nccl"
    }
    assert found.keys() == timed.keys()
    assert all(isclose(found[key], timed[key]) for key in timed)


@pytest.mark.parametrize(
    ("payload_bytes", "ranks", "took_us"),
    [(16 * MIB, 2, 850.4), (16 * MIB, 4, 4922.3), (16 * MIB, 8, 19376), (64 * KIB, 8, 164.5), (MIB, 8, 863.2)],
)
def test_a_sum_over_pcie_takes_what_nccl_took_by_the_ranks_that_share_it(payload_bytes, ranks, took_us):
    """NCCL 2.27.3 on eight L40S (aiconfigurator); one bandwidth for all told 2.07 ms where eight take 19.4."""
    told_us = 1e6 * ring_all_reduce(payload_bytes, ranks, as_measured(link("pcie-4"))).total_s
    assert told_us == pytest.approx(took_us, rel=1e-9)


def test_more_ranks_or_more_bytes_never_cost_less():
    over = as_measured(link("pcie-4"))
    for size in (0, 100, 8 * KIB, 3 * MIB, 64 * MIB, 2**30):
        times = [ring_all_reduce(size, ranks, over).total_s for ranks in range(2, 13)]
        assert times == sorted(times)
        assert ring_all_reduce(size + 1, 6, over).total_s >= times[4]


def test_a_gather_and_a_scatter_are_together_the_all_reduce_less_one_launch():
    over = as_measured(link("pcie-4"))
    for size in (8 * MIB, 16 * MIB):
        both = ring_all_gather(size, 4, over).plus(ring_reduce_scatter(size, 4, over))
        whole = ring_all_reduce(size, 4, over)
        assert both.waiting_s == pytest.approx(whole.waiting_s + over.base_s)
        assert both.bandwidth_s == pytest.approx(whole.bandwidth_s, rel=0.02)


def test_behind_a_switch_a_ring_is_the_one_that_was_measured_there():
    """Four GPUs with peer-to-peer behind one switch reached 25.3 GB/s of busbw; through root ports 5.1."""
    switched, plain = as_measured(over_pcie(link("pcie-4"), "PIX")), as_measured(link("pcie-4"))
    assert 1.5 * 64 * MIB / ring_all_reduce(64 * MIB, 4, switched).total_s == pytest.approx(25.3e9, rel=0.05)
    assert 1.5 * 64 * MIB / ring_all_reduce(64 * MIB, 4, plain).total_s == pytest.approx(5.1e9, rel=0.02)
