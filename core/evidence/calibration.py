"""The two constants of a class of GPU: fitted on named tables, held against others.

A step's terms (core.steps.model) are linear in 1/reached and in the floor, so a fit is a search over two numbers.
Each source counts alike however many rows it printed: a table of 265 would otherwise be the only one heard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError
from core.evidence.published import Measurement
from core.evidence.published_terms import Prediction
from core.specs import GpuSpec
from core.steps.model import Efficiency

Role = Literal["train", "test"]
Floats = NDArray[np.float64]

REACHED = np.arange(0.40, 1.0001, 0.01)
FLOORS_S = np.arange(0, 121, 2) * 1e-6


@dataclass(frozen=True)
class Calibration:
    """A class of GPU, its constants, and the tables that they were fitted on, each by how its name begins.

    `floor_fitted` is false where the rows cannot tell a floor, and the A100's is taken over. A class without tables
    takes over both.
    """

    gpu_class: str
    name: str
    efficiency: Efficiency
    trained_on: tuple[str, ...] = ()
    floor_fitted: bool = True


_A100 = Calibration(
    "a100",
    "A100",
    Efficiency(reached_fraction=0.67, layer_floor_s=40e-6),
    trained_on=(
        "gpt-fast README",
        "FasterTransformer docs/gpt_guide.md",
        "LLM-Inference-Bench",
    ),
)
_HOPPER = Calibration(
    "hopper",
    "H100 and H200",
    Efficiency(reached_fraction=0.69, layer_floor_s=40e-6),
    trained_on=("TensorRT-LLM perf-overview.md (2024-10 class)",),
    floor_fitted=False,
)
_OTHER = Calibration("other", "any other", _A100.efficiency, floor_fitted=False)

CALIBRATIONS: Mapping[str, Calibration] = {row.gpu_class: row for row in (_A100, _HOPPER, _OTHER)}
"""vLLM's rows train nothing: the planner writes vLLM's flags, so they are the test. Hopper's training rows are of
full servers, where a floor does not show."""

DECODE_BAND = (0.81, 1.50)
"""Eight of ten published decode times of the test rows lie within these multiples of the predicted one."""


def gpu_class(gpu: GpuSpec) -> str:
    """The class whose constants a GPU takes."""
    return gpu.gpu_class if gpu.gpu_class in CALIBRATIONS else _OTHER.gpu_class


def calibration_of(gpu: GpuSpec) -> Calibration:
    """The constants of a GPU's class, and where they are from."""
    return CALIBRATIONS[gpu_class(gpu)]


def role(found: Measurement) -> Role:
    """Whether a measurement was fitted on, or is there to test.

    FasterTransformer's guide prints Megatron's own times beside its own: a training code's, and no table to fit on.
    """
    trained_on = calibration_of(found.gpu).trained_on
    fitted = any(found.row.source.startswith(name) for name in trained_on) and not is_training_engine(found)
    return "train" if fitted else "test"


def is_training_engine(found: Measurement) -> bool:
    """Whether the time is of a training code that also generates, not of an engine made to serve."""
    return "(Megatron)" in found.row.metric


def fit_efficiency(predictions: Sequence[Prediction], floor_s: float | None = None) -> Efficiency:
    """The constants that minimise the mean |ln(predicted/measured)|, averaged over sources; the floor may be given.

    Searched in steps of 0.01 and 2 µs: finer than any two sources agree. Raises OutOfRangeError without a
    measurement.
    """
    if not predictions:
        raise OutOfRangeError("measurements", 0, "cannot fit two constants")
    sources = sorted({prediction.measurement.row.source for prediction in predictions})
    tables = [_columns([p for p in predictions if p.measurement.row.source == source]) for source in sources]
    floors = FLOORS_S if floor_s is None else np.array([floor_s])
    tried = [(_mean_error(tables, reached, floor), reached, floor) for reached in REACHED for floor in floors]
    _, reached, floor = min(tried)
    return Efficiency(round(float(reached), 2), round(float(floor), 9))


def _columns(predictions: Sequence[Prediction]) -> Floats:
    """Work, layers, communication, roofline and measured time, a column each. (5, rows)"""
    rows = [
        (each.terms.work_s, each.terms.layers, each.terms.comm_s, each.roofline_s, each.measurement.measured_s)
        for each in predictions
    ]
    return np.array(rows, dtype=np.float64).T


def _mean_error(tables: Sequence[Floats], reached: float, floor_s: float) -> float:
    """The average over sources of their mean absolute log error."""
    errors = []
    for work, layers, comm, roofline, measured in tables:
        predicted = np.maximum(work / reached + layers * floor_s + comm, roofline)
        errors.append(float(np.abs(np.log(predicted / measured)).mean()))
    return float(np.mean(errors))
