"""A ring on a wire against the ring program and the closed form; a fit, a crossing, a choice by brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import link, model
from core.collectives import programs
from core.comm_cost.bill import allreduce_time_s, tp_comm_time_per_step
from core.comm_cost.choice import Offer, cheapest_offer, crossing_payload_bytes, fit_link
from core.comm_cost.wire import Hop, Wire, ring_all_reduce, time_of_hops
from core.errors import IndivisibleError, OutOfRangeError
from core.specs import LinkSpec

NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_the_ring_sends_what_the_ring_program_sends(ranks):
    """Its steps and bytes, counted message by message elsewhere; and its time is the closed form's."""
    wire, values = Wire(ranks), [np.arange(4.0 * ranks) + rank for rank in range(ranks)]
    found = ring_all_reduce(wire.hold(values), wire.send)
    assert all(np.array_equal(own, sum(values)) for own in found)
    inputs = [value.reshape(ranks, -1) for value in values]
    run = programs.run(programs.ring_all_reduce(ranks), inputs)
    assert sum(hop.payload_bytes for hop in wire.hops if hop.source == 0) == run.traffic_bytes
    assert len({hop.turn for hop in wire.hops}) == run.steps
    payload_bytes = values[0].nbytes
    assert time_of_hops(wire.hops, ETHERNET) == pytest.approx(allreduce_time_s(payload_bytes, ranks, ETHERNET))


def test_a_wire_knows_who_holds_what():
    wire = Wire(3)
    held = wire.hold([np.ones(3)] * 3)
    with pytest.raises(OutOfRangeError, match="source=1 does not hold what it sends: rank 0 does"):
        wire.send(1, 2, held[0])
    with pytest.raises(OutOfRangeError, match="target=3 is none of the 3 ranks"):
        wire.send(0, 3, held[0])
    with pytest.raises(OutOfRangeError, match="ranks=0 and 1 hold one of these values each"):
        held[0] + held[1]
    assert np.array_equal(wire.send(1, 0, held[1]) + held[0], 2 * np.ones(3))
    assert wire.hops == [Hop(0, 1, 0, 24)]
    with pytest.raises(IndivisibleError, match="values=4 does not divide over ranks=3"):
        ring_all_reduce(wire.hold([np.ones(4)] * 3), wire.send)


@given(st.floats(1e-6, 1e-3), st.floats(1e8, 1e12), st.integers(2, 16))
def test_a_fit_gives_back_the_link_a_table_was_made_of(latency_s, bandwidth, ranks):
    sizes = [1024.0 * 8**step for step in range(8)]
    own = LinkSpec("own", "own", latency_s, bandwidth)
    found = fit_link(sizes, [allreduce_time_s(size, ranks, own) for size in sizes], ranks)
    assert found == pytest.approx((latency_s, bandwidth), rel=1e-5)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 8))
def test_at_a_crossing_both_take_as_long_and_before_and_after_it_the_other_wins(a, b, c, d, ranks):
    one, other = (LinkSpec("own", "own", us * 1e-6, gb * 1e9) for us, gb in ((a, b), (c, d)))

    def ahead(size):
        return allreduce_time_s(size, ranks, one) - allreduce_time_s(size, ranks, other)

    at = crossing_payload_bytes(one, other, ranks)
    assert at == crossing_payload_bytes(other, one, ranks)
    if at is None:
        assert ranks == 1 or ahead(1e-9) * ahead(1e15) >= 0
    else:
        assert ahead(at) == pytest.approx(0, abs=1e-9 * allreduce_time_s(at, ranks, one))
        assert ahead(at / 2) * ahead(2 * at) < 0


def test_a_choice_is_the_best_of_all_that_meet_the_budget():
    shape = model("llama-3-70b")
    offers = [
        Offer(f"{size} x {over.name} x {gb}", size, over, gb * 1e9, size * price)
        for size, over, (gb, price) in product((1, 2, 4, 8), (NVLINK, ETHERNET), ((24, 0.5), (80, 2.0), (192, 4.0)))
    ]
    for budget_s, weights in product((1e-3, 5e-3, 0.02, 0.1), (16e9, 70e9, 141e9, 2e12)):
        chosen = cheapest_offer(offers, shape, weights, 0.05, budget_s)
        meets = [
            one
            for one in offers
            if weights <= one.gpu_memory_bytes * one.tp_size
            and 0.05 / one.tp_size + tp_comm_time_per_step(shape, 1, one.tp_size, one.link) <= budget_s
        ]
        assert (chosen is None) == (not meets)
        assert chosen is None or chosen in meets
        assert chosen is None or chosen.usd_per_hour == min(one.usd_per_hour for one in meets)
    with pytest.raises(OutOfRangeError, match="budget_s=0 must be above 0"):
        cheapest_offer(offers, shape, 16e9, 0.05, 0)
