"""The measured points that ship with the project, and the example made of them."""

import pytest

from core.links.fit import fit_link, interpolated_us
from core.links.nccl_tests import read_tables
from runtime.measurements import example_paste, measured_all_reduces


def test_every_point_has_a_size_a_time_and_a_source():
    assert all(p.payload_bytes > 0 and p.time_s > 0 and p.source for p in measured_all_reduces())


@pytest.mark.parametrize(("series", "ranks", "us"), [("h100-nccl", 8, 15.96), ("a100-nccl", 4, 14.68)])
def test_the_example_is_a_paste_that_gives_its_measured_times_back(series, ranks, us):
    """8 KiB on eight H100: 15.96 µs."""
    (found,) = read_tables(example_paste(series, ranks))
    assert (found.op, found.ranks, found.warnings) == ("all_reduce", ranks, ())
    assert interpolated_us(found, 8192) == pytest.approx(us)
    assert fit_link(found).median_relative_error < 0.15
