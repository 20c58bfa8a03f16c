"""What a published table calls a model, a GPU and a dtype, as our rows. Other names are refused."""

import re

from core.catalog import GPUS, link, model
from core.errors import UnknownNameError
from core.evidence.measurements import ONLY_PUBLISHED
from core.specs import GpuSpec, LinkSpec, ModelSpec

_SAME_SHAPE = {"llama-7b": "llama-2-7b", "llama-70b": "llama-2-70b", "qwq-32b": "qwen2.5-32b"}
"""Names without a version, or of a model that shares another's shape."""

_OTHER_MEMORY = r"h100.{0,3}nvl\b|h100.{0,3}96 ?gb|gh200.{0,3}144|v100.{0,9}16 ?g|v100.*pcie"
"""GPUs that share a name with a row, and have other memory."""

_DTYPES = (
    (r"nvfp4|fp4", "nvfp4"),
    (r"fp8|e4m3|e5m2", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"fp16|float16|half", "fp16"),
    (r"int8|w8a8|w8a16", "int8"),
    (r"int4|awq|gptq|w4a16", "int4-g128"),
)


def published_model(name: str) -> ModelSpec:
    """The model that a table means.

    Raises UnknownNameError.
    """
    lowered = name.strip().lower().split("/")[-1]
    if lowered in ONLY_PUBLISHED:
        return ONLY_PUBLISHED[lowered]
    return model(_SAME_SHAPE.get(lowered, name.strip()))


def published_gpu(name: str) -> tuple[GpuSpec, LinkSpec]:
    """The accelerator that a table means, and the link to its neighbours: that of its row, PCIe where it says.

    Raises UnknownNameError.
    """
    lowered = name.lower()
    fitting = [row for row in GPUS.values() if row.published_as and re.search(row.published_as, lowered)]
    if not fitting or re.search(_OTHER_MEMORY, lowered):
        raise UnknownNameError("gpu", name, GPUS)
    row = max(fitting, key=lambda row: len(row.published_as))
    return row, link(row.bus_key if "pcie" in lowered and row.nvlink else row.link_key)


def published_dtype(name: str, source: str = "") -> str:
    """The width that a table means, as core.models.weight_formats names it. gpt-fast keeps zero points in 16 bits.

    Raises UnknownNameError.
    """
    lowered = name.strip().lower()
    if lowered == "mxfp4" or re.fullmatch(r"int4-g[1-9]\d{0,3}", lowered):
        return f"{lowered}-z16" if source.startswith("gpt-fast") and lowered != "mxfp4" else lowered
    for pattern, dtype in _DTYPES:
        if re.search(pattern, lowered):
            return dtype
    raise UnknownNameError("dtype", name, (dtype for _, dtype in _DTYPES))
