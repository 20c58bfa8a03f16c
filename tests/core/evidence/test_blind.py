"""What was predicted before it was seen: summed up, then and today, whatever constants have become of."""

from dataclasses import replace

import pytest

from core.evidence.blind import band_of, held, is_inside, retold_residuals, seen_residuals
from core.evidence.foretold import foretell, retold
from core.evidence.measurements import PublishedTable
from runtime.foretold import foretold
from runtime.published import shipped_table

ONE = foretell("one", "2026-11-28T00:00:00+00:00", model_key="llama-3-8b", gpu_key="h100-sxm", batch=4)
SEEN = replace(ONE, seen="2026-11-29T00:00:00+00:00", measured_s=2 * ONE.predicted_s, source="a page")


def test_every_prediction_that_was_seen_is_in_the_blind_number():
    """183 seen, one of them a token over two nodes: 34 % off in the median, nine in ten within 69."""
    seen = [one for one in foretold() if one.measured_s is not None]
    line = held(seen_residuals(seen))
    assert line is not None
    assert line.errors.rows == len(seen) - 1 == 182
    assert line.errors.median_error == pytest.approx(0.343, abs=0.005)
    assert line.errors.p90_error == pytest.approx(0.690, abs=0.005)


def test_a_change_of_constants_empties_nothing():
    """The same prediction by other constants of its day is told again today, and not dropped."""
    of_another_day = replace(SEEN, reached_fraction=0.5, layer_floor_s=1e-3, predicted_s=9 * SEEN.predicted_s)
    (then,), (today,) = seen_residuals([of_another_day]), retold_residuals([of_another_day], PublishedTable(()))
    assert then.ratio == pytest.approx(4.5)
    assert today.ratio == pytest.approx(0.5)
    assert retold(of_another_day).predicted_s == ONE.predicted_s
    many = retold_residuals(foretold(), shipped_table())
    assert len(many) > 100


def test_a_figure_that_went_into_the_table_is_no_test_of_today():
    measured = next(one for one in shipped_table().measurements if one.quantity == "decode" and one.pp_size == 1)
    same = replace(
        ONE, model=measured.model.key, gpu=measured.gpu.key, tp_size=measured.group.tp_size,
        measured_s=1.001 * measured.measured_s,
    )  # fmt: skip
    assert retold_residuals([same], shipped_table()) == ()
    assert len(retold_residuals([same], PublishedTable(()))) == 1


def test_what_lies_in_a_band_is_counted_by_the_band_of_its_quantity():
    (each,) = seen_residuals([SEEN])
    band = band_of(each)
    assert is_inside(each) == (band.low <= 2 <= band.high)
    line = held([each, replace(each, predicted_s=each.measurement.measured_s)])
    assert line is not None
    assert line.inside_fraction == (1 + is_inside(each)) / 2
    assert held([]) is None


def test_what_was_not_seen_yet_is_in_no_number():
    assert seen_residuals([ONE]) == ()
