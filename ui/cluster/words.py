"""The room's ring in words: whom all wait for, what the rounds took, and what a slow rank cost."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from core.course.cluster.standing import WAIT_S, Run, Standing, fitted
from runtime.prose import said

NAMED = 4
"""How many ranks a line has room to name."""


def named(ranks: Sequence[int]) -> str:
    """Ranks by name, the first few of many."""
    return ", ".join(f"r{rank}" for rank in ranks[:NAMED]) + (" …" if len(ranks) > NAMED else "")


def told(standing: Standing) -> str:
    """How the ring stands, in a sentence or two."""
    ranks = len(standing.ranks)
    if standing.is_done:
        return said("cluster", "told.done", standing, all=ranks, total=standing.ranks[0].total)
    moving = sum(one.has_move for one in standing.ranks)
    name = "one" if moving == 1 else "all" if moving == ranks else "some"
    lines = [said("cluster", f"told.{name}", movers=named(standing.movers), waiting=ranks - moving)]
    if standing.slow_rank is not None:
        lines.append(said("cluster", "told.slow", standing, wait_s=WAIT_S))
    silent = [rank for rank, one in enumerate(standing.ranks) if one.is_silent]
    if silent:
        lines.append(said("cluster", "told.silent", silent=named(silent)))
    return " ".join(lines)


def reading(runs: Sequence[Run]) -> str:
    return "time.fitted" if fitted(runs) else "time.one_size"


def notes(runs: Sequence[Run]) -> list[str]:
    slow = _slow(runs) is not None and fitted(runs) is not None
    return ["time.counted", *(["time.slow"] if slow else []), "time.slowest"]


def fields(runs: Sequence[Run]) -> Mapping[str, object]:
    if not runs:
        return {}
    fit, last, slow = fitted(runs), runs[-1], _slow(runs)
    worded: dict[str, object] = {
        "last": last,
        "rounds": len(last.rounds_s),
        "round_s": median(last.rounds_s),
        "slowest_s": last.ranks_s[last.slowest_rank],
        "mean_s": fmean(last.ranks_s),
        "fit": fit,
    }
    if fit:
        worded["error"] = round(fit.median_relative_error, 3)
    if fit and slow:
        worded |= {
            "slow": slow,
            "others": slow.ranks - 1,
            "wait_s": WAIT_S,
            "without_s": fit.ring_s(slow.ranks, slow.numbers),
            "envelope_s": fit.ring_s(slow.ranks, slow.numbers, WAIT_S),
            "cost_s": slow.total_s - fit.ring_s(slow.ranks, slow.numbers),
        }
    return worded


def _slow(runs: Sequence[Run]) -> Run | None:
    """The last ring in which somebody was told to be slow."""
    return next((run for run in reversed(runs) if run.slow_rank is not None), None)
