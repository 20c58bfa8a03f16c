"""The two constants of a class of GPU, fitted on published times, and how wide a prediction is to be read.

A step's terms (core.steps.model) are linear in 1/reached and in the floor, so a fit is a search over two numbers.
Each source counts alike however many rows it printed: a table of 265 would otherwise be the only one heard. The
rule of the split: a source is fitted or tested as a whole. What ships is fitted on all sources of a class; each is
tested by constants that were fitted on the others (core.evidence.report).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError
from core.evidence.published_terms import Prediction
from core.specs import GpuSpec, ModelSpec
from core.steps.model import Efficiency

Floats = NDArray[np.float64]

Kind = Literal["dense", "mixture", "latent"]
"""Of layers: dense, with experts, with latent attention."""

REACHED = np.arange(0.40, 1.0001, 0.01)
FLOORS_S: Floats = np.arange(0, 121, 2, dtype=np.float64) * 1e-6


@dataclass(frozen=True)
class Calibration:
    """A class of GPU, its constants, and how many times of how many sources they were fitted on.

    `floor_fitted` is false where the rows cannot tell a floor: it is taken over from the class before. A class
    without rows takes over both.
    """

    gpu_class: str
    name: str
    efficiency: Efficiency
    rows: int = 0
    sources: int = 0
    floor_fitted: bool = True


_A100 = Calibration("a100", "A100", Efficiency(0.73, 72e-6), rows=477, sources=8)
_HOPPER = Calibration("hopper", "H100 and H200", Efficiency(0.76, 48e-6), rows=111, sources=4)
_BLACKWELL = Calibration("blackwell", "B200", Efficiency(0.61, 48e-6), rows=20, sources=1, floor_fitted=False)
_OTHER = Calibration("other", "any other", _A100.efficiency, floor_fitted=False)

CALIBRATIONS: Mapping[str, Calibration] = {row.gpu_class: row for row in (_A100, _HOPPER, _BLACKWELL, _OTHER)}
"""Blackwell's rows are of full servers, where a floor does not show. Mixtures have their class's constants: the two
sources that time one on an A100 disagree about its floor fourfold. Their band says so (core.evidence.accuracy)."""


def calibration_of(gpu: GpuSpec) -> Calibration:
    """The constants of a GPU's class, and what they are from; an A100's where nothing was measured."""
    return CALIBRATIONS.get(gpu.gpu_class, _OTHER)


def layer_kind(model: ModelSpec) -> Kind:
    """Which kind of layer most of a model's are."""
    if model.mla is not None:
        return "latent"
    return "dense" if model.moe is None else "mixture"


def fit_efficiency(predictions: Sequence[Prediction], floor_s: float | None = None) -> Efficiency:
    """The constants that minimise the mean |ln(predicted/measured)|, averaged over sources; the floor may be given.

    Searched in steps of 0.01 and 2 µs: finer than any two sources agree. Raises OutOfRangeError without a
    measurement.
    """
    if not predictions:
        raise OutOfRangeError("measurements", 0, "cannot fit two constants")
    floors: Floats = FLOORS_S if floor_s is None else np.array([floor_s], dtype=np.float64)
    sources = sorted({prediction.measurement.source for prediction in predictions})
    errors = [_errors([p for p in predictions if p.measurement.source == source], floors) for source in sources]
    best = int(np.argmin(np.sum(errors, axis=0)))
    reached, floor = REACHED[best // len(floors)], floors[best % len(floors)]
    return Efficiency(round(float(reached), 2), round(float(floor), 9))


def _errors(predictions: Sequence[Prediction], floors: Floats) -> Floats:
    """The mean absolute log error of one source under every pair of constants. (reached, floors)"""
    work, layers, comm, roofline, measured = np.array(
        [
            (each.terms.work_s, each.terms.layers, each.terms.comm_s, each.roofline_s, each.measurement.measured_s)
            for each in predictions
        ],
        dtype=np.float64,
    ).T[:, :, None, None]
    steps = work / REACHED[:, None] + layers * floors + comm  # (rows, reached, floors)
    errors: Floats = np.abs(np.log(np.maximum(steps, roofline) / measured)).mean(axis=0)
    return errors
