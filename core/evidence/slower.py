"""Where somebody timed a model on a GPU, and more ranks on a layer took longer than fewer did.

The step model knows no reason for some of them: each is said beside a plan that it speaks against, with its source.
All pairs of `data/published_times.csv` that one source timed alike but for their ranks are in the table; a test
finds them again.
"""

from typing import NamedTuple

from core.specs import GpuSpec, ModelSpec

REACH = 2
"""A run speaks for as many sequences as it had, and for half or twice as many."""


class Slower(NamedTuple):
    """One model on one GPU: a step's time at fewer and at more ranks, at the number of sequences of the worst pair.

    The same was found from `fewest` to `most` sequences.
    """

    model: str
    gpu: str
    fewer: int
    more: int
    fewer_s: float
    more_s: float
    batch: int
    fewest: int
    most: int
    source: str


TIMED: tuple[Slower, ...] = (
    Slower(
        *("gpt-oss-120b", "a100-80gb-sxm", 1, 2, 0.011111, 0.012903, 1, 1, 1),
        "vllm-project/vllm issue #22331 (gpt-oss-120b, A100 80GB, NVLink)",
    ),
    Slower(
        *("qwen2-7b", "a100-80gb-sxm", 1, 2, 0.04034, 0.04923, 200, 30, 1000),
        "github.com/dennislee22/vLLM-benchmarking README",
    ),
)
"""Source of the first: a vLLM image of August 2025, with the same rate at TP=4 as at TP=2."""


def timed_slower(model: ModelSpec, gpu: GpuSpec, tp_size: int, batch: float) -> Slower | None:
    """The published pair that speaks against so many ranks on a layer, for about as many sequences at once."""
    for pair in TIMED:
        alike = (pair.model, pair.gpu) == (model.key, gpu.key) and tp_size > pair.fewer
        if alike and pair.fewest / REACH <= batch <= pair.most * REACH:
            return pair
    return None
