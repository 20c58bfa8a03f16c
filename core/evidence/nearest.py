"""Which published times are nearest to a case that a learner asks about."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

from core.evidence.measurements import Measurement
from core.evidence.report import Residual
from core.models.parameters import total_parameters
from core.specs import GpuSpec, ModelSpec

MOST_OF_A_SOURCE = 2


@dataclass(frozen=True)
class Case:
    """What a learner asks about, as far as it tells which published runs are like it."""

    model: ModelSpec
    gpu: GpuSpec
    tp_size: int
    batch: int
    prompt_tokens: int
    output_tokens: int


def nearest(rows: Iterable[Residual], case: Case, count: int = 6) -> list[Residual]:
    """The published times nearest to a case, by factors: of parameters, bandwidth, ranks, batch and context.

    One of a shape and two of a source, so that a long table does not fill the list.
    """
    ordered = sorted(rows, key=lambda residual: distance(residual.measurement, case))
    seen: dict[tuple[object, ...], Residual] = {}
    for residual in ordered:
        measurement = residual.measurement
        seen.setdefault(
            (
                measurement.source,
                measurement.model.key,
                measurement.group.tp_size,
                measurement.batch,
                measurement.gpu.key,
            ),
            residual,
        )
    kept: list[Residual] = []
    for residual in seen.values():
        source = residual.measurement.source
        if sum(other.measurement.source == source for other in kept) < MOST_OF_A_SOURCE:
            kept.append(residual)
    return kept[:count]


def distance(measurement: Measurement, case: Case) -> float:
    """How far a published run is from a case: a factor of e in one respect is 1; another class of GPU adds 1."""
    sizes = (
        (total_parameters(measurement.model), total_parameters(case.model)),
        (measurement.gpu.memory_bytes_per_s, case.gpu.memory_bytes_per_s),
        (measurement.group.tp_size, case.tp_size),
        (measurement.batch or 64, case.batch),
    )
    contexts = (
        measurement.prompt_tokens + measurement.output_tokens / 2,
        case.prompt_tokens + case.output_tokens / 2,
    )
    apart = sum(abs(log(theirs / ours)) for theirs, ours in sizes) + 0.25 * abs(log(contexts[0] / contexts[1]))
    return apart + (0.0 if measurement.gpu.gpu_class == case.gpu.gpu_class else 1.0)
