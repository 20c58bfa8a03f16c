"""How far predictions are off, by class of GPU, kind of layer and quantity: what stands beside a predicted time.

The figures are those of `python -m scripts.accuracy` over the times that ship with the project, each tested by
constants that nothing of its source was fitted to. Where nothing was published, nothing is claimed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from core.evidence.calibration import Kind, layer_kind
from core.evidence.measurements import Quantity
from core.specs import GpuSpec, ModelSpec


class Accuracy(NamedTuple):
    """Of n published times from a number of sources: the median error, that of nine in ten, the worst, the bias.

    An error is |predicted/published - 1|; the bias, the median of it with its sign: below 0, too optimistic.
    """

    n: int
    sources: int
    median_error: float
    p90_error: float
    worst_error: float
    bias: float


class Band(NamedTuple):
    """The multiples of a predicted decode time between which eight of ten published ones lie.

    `tested` is false where no decode time was published of the class and kind: it is then as wide as constants of
    one class are off on another's rows, at worst.
    """

    low: float
    high: float
    tested: bool = True


# fmt: off
TESTED: Mapping[tuple[str, Kind, Quantity], Accuracy] = {
    # class, kind, quantity: n, sources, median, p90, worst, bias
    ("a100", "dense", "decode"): Accuracy(62, 2, 0.210, 0.423, 1.019, 0.038),
    ("a100", "dense", "first_token"): Accuracy(6, 1, 0.130, 0.201, 0.215, 0.130),
    ("a100", "dense", "run"): Accuracy(365, 4, 0.093, 0.215, 0.405, 0.037),
    ("a100", "dense", "saturated"): Accuracy(29, 1, 0.185, 0.985, 1.091, 0.079),
    ("a100", "mixture", "decode"): Accuracy(3, 1, 0.355, 0.570, 0.624, 0.355),
    ("a100", "mixture", "run"): Accuracy(12, 1, 0.168, 0.396, 0.427, -0.168),
    ("ada", "dense", "saturated"): Accuracy(4, 1, 0.137, 0.560, 0.740, 0.109),
    ("blackwell", "dense", "saturated"): Accuracy(20, 1, 0.286, 1.742, 2.007, -0.066),
    ("hopper", "dense", "decode"): Accuracy(6, 1, 0.073, 0.115, 0.121, 0.073),
    ("hopper", "dense", "first_token"): Accuracy(7, 2, 0.283, 0.359, 0.374, -0.283),
    ("hopper", "dense", "saturated"): Accuracy(98, 2, 0.166, 0.713, 1.334, 0.005),
}
# fmt: on

BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.78, 1.54),
    ("a100", "mixture"): Band(0.62, 1.65),
    ("hopper", "dense"): Band(0.78, 1.54),
}
"""Hopper's six decode times are of one source, and lie closer than another's would: it has the A100's band."""

UNTESTED = Band(0.62, 1.97, tested=False)
"""As low as the widest band, and as high as any decode time lies over what another class's constants predict."""


def accuracy_of(gpu: GpuSpec, model: ModelSpec, quantity: Quantity) -> Accuracy | None:
    """The errors on published times of a GPU's class and a model's kind; None: never tested here."""
    return TESTED.get((gpu.gpu_class, layer_kind(model), quantity))


def decode_band(gpu: GpuSpec, model: ModelSpec) -> Band:
    """How wide a predicted decode time is to be read."""
    return BANDS.get((gpu.gpu_class, layer_kind(model)), UNTESTED)
