"""The checkpoint that a name means: the shape of a model of the catalog, in the width that the name says.

`Qwen/Qwen3-32B-AWQ` is Qwen3-32B in int4, and is what an engine is told to serve.
"""

import re
from dataclasses import replace

from core.catalog import model as find_model
from core.catalog.lookup import date_in
from core.errors import OutOfRangeError
from core.models.left_alone import left_alone
from core.specs import ModelSpec
from core.text.numbers import whole

_WIDTHS: tuple[tuple[str, str, int | None], ...] = (
    (r"nvfp4|fp4", "nvfp4", 16),
    (r"mxfp4", "mxfp4", 32),
    (r"w8a8-fp8|fp8", "fp8", None),
    (r"w4a16[-_]?g?32|4b-32g|g32|q4\w*", "int4", 32),
    (r"4b-64g|g64", "int4", 64),
    (r"gptq-int8|w8a8|w8a16|int8|8bit|q8\w*", "int8", None),
    (r"awq|gptq-int4|gptq|w4a16|int4|4bit|4b-128g|g128", "int4", 128),
    (r"bf16|bfloat16", "bf16", None),
    (r"fp16|float16", "fp16", None),
)
"""Endings by which checkpoints are published, the width and the group of each. Without a config a group of 128 is
taken for integers, as AutoAWQ, GPTQModel and llm-compressor write them unless told otherwise."""
_MORE = r"dynamic|block|kv|v\d+|hf|marlin|\w{0,8}quantized|autoround|auto-round|preview|mlx|ct|eo8|gguf"
"""What may stand behind a width: how it was made, or what else is narrow."""
_BLOCKED = ("qwen3", "deepseek", "kimi", "glm-5", "minimax", "mimo")
"""Makers whose FP8 shares scales in blocks of 128 × 128; of others a whole row or tensor does, as of
GLM-4.5-Air, which vLLM's recipe (docs.vllm.ai, GLM/GLM.html) serves at TP=8."""
_QUANTISERS = ("redhatai", "neuralmagic", "nvidia", "amd", "unsloth", "nm-testing")
"""Whose FP8 has no blocks, whatever the model."""
# NVIDIA's modelopt calibrates an fp8 cache too unless told otherwise (`--kv_cache_qformat` of its hf_ptq example)

_PADDED = 8
"""Ranks for which Qwen pads the MLPs of its own GPTQ and AWQ with zeros where their groups are odd: 29,568 of the
72B are 29,696 (QwenLM/Qwen3 issue 578; config.json of Qwen2-VL-72B-Instruct-GPTQ-Int8). Others leave them."""

_ATTENTION_AND_ENDS = (
    *(f"model.layers.{layer}.self_attn.{part}_proj" for layer in range(126) for part in "qkvo"),
    *(f"model.layers.{layer}.mlp.{part}_proj" for layer in (0, 125) for part in ("gate", "up", "down")),
)
"""What Meta's own FP8 of Llama-3.1-405B leaves in 16 bits: `modules_to_not_convert` of its config.json."""


def named_checkpoint(name: str) -> ModelSpec:
    """The model that a name means, under that name; a key of the catalog is its own checkpoint.

    Raises UnknownNameError where the catalog has no model of such a shape, OutOfRangeError for a GGUF whose name
    says no width.
    """
    spec = find_model(name)
    if name == spec.key:
        return spec
    width, date = width_in(name), date_in(name)
    if date and "/" not in name and width is None and not any(date in one for one in (spec.key, *spec.aliases)):
        spec = replace(spec, aliases=(f"{spec.aliases[0]}-{date}", *spec.aliases))
    if width is None and name.lower().endswith("gguf"):
        raise OutOfRangeError("model", name, "gguf_width")
    served = replace(spec, aliases=(name, *spec.aliases)) if "/" in name or width is not None else spec
    if width is None or width[0] == spec.weight_dtype:
        return served
    dtype, group = width
    maker, _, short = name.lower().rpartition("/")
    blocked = dtype == "fp8" and short.startswith(_BLOCKED) and maker not in _QUANTISERS
    block = (128, 128) if blocked and "dynamic" not in short else None
    calibrated = maker == "nvidia" or short.endswith("-kv")
    if maker == "qwen" and group and spec.intermediate_size // group % 2:
        padded = _PADDED * group
        served = replace(served, intermediate_size=-(-spec.intermediate_size // padded) * padded)
    made = replace(served, weight_dtype=dtype, quantisation_group=group, weight_block=block)
    if (maker, dtype) == ("meta-llama", "fp8"):
        made = as_of_meta(made)
    return replace(made, name=name, cache_dtype="fp8" if calibrated else "bf16")


def as_of_meta(model: ModelSpec) -> ModelSpec:
    """An FP8 as Meta publishes it: attention and the first and the last MLP stay in 16 bits."""
    return replace(model, weight_dtype="fp8", left_alone=left_alone(_ATTENTION_AND_ENDS, model.num_hidden_layers))


def may_be_of_meta(path: str, model: ModelSpec) -> tuple[ModelSpec, ...]:
    """What an FP8 of Llama-3.1-405B at a path may be: its maker says which, a folder of one's own does not."""
    maker = re.split(r"[/\\]", path.lower().rstrip("/\\"))[-2:][0]
    if model.key != "llama-3.1-405b" or model.left_alone or maker in _QUANTISERS:
        return (model,)
    return (as_of_meta(model),) if maker == "meta-llama" else (model, as_of_meta(model))


def width_in(name: str) -> tuple[str, int | None] | None:
    """The width and group that a name's ending says; None where it says none.

    >>> width_in("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4"), width_in("nvidia/Llama-3.1-70B-Instruct-FP8")
    (('int4', 128), ('fp8', None))
    """
    short = re.split(r"[/\\]", name.lower())[-1]
    for ending, dtype, group in _WIDTHS:
        if re.search(rf"[-_.](?:{ending})(?:[-_.](?:{_MORE}))?(?:[-_.](?:{_MORE}))?$", short):
            return dtype, group
    quantised = re.search(r"[-_.]quantized[-_.](w4a16|w8a8|w8a16)$", short)
    return ("int4", 128) if quantised and quantised[1] == "w4a16" else ("int8", None) if quantised else None


def as_served(model: ModelSpec, dtype: str) -> ModelSpec:
    """A model in a width: the checkpoint's own as it is, another without its groups, blocks and exceptions."""
    width, _, group = dtype.partition("-g")
    stored_group = str(model.quantisation_group or "")
    if width == model.weight_dtype and group.partition("-")[0] in ("", stored_group):
        return model
    size = whole(group.partition("-")[0]) if group else 128 if width == "int4" else None
    return replace(model, weight_dtype=width, quantisation_group=size, weight_block=None, left_alone=())


def checkpoint_width(model: ModelSpec) -> str:
    """A checkpoint's own weight dtype, with its group where it has one that the width does not say."""
    grouped = model.weight_dtype == "int4" and model.quantisation_group
    return f"int4-g{model.quantisation_group}" if grouped else model.weight_dtype
