"""One run's figures, each beside its prediction.

What a figure is predicted from was printed before it: a count of tokens comes from the memory that the ranks had
just said they had left, a concurrency from the count before it. An engine that restarts prints it all again, so
the figures are taken in starts, each with its own memory.
"""

from bisect import bisect_left
from dataclasses import replace

from core.errors import ShardlabError
from core.startup_log import predict_cache
from core.startup_log.basis import Doubt, Prediction, Silence, refusal, same_count, windowed
from core.startup_log.masking import masked
from core.startup_log.predict_weights import weights
from core.startup_log.records import Check, Figure, LogLine, Settings, Verdict
from core.startup_log.runs import Scene
from core.startup_log.starts import Pair, Pools, Share, Start, starts

_SHOWN = 600
_OF_NO_RANK = ("tokens", "blocks", "cpu", "concurrency", "initialised")
_DRAFT = Silence("a second model on the rank, a draft: its config is not in the log")


def checks(scene: Scene) -> list[Check]:
    """Every figure of a run, checked, in the order of its lines."""
    drafts = _drafts(scene)
    pools = _pools(scene)
    refused = refusal(scene.basis)
    found = []
    for start in starts(scene):
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


def _pools(scene: Scene) -> Pools:
    """The figures that say how many tokens a cache was allocated for, drafts' left out."""
    drafts = _drafts(scene)
    wanted = ("k", "kv", "pool", "pool_bytes")
    return Pools(tuple(one for one in scene.run.figures if one.kind in wanted and id(one) not in drafts))


def _outcome(scene: Scene, start: Start, figure: Figure, pools: Pools) -> Prediction | Silence:
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


def _predicted(scene: Scene, start: Start, figure: Figure, pools: Pools) -> Prediction | Silence:
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
    if figure.kind == "initialised" and start.tokens:
        return _initialised(scene, start)
    return _from_memory(scene, start, figure)


def _initialised(scene: Scene, start: Start) -> Prediction:
    """Blocks of the rank that has fewest. Where ranks print nothing, one of them may have fewer."""
    fewest, block = start.fewest, scene.basis.spanned_tokens
    found = same_count(fewest // block, f"{fewest:,} tokens in blocks of {block}")
    unseen = scene.world_size - max(len(start.left), len(start.tokens))
    doubts = [Doubt(f"{unseen} more ranks may have fewer", high=found.value)] if unseen > 0 else []
    if scene.basis.model is None or windowed(scene.basis.model):
        doubts.append(Doubt("layers of another kind, or with a window, have blocks of their own", low=found.value))
    return replace(found, doubts=tuple(doubts))


def _from_memory(scene: Scene, start: Start, figure: Figure) -> Prediction | Silence:
    """A count from the memory it is made of: all ranks', or its own rank's where each rank prints its count.

    Ranks count in their order. Where the log does not tell whose memory is whose, the nearest is a count's own.
    """
    share, world = start.share(scene, figure.line), scene.world_size
    seen = len(share.pairs)
    hidden = max(0, world - seen)
    if not seen or figure.kind != "tokens" or world == 1 or len(share.tokens) < 2:
        return predict_cache.from_memory(scene.basis, figure, share.extremes, seen, hidden)
    if len(share.by_rank) == len(share.tokens) == world:
        own = share.by_rank[share.tokens[id(figure)]]
        return predict_cache.from_memory(scene.basis, figure, (own,), 1, 0)
    found = [
        predict_cache.from_memory(scene.basis, figure, (pair,), 1, hidden)
        for pair in _nearest(scene, share, figure)
    ]
    near = [one for one in found if isinstance(one, Prediction)]
    return min(near, key=lambda one: abs(one.value - figure.value)) if near else found[0]


def _nearest(scene: Scene, share: Share, figure: Figure) -> tuple[Pair, ...]:
    """The memories that come next to a count, from below and from above."""
    basis = scene.basis
    whole = basis.stages[0] if basis.stages else None
    each = predict_cache.token_bytes(basis, whole) if whole else 0.0
    if whole is None or isinstance(each, Silence):
        return share.pairs[:1]
    at = bisect_left(share.by_size, figure.value * each / whole.layers, key=lambda held: held[0])
    return tuple(pair for _, pair in share.by_size[max(0, at - 1) : at + 1])


def _counted(scene: Scene, start: Start, figure: Figure) -> int | None:
    """The tokens a concurrency is printed for: the count just before it."""
    before = start.share(scene, figure.line).before(figure.line)
    if before is None:
        return None
    return int(before.value) * (scene.basis.block_tokens if before.kind == "blocks" else 1)


def _pool(scene: Scene, figure: Figure, pools: Pools) -> Prediction | Silence:
    """Tokens of a pool, from the line before it that allocates it."""
    made = pools.made_before(figure.line)
    if made is not None and made.tokens is not None and figure.engine == "sglang":
        return same_count(made.tokens, "the tokens its cache was allocated for")
    if made is None or made.kind != "pool_bytes":
        return Silence("the log does not print what it is counted from")
    each = predict_cache.bytes_per_token(scene.basis, figure)
    if isinstance(each, Silence):
        return each
    return same_count(int(made.value // each.value), f"{made.value:,.0f} bytes by {each.value:,.0f} a token")


def _with_tokens(figure: Figure, pools: Pools) -> Figure:
    """A cache with the tokens it is for, which SGLang once printed on a line of their own, after it."""
    after = pools.count_after(figure.line) if figure.tokens is None else None
    return replace(figure, tokens=int(after.value)) if after else figure


def _per_token(figure: Figure, pools: Pools) -> Figure:
    """An allocation in bytes as bytes a token, by the count of tokens printed beside it."""
    count = next((one.value for one in pools.counts if one.value), None)
    return replace(figure, value=figure.value / count) if count else figure


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
