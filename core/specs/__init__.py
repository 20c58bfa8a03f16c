"""The nouns of every lab: a model, its layers, a GPU, a link. Frozen and validated; rows live in core.catalog."""

from core.specs.hardware import GPUS_PER_NODE, GpuSpec, LinkFamily, LinkSpec, Rings, Stack
from core.specs.layers import (
    AttentionSpec,
    Block,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LayerSpec,
    LightningSpec,
    MambaSpec,
    Mixer,
    MlaSpec,
    MlpSpec,
    MoeSpec,
    SelectiveSpec,
    StateSpec,
)
from core.specs.model import DTYPE_BYTES, ModelSpec

__all__ = [
    "DTYPE_BYTES", "GPUS_PER_NODE", "AttentionSpec", "Block", "CompressedSpec", "ConvSpec", "DeltaSpec", "GpuSpec",
    "LayerSpec", "LightningSpec", "LinkFamily", "LinkSpec", "MambaSpec", "Mixer", "MlaSpec", "MlpSpec",
    "ModelSpec", "MoeSpec", "Rings", "SelectiveSpec", "Stack", "StateSpec",
]  # fmt: skip
