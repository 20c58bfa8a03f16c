"""Served times held to predictions: by what was told before they were looked at, and with their model left out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from core.catalog import model
from core.evidence.calibration import GRAPHED, calibration_of
from core.evidence.left_out import left_out
from core.evidence.published_terms import Prediction, prediction
from core.evidence.report import Residual
from core.evidence.served import ServedRow, served_measurement
from core.evidence.served_fit import columns, crossed
from core.models.parameters import total_parameters


def kept_served(rows: Sequence[ServedRow]) -> tuple[ServedRow, ...]:
    """The rows that the rule of what is left out leaves."""
    return tuple(row for row in rows if left_out(served_prediction(row)) is None)


@lru_cache(maxsize=4096)
def served_prediction(row: ServedRow) -> Prediction:
    """A row beside what it should have taken."""
    return prediction(served_measurement(row))


def told_rows(rows: Sequence[ServedRow]) -> tuple[ServedRow, ...]:
    """The rows with what the constants that ship say of each, to five figures."""
    times = (each.predicted_s for each in shipped_residuals(rows))
    return tuple(replace(row, told_s=float(f"{time_s:.5g}")) for row, time_s in zip(rows, times, strict=True))


def shape_of(row: ServedRow) -> int:
    """What tells models apart that are left out together: DeepSeek-R1 and V3 are one shape."""
    return total_parameters(model(row.model))


def blind_residuals(rows: Sequence[ServedRow]) -> tuple[Residual, ...]:
    """Each row beside what was told of it before it was looked at; of a table without that, none."""
    return tuple(Residual(served_prediction(row), row.told_s) for row in rows if row.told_s)


def crossed_residuals(rows: Sequence[ServedRow], of_systems: bool = False) -> tuple[Residual, ...]:
    """Each row by constants that no row of its shape of model had a part in; or of its system.

    One of a table that is of one shape, or of one system, is left out: nothing remains to tell it by. So is one of
    a class that no such table was fitted to.
    """
    fitted = [row for row in rows if served_prediction(row).measurement.gpu.gpu_class in GRAPHED]
    table = columns([served_prediction(row) for row in fitted])
    told = crossed(fitted, table, (lambda row: row.gpu) if of_systems else shape_of)
    return _beside(fitted, told.tolist())


def shipped_residuals(rows: Sequence[ServedRow]) -> tuple[Residual, ...]:
    """Each row as every page prices it, by the constants that ship; the shipped table's rows gave those."""
    told = [(each.measurement, each) for each in map(served_prediction, rows)]
    constants = (calibration_of(said.gpu, said.model, said.engine).efficiency for said, _ in told)
    times = [each.predicted_s(own) for (_, each), own in zip(told, constants, strict=True)]
    return _beside(rows, times)


def _beside(rows: Sequence[ServedRow], times: Sequence[float]) -> tuple[Residual, ...]:
    """Each row beside its time, never under the roofline."""
    pairs = ((served_prediction(row), time_s) for row, time_s in zip(rows, times, strict=True) if time_s)
    return tuple(Residual(each, max(each.roofline_s, time_s)) for each, time_s in pairs)
