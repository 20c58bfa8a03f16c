"""Eleven numbers of one table of served times: they are what it gives, and they carry over to what was left out."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from core.catalog import gpu, model
from core.evidence.accuracy import decode_band
from core.evidence.calibration import calibration_of
from core.evidence.foretold import foretell
from core.evidence.left_out import counted_out, left_out
from core.evidence.published_terms import prediction
from core.evidence.report import errors_of, grouped
from core.evidence.served import served_measurement
from core.evidence.served_fit import SHIPPED, columns, fit_served
from core.evidence.served_report import (
    blind_residuals,
    crossed_residuals,
    kept_served,
    served_prediction,
    shape_of,
    shipped_residuals,
)
from runtime.published import shipped_table
from runtime.served import shipped_served


@pytest.fixture(scope="module")
def rows():
    return kept_served(shipped_served())


@pytest.fixture(scope="module")
def table(rows):
    return columns([served_prediction(row) for row in rows])


def test_a_fit_gives_back_the_numbers_its_times_were_made_with(table):
    """1,400 rows of the table's shapes, timed by other numbers; begun from those that ship."""
    truth = replace(SHIPPED, hopper_reached=0.7, blackwell_floor_s=40e-6, sglang=1.1, widened=0.8, plain=0.9)
    timed = replace(table, measured_s=table.predicted_s(np.array(astuple(truth))))
    assert astuple(fit_served(timed)) == pytest.approx(astuple(truth), rel=0.01)


def test_the_numbers_that_ship_are_the_table_s(table):
    """To the two figures that they are written with."""
    assert astuple(fit_served(table)) == pytest.approx(astuple(SHIPPED), rel=0.02)


def test_the_numbers_in_columns_are_the_prices_of_a_step(rows, table):
    """The fit's own formula against the terms and constants that every page is priced by."""
    told = table.predicted_s(np.array(astuple(SHIPPED)))
    for row, time_s in list(zip(rows, told, strict=True))[::50]:
        said = served_measurement(row)
        constants = calibration_of(said.gpu, said.model, said.engine).efficiency
        assert prediction(said).terms.step_s(constants) == pytest.approx(time_s, rel=1e-3)


def test_models_and_systems_that_were_left_out_are_told_within_an_eighth_in_the_median(rows):
    """By the constants of the day before they were 31 % off in the median, nine in ten within 86."""
    before = errors_of(blind_residuals(rows))
    assert before.median_error == pytest.approx(0.31, abs=0.01)
    assert before.p90_error == pytest.approx(0.86, abs=0.01)
    for of_systems in (False, True):
        line = errors_of(crossed_residuals(rows, of_systems))
        assert line.median_error < 0.125
        assert line.p90_error < 0.38
        assert abs(line.bias) < 0.03


def test_no_system_is_told_a_quarter_too_slow_or_too_fast_in_the_median(rows):
    """B200 had been told 1.50 times too slow, B300 1.63. GB200 has one row, and is no median."""
    lines = grouped(shipped_residuals(rows), lambda each: each.measurement.gpu.key)
    assert all(abs(line.bias) < 0.1 for line in lines.values() if line.rows > 1)
    assert {"b200-sxm", "b300-sxm", "h100-sxm", "h200-sxm"} <= lines.keys()


def test_a_model_s_own_rows_have_no_part_in_what_tells_them(rows):
    """MiniMax-M2's times made twice as long leave its own predictions as they were, and move the others'."""
    slower = [replace(row, measured_s=2 * row.measured_s) if row.model == "minimax-m2" else row for row in rows]
    before, after = (crossed_residuals(some) for some in (rows, slower))
    own = [
        (one.predicted_s, other.predicted_s)
        for one, other in zip(before, after, strict=True)
        if one.measurement.model.key == "minimax-m2"
    ]
    assert own
    assert all(one == other for one, other in own)
    assert any(one.predicted_s != other.predicted_s for one, other in zip(before, after, strict=True))
    assert len({shape_of(row) for row in rows if row.model.startswith("deepseek")}) == 1


def test_one_rule_says_what_is_left_out_and_looks_at_no_error():
    """Seven on fewer ranks than hold the model, five shorter than their bytes take; a trainer's, a constant's."""
    served = counted_out(map(served_prediction, shipped_served()))
    published = counted_out(map(prediction, shipped_table().measurements))
    assert (served["no_room"], served["beats_the_data_sheet"]) == (7, 5)
    assert (published["training_code"], published["set_a_constant"]) == (26, 6)
    assert sum(served.values()) + sum(published.values()) == 44
    one = next(row for row in shipped_served() if left_out(served_prediction(row)) == "no_room")
    assert (one.model, one.gpu, one.tp_size) == ("qwen3-235b-a22b", "h200-sxm", 1)  # 235 GB on 141


def test_a_dense_hybrid_has_its_class_s_share_and_not_one_of_a_handful_of_mixtures():
    """Qwen3.5-27B in 16 bits on one B200, one sequence: 10.45 ms was published, 20.3 had been told."""
    told = foretell("one", "2026-11-28T00:00:00+00:00", model_key="qwen3.5-27b", gpu_key="b200-sxm", engine="vllm")
    assert told.predicted_s == pytest.approx(10.45e-3, rel=0.1)
    band = decode_band(gpu("b200-sxm"), model("qwen3.5-27b"))
    assert band.low <= 10.45e-3 / told.predicted_s <= band.high


def test_experts_cut_to_narrow_pieces_have_no_floor_of_their_own_where_many_times_say(rows):
    """gpt-oss-120b through vLLM, few sequences: pieces of 360 are told no faster than those of 2,880 are.

    On an A100 two ranks took longer than one in an image of one month (vLLM issue 22331): its band holds that.
    """
    few = [each for each in shipped_residuals(rows) if each.measurement.model.key == "gpt-oss-120b"]
    few = [each for each in few if each.measurement.engine == "vllm" and (each.measurement.batch or 0) <= 8]
    by_ranks = grouped(few, lambda each: each.measurement.group.tp_size)
    assert by_ranks[8].bias > by_ranks[1].bias - 0.05
    told = foretell(
        "one", "2026-11-28T00:00:00+00:00", model_key="gpt-oss-120b", gpu_key="a100", dtype="mxfp4", tp_size=2
    )
    band = decode_band(gpu("a100"), model("gpt-oss-120b"))
    assert 1 < 12.9e-3 / told.predicted_s <= band.high
