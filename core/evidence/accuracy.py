"""How far predictions are off, by class of GPU, kind of layer and quantity: what stands beside a predicted time.

The figures are those of `python -m scripts.accuracy` over the times that ship with the project, each tested by
constants that nothing of its source was fitted to. Where nothing was published, nothing is claimed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from core.evidence.kinds import KINDS, Kind, layer_kind
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
    """The multiples of a predicted time between which eight of ten published ones lie.

    `tested` is false where none was published of the class and kind: it is then as wide as constants of one class
    are off on another's rows, at worst.
    """

    low: float
    high: float
    tested: bool = True


# fmt: off
TESTED: Mapping[tuple[str, Kind, Quantity], Accuracy] = {
    # class, kind, quantity: n, sources, median, p90, worst, bias
    ("a100", "dense", "decode"): Accuracy(72, 4, 0.101, 0.359, 1.150, 0.050),
    ("a100", "dense", "first_token"): Accuracy(10, 3, 0.198, 0.389, 0.420, 0.070),
    ("a100", "dense", "run"): Accuracy(365, 4, 0.098, 0.218, 0.396, 0.033),
    ("a100", "dense", "saturated"): Accuracy(29, 1, 0.183, 0.978, 1.091, 0.075),
    ("a100", "mixture", "decode"): Accuracy(14, 4, 0.081, 0.121, 0.405, 0.059),
    ("a100", "mixture", "first_token"): Accuracy(2, 1, 0.168, 0.253, 0.274, 0.106),
    ("a100", "mixture", "run"): Accuracy(18, 2, 0.106, 0.339, 0.375, -0.029),
    ("ada", "dense", "first_token"): Accuracy(2, 1, 0.235, 0.414, 0.458, -0.223),
    ("ada", "dense", "saturated"): Accuracy(4, 1, 0.297, 0.942, 1.215, 0.297),
    ("blackwell", "dense", "decode"): Accuracy(147, 3, 0.103, 0.277, 0.420, 0.048),
    ("blackwell", "dense", "saturated"): Accuracy(20, 1, 0.303, 1.370, 1.429, 0.003),
    ("blackwell", "hybrid", "decode"): Accuracy(155, 4, 0.161, 0.370, 0.812, -0.108),
    ("blackwell", "hybrid", "first_token"): Accuracy(3, 2, 0.391, 0.413, 0.419, -0.391),
    ("blackwell", "latent", "decode"): Accuracy(285, 8, 0.142, 0.474, 1.165, 0.006),
    ("blackwell", "latent", "first_token"): Accuracy(4, 2, 0.168, 0.468, 0.578, -0.013),
    ("blackwell", "mixture", "decode"): Accuracy(281, 6, 0.095, 0.252, 0.598, 0.028),
    ("blackwell", "mixture", "first_token"): Accuracy(5, 3, 0.424, 0.469, 0.485, 0.424),
    ("cdna3", "dense", "decode"): Accuracy(8, 3, 0.182, 0.419, 0.560, 0.018),
    ("cdna3", "dense", "first_token"): Accuracy(3, 3, 0.236, 0.423, 0.470, 0.089),
    ("cdna3", "dense", "run"): Accuracy(41, 2, 0.086, 0.232, 0.303, 0.020),
    ("cdna3", "hybrid", "decode"): Accuracy(3, 1, 0.085, 0.322, 0.381, -0.034),
    ("cdna3", "hybrid", "first_token"): Accuracy(1, 1, 0.299, 0.299, 0.299, -0.299),
    ("cdna3", "latent", "decode"): Accuracy(13, 2, 0.168, 0.277, 0.412, -0.168),
    ("cdna3", "latent", "first_token"): Accuracy(3, 2, 0.408, 0.490, 0.510, -0.408),
    ("cdna3", "mixture", "decode"): Accuracy(35, 8, 0.330, 0.721, 0.805, 0.198),
    ("cdna3", "mixture", "first_token"): Accuracy(8, 6, 0.230, 0.464, 0.464, 0.048),
    ("cdna3", "mixture", "run"): Accuracy(3, 1, 0.480, 0.611, 0.643, -0.480),
    ("hopper", "dense", "decode"): Accuracy(231, 8, 0.082, 0.362, 1.988, 0.003),
    ("hopper", "dense", "first_token"): Accuracy(10, 4, 0.080, 0.161, 0.169, -0.004),
    ("hopper", "dense", "saturated"): Accuracy(98, 2, 0.190, 0.705, 1.259, 0.093),
    ("hopper", "hybrid", "decode"): Accuracy(13, 2, 0.203, 0.508, 0.598, -0.203),
    ("hopper", "latent", "decode"): Accuracy(87, 7, 0.123, 0.376, 0.543, 0.085),
    ("hopper", "latent", "first_token"): Accuracy(3, 1, 0.236, 0.560, 0.641, -0.236),
    ("hopper", "mixture", "decode"): Accuracy(282, 11, 0.135, 0.399, 0.740, -0.046),
    ("hopper", "mixture", "first_token"): Accuracy(2, 2, 0.635, 0.973, 1.057, 0.635),
}
# fmt: on

TIMED = frozenset(
    ("a100-80gb-sxm", "a100-40gb-sxm", "a100-80gb-pcie", "h100-sxm", "h200-sxm", "b200-sxm", "l40s", "mi300x")
) | {"rtx-4090"}
"""GPUs that a published time is of. Another of their class shares its constants, and its errors are not known."""

BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.70, 1.66),
    ("hopper", "dense"): Band(0.78, 1.70),
    ("blackwell", "dense"): Band(0.76, 1.31),
    ("cdna3", "dense"): Band(0.73, 2.28),
    ("a100", "mixture"): Band(0.60, 1.87),
    ("hopper", "mixture"): Band(0.78, 1.80),
    ("blackwell", "mixture"): Band(0.78, 1.52),
    ("cdna3", "mixture"): Band(0.60, 2.05),
    ("hopper", "latent"): Band(0.72, 1.79),
    ("blackwell", "latent"): Band(0.70, 1.79),
    ("cdna3", "latent"): Band(0.76, 1.71),
    ("hopper", "hybrid"): Band(0.78, 2.04),
    ("blackwell", "hybrid"): Band(0.78, 1.60),
    ("cdna3", "hybrid"): Band(0.76, 1.62),
}
"""Hopper's and Blackwell's hold eight of ten rows, each alike, of their kind and of their class as a whole; those
of other classes by source and by row. Where fewer than three sources time such a class and a kind they lie closer
than another's would: a band reaches as far as published times of either of an A100's, and as its own rows. One
time alone makes no band. Hopper's reach up to where times that were foretold and then looked up had made them: of
93 of GPUStack's performance lab 59 lay inside, as a queue reads more prompts beside each step than a burst does.
How many of all that were foretold lie inside is counted in core.evidence.blind, and said first."""

FIRST_BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.70, 1.85),
    ("hopper", "dense"): Band(0.66, 4.10),
    ("ada", "dense"): Band(0.81, 1.85),
    ("cdna3", "dense"): Band(0.81, 1.89),
    ("a100", "mixture"): Band(0.68, 1.86),
    ("hopper", "mixture"): Band(0.49, 1.86),
    ("blackwell", "mixture"): Band(0.67, 1.86),
    ("cdna3", "mixture"): Band(0.68, 1.86),
    ("hopper", "latent"): Band(0.68, 2.79),
    ("blackwell", "latent"): Band(0.68, 2.37),
    ("cdna3", "latent"): Band(0.68, 2.04),
    ("blackwell", "hybrid"): Band(0.68, 1.86),
}
"""Of first tokens, which few sources time: each reaches as far as those of all classes do, of dense layers or of
the others, and as its own. Most of a short prompt is launches, which differ by release more than by GPU. No source
says why prompts of some thousand tokens through latent attention took twice what is told (DeepSeek-V3.1 on MI300X,
GLM-4.7-Flash on B200, DeepSeek-R1 over two nodes), and through states 1.4 to 1.7 times (Qwen3-Next on B200, Kimi
Linear on MI300X). Hopper's dense layers reach to 4.10, for eight of ten foretold: 230 tokens took some 60 ms of any
model through vLLM 0.11's chat endpoint (GPUStack)."""
UNTESTED_FIRST = Band(0.49, 4.39, tested=False)
"""As far as any first token lies from what was told of it."""

WIDENED = Band(0.72, 1.99)
"""Of experts in four-bit floats on a GPU that multiplies in 16 bits: an engine widens them first, in kernels that
differ by release. gpt-oss-120b on an A100 was met within 11 % in vLLM 0.11, by constants of others; in the
preview image of its first month (vLLM issue 22331) it took 1.14 times the predicted time, two ranks 1.68 times."""

_UNTESTED_MIXTURE = Band(0.33, 8.83, tested=False)
UNTESTED: Mapping[Kind, Band] = {
    kind: Band(0.42, 3.59, tested=False) if kind == "dense" else _UNTESTED_MIXTURE for kind in KINDS
}
"""As far as any decode time lies from what another class's constants of its kind predict; latent attention and
states have a mixture's, whose constants they share."""


def accuracy_of(gpu: GpuSpec, model: ModelSpec, quantity: Quantity) -> Accuracy | None:
    """The errors on published times of a GPU's class and a model's kind; None: never tested here."""
    if gpu.key not in TIMED:
        return None
    return TESTED.get((gpu.gpu_class, layer_kind(model), quantity))


def decode_band(gpu: GpuSpec, model: ModelSpec) -> Band:
    """How wide a predicted decode time is to be read."""
    kind = layer_kind(model)
    known = BANDS if gpu.key in TIMED else {}
    band = known.get((gpu.gpu_class, kind), UNTESTED[kind])
    return (
        Band(min(band.low, WIDENED.low), max(band.high, WIDENED.high), band.tested) if widens(gpu, model) else band
    )


def first_band(gpu: GpuSpec, model: ModelSpec) -> Band:
    """How wide a predicted first token is to be read."""
    known = FIRST_BANDS if gpu.key in TIMED else {}
    return known.get((gpu.gpu_class, layer_kind(model)), UNTESTED_FIRST)


def widens(gpu: GpuSpec, model: ModelSpec) -> bool:
    """Whether experts in four-bit floats meet a GPU that multiplies in 16 bits alone."""
    return model.moe is not None and model.weight_dtype in ("mxfp4", "nvfp4") and gpu.fp8_flops is None
