"""Each figure of a log predicted from the model's config, with the formula in words and what may excuse a miss.

A prediction is a value and the interval that rounding leaves: a memory printed as 6.51 GiB is anything from 6.505
to 6.515. A doubt is a cause that the log leaves open, and the values it could account for: a figure that misses
its prediction inside a doubt is unexplained, not off.
"""

from dataclasses import dataclass, field, replace
from math import ceil, floor, inf, isclose

from core.errors import ShardlabError
from core.kv_cache import BLOCK_TOKENS
from core.loaded_weights import Stage, loaded_weight_bytes, rank_tensors, reserved_bytes, stages
from core.parameters import dtype_bytes, kv_bytes_per_token_per_rank
from core.specs import ModelSpec
from core.startup_log.records import Figure, Memory, Settings
from core.startup_log.resolve import Sizes
from core.units import GIB

TOLERANCE = 0.005
"""What a size may miss by: half a percent."""

DEFAULT_SWAP_GIB = 4.0
"""Host memory for swapped blocks where a log does not say. Source: vLLM's --swap-space."""

_ACCELERATOR_BLOCK = 128
_HIDDEN_RANK = 0.02
_FREE_MEMORY_GIB = 0.6
_KERNEL = (0.97, 1.12)
_FLOAT_CACHE = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32"}
_PADDED_LATENT_HEAD = 256


@dataclass(frozen=True)
class Doubt:
    """Something the log leaves open, and the logged values from `low` to `high` that it would account for."""

    reason: str
    low: float = -inf
    high: float = inf


@dataclass(frozen=True)
class Prediction:
    """What a figure should be, from `low` to `high` as rounding leaves it, in words, and in doubt of what."""

    value: float
    formula: str
    low: float
    high: float
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Silence:
    """Why nothing is predicted."""

    reason: str


@dataclass(frozen=True)
class Basis:
    """What predictions are made from. `near`: only the end of the log's name is the model's."""

    model: ModelSpec | None
    settings: Settings
    sizes: Sizes
    weight_format: str | None = None
    near: bool = False
    format_given: bool = False
    doubts: tuple[Doubt, ...] = field(default=())

    @property
    def stages(self) -> tuple[Stage, ...]:
        if self.model is None:
            return ()
        partition = self.settings.partition if len(self.settings.partition) == self.sizes.pp_size else ()
        return stages(self.model, self.sizes.pp_size, partition)

    @property
    def block_tokens(self) -> int:
        """Tokens a block: as stated, 128 on an NPU or an HPU, 16 elsewhere."""
        usual = _ACCELERATOR_BLOCK if self.settings.device in ("npu", "hpu") else BLOCK_TOKENS
        return self.settings.block_size or usual


UNNAMED = Silence("the log names no model that the catalog knows; give one")


def weights(basis: Basis, figure: Figure, stage: int | None) -> Prediction | Silence:
    """Bytes of a rank's weights, by the arithmetic of `core.loaded_weights`."""
    spec = basis.model
    if spec is None:
        return UNNAMED
    if basis.weight_format is None:
        name = basis.settings.quantization or "this quantisation"
        return Silence(f"{name} leaves some layers as they were; which, the log does not say")
    if basis.settings.dp_attention:
        return Silence("attention is data-parallel here: which weights are whole on a rank, the log does not say")
    candidates = [_weights_of(basis, spec, figure, part) for part in _candidate_stages(basis, stage)]
    size, where = min(candidates, key=lambda pair: abs(pair[0] - figure.value))
    doubts = (*_weight_doubts(basis, spec, figure, size), *basis.doubts)
    formula = f"{_shape(basis, spec)}{where}, {_RULES[figure.kind]}"
    return Prediction(size, formula, *_within(size, figure.step), doubts)


_RULES = {
    "allocated": "rotary table and padding with them, each tensor rounded as the allocator does",
    "profiled": "rotary table and padding with them, each tensor rounded as the allocator does",
    "free_memory": "in whole segments of the allocator, as free memory falls by them",
    "engine_file": "as the engine file holds them, without a rotary table",
}  # fmt: skip


def _candidate_stages(basis: Basis, stage: int | None) -> tuple[Stage, ...]:
    return basis.stages if stage is None else basis.stages[stage : stage + 1] or basis.stages


def _weights_of(basis: Basis, spec: ModelSpec, figure: Figure, part: Stage) -> tuple[float, str]:
    tp_size, dtype = basis.sizes.tp_size, basis.weight_format or "bf16"
    where = (
        ""
        if part.layers == part.of_layers
        else f" (layers {part.first_layer} to {part.first_layer + part.layers - 1})"
    )
    if figure.kind == "free_memory":
        return reserved_bytes(rank_tensors(spec, tp_size, part, dtype, rope_bytes=4)) / GIB, where
    if figure.kind == "engine_file":
        parts = rank_tensors(spec, tp_size, part, dtype)
        return sum(t.copies * t.size_bytes for t in parts if t.name != "rotary table") / GIB, where
    return loaded_weight_bytes(spec, tp_size, part, dtype) / GIB, where


def _shape(basis: Basis, spec: ModelSpec) -> str:
    ranks = f" over TP {basis.sizes.tp_size}" if basis.sizes.tp_size > 1 else ""
    return f"weights of {spec.name} in {basis.weight_format}{ranks}"


def _weight_doubts(basis: Basis, spec: ModelSpec, figure: Figure, size: float) -> list[Doubt]:
    """What may be on the GPU beside the weights counted, or be laid out otherwise."""
    found = []
    if basis.weight_format not in ("bf16", "fp16", "fp32"):
        found.append(Doubt("kernels may pad and repack quantised weights", size * _KERNEL[0], size * _KERNEL[1]))
    if figure.kind == "free_memory":
        low, high = size * (1 - 2 * TOLERANCE) - 0.1, size + _FREE_MEMORY_GIB
        found.append(Doubt("free memory also falls by what libraries take meanwhile", low, high))
    if figure.kind == "engine_file":
        found.append(Doubt("the log does not say how the engine's weights were quantised"))
    if not (basis.settings.resolved or basis.format_given):
        found += _other_formats(basis, spec, figure)
    if basis.settings.draft and figure.kind != "free_memory":
        found.append(Doubt("a draft model is loaded with it", low=size))
    if basis.settings.adapters:
        found.append(Doubt("LoRA adapters have room of their own", low=size))
    if spec.moe is not None and (basis.settings.dp_size or 1) > 1:
        found.append(Doubt("experts are spread over data-parallel ranks too", high=size))
    if basis.settings.offload:
        found.append(Doubt("part of the weights is kept in host memory", high=size))
    if _sees(basis.settings, spec):
        found.append(Doubt("a vision tower is loaded with it, which the catalog's row does not count", low=size))
    return found


def _other_formats(basis: Basis, spec: ModelSpec, figure: Figure) -> list[Doubt]:
    """The formats that would fit a figure as well, where the log does not say which it is."""
    found = []
    for key in ("bf16", "fp8", "int4", "awq"):
        other = replace(basis, weight_format=key)
        for part in basis.stages:
            size = _weights_of(other, spec, figure, part)[0]
            reason = f"as {key} it would be {size:.2f} GiB; the log does not say how the weights are kept"
            found.append(Doubt(reason, size * (1 - 2 * TOLERANCE), size * (1 + 2 * TOLERANCE)))
    return found


def _sees(settings: Settings, spec: ModelSpec) -> bool:
    """Whether the checkpoint has a part for images that the text model's shape leaves out."""
    return "ForConditionalGeneration" in (settings.architecture or "") or spec.key.startswith("gemma-3-")


def token_bytes(basis: Basis, part: Stage, engine_dtype: str | None = None) -> float | Silence:
    """Bytes a token leaves on one rank of a stage.

    2 · layers · kv heads of the rank · head_dim · width; of a latent cache, one row that is whole on every rank
    """
    spec, settings = basis.model, basis.settings
    if spec is None:
        return UNNAMED
    dtype = _cache_dtype(engine_dtype or settings.kv_dtype, settings.dtype)
    if dtype is None:
        return Silence(f"a cache kept as {engine_dtype or settings.kv_dtype} has a layout of its own")
    ranks = basis.sizes.tp_size
    if settings.dp_attention and settings.dp_size:
        ranks = max(1, ranks // settings.dp_size)
    if spec.mla and _before_latent(settings):
        heads = spec.num_attention_heads / ranks
        return 2 * part.layers * heads * _PADDED_LATENT_HEAD * dtype_bytes(dtype)
    return kv_bytes_per_token_per_rank(spec, ranks, dtype) / spec.num_hidden_layers * part.layers


def _cache_dtype(kv_dtype: str | None, dtype: str | None) -> str | None:
    if kv_dtype in (None, "auto"):
        return _FLOAT_CACHE.get(dtype or "bfloat16", "bf16")
    if kv_dtype in _FLOAT_CACHE:
        return _FLOAT_CACHE[kv_dtype]
    if kv_dtype in ("fp8", "fp8_e4m3", "fp8_e5m2", "float8_e4m3fn", "float8_e5m2", "fp8_inc", "fp8e4nv"):
        return "fp8"
    return "int8" if kv_dtype == "int8" else None


def _before_latent(settings: Settings) -> bool:
    """Whether the release kept MLA's keys and values whole, heads padded to 256: vLLM before 0.7.1."""
    parts = (settings.version or "").split(".")
    if settings.engine != "vllm" or len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        return False
    patch = int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else 0
    return (int(parts[0]), int(parts[1]), patch) < (0, 7, 1)


def from_memory(basis: Basis, figure: Figure, left: tuple[tuple[Memory, int | None], ...]) -> Prediction | Silence:
    """Tokens or blocks: the memory that the smallest rank has left, in whole blocks."""
    if not left:
        return Silence("the log does not print the memory that was left for the cache")
    block = basis.block_tokens
    bounds = [_counts(basis, memory, stage, block) for memory, stage in left]
    silent = next((bound for bound in bounds if isinstance(bound, Silence)), None)
    if silent is not None:
        return silent
    blocks = [min(bound[at] for bound in bounds if not isinstance(bound, Silence)) for at in range(3)]
    low, value, high = (_printed(basis, figure, count) for count in blocks)
    smallest = min(memory.size_gib for memory, _ in left)
    of_ranks = f", the smallest of {len(left)} ranks," if len(left) > 1 else ""
    formula = f"{smallest:g} GiB left{of_ranks} by the bytes of a {block}-token block, whole blocks"
    doubts = (*_count_doubts(basis, value, left), *basis.doubts)
    return Prediction(value, formula, low, high, doubts)


def _printed(basis: Basis, figure: Figure, blocks: int) -> int:
    """A count of blocks as the line prints it: in blocks, in tokens, or in tokens that requests can fill.

    Later releases of vLLM print concurrency · length as tokens, which is less where a length ends inside a block.
    """
    if figure.quantity != "kv_tokens":
        return blocks
    block, length = basis.block_tokens, basis.settings.max_model_len
    if length and figure.value % block and basis.settings.v1 is not False:
        return floor(blocks / ceil(length / block) * length)
    return blocks * block


def _counts(basis: Basis, memory: Memory, stage: int | None, block: int) -> tuple[int, int, int] | Silence:
    """Whole blocks in a memory: at the least, as printed, at the most."""
    part = max(_candidate_stages(basis, stage), key=lambda one: one.layers) if basis.model else None
    if part is None:
        return UNNAMED
    each = token_bytes(basis, part)
    if isinstance(each, Silence):
        return each
    sizes = (memory.size_gib - memory.step / 2, memory.size_gib, memory.size_gib + memory.step / 2)
    low, value, high = (max(0, floor(size * GIB / (block * each) * (1 + 1e-12))) for size in sizes)
    return low, value, high


def _count_doubts(basis: Basis, value: float, left: tuple[tuple[Memory, int | None], ...]) -> list[Doubt]:
    found = []
    world = basis.sizes.tp_size * basis.sizes.pp_size
    if len(left) < world:
        sizes = [memory.size_gib for memory, _ in left]
        spread = 1 - min(sizes) / max(sizes) if max(sizes) > 0 else 0.0
        low = value * (1 - max(_HIDDEN_RANK, spread))
        found.append(Doubt(f"{world - len(left)} of {world} ranks do not print what they have left", low, value))
    if basis.settings.draft:
        found.append(Doubt("a draft model's layers have a cache too", high=value))
    if basis.model is not None and _windowed(basis.model):
        found.append(Doubt("layers with a window keep less of a request", low=value))
    return found


def cpu_blocks(basis: Basis, figure: Figure) -> Prediction | Silence:
    """Blocks of host memory: the swap space by the bytes of a block, exactly."""
    if basis.model is None:
        return UNNAMED
    if basis.settings.device == "hpu":
        return Silence("an HPU keeps no blocks in host memory")
    part = max(basis.stages, key=lambda one: one.layers)
    each = token_bytes(basis, part)
    if isinstance(each, Silence):
        return each
    swap = basis.settings.swap_gib
    size = DEFAULT_SWAP_GIB if swap is None else swap
    per_block = basis.block_tokens * each
    value = floor(size * GIB / per_block)
    doubts = list(basis.doubts)
    if swap is None and _some_swap(figure.value, per_block):
        doubts.insert(0, Doubt("another whole number of GiB of swap space would give it"))
    said = "said" if swap is not None else "by default"
    formula = (
        f"{size:g} GiB of swap space ({said}) by the bytes of a {basis.block_tokens}-token block, whole blocks"
    )
    return Prediction(value, formula, value, value, tuple(doubts))


def _some_swap(blocks: float, per_block: float) -> bool:
    """Whether a whole number of GiB of swap holds just that many blocks."""
    size = ceil(blocks * per_block / GIB)
    return size <= 1024 and floor(size * GIB / per_block) == blocks


def concurrency(basis: Basis, figure: Figure, tokens: int | None) -> Prediction | Silence:
    """Requests of full length that fit, from the count of tokens the engine has just printed.

    V0: blocks · 16 / length. V1: blocks / ⌈length / 16⌉, and in its first releases as V0.
    """
    length = figure.tokens or 0
    if tokens is None or length <= 0:
        return Silence("the log does not print the tokens it is counted from")
    block = basis.block_tokens if tokens % basis.block_tokens == 0 else BLOCK_TOKENS
    plain, whole = tokens / length, tokens // block / ceil(length / block)
    prefers_whole = basis.settings.v1 is not False
    fits = [value for value in (whole, plain) if abs(value - figure.value) <= figure.step / 2 + 1e-9]
    value = (fits[0] if fits else whole) if prefers_whole else plain
    words = (
        f"blocks by the {ceil(length / block)} that a request takes" if value == whole else "tokens by the length"
    )
    doubts = list(basis.doubts)
    if basis.model is None or _windowed(basis.model):
        doubts.append(Doubt("layers of another kind, or with a window, keep less of a request"))
    low, high = _within(value, figure.step)
    return Prediction(value, f"{tokens:,} tokens: {words} of {length:,} tokens", low, high, tuple(doubts))


def _windowed(spec: ModelSpec) -> bool:
    """Whether some layers see only a window: gpt-oss and Gemma, which a shape alone does not tell."""
    return spec.attention_sinks or spec.key.startswith("gemma-")


def cache_size(basis: Basis, figure: Figure) -> Prediction | Silence:
    """A cache's bytes: its tokens, a page more in SGLang, by the bytes of a token; K and V are half of it each."""
    if basis.model is None:
        return UNNAMED
    if figure.tokens is None:
        return Silence("the line does not say for how many tokens")
    part = max(basis.stages, key=lambda one: one.layers)
    each = token_bytes(basis, part, figure.dtype)
    if isinstance(each, Silence):
        return each
    page = (basis.settings.page_size or 1) if figure.engine == "sglang" else 0
    halves = 2 if figure.kind in ("k", "v") else 1
    value = (figure.tokens + page) * each / halves / GIB
    doubts = [*_trt_doubts(basis, figure), *basis.doubts]
    formula = f"{figure.tokens:,} tokens by {each / halves:,.0f} bytes"
    return Prediction(value, formula, *_within(value, figure.step), tuple(doubts))


def bytes_per_token(basis: Basis, figure: Figure) -> Prediction | Silence:
    """Bytes a token takes on a rank."""
    if basis.model is None:
        return UNNAMED
    part = max(basis.stages, key=lambda one: one.layers)
    each = token_bytes(basis, part, figure.dtype)
    if isinstance(each, Silence):
        return each
    formula = (
        "2 · layers · kv heads of the rank · head_dim · width" if not basis.model.mla else "one latent row a layer"
    )
    return Prediction(each, formula, *_within(each, figure.step), (*_trt_doubts(basis, figure), *basis.doubts))


def _trt_doubts(basis: Basis, figure: Figure) -> list[Doubt]:
    if figure.engine == "tensorrt-llm" and basis.settings.kv_dtype is None:
        return (
            [Doubt("TensorRT-LLM does not print the width of its cache", high=figure.value)]
            if _halved(basis, figure)
            else []
        )
    return []


def _halved(basis: Basis, figure: Figure) -> bool:
    """Whether an 8-bit cache would give the figure."""
    part = max(basis.stages, key=lambda one: one.layers)
    each = token_bytes(basis, part)
    if isinstance(each, Silence):
        return False
    expected = each / 2 if figure.quantity == "bytes_per_token" else (figure.tokens or 0) * each / 2 / GIB
    return isclose(figure.value, expected, rel_tol=2 * TOLERANCE)


def same_count(value: int, formula: str) -> Prediction:
    """A count the engine prints twice, or another count of its own times a whole number."""
    return Prediction(value, formula, value, value)


def _within(value: float, step: float) -> tuple[float, float]:
    """Half a percent either way, or half of the last digit printed where that is more."""
    slack = max(TOLERANCE * abs(value), step / 2 * (1 + 1e-9))
    return value - slack, value + slack


def refusal(basis: Basis) -> Silence | None:
    """Why the sizes do not suit the model, if they do not: heads that do not divide, more stages than layers."""
    if basis.model is None:
        return None
    try:
        rank_tensors(basis.model, basis.sizes.tp_size, basis.stages[0], basis.weight_format or "bf16")
    except ShardlabError as error:
        return Silence(str(error))
    return None
