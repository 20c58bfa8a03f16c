"""The cache predicted from the model's config: bytes of a token, and every count that is made of them.

What cannot be predicted raises UnpredictedError, with the reason.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, isclose

from core.errors import remark
from core.models.kv_cache import (
    BLOCK_TOKENS,
    kv_bytes_per_token_per_rank,
    layer_token_bytes,
    state_bytes_per_sequence,
)
from core.models.loaded_weights import Stage
from core.models.parameters import dtype_bytes
from core.startup_log.basis import ROW_BYTES, TOLERANCE, Basis, same_count, within
from core.startup_log.pools import pools, requests
from core.startup_log.records import Doubt, Figure, Memory, Prediction, Settings, UnpredictedError
from core.startup_log.starts import Pair
from core.text.numbers import whole
from core.units import GIB

DEFAULT_SWAP_GIB = 4.0
"""Host memory for swapped blocks where a log does not say. Source: vLLM's --swap-space."""
_HIDDEN_RANK = 0.02
_UP = 1 + 1e-12
_FLOAT_CACHE = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32"}
_PADDED_LATENT_HEAD = 256


def token_bytes(basis: Basis, part: Stage | None = None, engine_dtype: str | None = None) -> float:
    """Bytes a token leaves on one rank of a stage; of the largest, without one.

    2 · layers · kv heads of the rank · head_dim · width; of a latent cache, one row that is whole on every rank
    """
    spec, settings = basis.known_model, basis.settings
    part = part or basis.largest_stage
    dtype = _cache_dtype(engine_dtype or settings.kv_dtype, settings.dtype)
    if dtype is None:
        raise UnpredictedError(remark("startup_log.cache_dtype", dtype=engine_dtype or settings.kv_dtype))
    ranks = basis.attention_ranks
    if spec.mla and _before_latent(settings):
        heads = spec.num_attention_heads / ranks
        return 2 * part.layers * heads * _PADDED_LATENT_HEAD * dtype_bytes(dtype)
    if settings.padded_rows:
        each = kv_bytes_per_token_per_rank(spec, ranks, dtype) / spec.num_hidden_layers
        return ROW_BYTES * ceil(each / ROW_BYTES) * part.layers
    return kv_bytes_per_token_per_rank(spec, ranks, dtype, part.first_layer, part.layers)


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
    if settings.engine != "vllm" or len(parts) < 2 or not all(part.isdecimal() for part in parts[:2]):
        return False
    patch = whole(parts[2]) if len(parts) > 2 and parts[2].isdecimal() else 0
    return (whole(parts[0]), whole(parts[1]), patch) < (0, 7, 1)


def from_memory(basis: Basis, figure: Figure, left: tuple[Pair, ...], seen: int, hidden: int) -> Prediction:
    """Tokens or blocks: the memory that the smallest rank has left, in whole blocks.

    `seen` ranks print theirs, the least and the most of it in `left`; `hidden` ranks print none.
    """
    if not left:
        raise UnpredictedError(remark("startup_log.no_memory_printed"))
    spec, block = basis.known_model, basis.block_tokens
    blocks = [min(counts) for counts in zip(*(_counts(basis, *pair, block) for pair in left), strict=True)]
    if spec.windowed_layers and figure.quantity == "kv_tokens":
        blocks[2] += 1  # pools may hold part of a block more than one of every layer
    low, value, high = _printed(basis, figure, blocks)
    smallest = min(memory.size_gib for memory, _ in left)
    code = "blocks_of_smallest" if seen > 1 else "blocks_of_memory"
    formula = remark(f"startup_log.{code}", left_gib=smallest, ranks=seen, block=block)
    doubts = (*_count_doubts(basis, figure, value, left, hidden), *basis.doubts)
    return Prediction(value, formula, low, high, doubts)


def asked(basis: Basis, figure: Figure, blocks: int) -> Prediction:
    """As many blocks as an argument asks for, of the size that is usual."""
    value = blocks * (basis.spanned_tokens if figure.quantity == "kv_tokens" else 1)
    doubt = Doubt(remark("startup_log.blocks_may_be_added", blocks=blocks))
    return replace(same_count(value, remark("startup_log.blocks_asked")), doubts=(doubt,))


def _printed(basis: Basis, figure: Figure, blocks: Sequence[int]) -> list[int]:
    """What the line prints for each of `blocks`: blocks, their tokens, or those of requests that fill them.

    Where layers of several kinds are in groups, tokens are those of one group's blocks, ⌊blocks / groups⌋ · block.
    Later releases of vLLM print concurrency · length, which is less where a length ends inside a block.
    """
    if figure.quantity != "kv_tokens":
        return list(blocks)
    block, length = basis.spanned_tokens, basis.settings.max_model_len or 0
    laid = pools(basis, length) if length and basis.settings.v1 is not False else []
    filled = [[floor(count * pool.held * length * _UP) for count in blocks] for pool in laid]
    whole = [[floor(count * share * _UP) * block for count in blocks] for share in {1.0, *(p.share for p in laid)}]
    ways = filled if filled and figure.value % block else whole + filled
    return min(ways, key=lambda way: abs(way[1] - figure.value))


def _counts(basis: Basis, memory: Memory, stage: int | None, block: int) -> list[int]:
    """Whole blocks in a memory: at the least, as printed, at the most."""
    each = token_bytes(basis, max(basis.candidate_stages(stage), key=lambda one: one.layers))
    sizes = (memory.size_gib - memory.step / 2, memory.size_gib, memory.size_gib + memory.step / 2)
    return [max(0, floor(size * GIB / (block * each) * _UP)) for size in sizes]


def _count_doubts(basis: Basis, figure: Figure, value: float, left: tuple[Pair, ...], hidden: int) -> list[Doubt]:
    """What a count may differ by. Blocks are the smallest rank's; tokens may be another's, which has more."""
    doubts = []
    if hidden:
        low, high = (value * (1 + sign * _spread(basis, left)) for sign in (-1, 1))
        highest = high if figure.kind == "tokens" else value
        doubts.append(
            Doubt(remark("startup_log.ranks_hidden", hidden=hidden, ranks=basis.world_size), low, highest)
        )
    if "+" in figure.device or "host" in figure.device.lower():
        doubts.append(Doubt(remark("startup_log.host_counted", device=figure.device), low=value))
    if basis.settings.draft:
        doubts.append(Doubt(remark("startup_log.draft_cache"), high=value))
    if basis.settings.kv_dtype in (None, "auto") and basis.quantised:
        doubts.append(Doubt(remark("startup_log.cache_of_checkpoint"), *within(2 * value, figure.step)))
    shared = basis.settings.dcp_size or 1
    if shared > 1 and figure.quantity == "kv_tokens":  # two starts may stand in one text, one of them without
        low, high = within(value / shared, figure.step)
        doubts.append(Doubt(remark("startup_log.context_not_shared", ranks=shared), low, high))
    if basis.settings.adapters:
        doubts.append(Doubt(remark("startup_log.adapters")))
    if basis.settings.offload:
        doubts.append(Doubt(remark("startup_log.offloaded")))
    if basis.compressed:
        doubts.append(Doubt(remark("startup_log.rows_of_kinds")))
    if basis.windowed:
        doubts.append(Doubt(remark("startup_log.windows_keep_less"), low=value))
    if basis.settings.padded_layers:
        doubts.append(Doubt(remark("startup_log.layers_added"), high=value))
    return doubts


def _spread(basis: Basis, left: tuple[Pair, ...]) -> float:
    """How much less than those seen a rank that is not seen may have: a stage that is not, any amount."""
    if basis.sizes.pp_size > len({stage for _, stage in left}):
        return 1.0
    sizes = [memory.size_gib for memory, _ in left]
    return max(_HIDDEN_RANK, 1 - min(sizes) / max(sizes) if max(sizes) > 0 else 0.0)


def cpu_blocks(basis: Basis, figure: Figure) -> Prediction:
    """Blocks of host memory: the swap space by the bytes of a block, exactly."""
    if basis.known_model and basis.settings.device == "hpu":
        raise UnpredictedError(remark("startup_log.no_host_blocks"))
    on_cpu = basis.settings.device == "cpu"  # there the cache itself is in host memory
    swap = basis.settings.host_cache_gib if on_cpu else basis.settings.swap_gib
    what = remark("startup_log.host_cache" if on_cpu else "startup_log.swap_space")
    size = DEFAULT_SWAP_GIB if swap is None else swap
    per_block = basis.block_tokens * token_bytes(basis)
    value = floor(size * GIB / per_block)
    doubts = list(basis.doubts)
    if swap is None and _some_swap(figure.value, per_block):
        doubts.insert(0, Doubt(remark("startup_log.other_swap", what=what)))
    code = "blocks_of_host_default" if swap is None else "blocks_of_host"
    formula = remark(f"startup_log.{code}", size_gib=size, what=what, block=basis.block_tokens)
    return Prediction(value, formula, value, value, tuple(doubts))


def _some_swap(blocks: float, per_block: float) -> bool:
    """Whether a whole number of GiB of swap holds just that many blocks."""
    size = ceil(blocks * per_block / GIB)
    return size <= 1024 and floor(size * GIB / per_block) == blocks


def concurrency(basis: Basis, figure: Figure, tokens: int | None) -> Prediction:
    """Requests of full length that fit, from the count of tokens the engine has just printed.

    V0: blocks · 16 / length. V1: blocks / ⌈length / 16⌉, and in its first releases as V0.
    """
    length = figure.tokens or 0
    if tokens is None or length <= 0:
        raise UnpredictedError(remark("startup_log.no_tokens_printed"))
    block = basis.spanned_tokens if tokens % basis.spanned_tokens == 0 else BLOCK_TOKENS
    plain, whole = tokens / length, tokens // block / ceil(length / block)
    prefers_whole = basis.settings.v1 is not False
    fits = [
        value
        for value in (whole, plain, *requests(basis, tokens, length))
        if abs(value - figure.value) <= figure.step / 2 + 1e-9
    ]
    value = (fits[0] if fits else whole) if prefers_whole else plain
    codes = {whole: "requests_of_blocks", plain: "requests_of_tokens"}
    formula = remark(
        f"startup_log.{codes.get(value, 'requests_of_windows')}",
        tokens=tokens,
        length=length,
        blocks=ceil(length / block),
    )
    doubts = list(basis.doubts)
    if basis.windowed:
        doubts.append(Doubt(remark("startup_log.others_keep_less")))
    known = basis.settings.draft_tokens and basis.settings.draft_method in (None, "mtp")
    if basis.settings.draft and basis.keeps_states and not known:
        doubts.append(Doubt(remark("startup_log.draft_cache")))
    low, high = within(value, figure.step)
    return Prediction(value, formula, low, high, tuple(doubts))


def cache_size(basis: Basis, figure: Figure) -> Prediction:
    """A cache's bytes: its tokens, a page more in SGLang, by the bytes of a token; K and V are half of it each."""
    if basis.known_model and figure.tokens is None:
        raise UnpredictedError(remark("startup_log.no_tokens_said"))
    page = (basis.settings.page_size or 1) if figure.engine == "sglang" else 0
    each = _pool_bytes(basis, figure, page)
    halves = 2 if figure.kind in ("k", "v") else 1
    value = ((figure.tokens or 0) + page) * each / halves / GIB
    rows = [Doubt(remark("startup_log.rows_of_kinds"))] if basis.compressed else []
    doubts = [*rows, *_trt_doubts(basis, figure), *basis.doubts]
    formula = remark("startup_log.tokens_by_bytes", tokens=figure.tokens, token_bytes=round(each / halves))
    return Prediction(value, formula, *within(value, figure.step), tuple(doubts))


def _pool_bytes(basis: Basis, figure: Figure, page: int) -> float:
    """Bytes of a token in the cache of a line. SGLang keeps layers with a window in one of their own.

    Source: sglang/srt/mem_cache/memory_pool.py, SWAKVPool.
    """
    each = token_bytes(basis, engine_dtype=figure.dtype)
    spec = basis.known_model
    if figure.engine != "sglang" or not spec.windowed_layers or spec.windowed_layers == spec.num_hidden_layers:
        return each
    seen = 0.0
    dtype = _cache_dtype(figure.dtype or basis.settings.kv_dtype, basis.settings.dtype) or "bf16"
    for kind, layers in spec.kinds_of():
        if getattr(kind.mixer, "window", 0) > 0:
            seen += layers * layer_token_bytes(kind, basis.attention_ranks, dtype)
    halves = 2 if figure.kind in ("k", "v") else 1
    per_token = figure.value * halves * GIB / ((figure.tokens or 0) + page)
    return min((each, seen, each - seen), key=lambda size: abs(size - per_token))


def states(basis: Basis, figure: Figure) -> Prediction:
    """The states of a rank's layers that keep one, for as many requests as the line says, and a spare one.

    Source: sglang/srt/mem_cache/memory_pool.py, MambaPool.
    """
    if figure.tokens is None or not basis.known_model:
        raise UnpredictedError(remark("startup_log.no_requests_said"))
    part = basis.largest_stage
    each = state_bytes_per_sequence(basis.known_model, basis.attention_ranks, part.first_layer, part.layers)
    if not each:
        raise UnpredictedError(remark("startup_log.no_states"))
    value = (figure.tokens + 1) * each / GIB
    narrow = Doubt(remark("startup_log.states_may_be_narrow"), 0.4 * value, 0.65 * value)
    formula = remark("startup_log.states_of_requests", requests=figure.tokens, state_bytes=round(each))
    return Prediction(value, formula, *within(value, figure.step), (narrow, *basis.doubts))


def bytes_per_token(basis: Basis, figure: Figure) -> Prediction:
    """Bytes a token takes on a rank."""
    each = token_bytes(basis, engine_dtype=figure.dtype)
    formula = remark("startup_log.latent_row" if basis.known_model.mla else "startup_log.keys_and_values", halves=2)
    return Prediction(each, formula, *within(each, figure.step), (*_trt_doubts(basis, figure), *basis.doubts))


def _trt_doubts(basis: Basis, figure: Figure) -> list[Doubt]:
    """Where TensorRT-LLM says no width of the cache, and eight bits would give the figure."""
    if figure.engine != "tensorrt-llm" or basis.settings.kv_dtype is not None:
        return []
    each = token_bytes(basis)
    expected = each / 2 if figure.quantity == "bytes_per_token" else (figure.tokens or 0) * each / 2 / GIB
    halved = isclose(figure.value, expected, rel_tol=2 * TOLERANCE)
    return [Doubt(remark("startup_log.cache_width_unsaid"), high=figure.value)] if halved else []
