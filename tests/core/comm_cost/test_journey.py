"""One token's journey: its clock ends when lab 03's bill does, and each level is a part of the one above it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import LINKS, MODELS
from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.bill import Step
from core.comm_cost.journey import Journey, journey
from core.comm_cost.kernels import picked_bill

TRIPS = st.builds(
    lambda model, ranks, tokens, link: journey(Step(MODELS[model], ranks, tokens, divided=True), LINKS[link]),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 64),
    st.sampled_from(sorted(LINKS)),
)


@given(TRIPS)
def test_a_journey_ends_when_the_bill_does(trip: Journey):
    """compute/N + communication, whatever the model, the ranks, the batch and the link."""
    assert trip.total_s == pytest.approx(trip.bill.total_s)
    assert trip.stops[-1].time_s == pytest.approx(trip.bill.step.rank_compute_s + trip.bill.comm_s)
    assert trip.tokens_per_s <= trip.free_tokens_per_s * (1 + 1e-12)


@given(TRIPS)
def test_a_sum_is_its_collective_and_its_rounds_make_it_up(trip: Journey):
    made_up = trip.one_sum.base_s + trip.rounds * (trip.hop_latency_s + trip.hop_bandwidth_s)
    assert made_up == pytest.approx(trip.one_sum.total_s)
    assert trip.sums * trip.layers * trip.sum_s == pytest.approx(trip.bill.comm_s)
    assert trip.rounds * trip.hop_bytes == pytest.approx(trip.one_sum.traffic_bytes)


@given(TRIPS)
def test_the_stops_go_forward_and_name_every_round_once(trip: Journey):
    times = [stop.time_s for stop in trip.stops]
    # two ways to the last stop may differ in the last bit
    assert times == pytest.approx(sorted(times), rel=1e-12)
    assert [stop.number for stop in trip.stops if stop.moment == "round"] == list(range(1, trip.rounds + 1))


def test_a_journey_over_a_ring_and_over_a_kernel():
    """Llama-3-8B, TP=4, one token: 8 KiB in a ring of six rounds over PCIe; over NVLink in one stage."""
    step = Step(MODELS["llama-3-8b"], 4, divided=True)
    ring, kernel = journey(step, LINKS["pcie-4"]), journey(step, LINKS["nvlink-3"])
    assert (ring.kernel, ring.rounds, ring.hop_bytes) == ("NCCL", 6, 2048)
    assert (kernel.kernel, kernel.rounds, kernel.hop_bytes) == ("one stage", 1, 3 * 8192)
    closed = ring_all_reduce(8192, 4, as_measured(LINKS["pcie-4"]))
    assert ring.sum_s == closed.total_s
    assert ring.bill == picked_bill(step, LINKS["pcie-4"]).bill


def test_bytes_on_a_link_without_a_ramp_take_bytes_over_bandwidth():
    """One stage over NVLink 3: 24 KiB through a port at the 230 GB/s that were measured."""
    trip = journey(Step(MODELS["llama-3-8b"], 4, divided=True), LINKS["nvlink-3"])
    measured = LINKS["nvlink-3"].measured_bytes_per_s
    assert measured is not None
    assert trip.hop_bandwidth_s == pytest.approx(trip.hop_bytes / measured)


def test_one_gpu_sends_nothing():
    trip = journey(Step(MODELS["llama-3-8b"], 1, divided=True), LINKS["pcie-4"])
    assert (trip.sums, trip.sum_s, trip.rounds) == (0, 0.0, 0)
    assert [stop.moment for stop in trip.stops] == ["start", "attention", "mlp", "layers", "token"]
