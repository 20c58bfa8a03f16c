"""What a config.json says of its weights' width: `torch_dtype`, and `quantization_config` in its many dialects."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.errors import OutOfRangeError, shortened
from core.text.lines import object_in
from core.text.numbers import whole

_FLOATS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    # engines load a checkpoint kept in float32 as fp16, unless told otherwise
    "float32": "fp16",
    "float": "fp16",
    "float8_e4m3fn": "fp8",
}
_WIDTHS = {("int", 4): "int4", ("int", 8): "int8", ("float", 8): "fp8", ("float", 4): "nvfp4"}
_FP8_METHODS = {"fp8", "fbgemm_fp8", "finegrained_fp8", "ptpc_fp8", "w8a8_fp8"}
_INT8_METHODS = {"w8a8_int8", "eetq", "experts_int8"}
_INTEGER_METHODS = {
    *("awq", "gptq", "auto-round", "intel/auto-round", "gptq_marlin", "awq_marlin", "inc", "moe_wna16"),
}
_LEFT_ALONE = (
    "modules_to_not_convert",
    "ignore",
    "ignored_layers",
    "exclude_modules",
    "exclude",
    "llm_int8_skip_modules",
)
MOST_KEPT, LONGEST_NAME = 16_384, 200
_EXPERT = re.compile(r"\bexperts\.\d+\b")
_FIRST_EXPERT = "experts.0"
_FLOAT_BITS = 16
BLOCKS = ("quantization_config", "compression_config", "quantization")
"""Where a file says how its weights are kept; the last is MLX's own."""


@dataclass(frozen=True)
class WeightFormat:
    """How the matrices of a checkpoint are kept. `group` inputs share one scale; None where a whole row does.

    `block` is the outputs and inputs that share one in both ways; `kept` names the modules left in 16 bits, as the
    file names them. Where a file has several widths, `listed` names the modules of each, that of most weights
    first, and the others have the width `rest`. MXFP4 holds a mixture's experts alone, unless it is `everywhere`.
    """

    dtype: str
    group: int | None = None
    block: tuple[int, int] | None = None
    kept: tuple[str, ...] = ()
    listed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rest: str = "bf16"
    everywhere: bool = False


def weight_format(config: Mapping[str, object]) -> WeightFormat:
    """The format of a config's weights: quantised where it says so, else its float dtype, bf16 where it says none.

    Raises OutOfRangeError for a method or a width that is unknown here.
    """
    quantisation = next((block for name in BLOCKS if (block := config.get(name))), None)
    if quantisation is not None:
        if not isinstance(quantisation, Mapping):
            raise OutOfRangeError("quantization_config", shortened(quantisation), "an_object")
        inner = quantisation.get("quantization")
        block = inner if isinstance(inner, Mapping) else quantisation
        return (
            _mixed(block)
            or _overridden(block)
            or _experts_apart(replace(_quantised(block), kept=_kept(block)), config)
        )
    dtype = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").removeprefix("torch.")
    if dtype not in _FLOATS:
        raise OutOfRangeError("torch_dtype", shortened(dtype), "not_one_of", known=", ".join(_FLOATS))
    return WeightFormat(_FLOATS[dtype])


def _experts_apart(form: WeightFormat, config: Mapping[str, object]) -> WeightFormat:
    """DeepSeek-V4's way: experts in MXFP4, whatever the width of the rest."""
    if config.get("expert_dtype") != "fp4":
        return form
    return WeightFormat("mxfp4", 32, form.block, listed=(("mxfp4", ("mlp.experts",)),), rest=form.dtype)


def _mixed(block: Mapping[str, object]) -> WeightFormat | None:
    """The widths of a file that names modules for each; None of one that has one width."""
    layers, groups = block.get("quantized_layers"), block.get("config_groups")
    by_width: dict[WeightFormat, dict[str, None]] = {}
    if isinstance(layers, Mapping):
        for name, how in layers.items():
            algorithm = how.get("quant_algo") if isinstance(how, Mapping) else how
            form = _modelopt(str(algorithm).upper(), object_in(how))
            by_width.setdefault(form, {})[_EXPERT.sub(_FIRST_EXPERT, str(name))] = None
    elif isinstance(groups, Mapping) and len({_compressed_group(group) for group in groups.values()}) > 1:
        for group in groups.values():
            targets = object_in(group).get("targets")
            for name in targets if isinstance(targets, list) else ():
                by_width.setdefault(_compressed_group(group), {})[_EXPERT.sub(_FIRST_EXPERT, str(name))] = None
    everything = next((form for form, names in by_width.items() if "Linear" in names), None)
    if not by_width or (everything is not None and len(by_width) == 1):
        return None
    # the width of the experts, else of the MLPs, is that of most weights
    weight = {
        form: [any(part in name for name in names) for part in ("experts", "mlp")]
        for form, names in by_width.items()
    }
    forms = sorted(by_width, key=lambda form: (*weight[form], len(by_width[form])), reverse=True)
    listed = tuple((form.dtype, tuple(by_width[form])[:MOST_KEPT]) for form in forms)
    rest = "fp8" if block.get("quant_method") == "fp8" else everything.dtype if everything else "bf16"
    return replace(forms[0], listed=listed, rest=rest)


def _overridden(block: Mapping[str, object]) -> WeightFormat | None:
    """Whole numbers of one width, and of others in the modules that a file names: AutoRound's, GPTQModel's."""
    dynamic = {name: how for name, how in object_in(block.get("dynamic")).items() if not name.startswith("-:")}
    named = {f"re:{name.removeprefix('+:')}": how for name, how in dynamic.items()}
    named |= object_in(block.get("extra_config"))
    by_width: dict[str, list[str]] = {}
    for name, how in named.items():
        bits = object_in(how).get("bits")
        if bits not in (None, block.get("bits"), _FLOAT_BITS):
            by_width.setdefault(_integers("extra_config", bits, -1).dtype, []).append(name)
    if not by_width:
        return None
    form = replace(_quantised(block), kept=_kept(block))
    others = ((dtype, tuple(names[:MOST_KEPT])) for dtype, names in by_width.items())
    alone = (("bf16", form.kept),) if form.kept else ()
    return replace(form, listed=((form.dtype, ()), *others, *alone), rest=form.dtype)


def _quantised(block: Mapping[str, object]) -> WeightFormat:
    """One dialect after the other, each by its name; MLX's has none."""
    method = str(block.get("quant_method") or "").lower()
    if method in _FP8_METHODS:
        return WeightFormat("fp8", block=_block(block.get("weight_block_size")))
    if method in _INT8_METHODS:
        return WeightFormat("int8")
    if method == "torchao":
        return _torchao(block.get("quant_type"))
    if method == "hqq":
        weights = object_in(block.get("quant_config")).get("weight_quant_params")
        how = weights if isinstance(weights, Mapping) else block
        return _integers(method, how.get("nbits"), how.get("group_size", 64))
    if method in ("mxfp4", "mxfp8"):
        return WeightFormat(method, 32)
    if method in _INTEGER_METHODS:
        return _integers(method, block.get("bits", block.get("w_bit")), block.get("group_size", 128))
    if method == "compressed-tensors" or "config_groups" in block:
        return _compressed(block)
    if method == "bitsandbytes" or "load_in_4bit" in block:
        return _bitsandbytes(block)
    if method == "quark":
        return _quark(block)
    if "quant_algo" in block:
        return _modelopt(str(block["quant_algo"]).upper(), block)
    if not method and block.get("mode", "affine") == "affine" and "bits" in block:
        return _integers("mlx", block["bits"], block.get("group_size", 64))
    known = "fp8, awq, gptq, compressed-tensors, bitsandbytes, quark, modelopt, mxfp4, torchao, hqq"
    raise OutOfRangeError("quant_method", shortened(method), "not_known_here", known=known)


def _modelopt(algorithm: str, block: Mapping[str, object]) -> WeightFormat:
    """NVIDIA's, in config.json or in hf_quant_config.json beside it: FP8, NVFP4 in groups of 16, or AWQ."""
    if algorithm == "MXFP8":
        return WeightFormat("mxfp8", 32)
    if algorithm in ("W8A16", "W8A8_SQ_PER_CHANNEL"):
        return WeightFormat("int8")
    if algorithm.startswith("FP8"):
        return WeightFormat("fp8", block=(128, 128) if "PB" in algorithm else None)
    if algorithm in ("NVFP4", "NVFP4_AWQ", "W4A16_NVFP4", "W4A8_NVFP4_FP8"):
        return WeightFormat("nvfp4", _group(block.get("group_size") or 16))
    if algorithm.startswith("W4A") and algorithm.endswith("AWQ"):
        return WeightFormat("int4", _group(block.get("group_size") or 128))
    raise OutOfRangeError("quant_algo", shortened(algorithm), "quant_algo", a="FP8", b="MXFP8", c="NVFP4")


def _kept(block: Mapping[str, object]) -> tuple[str, ...]:
    """The modules that a file leaves alone, under whichever name its dialect has for them."""
    named = [*next((names for key in _LEFT_ALONE if isinstance(names := block.get(key), list)), [])]
    extra, dynamic = object_in(block.get("extra_config")), object_in(block.get("dynamic"))
    # AutoRound's, by module, and GPTQModel's, by pattern
    named += [name for name, how in extra.items() if object_in(how).get("bits") == _FLOAT_BITS]
    named += [f"re:{name.removeprefix('-:')}" for name in dynamic if name.startswith("-:")]
    return tuple(name for name in named[:MOST_KEPT] if isinstance(name, str) and len(name) <= LONGEST_NAME)


def _block(size: object) -> tuple[int, int] | None:
    """Outputs and inputs that share one scale: `[128, 128]`; None where a file has none."""
    if size is None:
        return None
    if isinstance(size, str) and re.fullmatch(r"\d{1,5}x\d{1,5}", size):
        size = [whole(edge) for edge in size.split("x")]
    if not isinstance(size, list) or len(size) != 2 or not all(isinstance(edge, int) and edge > 0 for edge in size):
        raise OutOfRangeError("weight_block_size", shortened(size), "two_whole_numbers")
    return size[0], size[1]


_TORCHAO = {"float8": "fp8", "int8dynamicactivationint4": "int4", "intx": "int4", "int4": "int4", "int8": "int8"}


def _torchao(kind: object) -> WeightFormat:
    """torchao's: the name of a function, or the class and the fields of a configuration."""
    inner = object_in(kind).get("default")
    name, fields = (inner.get("_type"), inner.get("_data")) if isinstance(inner, Mapping) else (kind, None)
    plain = str(name).lower().replace("_", "")
    dtype = next((dtype for part, dtype in _TORCHAO.items() if part in plain), None)
    if dtype is None:
        raise OutOfRangeError("torchao quant_type", shortened(name), "widths", a="int4", b="int8", c="float8")
    fields = object_in(fields)
    group = {**fields, **object_in(object_in(fields.get("weight_granularity")).get("_data"))}
    return WeightFormat(dtype, _group(group.get("group_size", 128 if dtype == "int4" else None)))


def _integers(method: str, bits: object, group: object) -> WeightFormat:
    """Whole-number weights of a width; a group of -1 is a whole row."""
    dtype = _WIDTHS.get(("int", bits)) if isinstance(bits, int) else None
    if dtype is None:
        raise OutOfRangeError(f"{method} bits", shortened(bits), "two", a=4, b=8)
    return WeightFormat(dtype, _group(group))


def _bitsandbytes(block: Mapping[str, object]) -> WeightFormat:
    """NF4 or FP4 in groups of 64, or int8."""
    if block.get("load_in_4bit"):
        return WeightFormat("int4", 64)
    if block.get("load_in_8bit"):
        return WeightFormat("int8")
    raise OutOfRangeError("bitsandbytes", "", "have_either_true", a="load_in_4bit", b="load_in_8bit")


def _quark(block: Mapping[str, object]) -> WeightFormat:
    """AMD's: the weights' dtype of the configuration that holds for all layers."""
    whole = block.get("global_quant_config")
    weight = object_in(whole).get("weight")
    if not isinstance(weight, Mapping):
        raise OutOfRangeError("global_quant_config", shortened(whole), "how_kept")
    dtype = str(weight.get("dtype")).lower()
    if dtype.startswith("fp8"):
        return WeightFormat("fp8")
    if dtype == "fp4":
        return WeightFormat("mxfp4", _group(weight.get("group_size") or 32), everywhere=True)
    if dtype in ("int4", "uint4", "int8", "uint8"):
        return WeightFormat(dtype.removeprefix("u"), _group(weight.get("group_size")))
    raise OutOfRangeError("quark dtype", shortened(dtype), "four", a="fp8", b="fp4", c="int4", d="int8")


def _compressed(block: Mapping[str, object]) -> WeightFormat:
    """The first group's weights, where the groups agree."""
    groups = block.get("config_groups")
    kinds = {_compressed_group(group) for group in groups.values()} if isinstance(groups, Mapping) else set()
    if len(kinds) != 1:
        raise OutOfRangeError("config_groups", shortened(groups), "one_width")
    return kinds.pop()


def _compressed_group(group: object) -> WeightFormat:
    weights = object_in(group).get("weights")
    if not isinstance(weights, Mapping):
        raise OutOfRangeError("config_groups", shortened(group), "how_kept")
    bits, kind = weights.get("num_bits"), str(weights.get("type", "int"))
    dtype = _WIDTHS.get((kind, bits)) if isinstance(bits, int) else None
    if dtype is None:
        raise OutOfRangeError(
            "weights", f"{kind} of {shortened(bits)} bits", "four", a="int4", b="int8", c="fp8", d="nvfp4"
        )
    group = _group(weights.get("group_size"))
    if (dtype, group) == ("nvfp4", 32):
        return WeightFormat("mxfp4", group, everywhere=True)
    return WeightFormat(dtype, group, _block(weights.get("block_structure")))


def _group(size: object) -> int | None:
    """A group's inputs; None for -1 and null: one scale a row."""
    if size is None or isinstance(size, (bool, list)) or size == -1:
        return None
    if not isinstance(size, int) or not 1 <= size <= 2**16:
        raise OutOfRangeError("group_size", shortened(size), "inputs_or_minus", one=1)
    return size
