"""How an engine keeps weights: bytes an element of the layers' matrices, of experts, and of everything else.

A group of quantised weights shares a scale, and mostly a zero point: both count. Embedding, head, norms, biases and
router stay in the activations' width.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from core.errors import UnknownNameError
from core.models.quantisation import BLOCKS
from core.specs import ModelSpec
from core.text.numbers import whole

_GROUP = 128
_SCALE_AND_ZERO_BYTES = 2.5
"""A scale in 16 bits and a zero point in four."""
_WIDE_ZERO_BYTES = 4.0
"""Both in 16 bits, as gpt-fast keeps them."""


@dataclass(frozen=True)
class WeightFormat:
    """Bytes an element of the matrices in the layers, of a mixture's experts, and of everything else.

    A kernel may want an expert's inner width on a rank, and its outer width, in whole multiples.
    """

    key: str
    linear_bytes: float
    expert_bytes: float
    other_bytes: int = 2
    inner_multiple: int = 1
    outer_multiple: int = 1


_ALIKE = {
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "mxfp8": 1 + 1 / 32,
    "mxfp4-everywhere": 0.5 + 1 / 32,
    "int8": 1.0,
    "nvfp4": 0.5 + 1 / 16,
    "int4": 0.5 + 2 / _GROUP,
}
_MXFP4 = WeightFormat("mxfp4", 2.0, 0.5 + 1 / 32)

FORMATS: Mapping[str, WeightFormat] = MappingProxyType(
    {key: WeightFormat(key, width, width) for key, width in _ALIKE.items()}
    | {
        "fp32": WeightFormat("fp32", 4.0, 4.0, 4),
        "awq": WeightFormat("awq", 0.5 + _SCALE_AND_ZERO_BYTES / _GROUP, 0.5 + _SCALE_AND_ZERO_BYTES / _GROUP),
        "mxfp4": _MXFP4,
        "mxfp4-marlin": replace(_MXFP4, key="mxfp4-marlin", inner_multiple=128, outer_multiple=256),
        "mxfp4-sm100": replace(_MXFP4, key="mxfp4-sm100", inner_multiple=256, outer_multiple=256),
    }
)
"""int4 has a two-byte scale for 128 elements, awq a zero point with it, nvfp4 one byte for 16, mxfp4 one for 32. A
kernel may pad or repack what it reads: only bf16, fp16 and fp32 hold to four decimals of a log. mxfp4 experts as
Marlin and as Blackwell's kernels pad them have keys of their own.
Source: vllm/model_executor/layers/quantization/mxfp4.py, create_weights."""


@lru_cache(maxsize=256)
def weight_format(key: str, model: ModelSpec | None = None) -> WeightFormat:
    """The format under `key`; `int4-g32` for a group other than 128, `int4-g32-z16` with zero points in 16 bits.

    mxfp4 holds the experts of a `model` that has any, and all matrices of one that has none.
    Raises UnknownNameError.
    """
    grouped = re.fullmatch(r"int4-g([1-9]\d{0,3})(-z16)?", key)
    if grouped is not None:
        width = 0.5 + (_WIDE_ZERO_BYTES if grouped[2] else _SCALE_AND_ZERO_BYTES) / whole(grouped[1])
        return WeightFormat(key, width, width)
    if key not in FORMATS:
        raise UnknownNameError("weight_format", key, FORMATS)
    kind = FORMATS[key]
    return kind if model is None or model.moe is not None else replace(kind, linear_bytes=kind.expert_bytes)


def cache_width(config: Mapping[str, object]) -> str:
    """How a checkpoint asks for its keys and values to be kept: fp8 where it was calibrated for that, else bf16.

    Of modelopt and of compressed-tensors, whose word vLLM takes; SGLang takes modelopt's, TensorRT-LLM both.
    Source: vllm/utils/torch_utils.py, get_kv_cache_quant_algo_string; sglang/srt/mem_cache/kv_cache_dtype.py.
    """
    blocks = [block for name in BLOCKS if isinstance(block := config.get(name), Mapping)]
    for block in [*blocks, *(inner for one in blocks if isinstance(inner := one.get("quantization"), Mapping))]:
        scheme, algorithm = block.get("kv_cache_scheme"), block.get("kv_cache_quant_algo")
        eight = isinstance(scheme, Mapping) and (scheme.get("num_bits"), scheme.get("type")) == (8, "float")
        if eight or str(algorithm).upper() == "FP8":
            return "fp8"
    return "bf16"
