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
    ("a100", "dense", "decode"): Accuracy(72, 4, 0.106, 0.335, 0.420, 0.021),
    ("a100", "dense", "first_token"): Accuracy(10, 3, 0.214, 0.404, 0.572, 0.131),
    ("a100", "dense", "run"): Accuracy(365, 4, 0.105, 0.223, 0.390, 0.044),
    ("a100", "dense", "saturated"): Accuracy(29, 1, 0.184, 1.004, 1.117, 0.075),
    ("a100", "mixture", "decode"): Accuracy(14, 4, 0.077, 0.281, 0.484, 0.050),
    ("a100", "mixture", "first_token"): Accuracy(2, 1, 0.166, 0.242, 0.261, 0.094),
    ("a100", "mixture", "run"): Accuracy(18, 2, 0.113, 0.322, 0.359, -0.007),
    ("ada", "dense", "first_token"): Accuracy(2, 1, 0.285, 0.352, 0.369, -0.084),
    ("ada", "dense", "saturated"): Accuracy(4, 1, 0.139, 0.574, 0.759, 0.107),
    ("blackwell", "dense", "saturated"): Accuracy(20, 1, 0.214, 2.283, 2.769, -0.025),
    ("blackwell", "hybrid", "decode"): Accuracy(13, 3, 0.121, 0.428, 0.634, -0.054),
    ("blackwell", "hybrid", "first_token"): Accuracy(3, 2, 0.391, 0.413, 0.419, -0.391),
    ("blackwell", "latent", "decode"): Accuracy(18, 2, 0.324, 0.490, 0.514, 0.070),
    ("blackwell", "latent", "first_token"): Accuracy(4, 2, 0.168, 0.468, 0.578, -0.013),
    ("blackwell", "mixture", "decode"): Accuracy(17, 3, 0.249, 0.600, 0.779, 0.235),
    ("blackwell", "mixture", "first_token"): Accuracy(5, 3, 0.424, 0.469, 0.485, 0.424),
    ("cdna3", "dense", "decode"): Accuracy(8, 3, 0.132, 0.359, 0.523, 0.011),
    ("cdna3", "dense", "first_token"): Accuracy(3, 3, 0.236, 0.423, 0.470, 0.020),
    ("cdna3", "dense", "run"): Accuracy(41, 2, 0.093, 0.227, 0.311, 0.038),
    ("cdna3", "hybrid", "decode"): Accuracy(3, 1, 0.050, 0.245, 0.293, -0.035),
    ("cdna3", "hybrid", "first_token"): Accuracy(1, 1, 0.299, 0.299, 0.299, -0.299),
    ("cdna3", "latent", "decode"): Accuracy(13, 2, 0.156, 0.276, 0.330, -0.156),
    ("cdna3", "latent", "first_token"): Accuracy(3, 2, 0.408, 0.490, 0.510, -0.408),
    ("cdna3", "mixture", "decode"): Accuracy(35, 8, 0.330, 0.652, 0.786, 0.190),
    ("cdna3", "mixture", "first_token"): Accuracy(8, 6, 0.230, 0.464, 0.464, 0.046),
    ("cdna3", "mixture", "run"): Accuracy(3, 1, 0.513, 0.636, 0.667, -0.513),
    ("hopper", "dense", "decode"): Accuracy(10, 2, 0.019, 0.058, 0.192, 0.008),
    ("hopper", "dense", "first_token"): Accuracy(10, 4, 0.116, 0.219, 0.244, 0.041),
    ("hopper", "dense", "saturated"): Accuracy(98, 2, 0.163, 0.733, 1.369, 0.025),
    ("hopper", "hybrid", "decode"): Accuracy(1, 1, 0.521, 0.521, 0.521, -0.521),
    ("hopper", "latent", "decode"): Accuracy(4, 1, 0.104, 0.182, 0.192, 0.104),
    ("hopper", "latent", "first_token"): Accuracy(3, 1, 0.236, 0.560, 0.641, -0.236),
    ("hopper", "mixture", "decode"): Accuracy(18, 5, 0.137, 0.538, 0.694, -0.020),
    ("hopper", "mixture", "first_token"): Accuracy(2, 2, 0.635, 0.973, 1.057, 0.635),
}
# fmt: on

TIMED = frozenset(
    ("a100-80gb-sxm", "a100-40gb-sxm", "a100-80gb-pcie", "h100-sxm", "h200-sxm", "b200-sxm", "l40s", "mi300x")
) | {"rtx-4090"}
"""GPUs that a published time is of. Another of their class shares its constants, and its errors are not known."""

BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.70, 1.66),
    ("hopper", "dense"): Band(0.79, 1.70),
    ("cdna3", "dense"): Band(0.78, 2.10),
    ("a100", "mixture"): Band(0.60, 1.87),
    ("hopper", "mixture"): Band(0.62, 1.80),
    ("blackwell", "mixture"): Band(0.56, 1.52),
    ("cdna3", "mixture"): Band(0.62, 2.05),
    ("hopper", "latent"): Band(0.79, 2.49),
    ("blackwell", "latent"): Band(0.67, 1.79),
    ("cdna3", "latent"): Band(0.79, 1.52),
    ("blackwell", "hybrid"): Band(0.77, 2.73),
    ("cdna3", "hybrid"): Band(0.79, 1.52),
}
"""Where fewer than three sources time a class and a kind they lie closer than another's would: such a band reaches
as far as published times of either of an A100's, and as its own rows by constants of others. One time alone makes
no band. A band also holds eight of ten times that were foretold by today's constants and then looked up. Four were
widened by 93 of GPUStack's performance lab, of which 59 lay inside: all nine of one to eight sequences at once, 27
of 41 of a thousand chats, 19 of 35 of 500 prompts behind one another, as a queue reads more of them beside each
step than a burst does. Weights of 4 and 8 bits on an A100 took 1.5 to 1.7 times what was told where a step is full:
they are widened before they are multiplied, by kernels no other source times. Hopper's mixtures reach to 1.80 for
three of eight of MiniMax-M2.5 on eight H200 (InferenceX)."""

FIRST_BANDS: Mapping[tuple[str, Kind], Band] = {
    ("a100", "dense"): Band(0.64, 1.58),
    ("hopper", "dense"): Band(0.66, 4.10),
    ("ada", "dense"): Band(0.72, 1.58),
    ("cdna3", "dense"): Band(0.72, 1.89),
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
differ by release. gpt-oss-120b on an A100 was met within 5 % in vLLM 0.11, by constants of others; in the preview
image of its first month (vLLM issue 22331) it took 1.55 times the predicted time, two ranks 1.99 times."""

_UNTESTED_MIXTURE = Band(0.31, 5.63, tested=False)
UNTESTED: Mapping[Kind, Band] = {
    kind: Band(0.51, 2.76, tested=False) if kind == "dense" else _UNTESTED_MIXTURE for kind in KINDS
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
