"""The planner held to measurements: the numbers its prose is filled with."""

from collections.abc import Mapping, Sequence

from core.evidence.calibration import CALIBRATIONS, DECODE_BAND, calibration_of
from core.evidence.report import AIMED_ERROR, Residual, bias, median_error, overall
from core.placement.planner import Question
from core.units import grouped, percent, seconds
from ui.placement.rows_accuracy import EVERY, short, signed


def fields(found: Sequence[Residual], question: Question, chosen: str) -> Mapping[str, str]:
    """Every number of the scene's prose, from core, with its unit."""
    test, train = overall(found, "test"), overall(found, "train")
    here = calibration_of(question.cluster.gpu)
    low, high = DECODE_BAND
    return {
        **_chosen(found, chosen),
        "acc_rows": grouped(len(found)),
        "acc_above": str(sum(each.roofline_ratio > 1 for each in found)),
        "acc_test_rows": grouped(test.rows) if test else "0",
        "acc_test_error": percent(test.median_error) if test else "none",
        "acc_test_bias": signed(test.bias) if test else "none",
        "acc_train_rows": grouped(train.rows) if train else "0",
        "acc_train_error": percent(train.median_error) if train else "none",
        "acc_aim": percent(AIMED_ERROR, 0),
        "acc_low": percent(1 - low, 0),
        "acc_high": percent(high - 1, 0),
        "acc_gpu": question.cluster.gpu.name,
        "acc_class": here.name,
        "acc_reached": percent(here.efficiency.reached_fraction, 0),
        "acc_floor": seconds(here.efficiency.layer_floor_s),
        "acc_fitted": ", ".join(short(name) for name in here.trained_on) or "no table: the A100's are taken over",
        "acc_classes": str(sum(bool(row.trained_on) for row in CALIBRATIONS.values())),
    }


def _chosen(found: Sequence[Residual], chosen: str) -> dict[str, str]:
    """The source that stands in front."""
    rows = [each for each in found if chosen in (EVERY, short(each.measurement.row.source))]
    return {
        "acc_chosen": "Over every source" if chosen == EVERY else f"In {chosen}",
        "acc_chosen_rows": grouped(len(rows)),
        "acc_chosen_error": percent(median_error(rows)) if rows else "none",
        "acc_chosen_bias": signed(bias(rows)) if rows else "none",
    }
