"""Kinds of layer, as far as a step's time tells them apart, and what a prompt takes at the least in each."""

from collections.abc import Mapping
from typing import Literal, get_args

from core.layer_specs import CompressedSpec, StateSpec
from core.specs import ModelSpec

Kind = Literal["dense", "mixture", "latent", "hybrid", "compressed"]
"""Of layers: dense, with experts, with latent attention; with states; with what is behind compressed."""

KINDS = get_args(Kind)

_MIXTURE_S = 0.56e-3
PROMPT_LAYER_S: Mapping[Kind, float] = {
    "dense": 0.41e-3, "mixture": _MIXTURE_S, "latent": 2.95e-3, "hybrid": _MIXTURE_S, "compressed": _MIXTURE_S
}  # fmt: skip
"""The least that a layer of a prompt takes: no graph of it is recorded, and its kernels are launched one by one.

Of prompts of 128 tokens: Qwen3-1.7B's 28 layers in 11.4 ms and Qwen3-30B-A3B's 48 in 27.0 (tt-inference-server
issue #340, A100, vLLM), DeepSeek-R1's 61 in 180 (issue #356, 16 H100, SGLang). One source each; those
that were not timed have a mixture's."""


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
