"""What a config.json says of its weights' width: `torch_dtype`, and `quantization_config` in its many dialects."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import OutOfRangeError

_FLOATS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    # engines load a checkpoint kept in float32 as fp16, unless told otherwise
    "float32": "fp16",
    "float": "fp16",
    "float8_e4m3fn": "fp8",
}
_WIDTHS = {("int", 4): "int4", ("int", 8): "int8", ("float", 8): "fp8"}
_FP8_METHODS = {"fp8", "fbgemm_fp8", "finegrained_fp8"}


@dataclass(frozen=True)
class WeightFormat:
    """How the matrices of a checkpoint are kept. `group` inputs share one scale; None where a whole row does."""

    dtype: str
    group: int | None = None


def weight_format(config: Mapping[str, object]) -> WeightFormat:
    """The format of a config's weights: quantised where it says so, else its float dtype, bf16 where it says none.

    Raises OutOfRangeError for a method or a width that is unknown here.
    """
    quantisation = config.get("quantization_config") or config.get("compression_config")
    if quantisation is not None:
        if not isinstance(quantisation, Mapping):
            raise OutOfRangeError("quantization_config", _shown(quantisation), "must be an object")
        return _quantised(quantisation)
    dtype = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").removeprefix("torch.")
    if dtype not in _FLOATS:
        raise OutOfRangeError("torch_dtype", _shown(dtype), f"is not one of {', '.join(_FLOATS)}")
    return WeightFormat(_FLOATS[dtype])


def _quantised(block: Mapping[str, object]) -> WeightFormat:
    """One dialect after the other: fp8, AWQ and GPTQ, compressed-tensors, bitsandbytes, ModelOpt, mxfp4."""
    method = str(block.get("quant_method") or "").lower()
    if method in _FP8_METHODS:
        return WeightFormat("fp8")
    if method == "mxfp4":
        return WeightFormat("mxfp4", 32)
    if method in ("awq", "gptq", "auto-round", "gptq_marlin", "awq_marlin"):
        return _integers(method, block.get("bits", block.get("w_bit")), block.get("group_size", 128))
    if method == "compressed-tensors" or "config_groups" in block:
        return _compressed(block)
    if method == "bitsandbytes" or "load_in_4bit" in block:
        return WeightFormat("int4", 64) if block.get("load_in_4bit") else WeightFormat("int8")
    if method.startswith("modelopt") and "FP8" in str(block.get("quant_algo", "")).upper():
        return WeightFormat("fp8")
    known = "fp8, awq, gptq, compressed-tensors, bitsandbytes, modelopt (FP8), mxfp4"
    raise OutOfRangeError("quant_method", _shown(method), f"is not one that is known here: {known}")


def _integers(method: str, bits: object, group: object) -> WeightFormat:
    """Whole-number weights of a width; a group of -1 is a whole row."""
    dtype = _WIDTHS.get(("int", bits)) if isinstance(bits, int) else None
    if dtype is None:
        raise OutOfRangeError(f"{method} bits", _shown(bits), "must be 4 or 8")
    return WeightFormat(dtype, _group(group))


def _compressed(block: Mapping[str, object]) -> WeightFormat:
    """The first group's weights, where the groups agree."""
    groups = block.get("config_groups")
    found = {_compressed_group(group) for group in groups.values()} if isinstance(groups, Mapping) else set()
    if len(found) != 1:
        raise OutOfRangeError("config_groups", _shown(groups), "must name one width for all quantised weights")
    return found.pop()


def _compressed_group(group: object) -> WeightFormat:
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        raise OutOfRangeError("config_groups", _shown(group), "must say how its weights are kept")
    bits, kind = weights.get("num_bits"), str(weights.get("type", "int"))
    dtype = _WIDTHS.get((kind, bits)) if isinstance(bits, int) else None
    if dtype is None:
        raise OutOfRangeError("weights", f"{kind} of {_shown(bits)} bits", "must be int4, int8 or fp8")
    return WeightFormat(dtype, _group(weights.get("group_size")))


def _group(size: object) -> int | None:
    """A group's inputs; None for -1 and null: one scale a row."""
    if size is None or isinstance(size, (bool, list)) or size == -1:
        return None
    if not isinstance(size, int) or not 1 <= size <= 2**16:
        raise OutOfRangeError("group_size", _shown(size), "must be a whole number of inputs, or -1")
    return size


def _shown(value: object) -> str:
    """At most 40 printable characters of what anyone may have written."""
    text = "".join(character for character in str(value) if character.isprintable())
    return text if len(text) <= 40 else f"{text[:39]}…"
