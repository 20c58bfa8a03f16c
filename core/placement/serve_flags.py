"""A plan as the command line of `vllm serve`, one engine a line.

Source: vLLM's engine arguments (docs.vllm.ai, engine args).
"""

import shlex

from core.models.loaded_weights import stages
from core.placement.planner import Plan, Question
from core.remark import Remark, remark
from core.specs import ModelSpec

PASTED = "config"
"""The key of a model whose config was pasted, and that nobody named."""
_QUANTIZATION = {"fp8": "fp8", "awq": "awq"}
_FLOAT = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_FP8_CACHE = {"fp8", "int8"}


def serve_command(question: Question, plan: Plan) -> str:
    """The command that starts one engine of a plan; each replica runs it on GPUs of its own."""
    layout, demand, cluster = plan.layout, question.demand, question.cluster
    flags = [("tensor-parallel-size", str(layout.tp_size))]
    if layout.pp_size > 1:
        flags.append(("pipeline-parallel-size", str(layout.pp_size)))
    if layout.dp_size > 1:
        flags += [("data-parallel-size", str(layout.dp_size)), ("enable-expert-parallel", "")]
    if layout.gpus_per_replica > cluster.gpus_per_node:
        flags.append(("distributed-executor-backend", "ray"))
    flags.append(("gpu-memory-utilization", f"{question.budget.utilisation:g}"))
    flags.append(("max-model-len", str(demand.sequence_tokens)))
    flags.append(("max-num-seqs", str(max(1, -(-demand.concurrency // layout.attention_copies)))))
    flags += _widths(question.model, demand.dtype, demand.kv_dtype)
    lines = [f"vllm serve {shlex.quote(repository(question.model))}"]
    lines += [f"  --{name} {value}".rstrip() for name, value in flags]
    return " \\\n".join(lines)


def _widths(model: ModelSpec, dtype: str, kv_dtype: str) -> list[tuple[str, str]]:
    """The widths, where the engine would not take them from the checkpoint."""
    flags = []
    if dtype in _FLOAT:
        flags.append(("dtype", _FLOAT[dtype]))
    elif dtype != model.weight_dtype and dtype in _QUANTIZATION:
        flags.append(("quantization", _QUANTIZATION[dtype]))
    if kv_dtype in _FP8_CACHE:
        flags.append(("kv-cache-dtype", "fp8"))
    return flags


def remarks(question: Question, plan: Plan) -> list[Remark]:
    """What the command alone does not say: replicas, uneven stages, a checkpoint of another width."""
    layout, model, dtype = plan.layout, question.model, question.demand.dtype
    notes = []
    if layout.replicas > 1:
        notes.append(remark("placement.run_replicas", layout=layout))
    layers = [stage.layers for stage in stages(model, layout.pp_size)] if plan.splits else []
    if len(set(layers)) > 1:
        notes.append(remark("placement.run_uneven", layers=tuple(layers)))
    if dtype not in (*_FLOAT, *_QUANTIZATION, model.weight_dtype):
        notes.append(remark("placement.run_quantised", dtype=dtype))
    return notes


def repository(model: ModelSpec) -> str:
    """What is served: the first name that is a repository or a path, else the key; none of a pasted config."""
    if model.key == PASTED and not model.aliases:
        return ""
    return next((alias for alias in model.aliases if "/" in alias), next(iter(model.aliases), model.key))
