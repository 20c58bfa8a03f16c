"""One run's figures, each beside its prediction.

What a figure is predicted from was printed before it: a count of tokens comes from the memory that the ranks had
just said they had left, a concurrency from the count before it. An engine that restarts prints it all again, so
the figures are taken in starts, each with its own memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from core.errors import ShardlabError
from core.startup_log import predict_cache
from core.startup_log.basis import Doubt, Prediction, Silence, refusal, same_count
from core.startup_log.masking import masked
from core.startup_log.predict_weights import weights
from core.startup_log.records import Check, Figure, LogLine, Memory, Settings, Verdict
from core.startup_log.runs import Scene

_SHOWN = 600
_DATA_RANK = re.compile(r"DP_?(\d{1,4})")
_OF_NO_RANK = ("tokens", "blocks", "cpu", "concurrency", "initialised")
_DRAFT = Silence("a second model on the rank, a draft: its config is not in the log")


@dataclass
class _Start:
    """The figures from one measure of memory to the next, and the memory they are counted from."""

    left: list[Memory] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Figure]:
        return [figure for figure in self.figures if figure.kind in kinds]


def checks(scene: Scene) -> list[Check]:
    """Every figure of a run, checked, in the order of its lines."""
    drafts = _drafts(scene)
    pools = _pools(scene)
    refused = refusal(scene.basis)
    found = []
    for start in _starts(scene):
        for figure in start.figures:
            shown = _per_token(figure, pools) if figure.kind == "pool_bytes" else figure
            if id(figure) in drafts:
                outcome: Prediction | Silence = _DRAFT
            elif refused is not None and figure.kind != "concurrency":
                outcome = refused
            else:
                outcome = _outcome(scene, start, shown, pools)
            found.append(_check(scene, shown, outcome))
    return found


def _starts(scene: Scene) -> Iterator[_Start]:
    """The run's figures, cut where memory is measured again after counts were made of it.

    A line that Ray held back, to print once for all that repeat it, is of the counts before it.
    """
    start = _Start()
    for item in scene.run.found:
        if isinstance(item, Figure):
            start.figures.append(item)
        else:
            if start.of("tokens", "blocks") and "across cluster]" not in item.line.text:
                yield start
                start = _Start()
            start.left.append(item)
    yield start


def _drafts(scene: Scene) -> set[int]:
    """SGLang's figures of a draft model: weights of another type, and the cache allocated after them."""
    main, latest, found = None, {}, set()
    for figure in scene.run.figures:
        if figure.engine != "sglang" or figure.kind not in ("free_memory", "k", "v", "kv"):
            continue
        speaker = figure.line.speaker
        if figure.kind == "free_memory":
            kind = figure.line.text.partition("type=")[2].partition(",")[0]
            main = main or kind
            latest[speaker] = kind
        if main is not None and latest.get(speaker, main) != main:
            found.add(id(figure))
    return found


def _pools(scene: Scene) -> tuple[Figure, ...]:
    """The figures that say how many tokens a cache was allocated for, drafts' left out."""
    drafts = _drafts(scene)
    wanted = ("k", "kv", "pool", "pool_bytes")
    return tuple(one for one in scene.run.figures if one.kind in wanted and id(one) not in drafts)


def _outcome(scene: Scene, start: _Start, figure: Figure, pools: tuple[Figure, ...]) -> Prediction | Silence:
    """The prediction of one figure; a refusal of core's is the reason why there is none."""
    try:
        found = _predicted(scene, start, figure, pools)
        if isinstance(found, Silence) or figure.kind not in _OF_NO_RANK:
            return found
        others = [
            (layout, _predicted(_kept_so(scene, said), start, figure, pools))
            for layout, said in scene.basis.layouts
        ]
    except ShardlabError as error:
        return Silence(str(error))
    doubts = [
        Doubt(f"{layout} would give it; the log does not say how its cache is kept", other.low, other.high)
        for layout, other in others
        if isinstance(other, Prediction)
    ]
    return replace(found, doubts=(*doubts, *found.doubts))


def _kept_so(scene: Scene, settings: Settings) -> Scene:
    """The scene, had its log said so much more."""
    return replace(scene, basis=replace(scene.basis, settings=settings))


def _predicted(scene: Scene, start: _Start, figure: Figure, pools: tuple[Figure, ...]) -> Prediction | Silence:
    basis = scene.basis
    if figure.quantity == "weights_gib":
        return weights(basis, figure, scene.seat(figure.line)[1])
    if figure.quantity == "cpu_blocks":
        return predict_cache.cpu_blocks(basis, figure)
    if figure.quantity == "max_concurrency":
        return predict_cache.concurrency(basis, figure, _counted(scene, start, figure))
    if figure.quantity == "kv_size_gib":
        return predict_cache.cache_size(basis, _with_tokens(figure, pools))
    if figure.quantity == "bytes_per_token":
        return predict_cache.bytes_per_token(basis, figure)
    if figure.kind == "pool":
        return _pool(scene, figure, pools)
    if figure.kind == "initialised" and start.of("tokens"):
        return _initialised(scene, start)
    return _from_memory(scene, start, figure)


def _initialised(scene: Scene, start: _Start) -> Prediction:
    """Blocks of the rank that has fewest. Where ranks print nothing, one of them may have fewer."""
    fewest, block = min(int(one.value) for one in start.of("tokens")), scene.basis.spanned_tokens
    found = same_count(fewest // block, f"{fewest:,} tokens in blocks of {block}")
    unseen = scene.world_size - max(len(start.left), len(start.of("tokens")))
    doubts = [Doubt(f"{unseen} more ranks may have fewer", high=found.value)] if unseen > 0 else []
    if scene.basis.model is None or predict_cache.windowed(scene.basis.model):
        doubts.append(Doubt("layers of another kind, or with a window, have blocks of their own", low=found.value))
    return replace(found, doubts=tuple(doubts))


def _from_memory(scene: Scene, start: _Start, figure: Figure) -> Prediction | Silence:
    """A count from the memory it is made of: all ranks', or its own rank's where each rank prints its count.

    Ranks count in their order. Where the log does not tell whose memory is whose, the nearest is a count's own.
    """
    left = [memory for memory in start.left if _same_engine(memory.line, figure.line)]
    seated = [(memory, *scene.seat(memory.line)) for memory in left]
    pairs = tuple((memory, stage) for memory, _, stage in seated)
    counts = [one for one in start.of("tokens") if _same_engine(one.line, figure.line)]
    world = scene.world_size
    hidden = max(0, world - len(left))
    if not left or figure.kind != "tokens" or world == 1 or len(counts) < 2:
        return predict_cache.from_memory(scene.basis, figure, pairs, hidden)
    known = sorted((rank, index) for index, (_, rank, _) in enumerate(seated) if rank is not None)
    if len(known) == len(left) == len(counts) == world:
        return predict_cache.from_memory(scene.basis, figure, (pairs[known[counts.index(figure)][1]],), 0)
    found = [predict_cache.from_memory(scene.basis, figure, (pair,), hidden) for pair in pairs]
    near = [one for one in found if isinstance(one, Prediction)]
    return min(near, key=lambda one: abs(one.value - figure.value)) if near else found[0]


def _same_engine(one: LogLine, other: LogLine) -> bool:
    """Whether two lines may be of one engine, of several that run side by side (data parallelism)."""
    first, second = _DATA_RANK.search(one.speaker), _DATA_RANK.search(other.speaker)
    return first is None or second is None or first.group(1) == second.group(1)


def _counted(scene: Scene, start: _Start, figure: Figure) -> int | None:
    """The tokens a concurrency is printed for: the count just before it."""
    counts = [one for one in start.of("tokens", "blocks") if _same_engine(one.line, figure.line)]
    before = [one for one in counts if one.line.number <= figure.line.number]
    if not before:
        return None
    return int(before[-1].value) * (scene.basis.block_tokens if before[-1].kind == "blocks" else 1)


def _pool(scene: Scene, figure: Figure, pools: tuple[Figure, ...]) -> Prediction | Silence:
    """Tokens of a pool, from the line before it that allocates it."""
    for other in reversed([one for one in pools if one.line.number <= figure.line.number]):
        if figure.engine == "sglang" and other.tokens is not None:
            return same_count(other.tokens, "the tokens its cache was allocated for")
        if other.kind == "pool_bytes":
            each = predict_cache.bytes_per_token(scene.basis, figure)
            if isinstance(each, Silence):
                return each
            words = f"{other.value:,.0f} bytes by {each.value:,.0f} a token"
            return same_count(int(other.value // each.value), words)
    return Silence("the log does not print what it is counted from")


def _with_tokens(figure: Figure, pools: tuple[Figure, ...]) -> Figure:
    """A cache with the tokens it is for, which SGLang once printed on a line of their own, after it."""
    if figure.tokens is not None:
        return figure
    after = [one for one in pools if one.kind == "pool" and one.line.number > figure.line.number]
    return replace(figure, tokens=int(after[0].value)) if after else figure


def _per_token(figure: Figure, pools: tuple[Figure, ...]) -> Figure:
    """An allocation in bytes as bytes a token, by the count of tokens printed beside it."""
    counts = [one.value for one in pools if one.kind == "pool" and one.value]
    return replace(figure, value=figure.value / counts[0]) if counts else figure


def _check(scene: Scene, figure: Figure, outcome: Prediction | Silence) -> Check:
    """A figure and its prediction as a check. A count for the whole engine is no rank's."""
    rank = None if figure.kind in _OF_NO_RANK else scene.seat(figure.line)[0]
    whole = figure.step >= 1 and float(figure.value).is_integer()
    logged = int(figure.value) if whole else figure.value
    verdict, words = _verdict(figure, outcome)
    predicted = None if isinstance(outcome, Silence) or verdict == "unexplained" else outcome.value
    residual = None if predicted is None else _residual(figure.value, predicted)
    text, line = _shown(figure.line), figure.line.number
    return Check(figure.quantity, rank, logged, predicted, residual, verdict, line, words, text)


def _verdict(figure: Figure, outcome: Prediction | Silence) -> tuple[Verdict, str]:
    """The verdict, and the formula or the reason that goes with it."""
    if isinstance(outcome, Silence):
        return "unexplained", outcome.reason
    if outcome.low <= figure.value <= outcome.high:
        return "ok", outcome.formula
    for doubt in outcome.doubts:
        if doubt.low <= figure.value <= doubt.high:
            return "unexplained", doubt.reason
    return "off", outcome.formula


def _residual(logged: float, predicted: float) -> float:
    """How far the log is from the prediction, as a fraction of it; of a prediction of nothing, the log itself."""
    return (logged - predicted) / predicted if predicted else float(logged)


def _shown(line: LogLine) -> str:
    return masked(line.text[:_SHOWN])
