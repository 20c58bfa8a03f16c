"""Kinds of layer, as far as a step's time tells them apart, and what an engine takes to launch a prompt's."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

from core.specs import CompressedSpec, GpuSpec, ModelSpec, Stack, StateSpec

Kind = Literal["dense", "mixture", "latent", "hybrid", "compressed"]
"""Of layers: dense, with experts, with latent attention; with states; with what is behind compressed."""

KINDS = get_args(Kind)

PROMPT_LAUNCH_S: Mapping[tuple[str, Stack], float] = {
    ("vllm", "cuda"): 0.41e-3, ("sglang", "cuda"): 1.13e-3, ("sglang", "rocm"): 1.54e-3
}  # fmt: skip
"""The least that a prompt takes for each plain layer's worth of its kernels, where an engine launches them one by
one. A compiled engine has none. Today both record graphs of prompts too, vLLM 0.33 up to 512 tokens, cut at
attention, SGLang 0.5.23 on CUDA; how much that takes off has not been published.

Fitted on first tokens of prompts under 1,000 tokens (core.evidence.calibration.fit_launch)."""


@lru_cache(maxsize=1024)
def layer_kind(model: ModelSpec) -> Kind:
    """Which kind of layer most of a model's are."""
    blocks = [block for kind, _ in model.kinds_of() for block in kind.blocks]
    if any(isinstance(block, CompressedSpec) for block in blocks):
        return "compressed"
    if any(isinstance(block, StateSpec) for block in blocks):
        return "hybrid"
    if model.mla is not None:
        return "latent"
    return "dense" if model.moe is None else "mixture"


def prompt_launch_s(engine: str, gpu: GpuSpec, model: ModelSpec) -> float:
    """What an engine takes to launch a plain layer of a prompt: on a stack where none was timed, as on CUDA.

    vLLM's first tokens were timed of dense layers and of mixtures; of others it is taken to be as slow as SGLang.
    """
    timed = "sglang" if engine == "vllm" and layer_kind(model) not in ("dense", "mixture") else engine
    return PROMPT_LAUNCH_S.get((timed, gpu.stack), PROMPT_LAUNCH_S.get((timed, "cuda"), 0.0))
