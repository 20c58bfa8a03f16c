"""A plan as an engine's command line, one engine a command: vLLM's, SGLang's and TensorRT-LLM's.

Sources: vLLM's engine arguments and its docs/serving/data_parallel_deployment.md; SGLang's server arguments;
`trtllm-serve` of TensorRT-LLM's command reference.
"""

import shlex
from collections.abc import Mapping
from dataclasses import replace

from core.errors import Remark, remark
from core.models.checkpoint import checkpoint_width
from core.models.loaded_weights import stages
from core.placement.demand import Demand
from core.placement.plan import Plan, Question
from core.placement.preflight import Refused, preflight
from core.placement.preflight_checks import Engine
from core.placement.under_load import chunk_tokens, engine_cost
from core.serving.load import EngineCost
from core.specs import ModelSpec

PASTED = "config"
"""The key of a model whose config was pasted, and that nobody named."""
_QUANTIZATION = {"fp8": "fp8", "awq": "awq"}
_FLOAT = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_FP8_CACHE = {"fp8", "int8"}
_HEAD = '"$HEAD_ADDRESS"'
_RPC_PORT, _INIT_PORT = "13345", "50000"
Flags = list[tuple[str, str]]


def serve_command(question: Question, plan: Plan, engine: Engine = "vllm") -> str:
    """The command that starts one engine of a plan; each replica runs it on GPUs of its own.

    Of an engine that spans nodes it is the first node's: `remarks` says what the others run.
    """
    served = repository(question.model)
    name = shlex.quote(served) if served else '"$MODEL"'
    written = [f"  --{flag} {value}".rstrip() for flag, value in arguments(question, plan, engine)]
    return " \\\n".join([f"{' '.join(PROGRAMS[engine])} {name}", *written])


PROGRAMS: Mapping[Engine, tuple[str, ...]] = {
    "vllm": ("vllm", "serve"),
    "sglang": ("python", "-m", "sglang.launch_server", "--model-path"),
    "trtllm": ("trtllm-serve",),
}
"""What starts each engine, the model behind it."""


def arguments(question: Question, plan: Plan, engine: Engine = "vllm") -> Flags:
    """The flags of one engine of a plan and their values, as the engine writes them; `""` for a switch."""
    if engine == "sglang":
        return _sglang(question, plan)
    if engine == "trtllm":
        return [(name.replace("-", "_"), value) for name, value in _trtllm(question, plan)]
    return _vllm(question, plan)


def refusals(question: Question, plan: Plan, engine: Engine = "vllm") -> tuple[Refused, ...]:
    """What an engine would say against a plan's command; none where it starts to load."""
    cluster = question.cluster
    return preflight(question.model, plan.layout, as_emitted(question), engine, cluster.gpu, cluster.gpus_per_node)


def _vllm(question: Question, plan: Plan) -> Flags:
    layout, cluster = plan.layout, question.cluster
    flags = [("tensor-parallel-size", str(layout.tp_size)), *_over_one("pipeline-parallel-size", layout.pp_size)]
    engine_gpus = layout.tp_size * layout.pp_size
    flags += _over_one("decode-context-parallel-size", layout.dcp_size)
    if layout.dp_size > 1:
        flags += [("data-parallel-size", str(layout.dp_size)), ("enable-expert-parallel", "")]
    if engine_gpus > cluster.gpus_per_node:
        flags.append(("distributed-executor-backend", "ray"))
        flags += [("data-parallel-backend", "ray")] if layout.dp_size > 1 else []
    elif layout.gpus_per_replica > cluster.gpus_per_node:
        local = cluster.gpus_per_node // engine_gpus
        flags += [("data-parallel-size-local", str(local)), ("data-parallel-address", _HEAD)]
        flags.append(("data-parallel-rpc-port", _RPC_PORT))
    flags.append(("gpu-memory-utilization", f"{question.budget.utilisation:g}"))
    flags.append(("max-model-len", str(context_tokens(question))))
    flags += _at_once("max-num-seqs", question, plan)
    flags += [("max-num-batched-tokens", str(tokens)) for tokens in _a_step(question, plan, layout.dp_size)]
    flags += _cache(question, "fp8", "bfloat16")
    return [*flags, *_widths(question), *_trusting(question.model)]


def _sglang(question: Question, plan: Plan) -> Flags:
    """Its `tp-size` counts all ranks of a stage, over which attention may be data-parallel."""
    layout, cluster = plan.layout, question.cluster
    flags = [("tp-size", str(layout.tp_size * layout.dp_size)), *_over_one("pp-size", layout.pp_size)]
    flags += _over_one("dcp-size", layout.dcp_size)
    if layout.dp_size > 1:
        flags += [("dp-size", str(layout.dp_size)), ("enable-dp-attention", ""), ("ep-size", str(layout.ep_size))]
    nodes = -(-layout.gpus_per_replica // cluster.gpus_per_node)
    if nodes > 1:
        flags += [("nnodes", str(nodes)), ("node-rank", "0"), ("dist-init-addr", f"{_HEAD}:{_INIT_PORT}")]
    flags.append(("mem-fraction-static", f"{_static_fraction(question):.2f}"))
    flags.append(("context-length", str(context_tokens(question))))
    flags += _at_once("max-running-requests", question, plan, layout.dp_size)
    flags += [("chunked-prefill-size", str(tokens)) for tokens in _a_step(question, plan)]
    flags += _cache(question, "fp8_e4m3", "bf16")
    return [*flags, *_widths(question), *_trusting(question.model)]


def _trtllm(question: Question, plan: Plan) -> Flags:
    """Attention that is data-parallel is a line of its options file: see `remarks`."""
    layout = plan.layout
    flags = [("tp-size", str(layout.tp_size * layout.dp_size)), *_over_one("pp-size", layout.pp_size)]
    flags += _over_one("ep-size", layout.ep_size)
    flags.append(("kv-cache-free-gpu-memory-fraction", f"{question.budget.utilisation:g}"))
    flags.append(("max-seq-len", str(context_tokens(question))))
    flags += _at_once("max-batch-size", question, plan)
    flags += [("max-num-tokens", str(tokens)) for tokens in _a_step(question, plan, layout.dp_size)]
    return [*flags, *_trusting(question.model)]


def as_emitted(question: Question) -> Demand:
    """What a command asks for: sequences no longer than the model's own context."""
    demand = question.demand
    output = max(1, context_tokens(question) - demand.prompt_tokens)
    prompt = min(demand.prompt_tokens, context_tokens(question) - 1)
    return replace(demand, prompt_tokens=max(1, prompt), output_tokens=output)


def context_tokens(question: Question) -> int:
    """What a sequence may grow to: as long as is asked, and no longer than the model's own context."""
    return min(question.demand.sequence_tokens, question.model.max_position_embeddings)


def _static_fraction(question: Question) -> float:
    """SGLang's share of memory for weights and cache: the budget without what a rank holds besides."""
    budget = question.budget
    return max(0.1, (budget.granted_bytes - budget.overhead.total_bytes) / budget.usable_bytes)


def _over_one(name: str, size: int) -> Flags:
    return [(name, str(size))] if size > 1 else []


def _at_once(name: str, question: Question, plan: Plan, copies: int = 1) -> Flags:
    """How many sequences may run at once; left to the engine where only one was asked for, and no rate."""
    here = -(-question.demand.concurrency // plan.layout.attention_copies)
    cost = _judged(question, plan)
    if cost is not None:
        here = cost.most_running // plan.layout.dp_size
    return [(name, str(here * copies))] if cost is not None or question.demand.concurrency > 1 else []


def _a_step(question: Question, plan: Plan, counted: int | None = None) -> list[int]:
    """How much of prompts a step may read, where a rate was judged with less than the engine would take.

    An engine that has its `counted` copies of attention count for themselves counts a token of each sequence too.
    """
    cost = _judged(question, plan)
    chunk = question.cluster.gpu.vllm_batched_tokens if cost is None else chunk_tokens(question, cost)
    if cost is None or chunk == question.cluster.gpu.vllm_batched_tokens:
        return []
    return [chunk if counted is None else (chunk + cost.most_running) // counted]


def _judged(question: Question, plan: Plan) -> EngineCost | None:
    """The engine that a plan was judged as at a rate; None where none was asked, or nothing fits."""
    asked = question.demand.requests_per_s is not None and plan.max_concurrency >= plan.layout.replicas
    return engine_cost(question, plan) if asked else None


def _cache(question: Question, narrow: str, whole: str) -> Flags:
    """How keys and values are kept, where an engine would not take it from every checkpoint, or take another."""
    if question.demand.kv_dtype in _FP8_CACHE:
        return [("kv-cache-dtype", narrow)]
    return [("kv-cache-dtype", whole)] if question.model.cache_dtype in _FP8_CACHE else []


def _trusting(model: ModelSpec) -> Flags:
    return [("trust-remote-code", "")] if model.remote_code else []


def _widths(question: Question) -> Flags:
    """The width, where the engine would not take it from the checkpoint."""
    model, dtype = question.model, question.demand.dtype
    if dtype in _FLOAT and model.weight_dtype in _FLOAT:
        return [("dtype", _FLOAT[dtype])]
    return [("quantization", _QUANTIZATION[dtype])] if _made_at_start(model, dtype) else []


def _made_at_start(model: ModelSpec, dtype: str) -> bool:
    """Whether an engine makes a width while it loads: a float, or fp8, from a checkpoint that is not quantised."""
    return dtype in ("fp8", *_FLOAT) and model.weight_dtype in _FLOAT


def remarks(question: Question, plan: Plan) -> list[Remark]:
    """What the command alone does not say: replicas, other nodes, uneven stages, a checkpoint of another width."""
    layout, model, dtype = plan.layout, question.model, question.demand.dtype
    notes = []
    if not repository(model):
        notes.append(remark("placement.run_unnamed"))
    if layout.replicas > 1:
        notes.append(remark("placement.run_replicas", layout=layout))
    notes += other_nodes(question, plan, question.engine)
    if layout.dp_size > 1:
        notes.append(remark("placement.run_attention_flag"))
    if question.engine == "trtllm" and question.demand.kv_dtype in _FP8_CACHE - {model.cache_dtype}:
        notes.append(remark("placement.run_trtllm_cache", dtype="fp8"))
    if question.demand.draft_tokens:
        notes.append(remark("placement.run_draft", demand=question.demand))
    layers = [stage.layers for stage in stages(model, layout.pp_size)] if plan.splits else []
    if len(set(layers)) > 1:
        notes.append(remark("placement.run_uneven", layers=tuple(layers)))
    if dtype != checkpoint_width(model) and not _made_at_start(model, dtype):
        notes.append(remark("placement.run_quantised", dtype=dtype))
    if question.demand.sequence_tokens > model.max_position_embeddings:
        notes.append(remark("placement.run_too_long", demand=question.demand, model=model))
    return notes


def other_nodes(question: Question, plan: Plan, engine: Engine) -> list[Remark]:
    """What other nodes of an engine run: vLLM's join a Ray cluster, SGLang's have a rank, MPI starts its."""
    layout, per_node = plan.layout, question.cluster.gpus_per_node
    if layout.gpus_per_replica <= per_node:
        return []
    if engine != "vllm":
        return [remark(f"placement.run_{engine}_nodes", gpus=layout.gpus_per_replica)]
    engine_gpus = layout.tp_size * layout.pp_size
    if engine_gpus > per_node:
        return [remark("placement.run_ray", nodes=-(-layout.gpus_per_replica // per_node))]
    return [remark("placement.run_headless", local=per_node // engine_gpus)]


def repository(model: ModelSpec) -> str:
    """What is served: the first name that is a repository or a path, else the key; none of a pasted config."""
    if model.key == PASTED and not model.aliases:
        return ""
    return next((alias for alias in model.aliases if "/" in alias), next(iter(model.aliases), model.key))
