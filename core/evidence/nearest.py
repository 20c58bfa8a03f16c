"""Which published times are nearest to a case that a learner asks about."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.evidence.calibration import Floats
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


def nearest(rows: Sequence[Residual], case: Case, count: int = 6) -> list[Residual]:
    """The published times nearest to a case, by factors: of parameters, bandwidth, ranks, batch and context.

    One of a shape and two of a source, so that a long table does not fill the list.
    """
    seen: set[tuple[object, ...]] = set()
    of_source = Counter[str]()
    kept: list[Residual] = []
    for place in np.argsort(distances([row.prediction.measurement for row in rows], case), kind="stable"):
        measurement = rows[place].measurement
        source, ranks = measurement.source, measurement.group.tp_size
        shape = source, measurement.model.key, ranks, measurement.batch, measurement.gpu.key
        if shape not in seen and of_source[source] < MOST_OF_A_SOURCE:
            kept.append(rows[place])
            of_source[source] += 1
        seen.add(shape)
        if len(kept) == count:
            break
    return kept


def distances(measurements: Sequence[Measurement], case: Case) -> Floats:
    """How far published runs are from a case: a factor of e in one respect is 1; another class of GPU adds 1."""
    context = case.prompt_tokens + case.output_tokens / 2
    sizes = total_parameters(case.model), case.gpu.memory_bytes_per_s, case.tp_size, case.batch, context
    theirs: Floats = np.array([measurement.sizes for measurement in measurements], dtype=np.float64)
    parameters, bandwidth, ranks, batch, contexts = np.abs(np.log(theirs / sizes)).T
    another = np.array([measurement.gpu.gpu_class != case.gpu.gpu_class for measurement in measurements])
    apart: Floats = parameters + bandwidth + ranks + batch + 0.25 * contexts + another
    return apart
