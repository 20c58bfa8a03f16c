"""The catalog: models, GPUs and links as rows, each with the source of its figures."""

from collections.abc import Mapping

from core.catalog.gpus import GPUS, gpu
from core.catalog.links import LINKS, link
from core.catalog.lookup import by_key, find
from core.catalog.models_dense import LLAMA, OTHERS, QWEN2, QWEN3
from core.catalog.models_layered import LAYERED
from core.catalog.models_mixtures import MIXTURES, QWEN3_MIXTURES
from core.catalog.models_seeing import SEEING
from core.specs import ModelSpec

__all__ = ["GPUS", "LINKS", "MODELS", "gpu", "link", "model"]

MODELS: Mapping[str, ModelSpec] = by_key(
    (*LLAMA, *QWEN2, *QWEN3, *QWEN3_MIXTURES, *OTHERS, *MIXTURES, *LAYERED, *SEEING), "core/catalog/models_*.py"
)
"""Every model, under its key."""


def model(name: str) -> ModelSpec:
    """The model that `name` means: a key, a Hugging Face repository, a local path's last part.

    Raises UnknownNameError.
    """
    return find("model", MODELS, name)
