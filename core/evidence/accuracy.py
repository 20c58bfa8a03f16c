"""How far predictions are off, by class of GPU, kind of layer and quantity: what stands beside a predicted time.

The figures are those of `python -m scripts.accuracy` over the times that ship with the project, each tested by
constants that nothing of its source was fitted to. Where nothing was published, nothing is claimed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from core.evidence.kinds import Kind, layer_kind, never_timed
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
    ("a100", "dense", "decode"): Accuracy(66, 3, 0.147, 0.360, 0.755, 0.038),
    ("a100", "dense", "first_token"): Accuracy(6, 1, 0.129, 0.211, 0.220, 0.129),
    ("a100", "dense", "run"): Accuracy(365, 4, 0.103, 0.221, 0.392, 0.051),
    ("a100", "dense", "saturated"): Accuracy(29, 1, 0.183, 1.000, 1.111, 0.074),
    ("a100", "mixture", "decode"): Accuracy(14, 4, 0.060, 0.445, 0.645, -0.033),
    ("a100", "mixture", "run"): Accuracy(18, 2, 0.109, 0.338, 0.374, -0.013),
    ("ada", "dense", "saturated"): Accuracy(4, 1, 0.139, 0.570, 0.755, 0.105),
    ("blackwell", "dense", "saturated"): Accuracy(20, 1, 0.227, 2.235, 2.724, -0.050),
    ("cdna3", "dense", "decode"): Accuracy(3, 1, 0.139, 0.222, 0.242, 0.139),
    ("cdna3", "dense", "first_token"): Accuracy(1, 1, 0.023, 0.023, 0.023, -0.023),
    ("cdna3", "dense", "run"): Accuracy(41, 2, 0.108, 0.205, 0.351, -0.016),
    ("cdna3", "latent", "decode"): Accuracy(4, 1, 0.557, 0.691, 0.743, -0.557),
    ("cdna3", "latent", "first_token"): Accuracy(1, 1, 0.607, 0.607, 0.607, -0.607),
    ("cdna3", "mixture", "decode"): Accuracy(12, 3, 0.245, 0.697, 0.735, -0.048),
    ("cdna3", "mixture", "first_token"): Accuracy(1, 1, 0.692, 0.692, 0.692, -0.692),
    ("cdna3", "mixture", "run"): Accuracy(3, 1, 0.508, 0.624, 0.653, -0.508),
    ("hopper", "dense", "decode"): Accuracy(6, 1, 0.028, 0.049, 0.051, 0.028),
    ("hopper", "dense", "first_token"): Accuracy(7, 2, 0.102, 0.201, 0.210, 0.033),
    ("hopper", "dense", "saturated"): Accuracy(98, 2, 0.166, 0.713, 1.334, 0.005),
    ("hopper", "latent", "decode"): Accuracy(10, 2, 0.010, 0.467, 0.501, 0.010),
    ("hopper", "latent", "first_token"): Accuracy(3, 1, 0.023, 0.437, 0.541, -0.023),
    ("hopper", "mixture", "decode"): Accuracy(11, 3, 0.071, 0.351, 0.369, 0.014),
}
# fmt: on

BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.81, 1.53),
    ("a100", "mixture"): Band(0.74, 1.52),
    ("hopper", "dense"): Band(0.81, 1.53),
    ("hopper", "mixture"): Band(0.73, 1.52),
    ("hopper", "latent"): Band(0.67, 1.52),
    ("cdna3", "dense"): Band(0.81, 1.53),
    ("cdna3", "mixture"): Band(0.67, 2.88),
    ("cdna3", "latent"): Band(0.74, 3.90),
}
"""Where fewer than three sources time a class and a kind they lie closer than another's would: such a band reaches
as far as an A100's of that kind, and as its own rows by each other's constants."""

WIDENED = Band(0.74, 1.94)
"""Of experts in four-bit floats on a card that multiplies in 16 bits: an engine widens them first, in kernels that
differ by release. gpt-oss-120b on an A100 was met within 3 % in vLLM 0.11, by constants of others; in the preview
image of its first month (vLLM issue 22331) it took 1.52 times the predicted time, two ranks 1.94 times."""

UNTESTED: Mapping[Kind, Band] = {
    "dense": Band(0.51, 1.86, tested=False),
    "mixture": Band(0.32, 6.85, tested=False),
    "latent": Band(0.32, 6.85, tested=False),
}
"""As far as any decode time lies from what another class's constants of its kind predict; latent attention has a
mixture's."""


def accuracy_of(gpu: GpuSpec, model: ModelSpec, quantity: Quantity) -> Accuracy | None:
    """The errors on published times of a GPU's class and a model's kind; None: never tested here."""
    return None if never_timed(model) else TESTED.get((gpu.gpu_class, layer_kind(model), quantity))


def decode_band(gpu: GpuSpec, model: ModelSpec) -> Band:
    """How wide a predicted decode time is to be read."""
    kind = layer_kind(model)
    band = UNTESTED[kind] if never_timed(model) else BANDS.get((gpu.gpu_class, kind), UNTESTED[kind])
    return (
        Band(min(band.low, WIDENED.low), max(band.high, WIDENED.high), band.tested) if widens(gpu, model) else band
    )


def widens(gpu: GpuSpec, model: ModelSpec) -> bool:
    """Whether experts in four-bit floats meet a card that multiplies in 16 bits alone."""
    return model.moe is not None and model.weight_dtype in ("mxfp4", "nvfp4") and gpu.fp8_flops is None
