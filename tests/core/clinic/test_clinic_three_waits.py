"""One slow rank, three ways to wait: each response worked by hand on the labs' own step, and its limits."""

import pytest

from core.clinic.three_waits import (
    ONE_TOKEN,
    PIPELINE,
    RING,
    TP,
    Knob,
    pipeline_bars,
    response_lines,
    responses,
    ring_bars,
    tp_bars,
)
from core.scenario import Scenario
from tests.each import each


def longer(slow_percent: int, **scenario) -> dict[str, float]:
    knob = Knob(Scenario(slow_percent=slow_percent, **scenario))
    return {row.kind: row.longer_percent for row in responses(knob, slow_percent)}


def test_a_step_in_lockstep_is_longer_by_the_compute_alone():
    """TP=2 on NVLink: (4 ms · 1.4 + 0.386) / (4 + 0.386): 1.6 of 4.386 ms."""
    assert longer(40)[TP] == pytest.approx(100 * 1.6 / (4 + 0.3858), rel=1e-3)


def test_a_ring_is_longer_by_its_bytes_alone():
    """16 MiB over 300 GB/s are 55.9 µs a ring at two ranks, beside 6 µs of hops: 22.4 of 61.9 µs."""
    assert longer(40)[RING] == pytest.approx(100 * 0.4 * 55.924 / 61.924, rel=1e-3)


@pytest.mark.parametrize("stages", [2, 4, 16])
def test_a_full_pipeline_loses_all_of_it_and_one_sequence_its_share(stages):
    found = longer(100, pp=stages)
    assert found[PIPELINE] == pytest.approx(100)
    assert found[ONE_TOKEN] == pytest.approx(100 / stages)


@pytest.mark.parametrize("tp", [1, 2, 8, 64])
def test_without_a_slow_rank_nothing_is_longer(tp):
    assert longer(0, tp=tp) == pytest.approx(dict.fromkeys((TP, RING, PIPELINE, ONE_TOKEN), 0))


def test_the_lines_reach_the_knob_where_it_is_beyond_them():
    rows = response_lines(Knob(Scenario(slow_percent=400)))
    assert max(row.slow_percent for row in rows) == 400
    assert max(row.slow_percent for row in response_lines(Knob(Scenario()))) == 100


@each("bars", [tp_bars, ring_bars, pipeline_bars])
@each("ranks", [1, 2, 8, 64])
def test_all_bars_end_together_and_the_slow_one_never_waits(bars, ranks):
    """More than eight are drawn as seven and the last."""
    drawn = bars(Knob(Scenario(tp=ranks, pp=ranks, slow_percent=50)))
    names = list(dict.fromkeys(segment.bar for segment in drawn.segments))
    assert 2 <= len(names) <= 8
    assert [drawn.total(name) for name in names] == pytest.approx([drawn.total(names[0])] * len(names))
    waiting = {segment.bar for segment in drawn.segments if segment.term == "waiting"}
    assert waiting == set(names[:-1])
