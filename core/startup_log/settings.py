"""What the engine says it was asked for: its command, its arguments, its config line, its banner.

A log may hold several runs, one command after the other; each has settings of its own. The same thing is often
said twice, and the engine's own config line, which comes later, has the last word.
"""

import re
from collections.abc import Callable
from dataclasses import fields, replace

from core.startup_log.arguments import called_with, is_call, without_nested
from core.startup_log.records import Engine, LogLine, Settings
from core.startup_log.switches import switched
from core.text.numbers import figure, number, whole, whole_number

_CUES: tuple[tuple[Engine, tuple[str, ...]], ...] = (
    ("sglang", ("sglang", "ServerArgs(", "Load weight end", "Load weight begin", "KV Cache is allocated",
                "max_total_num_tokens=")),
    ("tensorrt-llm", ("TensorRT-LLM", "TRT-LLM", "tensorrt_llm", "TRTGptModel", "trtllm-")),
    ("vllm", ("vLLM", "vllm", "llm_engine.py", "model_runner.py", "kv_cache_utils.py", "gpu_worker.py",
              "gpu_executor.py", "executor_base.py", "worker.py:267", "custom_all_reduce.py", "parallel_state.py",
              "pynccl.py", "# GPU blocks", "# cuda blocks", "# CUDA blocks", " KV cache size:",
              "Maximum concurrency for", "Loading model weights took", "Model loading took",
              "Available KV cache memory", "model weights take", "must be divisible by tensor parallel size",
              "Hidden layers were unevenly", "LLM engine (")),
)  # fmt: skip

_LAUNCHES = (
    *("vllm serve ", "vllm.entrypoints.", "sglang.launch_server", "sglang serve ", "trtllm-serve "),
    *("server.py --model", "dynamo.vllm ", "dynamo.sglang ", "dynamo.trtllm "),
)
_CONTAINERS = ("docker run ", "podman run ", "command: ", "args: ")
"""What starts an engine by its image, whose own command goes before the flags."""
_PRINTED = re.compile(r"\((?:Ray|Vllm|Worker|EngineCore|APIServer|pid=)|\[\d|INFO|WARN|ERROR|usage")
_STATED = (
    *("with config:", "server_args=", "non-default args", "args: Namespace(", "Namespace(", "args Namespace("),
    " skip_tokenizer_init=",  # TensorRT-LLM's arguments have a line of their own, under "LLM Args:"
)
_WHOLE = ("with config:", "server_args=", "Namespace(")
"""Where every argument is listed, as its default too."""
_CACHEFLOW = ("server.py --model", ".cacheflow/")

_QUOTED = r"(?:PosixPath\()?['\"]([^'\"]{1,300})['\"]"
_MODEL = re.compile(rf"(?<![\w.])['\"]?(?:model|model_path|model_tag)['\"]?\s{{0,3}}[=:]\s{{0,3}}{_QUOTED}")
_MODEL_FLAG = re.compile(
    r"(?:--model(?:-path|_path)?[= ]\s{0,3}['\"]?"
    r"|(?:vllm serve|trtllm-serve(?:\s{1,3}serve)?)\s{1,3}['\"]?(?=[^\s'\"]{0,299}[\d/._$-]))"
    r"([^\s'\"-][^\s'\"]{0,299})"
)
"""Behind a verb a word of letters alone is prose: "trtllm-serve for model ..."."""
_BEHIND_IMAGE = re.compile(
    r"(?:vllm-openai[\w.:@-]{0,90}|(?:command|args):)\s{1,12}['\"]?([A-Za-z\d][\w.-]{0,80}/[\w.-]{1,120})"
)
"""A container's first word, where it is a repository and no path."""
_BARE = ("--trust", "--enable", "--disable", "--enforce", "--no-")
"""How flags begin that take no value."""
_STARTING = re.compile(r"Starting to load model\s+([^\s]{1,300}?)(?:\.\.\.|\s|$)")
_BANNER = re.compile(r"█\s{1,4}model\s{1,6}(\S{1,300})")
_VERSIONS = (
    re.compile(r"LLM engine \(v?(\d[\w.+-]{0,60})\)"),
    re.compile(r"vLLM API server version (\d[\w.+-]{0,60})"),
    re.compile(r"█\s{1,4}version\s{1,4}(\d[\w.+-]{0,60})"),
    re.compile(r"(?:TensorRT[- ]LLM|sglang|SGLang)\]?\s{0,2}(?:[vV]ersion)[:= ]{1,3}v?(\d[\w.+-]{0,60})"),
    re.compile(r"\bsglang==(\d[\w.+-]{0,60})"),
    re.compile(r"Engine version (\d[\w.+-]{0,60}) found"),
)
_V1 = ("V1 LLM engine", "on V1 engine", "(EngineCore", "kv_cache_utils.py", "gpu_model_runner.py", "VLLM_USE_V1=1")
_V0 = ("V0 LLM engine", "llm_engine.py", "gpu_executor.py", "executor_base.py", "distributed_gpu_executor.py")
_LOADED = re.compile(r"(?:Prefetching|load safetensors? file)\s{1,4}(/\S{1,400}?)\.safetensors")
_SNAPSHOT = re.compile(r"^/\S{0,300}/(?:models--[\w.-]{3,120})/snapshots/[\da-f]{40}/?$")
"""A line that is a folder of the hub's cache, as TensorRT-LLM prints where it reads a model."""
_MASKED_ADDRESS = re.compile(r"^\d{2,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$")

_WORD = r"['\"]?([\w.:-]{1,80})"


def _named(*names: str) -> re.Pattern[str]:
    """`name=value` as an argument list, a Namespace or a JSON object writes it, or `--name value`."""
    plain = "|".join(names)
    dashed = "|".join(name.replace("_", "-") for name in names)
    return re.compile(
        rf"(?:(?<![\w.])['\"]?(?:{plain})['\"]?\s{{0,3}}[=:]|(?<![\w-])--?(?:{plain}|{dashed})[ =])\s{{0,3}}{_WORD}"
    )


def _count(word: str) -> int | None:
    """A whole number above 0, as large as any engine is asked for; None for anything else."""
    return whole_number(word, 1, 10**9)


def _gib(word: str) -> float | None:
    return number(word, 0, 10**6)


_FIELDS: tuple[tuple[str, re.Pattern[str], Callable[[str], object]], ...] = (
    ("tp_size", _named("tensor_parallel_size", "tensor_parallel", "tp_size", "tp"), _count),
    ("pp_size", _named("pipeline_parallel_size", "pipeline_parallel", "pp_size", "pp"), _count),
    ("dp_size", _named("data_parallel_size", "dp_size"), _count),
    ("dcp_size", _named("decode_context_parallel_size", "dcp_size"), _count),
    ("dtype", _named("dtype", "torch_dtype"), lambda word: word.removeprefix("torch.")),
    ("quantization", _named("quantization"), lambda word: word.lower()),
    ("kv_dtype", _named("kv_cache_dtype"), lambda word: word.removeprefix("torch.").lower()),
    ("max_model_len", _named("max_seq_len", "max_model_len", "context_length"), _count),
    ("block_size", _named("block_size", "tokens_per_block"), _count),
    ("page_size", _named("page_size"), _count),
    ("swap_gib", _named("swap_space"), _gib),
    ("batched_tokens", _named("max_num_batched_tokens"), _count),
    ("draft_tokens", _named("num_speculative_tokens", "num_spec_tokens"), _count),
    ("nnodes", _named("nnodes"), _count),
    ("dense_ranks", _named("moe_dense_tp_size"), _count),
    ("redundant_experts", _named("ep_num_redundant_experts", "num_redundant_experts"), _count),
    ("blocks_asked", _named("num_gpu_blocks_override"), _count),
    ("device", _named("device_config", "device"), lambda word: word.lower()),
)  # fmt: skip

_UNSET_RANKS = re.compile(r"--?(?:tensor[-_]parallel(?:[-_]size)?|tp(?:[-_]size)?)[ =]\s{0,3}['\"]?\$")
"""Ranks from a variable that nothing sets."""
_MARLIN = re.compile(r"leveraging the Marlin kernel|Using Marlin backend|Using '?MARLIN'? Mxfp4")
_NPU = ("device_config=npu", "Ascend", "Capture npu graph", "Capturing npu graph")
_ROCM = ("platform rocm", "[rocm.py:", "on ROCm")
_BLOCK = re.compile(r"(?:attention|kv cache) block size to (\d{1,6})|Number of tokens per block: (\d{1,6})", re.I)


def _layers(text: str) -> tuple[int, ...]:
    return tuple(whole(number) for number in text.split(",") if number.strip())


_ASIDES: tuple[tuple[str, str, re.Pattern[str], Callable[[str], object]], ...] = (
    ("architecture", "Resolved architecture", re.compile(r"Resolved architecture: (\w{1,80})"), str),
    ("architecture", "Load weight end", re.compile(r"Load weight end\.[^,]{0,40}?,? ?type=(\w{1,80})"), str),
    ("draft_method", "SpeculativeConfig(", re.compile(r"SpeculativeConfig\(method='(\w{1,40})'"), str),
    ("max_model_len", "max model len", re.compile(r"Using max model len (\d{1,9})"), whole),
    ("partition", "unevenly", re.compile(r"unevenly partitioned: \[([\d,\s]{1,400})\]"), _layers),
    ("partition", "LAYER_PARTITION", re.compile(r"VLLM_PP_LAYER_PARTITION=['\"]?([\d,]{1,400})"), _layers),
    ("kv_dtype", "Using KV cache dtype", re.compile(r"Using KV cache dtype: torch\.(\w{1,40})"), str.lower),
    ("kv_dtype", "to store kv cache", re.compile(r"Using (fp8) data type to store kv cache"), str.lower),
    (
        "batched_tokens",
        "max_num_batched_tokens=",
        re.compile(r"enabled with max_num_batched_tokens=(\d{1,9})"),
        int,
    ),
    ("host_cache_gib", "CPU_KVCACHE_SPACE", re.compile(r"VLLM_CPU_KVCACHE_SPACE=['\"]?(\d{1,5})"), figure),
    ("device", "cpu", re.compile(r"(?:platform |\[|device_config=)(cpu)\b"), str),
    ("device", "cpu_", re.compile(r"\b(cpu)_(?:executor|worker)\.py"), str),
    ("device", " KV cache size", re.compile(r"\b(?!GPU|CUDA)([A-Z]\w{1,9}) KV cache size:"), str.lower),
    ("dcp_size", "dcp_world_size", re.compile(r"KV cache size by the dcp_world_size (\d{1,5})"), whole),
    ("tp_size", "divisible", re.compile(r"must be divisible by tensor parallel size \((\d{1,5})\)"), whole),
)
"""What is heard once, the first time: the setting, a cue, the words, and how they are read."""


def engine_of(text: str) -> Engine | None:
    """The engine a line's wording belongs to, if it is one's."""
    for engine, cues in _CUES:
        for cue in cues:
            if cue in text:
                return engine
    return None


def is_launch(text: str) -> bool:
    """Whether the line is a command that starts an engine, and so another run."""
    flagged = " --model" in text or " --tensor-parallel-size" in text or " --tp" in text
    by_image = flagged and any(mark in text for mark in _CONTAINERS)
    launched = by_image or any(mark in text for mark in _LAUNCHES) or is_call(text)
    return launched and not _PRINTED.match(text)


def states(text: str) -> bool:
    """Whether the line says what an engine is asked for: a command, or a list of arguments."""
    return any(mark in text for mark in _STATED) or is_launch(text)


def heard(settings: Settings, line: LogLine) -> Settings:
    """`settings` with what one line adds."""
    text = line.text
    stated = any(mark in text for mark in _STATED)
    changes: dict[str, object] = {}
    if engine := engine_of(text):
        changes.update(_engine(settings, text, engine))
    if stated or is_launch(text):
        known = settings.stated or _UNSET_RANKS.search(text) is None
        changes.update(_arguments(without_nested(text)))
        changes.update(switched(text, any(mark in text for mark in _WHOLE)))
        changes.update(stated=known, resolved=settings.resolved or "with config:" in text)
    changes.update(_model(settings, without_nested(text) if stated else text, stated))
    changes.update(_asides(settings, text))
    return replace(settings, **changes) if changes else settings  # type: ignore[arg-type]


def merged(first: Settings, second: Settings) -> Settings:
    """What `first` says, and where it says nothing what `second` does."""
    return replace(
        first,
        **{
            field.name: getattr(second, field.name)
            for field in fields(first)
            if getattr(first, field.name) in (None, False, ())
        },
    )


def _engine(settings: Settings, text: str, engine: Engine) -> dict[str, object]:
    changes: dict[str, object] = {} if settings.engine else {"engine": engine}
    if engine == "vllm":
        if any(mark in text for mark in _V1):
            changes["v1"] = True
        elif settings.v1 is None and any(mark in text for mark in _V0):
            changes["v1"] = False
    if "ersion" in text or "LLM engine" in text or "==" in text:
        for pattern in _VERSIONS:
            match = pattern.search(text)
            if match and not _MASKED_ADDRESS.match(match.group(1)):
                changes["version"] = match.group(1).rstrip(".")
                break
    return changes


def _arguments(text: str) -> dict[str, object]:
    """The settings an argument list names."""
    changes: dict[str, object] = {}
    for name, pattern, convert in _FIELDS:
        match = pattern.search(text)
        if match and match.group(1) not in ("None", "auto", "null"):
            value = convert(match.group(1).rstrip(".:"))
            if value is not None:
                changes[name] = value
    return changes


def _model(settings: Settings, text: str, stated: bool) -> dict[str, object]:
    """The model's path: from a config line above all, else from the command, the banner, the loader."""
    if stated and (match := _MODEL.search(text)):
        return {"model_path": match.group(1)}
    if is_call(text) and is_launch(text):
        return {"model_path": called} if (called := called_with(text)) else {}
    if is_launch(text) and (match := _MODEL_FLAG.search(text) or _BEHIND_IMAGE.search(text)):
        return {"model_path": match.group(1)}
    if "vllm serve -" in text and (last := _last_word(text)):
        return {"model_path": last}
    if settings.model_path is None and _SNAPSHOT.match(text):
        return {"model_path": text}
    if settings.model_path is None and any(cue in text for cue in ("Starting to load model", "█", ".safetensors")):
        match = _STARTING.search(text) or _BANNER.search(text)
        if match is None and (loaded := _LOADED.search(text)):
            return {"model_path": loaded.group(1).rpartition("/")[0]}
        return {"model_path": match.group(1)} if match else {}
    return {}


def _last_word(text: str) -> str:
    """A path that stands behind all flags of a command, and belongs to none of them; empty where there is none."""
    *_, before, last = text.split() or ("", "", "")
    of_a_flag = before.startswith("-") and "=" not in before and not before.startswith(_BARE)
    return "" if of_a_flag or last.startswith("-") or "/" not in last or "=" in last else last.strip("'\"")


def _asides(settings: Settings, text: str) -> dict[str, object]:
    """What is said on lines of its own: architecture, length, block size, uneven layers, the cache's type."""
    changes: dict[str, object] = {}
    for name, cue, pattern, convert in _ASIDES:
        if cue in text and getattr(settings, name) in (None, ()) and (match := pattern.search(text)):
            changes[name] = convert(next(group for group in match.groups() if group))
    if "block" in text and (match := _BLOCK.search(text)):
        changes["block_size"] = whole(match.group(1) or match.group(2))
    if any(mark in text for mark in _CACHEFLOW) and settings.block_size is None:
        # the vLLM of before its first release: blocks of 8 tokens, 20 GiB of swap
        changes.update(block_size=8, swap_gib=20.0)
    if "padding layers, may waste" in text:
        changes["padded_layers"] = True
    if ("arlin" in text or "MARLIN" in text) and _MARLIN.search(text):
        changes["marlin"] = True
    if any(mark in text for mark in _ROCM):
        changes["rocm"] = True
    if "npu" in text and settings.device is None and any(mark in text for mark in _NPU):
        changes["device"] = "npu"
    if "hpu_" in text and settings.device is None:
        changes["device"] = "hpu"
    return changes
