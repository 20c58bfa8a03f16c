"""The napkin model beside what machines did. The points are in data/, each with its source."""

import pytest

from core.catalog import LINKS, link, model
from core.comm_cost.bill import Step
from core.comm_cost.measured import MeasuredPoint, measured_bill, measured_time_s, residuals, series_of
from core.errors import OutOfRangeError
from runtime.measurements import measured_all_reduces

POINTS = measured_all_reduces()
LLAMA = model("llama-3-8b")


def ratio(series, ranks):
    chosen = [point for point in series_of(POINTS, series, ranks) if point.payload_bytes == 8192]
    (residual,) = residuals(chosen, link("nvlink-lab"))
    return residual.ratio


@pytest.mark.parametrize(("series", "at_2", "at_8"), [("a100-nccl", 0.55, 1.98), ("h100-nccl", 0.89, 2.63)])
def test_the_napkin_is_too_cheap_at_two_ranks_and_too_dear_at_eight(series, at_2, at_8):
    """A real α is a launch and a slope: 5.3 + 0.76 µs a hop on an H100, not 3 µs a hop."""
    assert ratio(series, 2) == pytest.approx(at_2, abs=0.005)
    assert ratio(series, 8) == pytest.approx(at_8, abs=0.006)


def test_a_one_shot_kernel_in_a_graph_is_eight_times_cheaper_than_the_napkin_ring():
    assert ratio("h100-vllm-graph", 8) == pytest.approx(8.2, abs=0.05)


def test_the_catalogs_nvlink_meets_the_machines_it_was_read_from():
    """Base and slope of `nvlink-4` give 6.8, 9.9 and 15.9 µs at 8 KiB; measured 6.77, 10.04, 15.96."""
    for series, key in (("h100-nccl", "nvlink-4"), ("a100-nccl", "nvlink-3")):
        points = [point for point in POINTS if point.series == series and point.payload_bytes == 8192]
        assert all(abs(residual.ratio - 1) < 0.05 for residual in residuals(points, link(key)))


def test_the_verdicts_hold_with_measured_times():
    """NCCL on H100: 64 x 6.77 µs = 0.433 ms, 5.1 %. TCP on 10 GbE: 64 x 233 µs = 14.9 ms, 65.1 %."""
    nvlink = measured_bill(POINTS, "h100-nccl", Step(LLAMA, 2))
    ethernet = measured_bill(POINTS, "a10g-tcp", Step(LLAMA, 2))
    assert (nvlink.comm_s, ethernet.comm_s) == (pytest.approx(0.433e-3, rel=1e-3), pytest.approx(14.9e-3, rel=2e-3))
    assert nvlink.comm_fraction == pytest.approx(0.051, abs=5e-4)
    assert ethernet.comm_fraction == pytest.approx(0.651, abs=5e-4)


def test_launched_eagerly_the_same_kernel_is_no_longer_noise():
    """20.6 µs x 64 = 1.32 ms: 14 % of the step, of which a CUDA graph saves 16 µs each."""
    assert measured_bill(POINTS, "h100-vllm-eager", Step(LLAMA, 2)).comm_fraction > 0.10
    assert measured_bill(POINTS, "h100-vllm-graph", Step(LLAMA, 2)).comm_fraction < 0.05


def two_points():
    return [MeasuredPoint("s", "m", "nvlink-4", "x", 2, size, time_s, "") for size, time_s in ((4, 1.0), (16, 4.0))]


def test_between_points_the_line_is_straight_in_logarithms():
    """From (4, 1) to (16, 4) the slope is 1: at 8 bytes, 2 seconds."""
    assert measured_time_s(two_points(), 8) == pytest.approx(2.0)
    assert measured_time_s(two_points(), 4) == 1.0


@pytest.mark.parametrize("payload_bytes", [3, 17])
def test_outside_of_what_was_measured_nothing_is_said(payload_bytes):
    with pytest.raises(OutOfRangeError, match="4 to 16 bytes"):
        measured_time_s(two_points(), payload_bytes)


def test_a_machine_that_was_not_measured_at_this_many_ranks_is_refused():
    with pytest.raises(OutOfRangeError, match="nothing"):
        measured_bill(POINTS, "a10g-tcp", Step(LLAMA, 8))


def test_every_point_names_its_source_and_a_catalog_link():
    assert all(point.source and point.link in LINKS and point.time_s > 0 for point in POINTS)
    assert {point.series for point in POINTS} == {
        "a100-nccl",
        "h100-nccl",
        "l40s-nccl",
        "h100-vllm-eager",
        "h100-vllm-graph",
        "a100-vllm-graph",
        "l40s-vllm-graph",
        "a10g-tcp",
    }
