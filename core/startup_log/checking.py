"""One run's figures, each beside its prediction.

What a figure is predicted from was printed before it: a count of tokens comes from the memory that the ranks had
just said they had left, a concurrency from the count before it. An engine that restarts prints it all again, so
the figures are taken in starts, each with its own memory.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace

from core.errors import Remark, ShardlabError, remark
from core.startup_log import predict_cache
from core.startup_log.basis import Basis, same_count
from core.startup_log.lines import masked
from core.startup_log.predict_weights import weights
from core.startup_log.records import Check, Doubt, Figure, Outcome, Prediction, UnpredictedError, Verdict
from core.startup_log.starts import ByLine, Pair, Share, Start, starts

_SHOWN = 600
_OF_NO_RANK = ("tokens", "blocks", "cpu", "concurrency", "initialised")


@dataclass(frozen=True)
class _Pools:
    """What says how many tokens a run's caches were allocated for: allocations, and counts of tokens."""

    made: ByLine
    counts: ByLine


def checks(basis: Basis) -> list[Check]:
    """Every figure of a run, checked, in the order of its lines."""
    drafts = _drafts(basis)
    own = [one for one in basis.run.figures if id(one) not in drafts]
    made = [
        one
        for one in own
        if one.kind == "pool_bytes" or (one.kind in ("k", "kv", "pool") and one.tokens is not None)
    ]
    pools = _Pools(ByLine(tuple(made)), ByLine(tuple(one for one in own if one.kind == "pool")))
    refused = basis.refusal()
    results = []
    for start in starts(basis.run.printed):
        for figure in start.figures:
            shown = _per_token(figure, pools) if figure.kind == "pool_bytes" else figure
            if shown is None:
                continue
            if id(figure) in drafts:
                outcome: Outcome = remark("startup_log.draft_model")
            elif refused is not None and figure.kind != "concurrency":
                outcome = refused
            else:
                outcome = _outcome(basis, start, shown, pools)
            results.append(_check(basis, shown, outcome))
    return results


def _drafts(basis: Basis) -> set[int]:
    """SGLang's figures of a draft model: weights loaded second, and each cache but a rank's first once they are.

    Releases load the draft before or after they allocate the model's own cache, which comes first either way.
    Where no weights are printed, a rank's second cache is the draft's: of as many tokens, and smaller.
    """
    main: str | None = None
    loaded: dict[str, int] = {}
    caches: dict[str, Figure] = {}
    drafts = set()
    for figure in basis.run.figures:
        if figure.engine != "sglang" or figure.kind not in ("free_memory", "k", "v", "kv"):
            continue
        speaker = figure.line.speaker
        if figure.kind == "free_memory":
            kind = figure.line.text.partition("type=")[2].partition(",")[0]
            main = main or kind
            again = kind == main and not (basis.settings.draft and loaded.get(speaker) == 1)
            loaded[speaker] = 1 if again else 2
            if again:  # another start
                caches.pop(speaker, None)
            else:
                drafts.add(id(figure))
            continue
        first = caches.setdefault(speaker, figure)
        smaller = main is None and figure.tokens == first.tokens and figure.value < first.value
        if first.line.number != figure.line.number and (loaded.get(speaker) == 2 or smaller):
            drafts.add(id(figure))
    return drafts


def _outcome(basis: Basis, start: Start, figure: Figure, pools: _Pools) -> Outcome:
    """The prediction of one figure, or why there is none: a refusal of core's too."""
    doubts = []
    try:
        outcome = _predicted(basis, start, figure, pools)
        for layout, settings in basis.layouts if figure.kind in _OF_NO_RANK else ():
            other = _predicted(replace(basis, settings=settings), start, figure, pools)
            doubts.append(Doubt(remark("startup_log.other_layout", layout=layout), other.low, other.high))
    except UnpredictedError as unpredicted:
        return unpredicted.reason
    except ShardlabError as error:
        return remark("startup_log.refusal", reason=error.remark)
    return replace(outcome, doubts=(*doubts, *outcome.doubts))


def _predicted(basis: Basis, start: Start, figure: Figure, pools: _Pools) -> Prediction:
    if figure.quantity == "weights_gib":
        return weights(basis, figure, basis.rank_of(figure.line)[1])
    if figure.quantity == "cpu_blocks":
        return predict_cache.cpu_blocks(basis, figure)
    if figure.quantity == "max_concurrency":
        return predict_cache.concurrency(basis, figure, _counted(basis, start, figure))
    if figure.quantity == "state_gib":
        return predict_cache.states(basis, figure)
    if figure.quantity == "kv_size_gib":
        # SGLang once printed the tokens on a line of their own, after it
        after = pools.counts.after(figure.line) if figure.tokens is None else None
        return predict_cache.cache_size(basis, replace(figure, tokens=int(after.value)) if after else figure)
    if figure.quantity == "bytes_per_token":
        return predict_cache.bytes_per_token(basis, figure)
    if figure.kind == "pool":
        return _pool(basis, figure, pools)
    if figure.kind == "initialised" and start.tokens:
        return _initialised(basis, start)
    return _from_memory(basis, start, figure)


def _initialised(basis: Basis, start: Start) -> Prediction:
    """Blocks of the rank that has fewest. Where ranks print nothing, one of them may have fewer."""
    fewest, block = start.fewest, basis.spanned_tokens
    count = same_count(fewest // block, remark("startup_log.tokens_in_blocks", tokens=fewest, block=block))
    unseen = basis.world_size - max(len(start.left), len(start.tokens))
    doubts = [Doubt(remark("startup_log.ranks_with_fewer", ranks=unseen), high=count.value)] if unseen > 0 else []
    if basis.windowed:
        doubts.append(Doubt(remark("startup_log.windows_have_blocks"), low=count.value))
    return replace(count, doubts=tuple(doubts))


def _from_memory(basis: Basis, start: Start, figure: Figure) -> Prediction:
    """A count from the memory it is made of: all ranks', or its own rank's where each rank prints its count.

    Ranks count in their order. Where the log does not tell whose memory is whose, the nearest is a count's own.
    """
    if basis.settings.blocks_asked is not None:
        return predict_cache.asked(basis, figure, basis.settings.blocks_asked)
    share, world = start.share(basis, figure.line), basis.world_size
    seen = len(share.pairs)
    hidden = max(0, world - seen)
    if not seen or figure.kind != "tokens" or world == 1 or len(share.tokens) < 2:
        return predict_cache.from_memory(basis, figure, share.extremes, seen, hidden)
    if len(share.by_rank) == len(share.tokens) == world:
        mine = share.by_rank[share.tokens[id(figure)]]
        return predict_cache.from_memory(basis, figure, (mine,), 1, 0)
    outcomes = [predict_cache.from_memory(basis, figure, (p,), 1, hidden) for p in _nearest(basis, share, figure)]
    return min(outcomes, key=lambda one: abs(one.value - figure.value))


def _nearest(basis: Basis, share: Share, figure: Figure) -> tuple[Pair, ...]:
    """The memories that come next to a count, from below and from above."""
    if not basis.stages:
        return share.pairs[:1]
    whole = basis.stages[0]
    each = predict_cache.token_bytes(basis, whole)
    at = bisect_left(share.by_size, figure.value * each / whole.layers, key=lambda held: held[0])
    return tuple(pair for _, pair in share.by_size[max(0, at - 1) : at + 1])


def _counted(basis: Basis, start: Start, figure: Figure) -> int | None:
    """The tokens a concurrency is printed for: the count just before it."""
    before = start.share(basis, figure.line).counts.before(figure.line)
    if before is None:
        return None
    return int(before.value) * (basis.block_tokens if before.kind == "blocks" else 1)


def _pool(basis: Basis, figure: Figure, pools: _Pools) -> Prediction:
    """Tokens of a pool, from the line before it that allocates it."""
    made = pools.made.before(figure.line)
    if figure.engine == "sglang" and basis.windowed:  # layers with a window have a cache and a count of their own
        made = next((one for one in pools.made.figures if one.tokens == figure.value), made)
    if made is not None and made.tokens is not None and figure.engine == "sglang":
        return same_count(made.tokens, remark("startup_log.tokens_allocated"))
    if made is None or made.kind != "pool_bytes":
        raise UnpredictedError(remark("startup_log.nothing_counted_from"))
    each = predict_cache.token_bytes(basis, engine_dtype=figure.dtype)
    formula = remark("startup_log.pool_by_token", bytes=round(made.value), token_bytes=round(each))
    return same_count(int(made.value // each), formula)


def _per_token(figure: Figure, pools: _Pools) -> Figure | None:
    """An allocation in bytes as bytes a token, by the count of tokens printed beside it; None without one."""
    count = next((one.value for one in pools.counts.figures if one.value), None)
    return replace(figure, value=figure.value / count) if count else None


def _check(basis: Basis, figure: Figure, outcome: Outcome) -> Check:
    """A figure and its prediction as a check. A count for the whole engine is no rank's."""
    rank = None if figure.kind in _OF_NO_RANK else basis.rank_of(figure.line)[0]
    whole = figure.step >= 1 and float(figure.value).is_integer()
    logged = int(figure.value) if whole else figure.value
    verdict, formula = _verdict(figure, outcome)
    predicted = None if isinstance(outcome, Remark) or verdict == "unexplained" else outcome.value
    residual = None if predicted is None else _residual(figure.value, predicted)
    text, line = masked(figure.line.text[:_SHOWN]), figure.line.number
    return Check(
        figure.quantity, rank, logged, predicted, residual, verdict, line, formula, text, figure.line.service
    )


def _verdict(figure: Figure, outcome: Outcome) -> tuple[Verdict, Remark]:
    """The verdict, and the formula or the reason that goes with it."""
    if isinstance(outcome, Remark):
        return "unexplained", outcome
    if outcome.low <= figure.value <= outcome.high:
        return "ok", outcome.formula
    for doubt in outcome.doubts:
        if doubt.low <= figure.value <= doubt.high:
            return "unexplained", doubt.reason
    return "off", outcome.formula


def _residual(logged: float, predicted: float) -> float:
    """How far the log is from the prediction, as a fraction of it; of a prediction of nothing, the log itself."""
    return (logged - predicted) / predicted if predicted else float(logged)
