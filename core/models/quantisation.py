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
_INTEGER_METHODS = {"awq", "gptq", "auto-round", "intel/auto-round", "gptq_marlin", "awq_marlin"}
BLOCKS = ("quantization_config", "compression_config", "quantization")
"""Where a file says how its weights are kept; the last is MLX's own."""


@dataclass(frozen=True)
class WeightFormat:
    """How the matrices of a checkpoint are kept. `group` inputs share one scale; None where a whole row does."""

    dtype: str
    group: int | None = None


def weight_format(config: Mapping[str, object]) -> WeightFormat:
    """The format of a config's weights: quantised where it says so, else its float dtype, bf16 where it says none.

    Raises OutOfRangeError for a method or a width that is unknown here.
    """
    quantisation = next((block for name in BLOCKS if (block := config.get(name))), None)
    if quantisation is not None:
        if not isinstance(quantisation, Mapping):
            raise OutOfRangeError("quantization_config", _shown(quantisation), "must be an object")
        return _quantised(quantisation)
    dtype = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").removeprefix("torch.")
    if dtype not in _FLOATS:
        raise OutOfRangeError("torch_dtype", _shown(dtype), f"is not one of {', '.join(_FLOATS)}")
    return WeightFormat(_FLOATS[dtype])


def _quantised(block: Mapping[str, object]) -> WeightFormat:
    """One dialect after the other, each by its name; MLX's has none."""
    method = str(block.get("quant_method") or "").lower()
    if method in _FP8_METHODS:
        return WeightFormat("fp8")
    if method == "mxfp4":
        return WeightFormat("mxfp4", 32)
    if method in _INTEGER_METHODS:
        return _integers(method, block.get("bits", block.get("w_bit")), block.get("group_size", 128))
    if method == "compressed-tensors" or "config_groups" in block:
        return _compressed(block)
    if method == "bitsandbytes" or "load_in_4bit" in block:
        return _bitsandbytes(block)
    if method == "quark":
        return _quark(block)
    if method.startswith("modelopt") and str(block.get("quant_algo", "")).upper().startswith("FP8"):
        return WeightFormat("fp8")
    if not method and block.get("mode", "affine") == "affine" and "bits" in block:
        return _integers("mlx", block["bits"], block.get("group_size", 64))
    known = "fp8, awq, gptq, compressed-tensors, bitsandbytes, quark, modelopt (FP8), mxfp4"
    raise OutOfRangeError("quant_method", _shown(method), f"is not one that is known here: {known}")


def _integers(method: str, bits: object, group: object) -> WeightFormat:
    """Whole-number weights of a width; a group of -1 is a whole row."""
    dtype = _WIDTHS.get(("int", bits)) if isinstance(bits, int) else None
    if dtype is None:
        raise OutOfRangeError(f"{method} bits", _shown(bits), "must be 4 or 8")
    return WeightFormat(dtype, _group(group))


def _bitsandbytes(block: Mapping[str, object]) -> WeightFormat:
    """NF4 or FP4 in groups of 64, or int8."""
    if block.get("load_in_4bit"):
        return WeightFormat("int4", 64)
    if block.get("load_in_8bit"):
        return WeightFormat("int8")
    raise OutOfRangeError("bitsandbytes", "", "must have load_in_4bit or load_in_8bit true")


def _quark(block: Mapping[str, object]) -> WeightFormat:
    """AMD's: the weights' dtype of the configuration that holds for all layers."""
    whole = block.get("global_quant_config")
    weight = whole.get("weight") if isinstance(whole, Mapping) else None
    if not isinstance(weight, Mapping):
        raise OutOfRangeError("global_quant_config", _shown(whole), "must say how its weights are kept")
    dtype = str(weight.get("dtype")).lower()
    if dtype.startswith("fp8"):
        return WeightFormat("fp8")
    if dtype in ("int4", "uint4", "int8", "uint8"):
        return WeightFormat(dtype.removeprefix("u"), _group(weight.get("group_size")))
    raise OutOfRangeError("quark dtype", _shown(dtype), "must be fp8, int4 or int8")


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
