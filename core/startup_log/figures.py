"""The numbers of a log that a model's config predicts, and the memory that counts of blocks are predicted from.

Engines have said one thing in many words: vLLM's "GB" of 2023 is GiB, and so is SGLang's; "# GPU blocks" became
"# CUDA blocks", "# cuda blocks", then tokens. A figure is found by its words wherever they stand in a line; what
comes before, and a line of another record that was run into it, does not matter.
"""

import re
from collections.abc import Iterator

from core.startup_log.records import Engine, Figure, FigureKind, LogLine, Memory, Quantity
from core.text.numbers import figure, whole
from core.units import GIB, MIB

_NUMBER = r"-?\d{1,12}(?:\.\d{1,9})?"
_COUNT = r"\d{1,3}(?:[,\u202f ]\d{3}){1,6}|\d{1,15}"
_SIZE = rf"(?P<size>{_NUMBER})\s{{0,2}}(?P<unit>GB|GiB|MB|MiB)\b"
_N = rf"(?P<count>{_COUNT})"
_TOKENS = rf"(?P<tokens>{_COUNT})"
_DTYPE = r"(?: dtype: torch\.(?P<dtype>\w{1,40}),)?"
_GIB = {"GB": 1.0, "GiB": 1.0, "MB": MIB / GIB, "MiB": MIB / GIB}
"""What the engines mean by their units: powers of two, all of them."""

_MEMORY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"Available KV cache memory: {_SIZE}",
        rf"the rest of the memory reserved for KV Cache is {_SIZE}",
        rf"kv_cache_size={_SIZE}",
        rf"available_kv_cache_memory\s{{1,12}}{_SIZE}",
        rf"{_SIZE} reserved for KV cache",
        rf"reserved {_SIZE} memory for KV Cache as specified",
        r"Available memory: (?P<bytes>\d{6,15}), total memory",
    )
)

_FIGURES: tuple[tuple[Quantity, FigureKind, Engine, re.Pattern[str]], ...] = tuple(
    (quantity, kind, engine, re.compile(pattern))  # type: ignore[misc]
    for quantity, kind, engine, pattern in (
        ("weights_gib", "allocated", "vllm",
         rf"(?:Loading model weights|[Mm]odel loading) took (?:in total )?{_SIZE}"),
        ("weights_gib", "profiled", "vllm", rf"model weights take\s{{1,12}}{_SIZE}"),
        ("weights_gib", "profiled", "vllm", rf"Actual usage is {_SIZE} for weight"),
        ("weights_gib", "allocated", "vllm",
         rf"Pre-loading model weights on \w{{1,20}}(?::\d{{1,4}})? took {_SIZE} of device memory"),
        ("weights_gib", "free_memory", "sglang", rf"Load weight end\..{{0,300}}?\bmem usage={_SIZE}"),
        ("weights_gib", "allocated", "tensorrt-llm",
         rf"Memory used after loading model weights \(inside torch\)[^:]{{0,80}}: {_SIZE}"),
        ("weights_gib", "engine_file", "tensorrt-llm", rf"Loaded engine size: {_SIZE}"),
        ("kv_tokens", "tokens", "vllm",
         rf"(?:(?P<device>[A-Za-z]\w{{0,15}}(?: ?[+&/] ?\w{{1,15}}){{0,2}}) )?\bKV cache size: {{1,4}}{_N} tokens"),
        # a Markdown heading eats the leading "# "
        ("gpu_blocks", "blocks", "vllm",
         rf"\b(?i:gpu|cuda|rocm|npu|hpu|xpu|tpu|mps|neuron|spyre|device) blocks: {_N}"),
        ("cpu_blocks", "cpu", "vllm", rf"# CPU blocks: {_N}(?![\d.])"),
        ("gpu_blocks", "initialised", "vllm", rf"num_(?:gpu|device)_blocks is:?\s{{0,3}}{_N}"),
        ("max_concurrency", "concurrency", "vllm",
         rf"Maximum concurrency for {_TOKENS} tokens per request: (?P<times>{_NUMBER})x"),
        ("kv_size_gib", "k", "sglang",
         rf"KV Cache is allocated\.{_DTYPE}(?: #tokens: {_TOKENS},)? K size: {_SIZE},"
         rf" V size: (?P<v_size>{_NUMBER})\s{{0,2}}(?P<v_unit>GB|GiB|MB|MiB)\b"),
        ("kv_size_gib", "kv", "sglang", rf"KV Cache is allocated\.{_DTYPE} #tokens: {_TOKENS}, KV size: {_SIZE}"),
        ("state_gib", "states", "sglang",
         rf"Mamba Cache is allocated\. (?:max_mamba_cache_size: {_TOKENS}, )?"
         rf"conv_state size: (?P<more_size>{_NUMBER})\s{{0,2}}(?P<more_unit>GB|GiB|MB|MiB),"
         rf" ssm_state size: {_SIZE}"),
        ("kv_tokens", "pool", "sglang", rf"max_total_num_tokens={_N}"),
        ("kv_size_gib", "kv", "tensorrt-llm", rf"Allocated {_SIZE} for max tokens in paged KV cache \({_TOKENS}\)"),
        ("bytes_per_token", "pool_bytes", "tensorrt-llm", r"Allocate (?P<count>\d{1,15}) bytes for k/v cache"),
        ("kv_tokens", "pool", "tensorrt-llm", rf"Using {_N} tokens in paged KV cache"),
        ("bytes_per_token", "kv", "tensorrt-llm", r"\bkv size (?:per token )?is (?P<count>\d{1,12})\b"),
    )
)  # fmt: skip
"""Every wording of every release: what is counted, how the engine came by it, whose words, the words.

A device's name in them is a slot: engines print XPU, TPU or NPU where CUDA's builds print GPU.
"""

_GATE = re.compile(r"took|Mamba Cache|take |usage=|Actual usage|engine size|KV cache|KV Cache|k/v cache|blocks|"
                   r"oncurrency|num_tokens|kv_cache_size|kv_cache_memory|kv size|Available memory|"
                   r"model weights")  # fmt: skip


def printed(line: LogLine) -> Iterator[Figure | Memory]:
    """What the line says was left for the cache, then every figure of it that a config predicts."""
    if not _GATE.search(line.text):
        return
    for pattern in _MEMORY:
        for match in pattern.finditer(line.text):
            values = match.groupdict()
            yield Memory(*_size(values) if "size" in values else (whole(values["bytes"]) / GIB, 1 / GIB), line)
    for quantity, kind, engine, pattern in _FIGURES:
        for match in pattern.finditer(line.text):
            yield from _figures(line, quantity, kind, engine, match.groupdict())


def _figures(
    line: LogLine, quantity: Quantity, kind: FigureKind, engine: Engine, values: dict[str, str | None]
) -> Iterator[Figure]:
    """The figure of one match; keys and values, where a line prints both."""
    tokens = _whole(count) if (count := values.get("tokens")) else None
    if times := values.get("times"):
        value, step = figure(times), _last_digit(times)
    elif count := values.get("count"):
        value, step = _whole(count), 1
    else:
        value, step = _size(values)
    if "more_size" in values:
        more, its_step = _size(values, "more_")
        value, step = value + more, step + its_step
    yield Figure(quantity, kind, value, step, line, engine, tokens, values.get("dtype"), values.get("device") or "")
    if "v_size" in values:
        yield Figure(quantity, "v", *_size(values, "v_"), line, engine, tokens, values.get("dtype"))


def _size(values: dict[str, str | None], of: str = "") -> tuple[float, float]:
    """A size in GiB, and one unit of the last digit printed."""
    digits, unit = values[f"{of}size"] or "", _GIB[values[f"{of}unit"] or ""]
    return figure(digits) * unit, _last_digit(digits) * unit


def _last_digit(digits: str) -> float:
    return 10.0 ** -len(digits.partition(".")[2])


def _whole(digits: str) -> int:
    return whole(re.sub(r"\D", "", digits))
