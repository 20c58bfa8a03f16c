"""Language models that see, with the towers that they come with: Qwen3-VL, a row a size.

The columns are `row`'s (core.catalog.model_rows); `vision_parameters` are of the tower, as its config counts them.
"""

from functools import partial

from core.catalog.model_rows import qwen3
from core.specs import MoeSpec

_seeing = partial(qwen3, head_dim=128, vision_tower=True)
_AIC = "config.json kept in ai-dynamo/aiconfigurator model_configs, seen 2026-11-28"

# fmt: off
SEEING = (
    _seeing("qwen3-vl-2b", "Qwen3-VL 2B", 28, 2048, 16, 8, 6144, 151936, 262144,
            "Qwen/Qwen3-VL-2B-Instruct Qwen/Qwen3-VL-2B-Thinking", _AIC,
            tie_word_embeddings=True, vision_parameters=406957056),
    _seeing("qwen3-vl-4b", "Qwen3-VL 4B", 36, 2560, 32, 8, 9728, 151936, 262144,
            "Qwen/Qwen3-VL-4B-Instruct Qwen/Qwen3-VL-4B-Thinking", _AIC,
            tie_word_embeddings=True, vision_parameters=415347712),
    _seeing("qwen3-vl-8b", "Qwen3-VL 8B", 36, 4096, 32, 8, 12288, 151936, 262144,
            "Qwen/Qwen3-VL-8B-Instruct Qwen/Qwen3-VL-8B-Thinking", _AIC, vision_parameters=576388336),
    _seeing("qwen3-vl-32b", "Qwen3-VL 32B", 64, 5120, 64, 8, 25600, 151936, 262144,
            "Qwen/Qwen3-VL-32B-Instruct Qwen/Qwen3-VL-32B-Thinking", _AIC, vision_parameters=595266800),
    _seeing("qwen3-vl-30b-a3b", "Qwen3-VL 30B-A3B", 48, 2048, 32, 4, 6144, 151936, 262144,
            "Qwen/Qwen3-VL-30B-A3B-Instruct Qwen/Qwen3-VL-30B-A3B-Thinking", _AIC,
            moe=MoeSpec(128, 8, 768), vision_parameters=538631408),
    _seeing("qwen3-vl-235b-a22b", "Qwen3-VL 235B-A22B", 94, 4096, 64, 4, 12288, 151936, 262144,
            "Qwen/Qwen3-VL-235B-A22B-Instruct Qwen/Qwen3-VL-235B-A22B-Thinking", _AIC,
            moe=MoeSpec(128, 8, 1536), vision_parameters=576388336),
)
# fmt: on
"""Qwen3 behind a vision tower."""
