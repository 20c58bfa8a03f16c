"""A plan as an engine's command line, one engine a command: vLLM's, SGLang's and TensorRT-LLM's.

A command is the plan that was made: what an engine has no flag for is written into its options file, and a plan
that it cannot be told (core.placement.engine_words) has no command.

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
from core.placement.engine_words import FLOATS, MADE, Flags, cache_word, draft_flags, is_made, options_draft
from core.placement.plan import Plan, Question
from core.placement.preflight import Refused, preflight
from core.placement.preflight_checks import ENGINE_NAMES, Engine
from core.placement.under_load import chunk_tokens, engine_cost
from core.serving.load import EngineCost
from core.specs import ModelSpec

PASTED = "config"
"""The key of a model whose config was pasted, and that nobody named."""
_HEAD = '"$HEAD_ADDRESS"'
_RPC_PORT, _INIT_PORT = "13345", "50000"
OPTIONS = "options.yaml"
"""The file that TensorRT-LLM reads what it has no flag for from."""
_LARGEST_STEP = 8192
"""Tokens a step of TensorRT-LLM's server that was not told otherwise."""


def serve_command(question: Question, plan: Plan, engine: Engine = "vllm") -> str:
    """The command that starts one engine of a plan; each replica runs it on GPUs of its own.

    Of an engine that spans nodes it is the first node's: `remarks` says what the others run.
    """
    return options_file(question, plan, engine) + " \\\n  ".join(shell_words(question, plan, engine))


def shell_words(question: Question, plan: Plan, engine: Engine = "vllm") -> list[str]:
    """The command in parts as a shell reads them: the program with what it serves, then a flag with its value."""
    name = shlex.quote(served) if (served := served_name(question, engine)) else '"$MODEL"'
    flags = [f"--{flag} {value}".rstrip() for flag, value in arguments(question, plan, engine)]
    return [f"{' '.join(PROGRAMS[engine])} {name}", *flags]


def options_file(question: Question, plan: Plan, engine: Engine = "vllm") -> str:
    """The lines of a shell that write the options file of a command; "" where it needs none."""
    told = options(question, plan) if engine == "trtllm" else {}
    return f"cat > {OPTIONS} <<EOF\n{''.join(_yaml(told))}EOF\n" if told else ""


def _yaml(told: Mapping[str, object], indent: str = "") -> list[str]:
    lines = []
    for name, value in told.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:\n", *_yaml(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{name}: {str(value).lower() if isinstance(value, bool) else value}\n")
    return lines


def served_name(question: Question, engine: Engine) -> str:
    """What an engine is told to serve; "" where that is still to be named: a checkpoint of the width planned."""
    return repository(question.model) if is_made(question, engine) else ""


PROGRAMS: Mapping[Engine, tuple[str, ...]] = {
    "vllm": ("vllm", "serve"),
    "sglang": ("sglang", "serve", "--model-path"),
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
    flags += [("kv-cache-dtype", word)] if (word := cache_word(question, "vllm")) else []
    return [*flags, *_widths(question, "vllm"), *draft_flags(question, "vllm"), *_trusting(question.model)]


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
    flags.append(("mem-fraction-static", _rounded_down(_static_fraction(question))))
    flags.append(("context-length", str(context_tokens(question))))
    flags += _at_once("max-running-requests", question, plan, layout.dp_size)
    flags += [("chunked-prefill-size", str(tokens)) for tokens in _a_step(question, plan)]
    flags += [("kv-cache-dtype", word)] if (word := cache_word(question, "sglang")) else []
    return [*flags, *_widths(question, "sglang"), *draft_flags(question, "sglang"), *_trusting(question.model)]


def _trtllm(question: Question, plan: Plan) -> Flags:
    """What it has flags for; see `options` for the rest."""
    layout = plan.layout
    flags = [("tp-size", str(layout.tp_size * layout.dp_size)), *_over_one("pp-size", layout.pp_size)]
    flags += _over_one("ep-size", layout.ep_size)
    flags.append(("kv-cache-free-gpu-memory-fraction", _rounded_down(free_fraction(question, plan))))
    flags.append(("max-seq-len", str(context_tokens(question))))
    flags += _at_once("max-batch-size", question, plan)
    flags += [("max-num-tokens", str(tokens)) for tokens in _a_step(question, plan, layout.dp_size)]
    flags += [("extra-llm-api-options", OPTIONS)] if options(question, plan) else []
    return [*flags, *_trusting(question.model)]


def options(question: Question, plan: Plan) -> dict[str, object]:
    """What TensorRT-LLM is told in a file of options, which overrides its flags: nested, so the cache's share too.

    Source: tensorrt_llm/commands/serve.py, `--extra_llm_api_options`; fields of tensorrt_llm/llmapi/llm_args.py.
    """
    demand, told = question.demand, dict[str, object]()
    if demand.dtype in FLOATS and demand.dtype != question.model.weight_dtype:
        told["dtype"] = FLOATS[demand.dtype]
    if plan.layout.dp_size > 1:
        told["enable_attention_dp"] = True
    step = next(iter(_a_step(question, plan, plan.layout.dp_size)), _LARGEST_STEP)
    if as_emitted(question).prompt_tokens > step:
        told["enable_chunked_prefill"] = True
    if word := cache_word(question, "trtllm"):
        fraction = _rounded_down(free_fraction(question, plan))
        told["kv_cache_config"] = {"dtype": word, "free_gpu_memory_fraction": fraction}
    if demand.draft_tokens:
        told["speculative_config"] = options_draft(question)
    return told


def free_fraction(question: Question, plan: Plan) -> float:
    """The share of what weights and overhead leave of a GPU that keeps its use within the plan's.

        (utilisation · U - W - O) / (U - W - O)

    Of the rank with most weights: others keep a little more free. TensorRT-LLM takes its share of what is free at
    the peak of a trial run, weights loaded: tensorrt_llm/_torch/pyexecutor/_util.py, _cal_max_memory.
    """
    budget = question.budget
    held = (plan.weights_bytes or 0.0) + budget.overhead.total_bytes
    free = budget.usable_bytes - held
    return max(0.0, (budget.granted_bytes - held) / free) if free > 0 else 0.0


def _rounded_down(fraction: float) -> str:
    """Four decimals that never say more: a share of memory is a promise."""
    return f"{int(fraction * 1e4 + 1e-6) / 1e4:g}"


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


def _trusting(model: ModelSpec) -> Flags:
    return [("trust-remote-code", "")] if model.remote_code else []


def _widths(question: Question, engine: Engine) -> Flags:
    """The width, where the engine would not take it from the checkpoint."""
    model, dtype = question.model, question.demand.dtype
    if model.weight_dtype not in FLOATS:
        return []
    if dtype in FLOATS:
        return [("dtype", FLOATS[dtype])]
    return [("quantization", MADE[engine][dtype])] if dtype in MADE[engine] else []


def remarks(question: Question, plan: Plan, engine: Engine | None = None) -> list[Remark]:
    """What a command alone does not say: replicas, other nodes, uneven stages, a checkpoint that is to be named.

    Of the question's engine, unless another is named.
    """
    engine = engine or question.engine
    layout, model, dtype = plan.layout, question.model, question.demand.dtype
    notes = []
    if not is_made(question, engine):
        own = checkpoint_width(model)
        notes.append(
            remark("placement.run_quantised", dtype=dtype, model=model, own=own, engine=ENGINE_NAMES[engine])
        )
    elif not repository(model):
        notes.append(remark("placement.run_unnamed"))
    if layout.replicas > 1:
        notes.append(remark("placement.run_replicas", layout=layout))
    notes += other_nodes(question, plan, engine)
    if layout.dp_size > 1 and engine == "sglang":
        notes.append(remark("placement.run_attention_flag"))
    if question.demand.draft_tokens and not model.own_draft:
        notes.append(remark("placement.run_draft", demand=question.demand))
    layers = [stage.layers for stage in stages(model, layout.pp_size)] if plan.splits else []
    if len(set(layers)) > 1:
        notes.append(remark("placement.run_uneven", layers=tuple(layers)))
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
