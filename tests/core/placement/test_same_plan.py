"""A command is the plan that was made: each engine's is read back, by its own documentation, into what was planned.

The reader is written apart from what writes: vLLM's engine arguments, SGLang's server arguments, and of
TensorRT-LLM tensorrt_llm/commands/serve.py, whose options file overrides its flags.
"""

import json
import re
import shlex
from dataclasses import dataclass, replace

import pytest

from core.catalog import GPUS, gpu, model
from core.models.checkpoint import named_checkpoint
from core.placement.asked import Machine, question_of, usual_width
from core.placement.demand import Demand
from core.placement.engine_words import unsaid
from core.placement.layout import Layout
from core.placement.manifests import IMAGES, ROCM_IMAGE, ROCM_SGLANG, compose, kubernetes
from core.placement.plan import Plan, Question, judge
from core.placement.preflight_checks import ENGINES, Engine
from core.placement.rank_memory import Overhead
from core.placement.serve_flags import refusals, remarks, serve_command
from core.units import GB
from runtime.prose import worded
from tests.each import each
from tests.yaml_here import read


@dataclass(frozen=True)
class Started:
    """What a command starts, as far as a plan says it. `width` is None where the checkpoint says it."""

    program: str
    served: str
    layout: Layout
    width: str | None
    cache: str | None
    context: int
    share: float
    draft: int


SWITCHES = {"enable-expert-parallel", "enable-dp-attention", "trust-remote-code"}


def read_command(text: str, engine: Engine) -> Started:
    options, command = read_options(text)
    words = shlex.split(command.replace("\\\n", " "))
    programs = {
        "vllm": ["vllm", "serve"],
        "sglang": ["sglang", "serve", "--model-path"],
        "trtllm": ["trtllm-serve"],
    }
    program = programs[engine]
    assert words[: len(program)] == program
    served, rest = words[len(program)], words[len(program) + 1 :]
    flags = {}
    while rest:
        name = rest.pop(0).removeprefix("--").replace("_", "-")
        assert name not in flags
        flags[name] = "" if name in SWITCHES else rest.pop(0)
    if options:
        assert flags.pop("extra-llm-api-options") == "options.yaml"
    reader = {"vllm": of_vllm, "sglang": of_sglang, "trtllm": of_trtllm}[engine]
    return Started(" ".join(program), served, *reader(flags, options))


def read_options(text: str) -> tuple[dict, str]:
    """The file that a shell writes first, and the command after it."""
    heredoc = re.match(r"cat > options.yaml <<EOF\n(.*?)EOF\n", text, re.DOTALL)
    if heredoc is None:
        return {}, text
    (options,) = read(heredoc[1])
    return options, text[heredoc.end() :]


def of_vllm(flags: dict, options: dict) -> tuple:
    layout = Layout(
        int(flags["tensor-parallel-size"]),
        int(flags.get("pipeline-parallel-size", 1)),
        1,
        int(flags.get("data-parallel-size", 1)),
        int(flags.get("decode-context-parallel-size", 1)),
    )
    assert ("enable-expert-parallel" in flags) == (layout.dp_size > 1)
    draft = json.loads(flags.get("speculative-config", "{}")).get("num_speculative_tokens", 0)
    share = float(flags["gpu-memory-utilization"])
    width = flags.get("quantization") or flags.get("dtype")
    return layout, width, flags.get("kv-cache-dtype"), int(flags["max-model-len"]), share, draft


def of_sglang(flags: dict, options: dict) -> tuple:
    ranks, copies = int(flags["tp-size"]), int(flags.get("dp-size", 1))
    assert ("enable-dp-attention" in flags) == (copies > 1)
    layout = Layout(ranks // copies, int(flags.get("pp-size", 1)), 1, copies, int(flags.get("dcp-size", 1)))
    assert int(flags.get("ep-size", 1)) == layout.ep_size
    drafted = int(flags.get("speculative-num-draft-tokens", 1)) - 1
    assert drafted == int(flags.get("speculative-num-steps", 0))
    width = flags.get("quantization") or flags.get("dtype")
    share = float(flags["mem-fraction-static"])
    return layout, width, flags.get("kv-cache-dtype"), int(flags["context-length"]), share, drafted


def of_trtllm(flags: dict, options: dict) -> tuple:
    """With attention DP every rank has all of attention; the file overrides the flags."""
    ranks, repeated = int(flags["tp-size"]), options.get("enable_attention_dp", False)
    layout = Layout(1 if repeated else ranks, int(flags.get("pp-size", 1)), 1, ranks if repeated else 1)
    assert int(flags.get("ep-size", 1)) == layout.ep_size
    cache = options.get("kv_cache_config", {})
    flag = float(flags["kv-cache-free-gpu-memory-fraction"])
    share = float(cache.get("free_gpu_memory_fraction", flag))
    assert share == flag
    draft = options.get("speculative_config", {})
    drafted = draft.get("num_nextn_predict_layers", draft.get("max_draft_len", 0))
    return layout, options.get("dtype"), cache.get("dtype"), int(flags["max-seq-len"]), share, drafted


def planned(
    name: str,
    gpu_key: str,
    layout: Layout,
    utilisation: float = 0.9,
    gpus: int = 8,
    nodes: int = 1,
    **asked: object,
) -> tuple[Question, Plan]:
    spec = named_checkpoint(name)
    demand = Demand(**{"dtype": usual_width(spec, gpu(gpu_key)), **asked})
    question = question_of(spec, Machine(gpu(gpu_key), gpus, nodes, utilisation=utilisation), demand)
    return question, judge(question, layout)


DENSE, MIXED = "llama-3.1-70b", "deepseek-v3"
KINDS = {
    "tp": (DENSE, "h100-sxm", Layout(4, 1, 2), {}),
    "pp": (DENSE, "h100-sxm", Layout(4, 2), {}),
    "two nodes": ("llama-3.1-405b", "h200-sxm", Layout(8, 2), {"nodes": 2}),
    "experts cut": (MIXED, "h200-sxm", Layout(8), {"concurrency": 4}),
    "attention repeated": (MIXED, "h200-sxm", Layout(1, 1, 1, 8), {"concurrency": 64}),
    "attention repeated and cut": (MIXED, "h200-sxm", Layout(2, 1, 1, 4), {"concurrency": 64}),
    "attention repeated over nodes": (MIXED, "h200-sxm", Layout(1, 1, 1, 16), {"concurrency": 64, "nodes": 2}),
    "cache shared out": (MIXED, "h200-sxm", Layout(8, 1, 1, 1, 8), {"concurrency": 64}),
    "fp8 made at start": (DENSE, "h200-sxm", Layout(1, 1, 8), {"dtype": "fp8"}),
    "fp8 of a checkpoint": ("nvidia/Llama-3.1-70B-Instruct-FP8", "h200-sxm", Layout(2), {"kv_dtype": "fp8"}),
    "its cache in 16 bits": ("nvidia/Llama-3.1-70B-Instruct-FP8", "h200-sxm", Layout(2), {}),
    "int4 of nobody": (DENSE, "h100-sxm", Layout(1), {"dtype": "int4"}),
    "int4 of a checkpoint": ("Qwen/Qwen3-32B-AWQ", "h100-sxm", Layout(1), {}),
    "fp16": ("llama-3-8b", "h100-sxm", Layout(1), {"dtype": "fp16"}),
    "bf16 of an fp8 checkpoint": (MIXED, "b300-sxm", Layout(8), {"dtype": "bf16"}),
    "fp8 cache": (DENSE, "h100-sxm", Layout(4), {"kv_dtype": "fp8"}),
    "int8 cache": (DENSE, "h100-sxm", Layout(4), {"kv_dtype": "int8"}),
    "int4 cache": (DENSE, "h100-sxm", Layout(4), {"kv_dtype": "int4"}),
    "more memory": (DENSE, "h100-sxm", Layout(4), {"utilisation": 0.95}),
    "less memory": (DENSE, "h100-sxm", Layout(8), {"utilisation": 0.6}),
    "long prompts": (DENSE, "h100-sxm", Layout(8), {"prompt_tokens": 29_000, "output_tokens": 1000}),
    "own draft": (MIXED, "h200-sxm", Layout(8), {"draft_tokens": 3}),
    "a draft to be named": (DENSE, "h100-sxm", Layout(4), {"draft_tokens": 2}),
    "AMD": (DENSE, "mi300x", Layout(2), {}),
    "AMD of before": ("llama-3.1-8b", "mi250x", Layout(2), {}),
    "no bf16": ("llama-3.1-8b", "t4", Layout(4), {}),
}
FLOATS = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
CACHES = {
    "vllm": {"fp8": "fp8", "int8": "int8_per_token_head"},
    "sglang": {"fp8": "fp8_e4m3"},
    "trtllm": {"fp8": "fp8"},
}
STOPPED = {
    ("attention repeated and cut", "trtllm"),
    ("its cache in 16 bits", "trtllm"),
    ("cache shared out", "trtllm"),
    ("int8 cache", "sglang"), ("int8 cache", "trtllm"),
    *(("int4 cache", engine) for engine in ENGINES),
    ("AMD", "trtllm"), ("AMD of before", "trtllm"), ("AMD of before", "sglang"),
    ("no bf16", "trtllm"),
}  # fmt: skip
"""What an engine cannot be told, or would refuse; every other plan has a command of every engine."""


@each("engine", ENGINES)
@each("kind", KINDS)
def test_a_command_is_the_plan_that_was_made_or_there_is_none(kind, engine):
    name, gpu_key, layout, asked = KINDS[kind]
    question, plan = planned(name, gpu_key, layout, **asked)
    stopped = bool(unsaid(question, plan, engine) or refusals(question, plan, engine))
    assert stopped == ((kind, engine) in STOPPED)
    if stopped:
        return
    started, demand = read_command(serve_command(question, plan, engine), engine), question.demand
    assert started.layout == replace(layout, replicas=1)
    assert (started.context, started.draft) == (demand.sequence_tokens, demand.draft_tokens)
    whole = {None, "bf16", "bfloat16"} if demand.kv_dtype == "bf16" else set()
    assert started.cache in {CACHES[engine].get(demand.kv_dtype), *whole} - ({None} if not whole else set())
    said = " ".join(worded(one) for one in remarks(question, plan, engine))
    own = question.model.weight_dtype
    if started.served == "$MODEL":
        assert demand.dtype in said
        assert demand.dtype != own
    else:
        made = {**FLOATS, **({} if engine == "trtllm" else {"fp8": "fp8"})}
        assert started.width == made.get(demand.dtype) or demand.dtype.startswith(own)
    assert ("DRAFT" in said) == ("$DRAFT" in serve_command(question, plan, engine))


@each("kind", ["tp", "pp", "fp8 of a checkpoint", "attention repeated", "more memory", "less memory", "two nodes"])
def test_every_engine_is_given_the_memory_that_was_planned(kind):
    """One GPU's worth, in each engine's own share: of all, of all for weights and cache, of what is left free."""
    name, gpu_key, layout, asked = KINDS[kind]
    question, plan = planned(name, gpu_key, layout, **asked)
    budget, weights = question.budget, plan.weights_bytes
    overhead, kept = budget.overhead.total_bytes, min(rank.kv_bytes for rank in plan.ranks)
    share = {engine: read_command(serve_command(question, plan, engine), engine).share for engine in ENGINES}
    left = {
        "vllm": share["vllm"] * budget.usable_bytes - weights - overhead,
        "sglang": share["sglang"] * budget.usable_bytes - weights,
        "trtllm": share["trtllm"] * (budget.usable_bytes - weights - overhead),
    }
    for engine, bytes_left in left.items():
        assert kept - 2e-4 * budget.usable_bytes <= bytes_left <= kept + 1, engine


def test_seventy_billion_in_fp8_on_one_gpu_by_tensorrt_llm():
    """(0.9 · 150.1 - 70.6 - 2) / (150.1 - 70.6 - 2) = 62.5 / 77.5 = 0.81 of what is free, not 0.9 of it.

    The bf16 checkpoint, 141 GB, is not what is printed.
    """
    spec, card = model("llama-3.1-70b"), gpu("h200-sxm")
    machine = Machine(card, 1, overhead=Overhead.of(2 * GB))
    question = replace(question_of(spec, machine, Demand(dtype="fp8")), engine="trtllm")
    plan = judge(question, Layout())
    started = read_command(serve_command(question, plan, "trtllm"), "trtllm")
    usable, held = 139.80 * 2**30, plan.weights_bytes + 2e9
    assert started.share == pytest.approx((0.9 * usable - held) / (usable - held), abs=1e-4)
    assert started.share == pytest.approx(0.80, abs=0.01)
    assert started.served == "$MODEL"
    assert any("quantized to fp8" in worded(one) for one in remarks(question, plan))


def test_prompts_longer_than_a_step_are_read_in_pieces_by_tensorrt_llm():
    """Its server reads 8,192 tokens a step at most, and refuses longer prompts unless it may cut them."""
    question, plan = planned(DENSE, "h100-sxm", Layout(8), prompt_tokens=29_000)
    assert read_options(serve_command(question, plan, "trtllm"))[0] == {"enable_chunked_prefill": True}
    question, plan = planned(DENSE, "h100-sxm", Layout(8), prompt_tokens=4_000)
    assert read_options(serve_command(question, plan, "trtllm"))[0] == {}


@each("engine", ENGINES)
def test_sglang_s_remark_stands_under_sglang_alone(engine):
    question, plan = planned(MIXED, "h200-sxm", Layout(1, 1, 1, 8), concurrency=64)
    told = any("--attn-dp-size" in worded(one) for one in remarks(question, plan, engine))
    assert told == (engine == "sglang")


def test_a_plan_for_an_engine_is_one_that_it_can_be_told():
    """TP=2 DP=4 fits, and is refused where TensorRT-LLM is asked for."""
    question, plan = planned(MIXED, "h200-sxm", Layout(2, 1, 1, 4), concurrency=64)
    assert plan.fits
    refused = judge(replace(question, engine="trtllm"), plan.layout)
    assert not refused.fits
    assert "TensorRT-LLM repeats attention" in worded(refused.reason)


@each("engine", ENGINES)
@each("kind", KINDS)
def test_a_manifest_runs_the_same_command(kind, engine):
    """Through a shell where a file is written first or a name is to be set; else word by word."""
    name, gpu_key, layout, asked = KINDS[kind]
    question, plan = planned(name, gpu_key, layout, **asked)
    if (kind, engine) in STOPPED:
        return
    command = serve_command(question, plan, engine)
    first, _ = read(kubernetes(question, plan, engine))
    file = compose(question, plan, engine)
    ran = []
    if file is not None:
        service = read(file)[0]["services"]["engine-0"]
        ran.append([word.replace("$$", "$") for word in service["entrypoint"] + service["command"]])
        environment = service["environment"]
        assert all(f"${one}" not in command or one in environment for one in ("MODEL", "DRAFT"))
    if first["kind"] == "Deployment":
        (container,) = first["spec"]["template"]["spec"]["containers"]
        ran.append([word.replace("$$(", "$(") for word in container["command"]])
        set_there = [one["name"] for one in container.get("env", [])]
        assert all(f"${one}" not in command or one in set_there for one in ("MODEL", "DRAFT"))
    for words in ran:
        line = words[-1].replace("\nexec ", "\n").removeprefix("exec ") if words[0] == "bash" else shlex.join(words)
        assert read_command(line.replace(" --host 0.0.0.0", ""), engine) == read_command(command, engine)


def test_every_image_is_of_one_release():
    """`latest` is another engine tomorrow."""
    names = [*IMAGES.values(), ROCM_IMAGE, f"{ROCM_SGLANG}-mi30x"]
    assert all(re.search(r":v?\d+\.\d+\.\d+", name) for name in names)
    for key, row in GPUS.items():
        if row.stack == "rocm":
            question, plan = planned("llama-3.1-8b", key, Layout(1))
            assert ROCM_IMAGE in kubernetes(question, plan)
