"""What each engine calls a width, a cache and a draft, and the plans that it has no words for.

Sources: vLLM's `--kv-cache-dtype` and `--quantization`, SGLang's server arguments; TensorRT-LLM's
tensorrt_llm/llmapi/llm_args.py, and _torch/pyexecutor/model_loader.py, which takes a cache in fp8 or as the
checkpoint has it.
"""

import json
from collections.abc import Mapping

from core.errors import Remark, remark
from core.models.checkpoint import checkpoint_width
from core.placement.plan import Plan, Question
from core.placement.preflight_checks import ENGINE_NAMES, Engine, repeats_in_part
from core.specs import ModelSpec

Flags = list[tuple[str, str]]
FLOATS: Mapping[str, str] = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
"""Widths that every engine can make of a checkpoint in floats, as they are written in a flag."""
MADE: Mapping[Engine, Mapping[str, str]] = {"vllm": {"fp8": "fp8"}, "sglang": {"fp8": "fp8"}, "trtllm": {}}
"""Widths that an engine makes of floats while it loads. TensorRT-LLM reads the scales of fp8 from the checkpoint
(tensorrt_llm/_torch/modules/linear.py), so it serves those alone that have them."""
CACHES: Mapping[Engine, Mapping[str, str]] = {
    "vllm": {"fp8": "fp8", "int8": "int8_per_token_head"},
    "sglang": {"fp8": "fp8_e4m3"},
    "trtllm": {"fp8": "fp8"},
}
"""Keys and values in fewer than 16 bits."""
WHOLE_CACHE: Mapping[Engine, str] = {"vllm": "bfloat16", "sglang": "bf16"}
"""Sixteen bits, where the checkpoint asks for fewer. TensorRT-LLM has no word for it."""
_SIXTEEN = ("bf16", "fp16")
_LEAST: Mapping[str, int] = {"fp8": 89, "nvfp4": 100}
_OLDEST = 80
"""TensorRT-LLM's support matrix: nothing before Ampere, FP8 from Ada on, NVFP4 from Blackwell on."""
SGLANG_ROCM: Mapping[str, str] = {"cdna3": "mi30x", "cdna4": "mi35x"}
"""Classes of AMD's GPUs that SGLang's images are built for, and what the name of such an image ends on."""
DRAFT = '"$DRAFT"'


def is_made(question: Question, engine: Engine) -> bool:
    """Whether the engine makes a plan's width while it loads, or the checkpoint has it."""
    model, dtype = question.model, question.demand.dtype
    floats = dtype in FLOATS or dtype in MADE[engine]
    return dtype in (model.weight_dtype, checkpoint_width(model)) or (floats and model.weight_dtype in FLOATS)


def cache_word(question: Question, engine: Engine) -> str:
    """How keys and values are kept, in the engine's words; "" where it takes that from the checkpoint."""
    asked, own = question.demand.kv_dtype, question.model.cache_dtype
    if asked in CACHES[engine]:
        return CACHES[engine][asked]
    return WHOLE_CACHE.get(engine, "") if own not in _SIXTEEN else ""


def draft_flags(question: Question, engine: Engine) -> Flags:
    """Guessing ahead by a layer of the model's own, or by a draft that is still to be named."""
    tokens, own = question.demand.draft_tokens, question.model.own_draft
    if not tokens:
        return []
    if engine == "vllm":
        spec = {"method": "mtp" if own else "eagle3", "num_speculative_tokens": tokens}
        text = json.dumps(spec if own else {**spec, "model": "$DRAFT"})
        return [("speculative-config", f"'{text}'".replace("$DRAFT", "'\"$DRAFT\"'"))]
    path = [] if own else [("speculative-draft-model-path", DRAFT)]
    return [
        ("speculative-algorithm", "EAGLE" if own else "EAGLE3"),
        *path,
        ("speculative-num-steps", str(tokens)),
        ("speculative-eagle-topk", "1"),
        ("speculative-num-draft-tokens", str(tokens + 1)),
    ]


def options_draft(question: Question) -> dict[str, object]:
    """The same in TensorRT-LLM's options file."""
    tokens = question.demand.draft_tokens
    if question.model.own_draft:
        return {"decoding_type": "MTP", "num_nextn_predict_layers": tokens}
    return {"decoding_type": "Eagle", "max_draft_len": tokens, "speculative_model_dir": "$DRAFT"}


def unsaid(question: Question, plan: Plan, engine: Engine) -> tuple[Remark, ...]:
    """What of a plan an engine cannot be told: its command would be another plan, so none is written."""
    checks = (_no_stack, _too_old, _part_repeated, _no_cache)
    found = (check(question, plan, engine) for check in checks)
    return tuple(one for one in found if one is not None)


def _no_stack(question: Question, plan: Plan, engine: Engine) -> Remark | None:
    gpu = question.cluster.gpu
    unbuilt = engine == "sglang" and gpu.gpu_class not in SGLANG_ROCM
    without = gpu.stack == "rocm" and (engine == "trtllm" or unbuilt)
    return remark("placement.unsaid_gpu", engine=ENGINE_NAMES[engine], gpu=gpu) if without else None


def _too_old(question: Question, plan: Plan, engine: Engine) -> Remark | None:
    gpu, width = question.cluster.gpu, question.demand.dtype
    least = max(_OLDEST, _LEAST.get(width, 0))
    if engine != "trtllm" or gpu.capability is None or gpu.capability >= least:
        return None
    name = ENGINE_NAMES[engine]
    return remark("placement.unsaid_width", engine=name, gpu=gpu, dtype=width, least=f"{least / 10:.1f}")


def _part_repeated(question: Question, plan: Plan, engine: Engine) -> Remark | None:
    """Attention that is repeated, and cut too."""
    if not repeats_in_part(plan.layout, engine):
        return None
    return remark("placement.unsaid_attention", engine=ENGINE_NAMES[engine], layout=plan.layout)


def _no_cache(question: Question, plan: Plan, engine: Engine) -> Remark | None:
    """A width of keys and values without a word."""
    asked, model = question.demand.kv_dtype, question.model
    told = asked in CACHES[engine] or (asked in _SIXTEEN and (_as_checkpoint(model) or engine in WHOLE_CACHE))
    return None if told else remark("placement.unsaid_cache", engine=ENGINE_NAMES[engine], dtype=asked)


def _as_checkpoint(model: ModelSpec) -> bool:
    return model.cache_dtype in _SIXTEEN
