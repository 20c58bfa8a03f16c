"""Predicted against published: every residual, the median error and bias of each source, and what is nearest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

import numpy as np

from core.evidence.calibration import Role, calibration_of, gpu_class, is_training_engine, role
from core.evidence.published import Measurement, PublishedTable, Quantity
from core.evidence.published_terms import Prediction, fits, prediction
from core.models.parameters import total_parameters
from core.specs import GpuSpec, ModelSpec

AIMED_ERROR = 0.15
"""What a decode latency's median error is meant to stay under."""

BAND_QUANTILES = (0.1, 0.9)

MOST_OF_A_SOURCE = 2
"""Of the runs nearest to a case."""

_DECODE = ("decode", "run")
"""Quantities that are mostly decode steps: one of them, or all of a run's."""


@dataclass(frozen=True)
class Residual:
    """One published time beside the predicted one; a `ratio` below 1 is a model too optimistic."""

    prediction: Prediction
    predicted_s: float
    role: Role

    @property
    def measurement(self) -> Measurement:
        """What was published."""
        return self.prediction.measurement

    @property
    def ratio(self) -> float:
        """predicted / published."""
        return self.predicted_s / self.measurement.measured_s

    @property
    def error(self) -> float:
        """|predicted / published - 1|."""
        return abs(self.ratio - 1)

    @property
    def roofline_ratio(self) -> float:
        """roofline / published: above 1, the row or our reading of it is wrong."""
        return self.prediction.roofline_s / self.measurement.measured_s

    @property
    def is_decode(self) -> bool:
        """Whether it is a decode latency, of one step or of a run."""
        return self.measurement.quantity in _DECODE


@dataclass(frozen=True)
class Summary:
    """Some residuals in one line. `bias` is the median of predicted/published - 1."""

    source: str
    gpu_class: str
    quantity: Quantity
    role: Role
    rows: int
    median_error: float
    bias: float
    highest_roofline_ratio: float


def residuals(table: PublishedTable) -> tuple[Residual, ...]:
    """Every measurement of a table, predicted with the constants of its GPU's class."""
    found = (prediction(measurement) for measurement in table.measurements)
    return tuple(
        Residual(each, each.predicted_s(calibration_of(each.measurement.gpu).efficiency), role(each.measurement))
        for each in found
    )


def by_source(found: Iterable[Residual]) -> tuple[Summary, ...]:
    """One line a source, class of GPU and quantity, the fitted ones first."""
    groups: dict[tuple[Role, str, str, Quantity], list[Residual]] = {}
    for residual in found:
        said = residual.measurement
        engine = ", Megatron" if is_training_engine(said) else ""
        key = (residual.role, said.row.source + engine, gpu_class(said.gpu), said.quantity)
        groups.setdefault(key, []).append(residual)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0] != "train", item[0][1:]))
    return tuple(
        Summary(
            source, which, quantity, part, len(group), median_error(group), bias(group), _highest_roofline(group)
        )
        for (part, source, which, quantity), group in ordered
    )


def median_error(found: Sequence[Residual]) -> float:
    """The median of |predicted/published - 1|."""
    return median(residual.error for residual in found)


def bias(found: Sequence[Residual]) -> float:
    """The median of predicted/published - 1: below 0, a model too optimistic."""
    return median(residual.ratio for residual in found) - 1


def _highest_roofline(found: Sequence[Residual]) -> float:
    return max(residual.roofline_ratio for residual in found)


@dataclass(frozen=True)
class Overall:
    """The decode latencies of one part of the split, and the band that eight of ten of them lie in."""

    rows: int
    median_error: float
    bias: float
    band_low: float
    band_high: float


def overall(found: Iterable[Residual], part: Role) -> Overall | None:
    """The decode latencies that were fitted on, or that test; None where there is none."""
    chosen = decode_residuals(found, part)
    return Overall(len(chosen), median_error(chosen), bias(chosen), *band(chosen)) if chosen else None


def decode_residuals(found: Iterable[Residual], part: Role) -> list[Residual]:
    """The decode latencies of engines made to serve that were fitted on, or that test."""
    return [
        each for each in found if each.is_decode and each.role == part and not is_training_engine(each.measurement)
    ]


def band(found: Sequence[Residual]) -> tuple[float, float]:
    """The multiples of a predicted time between which eight of ten published ones lie."""
    low, high = np.quantile([1 / residual.ratio for residual in found], BAND_QUANTILES)
    return float(low), float(high)


def agreed_out_of_memory(table: PublishedTable) -> int:
    """How many of the runs that ended out of memory do not fit by our count either."""
    return sum(not fits(measurement) for measurement in table.out_of_memory)


@dataclass(frozen=True)
class Case:
    """What a learner asks about, as far as it tells which published runs are like it."""

    model: ModelSpec
    gpu: GpuSpec
    tp_size: int
    batch: int
    prompt_tokens: int
    output_tokens: int


def nearest(found: Iterable[Residual], case: Case, count: int = 6) -> list[Residual]:
    """The published times nearest to a case, by factors: of parameters, bandwidth, ranks, batch and context.

    One of a shape and two of a source, so that a long table does not fill the list.
    """
    ordered = sorted(found, key=lambda residual: distance(residual.measurement, case))
    seen: dict[tuple[object, ...], Residual] = {}
    for residual in ordered:
        said = residual.measurement
        seen.setdefault((said.row.source, said.model.key, said.group.tp_size, said.batch, said.gpu.key), residual)
    kept: list[Residual] = []
    for residual in seen.values():
        source = residual.measurement.row.source
        if sum(other.measurement.row.source == source for other in kept) < MOST_OF_A_SOURCE:
            kept.append(residual)
    return kept[:count]


def distance(found: Measurement, case: Case) -> float:
    """How far a published run is from a case: a factor of e in one respect is 1; another class of GPU adds 1."""
    sizes = (
        (total_parameters(found.model), total_parameters(case.model)),
        (found.gpu.memory_bytes_per_s, case.gpu.memory_bytes_per_s),
        (found.group.tp_size, case.tp_size),
        (found.batch or 64, case.batch),
    )
    contexts = (found.prompt_tokens + found.output_tokens / 2, case.prompt_tokens + case.output_tokens / 2)
    apart = sum(abs(log(theirs / ours)) for theirs, ours in sizes) + 0.25 * abs(log(contexts[0] / contexts[1]))
    return apart + (0.0 if gpu_class(found.gpu) == gpu_class(case.gpu) else 1.0)
