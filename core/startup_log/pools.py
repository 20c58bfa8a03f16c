"""How an engine gives a cache's blocks to layers that see all tokens, that see a window, that keep a state."""

from dataclasses import dataclass
from math import ceil

from core.models.kv_cache import layer_token_bytes
from core.specs import ModelSpec, StateSpec
from core.startup_log.basis import Basis

_NEARLY_ALIKE = 1.5


@dataclass(frozen=True)
class Pool:
    """How a cache's blocks are distributed, counted in blocks that hold every layer that keeps rows of tokens.

    A block is of one group of layers: there are `each` times as many, `groups` of them keep a block's tokens, and a
    request of full length takes `taken`.
    """

    each: float
    groups: int
    taken: int

    @property
    def share(self) -> float:
        return self.each / self.groups

    @property
    def held(self) -> float:
        return self.each / self.taken


def pools(basis: Basis, length: int) -> list[Pool]:
    """The pools that a cache of a model's layers may be laid out in; the last is one of every layer.

    Layers of several kinds are put in groups as large as the smallest kind, and a block is of one group: a request
    takes ⌈length / block⌉ for each that sees all, what a window and a step see and a block more for each with a
    window, and one or two for each that keeps a state, and as many more as tokens are drafted ahead. All blocks are
    of as many bytes: a layer whose rows are half as wide as another's (Gemma 4's that see all) has more tokens.
    Source: vllm/v1/core/kv_cache_planning.py, _get_kv_cache_groups_uniform_page_size and
    unify_kv_cache_spec_page_size; kv_cache_interface.py, SlidingWindowSpec and MambaSpec.max_memory_usage_bytes.
    """
    block, step, spec = basis.spanned_tokens, basis.settings.batched_tokens, basis.model
    alone = Pool(1, 1, ceil(length / block))
    if spec is None or basis.settings.v1 is False:
        return [alone]
    states = sum(n for kind, n in spec.kinds_of() if isinstance(kind.mixer, StateSpec))
    seeing = sum(n for kind, n in spec.kinds_of() if kind.mixer is not None) - states
    kinds = [seeing - spec.windowed_layers, spec.windowed_layers, states]
    group = min((count for count in kinds if count), default=0)
    if not group or kinds[1:] == [0, 0] or (kinds[1] and step is None):
        return [alone]
    group = max(kinds) if max(kinds) < _NEARLY_ALIKE * group else group
    groups = [ceil(count / group) for count in kinds]
    full, window = _spans(basis, spec)
    seen = ceil(min(spec.sliding_window - 1 + (step or 0), length) / (block * window)) + 1
    rows = groups[0] * ceil(length / (block * full)) + groups[1] * seen
    each = (kinds[0] / full + kinds[1] / window) / group
    ahead = basis.settings.draft_tokens or 0
    kept = (1 + ahead, 2 + ahead) if states else (0,)
    return [*(Pool(each, sum(groups), rows + groups[2] * held) for held in kept), alone]


def _spans(basis: Basis, spec: ModelSpec) -> tuple[int, int]:
    """Blocks' worth of tokens in a block of a layer that sees all, and of one with a window; 1 of wider rows."""
    widths: dict[bool, set[float]] = {False: set(), True: set()}
    for kind, _ in spec.kinds_of():
        if width := layer_token_bytes(kind, basis.sizes.tp_size):
            widths[getattr(kind.mixer, "window", 0) > 0].add(width)
    if any(len(each) != 1 for each in widths.values()):
        return 1, 1
    (full,), (window,) = widths[False], widths[True]
    if max(full, window) % min(full, window):
        return 1, 1
    return round(max(full, window) / full), round(max(full, window) / window)


def requests(basis: Basis, tokens: int, length: int) -> list[float]:
    """Requests of full length, by each way to lay out. Tokens are a group's: fewer blocks than groups are over."""
    blocks = tokens // basis.spanned_tokens
    laid = pools(basis, length)
    shares = [(blocks * pool.groups + over) / pool.taken for pool in laid for over in range(pool.groups)]
    return [max(blocks * pool.held for pool in laid), *shares]
