"""The numbers of a log that a model's config predicts, and the memory that counts of blocks are predicted from.

Engines have said one thing in many words: vLLM's "GB" of 2023 is GiB, and so is SGLang's; "# GPU blocks" became
"# CUDA blocks", "# cuda blocks", then tokens. A figure is found by its words wherever they stand in a line; what
comes before, and a line of another record that was run into it, does not matter.
"""

import re
from collections.abc import Iterator

from core.startup_log.records import Engine, Figure, FigureKind, LogLine, Memory, Quantity
from core.units import GIB, MIB

_NUMBER = r"(-?\d{1,12}(?:\.\d{1,9})?)"
_COUNT = r"(\d{1,3}(?:[,\u202f ]\d{3}){1,6}|\d{1,15})"
_SIZE = rf"{_NUMBER}\s{{0,2}}(GB|GiB|MB|MiB)\b"
_BYTES = {"GB": GIB, "GiB": GIB, "MB": MIB, "MiB": MIB}
"""What the engines mean by their units: powers of two, all of them."""

_WEIGHTS = re.compile(rf"(?:Loading model weights|[Mm]odel loading) took (?:in total )?{_SIZE}")
_WEIGHTS_TAKE = re.compile(rf"model weights take\s{{1,12}}{_SIZE}")
_WEIGHTS_IN_USE = re.compile(rf"Actual usage is {_SIZE} for weight")
_WEIGHTS_HPU = re.compile(rf"Pre-loading model weights on \w{{1,20}}(?::\d{{1,4}})? took {_SIZE} of device memory")
_WEIGHTS_SGLANG = re.compile(rf"Load weight end\..{{0,300}}?\bmem usage={_SIZE}")
_WEIGHTS_TRT = re.compile(rf"Memory used after loading model weights \(inside torch\)[^:]{{0,80}}: {_SIZE}")
_ENGINE_FILE = re.compile(rf"Loaded engine size: {_SIZE}")
_TOKENS = re.compile(rf"GPU KV cache size: {_COUNT} tokens")
# a Markdown heading eats the leading "# "
_BLOCKS = re.compile(rf"\b(?i:gpu|cuda|rocm|npu|hpu|xpu|neuron) blocks: {_COUNT}")
_CPU_BLOCKS = re.compile(rf"# CPU blocks: {_COUNT}(?![\d.])")
_INITIALISED = re.compile(rf"num_gpu_blocks is:?\s{{0,3}}{_COUNT}")
_CONCURRENCY = re.compile(rf"Maximum concurrency for {_COUNT} tokens per request: {_NUMBER}x")
_SGLANG_CACHE = re.compile(
    rf"KV Cache is allocated\.(?: dtype: torch\.(\w{{1,40}}),)?(?: #tokens: {_COUNT},)? K size: {_SIZE},"
    rf" V size: {_SIZE}"
)
_SGLANG_LATENT = re.compile(
    rf"KV Cache is allocated\.(?: dtype: torch\.(\w{{1,40}}),)? #tokens: {_COUNT}, KV size: {_SIZE}"
)
_SGLANG_POOL = re.compile(rf"max_total_num_tokens={_COUNT}")
_TRT_POOL = re.compile(rf"Allocated {_SIZE} for max tokens in paged KV cache \({_COUNT}\)")
_TRT_BYTES = re.compile(r"Allocate (\d{1,15}) bytes for k/v cache")
_TRT_TOKENS = re.compile(rf"Using {_COUNT} tokens in paged KV cache")
_TRT_TOKEN_BYTES = re.compile(r"\bkv size (?:per token )?is (\d{1,12})\b")

_MEMORY = (
    re.compile(rf"Available KV cache memory: {_SIZE}"),
    re.compile(rf"the rest of the memory reserved for KV Cache is {_SIZE}"),
    re.compile(rf"kv_cache_size={_SIZE}"),
    re.compile(rf"available_kv_cache_memory\s{{1,12}}{_SIZE}"),
    re.compile(rf"{_SIZE} reserved for KV cache"),
    re.compile(rf"reserved {_SIZE} memory for KV Cache as specified"),
)
_MEMORY_BYTES = re.compile(r"Available memory: (\d{6,15}), total memory")

_GATE = re.compile(r"took|take |usage=|Actual usage|engine size|KV cache|KV Cache|k/v cache|blocks|oncurrency|"
                   r"num_tokens|kv_cache_size|kv_cache_memory|kv size|Available memory|model weights")  # fmt: skip


def memories(line: LogLine) -> Iterator[Memory]:
    """What the line says was left for the cache."""
    if not _GATE.search(line.text):
        return
    for pattern in _MEMORY:
        for match in pattern.finditer(line.text):
            yield Memory(_gib(match, 1), _step(match.group(1), match.group(2)), line)
    for match in _MEMORY_BYTES.finditer(line.text):
        yield Memory(int(match.group(1)) / GIB, 1 / GIB, line)


def figures(line: LogLine) -> Iterator[Figure]:
    """Every figure of the line that a config predicts."""
    if not _GATE.search(line.text):
        return
    yield from _sizes(line, _WEIGHTS, "weights_gib", "allocated", "vllm")
    yield from _sizes(line, _WEIGHTS_TAKE, "weights_gib", "profiled", "vllm")
    yield from _sizes(line, _WEIGHTS_IN_USE, "weights_gib", "profiled", "vllm")
    yield from _sizes(line, _WEIGHTS_HPU, "weights_gib", "allocated", "vllm")
    yield from _sizes(line, _WEIGHTS_SGLANG, "weights_gib", "free_memory", "sglang")
    yield from _sizes(line, _WEIGHTS_TRT, "weights_gib", "allocated", "tensorrt-llm")
    yield from _sizes(line, _ENGINE_FILE, "weights_gib", "engine_file", "tensorrt-llm")
    yield from _counts(line, _TOKENS, "kv_tokens", "tokens", "vllm")
    yield from _counts(line, _BLOCKS, "gpu_blocks", "blocks", "vllm")
    yield from _counts(line, _CPU_BLOCKS, "cpu_blocks", "cpu", "vllm")
    yield from _counts(line, _INITIALISED, "gpu_blocks", "initialised", "vllm")
    for match in _CONCURRENCY.finditer(line.text):
        value, step = float(match.group(2)), _decimals(match.group(2))
        yield Figure("max_concurrency", "concurrency", value, step, line, "vllm", _whole(match.group(1)))
    yield from _sglang(line)
    yield from _trt(line)


def _sglang(line: LogLine) -> Iterator[Figure]:
    for match in _SGLANG_CACHE.finditer(line.text):
        tokens = _whole(match.group(2)) if match.group(2) else None
        for kind, at in (("k", 3), ("v", 5)):
            yield _cache(line, kind, match, at, tokens)  # type: ignore[arg-type]
    for match in _SGLANG_LATENT.finditer(line.text):
        yield _cache(line, "kv", match, 3, _whole(match.group(2)))
    yield from _counts(line, _SGLANG_POOL, "kv_tokens", "pool", "sglang")


def _cache(line: LogLine, kind: FigureKind, match: re.Match[str], at: int, tokens: int | None) -> Figure:
    size, step = _gib(match, at), _step(match.group(at), match.group(at + 1))
    return Figure("kv_size_gib", kind, size, step, line, "sglang", tokens, match.group(1))


def _trt(line: LogLine) -> Iterator[Figure]:
    for match in _TRT_POOL.finditer(line.text):
        size, step = _gib(match, 1), _step(match.group(1), match.group(2))
        yield Figure("kv_size_gib", "kv", size, step, line, "tensorrt-llm", _whole(match.group(3)))
    for match in _TRT_BYTES.finditer(line.text):
        yield Figure("bytes_per_token", "pool_bytes", int(match.group(1)), 1, line, "tensorrt-llm")
    yield from _counts(line, _TRT_TOKENS, "kv_tokens", "pool", "tensorrt-llm")
    yield from _counts(line, _TRT_TOKEN_BYTES, "bytes_per_token", "kv", "tensorrt-llm")


def _sizes(
    line: LogLine, pattern: re.Pattern[str], quantity: Quantity, kind: FigureKind, engine: Engine
) -> Iterator[Figure]:
    for match in pattern.finditer(line.text):
        yield Figure(quantity, kind, _gib(match, 1), _step(match.group(1), match.group(2)), line, engine)


def _counts(
    line: LogLine, pattern: re.Pattern[str], quantity: Quantity, kind: FigureKind, engine: Engine
) -> Iterator[Figure]:
    for match in pattern.finditer(line.text):
        yield Figure(quantity, kind, _whole(match.group(1)), 1, line, engine)


def _gib(match: re.Match[str], at: int) -> float:
    return float(match.group(at)) * _BYTES[match.group(at + 1)] / GIB


def _step(digits: str, unit: str) -> float:
    """One unit of the last digit printed, in GiB."""
    return _decimals(digits) * _BYTES[unit] / GIB


def _decimals(digits: str) -> float:
    return 10.0 ** -len(digits.partition(".")[2])


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))
