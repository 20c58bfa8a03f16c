"""Two planners on the same served times: what was kept is of the shipped table, and the docs say what it says."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.bench_served_planners import (
    CHECKPOINTS,
    KEPT,
    OF_EACH,
    Both,
    apart_times,
    both,
    by_model,
    chosen,
    lines,
)
from core.evidence.served import ServedRow
from runtime.served import shipped_served

RESULT = json.loads(KEPT.read_text(encoding="utf-8"))
ROWS = both(RESULT)
CLAIMS = Path(__file__).resolve().parents[2] / "docs" / "claims.md"


def test_every_row_that_was_kept_is_one_of_the_shipped_table():
    """Whole: the GPU, the time that was measured, what was told of it before, and its run."""
    shipped = Counter(shipped_served())
    assert all(count <= shipped[row] for row, count in Counter(one.row for one in ROWS).items())
    assert {one.row.gpu for one in ROWS} == {row.gpu for row in shipped}


def test_the_sample_is_what_the_seed_draws_and_every_row_of_it_is_accounted_for():
    drawn = chosen(list(apart_times()))
    answered = [one.row for one in ROWS]
    assert set(answered) <= set(drawn)
    assert len(drawn) == RESULT["asked"] == len(answered) + sum(RESULT["not_answered"].values())
    assert max(Counter((row.gpu, row.model) for row in drawn).values()) == OF_EACH
    assert {(row.model, row.dtype) for row in shipped_served()} == set(CHECKPOINTS)


def test_ours_of_what_was_kept_is_what_is_told_today():
    """Run benchmarks.bench_served_planners --refresh where the constants have moved."""
    today = apart_times()
    assert [one.apart_s for one in ROWS] == pytest.approx([today[one.row] for one in ROWS], rel=0.01)


def test_errors_are_of_what_was_measured_and_counted_by_system():
    usual = replace(shipped_served()[0], measured_s=1.0, told_s=2.0)

    def row(gpu: str, ours_s: float, theirs_s: float) -> Both:
        of_gpu: ServedRow = replace(usual, gpu=gpu)
        return Both(of_gpu, ours_s, theirs_s, full=False, own_cache=False)

    one, two, every = lines([row("a", 1.1, 0.5), row("a", 0.7, 1.1), row("b", 1.0, 3.0)])
    assert (one.group, two.group, every.group) == ("a", "b", "every")
    assert (one.rows, two.rows, every.rows) == (2, 1, 3)
    assert (one.nearer, two.nearer, every.nearer) == (1, 1, 2)
    assert one.apart.median_error == pytest.approx(0.2)
    assert every.aiconfigurator.median_error == pytest.approx(0.5)
    assert every.aiconfigurator.ratio == pytest.approx(1.1)
    assert every.blind.median_error == every.blind.p90_error == pytest.approx(1.0)


def test_the_docs_say_what_was_kept():
    """Its table has a line of each system, and the sentence over it the counts, date and version."""
    text = " ".join(CLAIMS.read_text(encoding="utf-8").split())
    for line in lines(ROWS):
        told = (line.apart, line.aiconfigurator, line.blind)
        figures = (f"{one.median_error * 100:.0f} / {one.p90_error * 100:.0f} / {one.ratio:.2f}" for one in told)
        assert " | ".join((line.group, str(line.rows), *figures, str(line.nearer))) in text
    left = RESULT["asked"] - len(ROWS)
    assert f"aiconfigurator {RESULT['aiconfigurator']} ({RESULT['date']})" in text
    assert f"{len(ROWS)} rows of the {RESULT['asked']} drawn" in text
    assert f"The {left} others" in text
    assert f"In {sum(one.own_cache for one in ROWS)} rows it had no data for the cache's width" in text
    nearer = [
        line.group for line in lines(ROWS, by_model) if line.aiconfigurator.median_error < line.apart.median_error
    ]
    assert f"nearer in the median: {', '.join(nearer)}." in text
