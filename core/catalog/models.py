"""Decoder-only transformers by the shapes in their published config.json."""

from collections.abc import Mapping

from core.catalog.dense import DENSE
from core.catalog.llama import LLAMA
from core.catalog.lookup import by_key, find
from core.catalog.mixtures import MIXTURES
from core.catalog.qwen2 import QWEN2
from core.catalog.qwen3 import QWEN3
from core.specs import ModelSpec

MODELS: Mapping[str, ModelSpec] = by_key((*LLAMA, *QWEN2, *QWEN3, *DENSE, *MIXTURES))
"""Every model, under its key."""


def model(name: str) -> ModelSpec:
    """The model that `name` means: a key, a Hugging Face repository, a local path's last part.

    Raises UnknownNameError.
    """
    return find("model", MODELS, name)
