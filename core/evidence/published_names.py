"""What a published table calls a model, a GPU and a dtype, as our rows. Names that mean none of them are refused.

Four shapes stand in published tables alone, and so here and not in the catalog.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from core.catalog import gpu, link, model
from core.errors import UnknownNameError
from core.specs import GpuSpec, LinkSpec, ModelSpec


def _gpt(key: str, name: str, layers: int, heads: int, head_dim: int) -> ModelSpec:
    """A GPT-3 as FasterTransformer's guide states it: MLP of four times its width, biases, a shared embedding."""
    hidden_size = heads * head_dim
    return ModelSpec(
        key=key,
        name=name,
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=head_dim,
        intermediate_size=4 * hidden_size,
        vocab_size=51_200,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        mlp="plain",
        norm="layernorm",
        qkv_bias=True,
        o_bias=True,
        mlp_bias=True,
        learned_positions=2048,
        source="NVIDIA/FasterTransformer docs/gpt_guide.md, the heads, widths and layers over each table",
    )


_FALCON_180B = ModelSpec(
    key="falcon-180b",
    name="Falcon 180B",
    hidden_size=14_848,
    num_hidden_layers=80,
    num_attention_heads=232,
    num_key_value_heads=8,
    head_dim=64,
    intermediate_size=59_392,
    vocab_size=65_024,
    max_position_embeddings=2048,
    mlp="plain",
    norm="layernorm",
    source="tiiuae/falcon-180B config.json as remembered; its parallel block's one all-reduce is counted as two",
)

_ONLY_PUBLISHED: Mapping[str, ModelSpec] = {
    "gpt-175b": _gpt("gpt-175b", "GPT 175B", 96, 96, 128),
    "gpt-89b": _gpt("gpt-89b", "GPT 89B", 48, 96, 128),
    "megatron-530b": _gpt("megatron-530b", "Megatron 530B", 105, 128, 160),
    "falcon-180b": _FALCON_180B,
}

_SAME_SHAPE = {"llama-7b": "llama-2-7b", "llama-70b": "llama-2-70b", "qwq-32b": "qwen2.5-32b"}
"""Names without a version, or of a model that shares another's shape."""

_GPUS = (
    (r"gb200", "gb200", "nvlink-5"),
    (r"\bb200", "b200-sxm", "nvlink-5"),
    (r"h200", "h200-sxm", "nvlink-4"),
    (r"h100.*pcie", "h100-pcie", "pcie-5"),
    (r"h100", "h100-sxm", "nvlink-4"),
    (r"a100.*\b40 ?g", "a100-40gb-sxm", "nvlink-3"),
    (r"a100", "a100-80gb-sxm", "nvlink-3"),
    (r"l40s", "l40s", "pcie-4"),
    (r"\bl4\b", "l4", "pcie-4"),
    (r"a10g", "a10g", "pcie-4"),
    (r"3090", "rtx-3090", "pcie-4"),
    (r"4090", "rtx-4090", "pcie-4"),
    (r"5090", "rtx-5090", "pcie-5"),
    (r"6000.*ada", "rtx-6000-ada", "pcie-4"),
    (r"pro 6000", "rtx-pro-6000", "pcie-5"),
    (r"mi300x", "mi300x", "xgmi-mi300x"),
    (r"mi325x", "mi325x", "xgmi-mi325x"),
    (r"mi355x", "mi355x", "xgmi-mi355x"),
)
"""A pattern, the row it means, and the link inside its usual node."""

_OTHER_MEMORY = r"h100.{0,3}nvl\b|h100.{0,3}96 ?gb|gh200"
"""Cards that share a name with a row, and have other memory."""

_DTYPES = (
    (r"nvfp4|fp4", "nvfp4"),
    (r"fp8|e4m3|e5m2", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"fp16|float16|half", "fp16"),
    (r"int8|w8a8|w8a16", "int8"),
    (r"int4|awq|gptq|w4a16", "int4-g128"),
)
A100_PCIE_BYTES_PER_S = 1935e9
"""Source: NVIDIA's A100 80 GB PCIe data sheet."""


def published_model(name: str) -> ModelSpec:
    """The model that a table means.

    Raises UnknownNameError.
    """
    lowered = name.strip().lower().split("/")[-1]
    if lowered in _ONLY_PUBLISHED:
        return _ONLY_PUBLISHED[lowered]
    return model(_SAME_SHAPE.get(lowered, name.strip()))


def published_gpu(name: str) -> tuple[GpuSpec, LinkSpec]:
    """The accelerator that a table means, and the link it has to its neighbours.

    An A100 over PCIe has its own memory clock. Raises UnknownNameError.
    """
    lowered = name.lower()
    for pattern, key, wire in _GPUS:
        if re.search(pattern, lowered) and not re.search(_OTHER_MEMORY, lowered):
            row, over_pcie = gpu(key), "pcie" in lowered
            if over_pcie and key == "a100-80gb-sxm":
                row = replace(row, memory_bytes_per_s=A100_PCIE_BYTES_PER_S)
            return row, link("pcie-4" if over_pcie and row.nvlink else wire)
    raise UnknownNameError("GPU", name, (key for _, key, _ in _GPUS))


def published_dtype(name: str) -> str:
    """The width that a table means, as core.steps.model.stored_bytes names it.

    Raises UnknownNameError.
    """
    lowered = name.strip().lower()
    if lowered == "mxfp4" or re.fullmatch(r"int4-g[1-9]\d{0,3}", lowered):
        return lowered
    for pattern, dtype in _DTYPES:
        if re.search(pattern, lowered):
            return dtype
    raise UnknownNameError("dtype", name, (dtype for _, dtype in _DTYPES))
