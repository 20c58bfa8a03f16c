"""The catalog: models, GPUs and links as rows, each with the source of its figures."""

from core.catalog.gpus import GPUS, gpu
from core.catalog.links import LINKS, link
from core.catalog.models import MODELS, model

__all__ = ["GPUS", "LINKS", "MODELS", "gpu", "link", "model"]
