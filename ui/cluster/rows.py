"""What the rounds of a room's rings have been, over what α + n/β says of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.cluster.rounds import RoundFit, fit_rounds
from core.cluster.standing import WAIT_S, Run
from runtime.prose import said


@dataclass(frozen=True)
class Round:
    """One measured round, by its place among all."""

    position: float
    took_s: float


@dataclass(frozen=True)
class Band:
    """The rounds of one ring, and what the fit says of each of them: α, then n/β, then what a slow rank waits."""

    begins: float
    ends: float
    middle: float
    latency_s: float
    sent_s: float
    waited_s: float
    in_words: str
    total: str
    zero: float = 0.0


@dataclass(frozen=True)
class Passed:
    """One ring, for a table."""

    ranks: int
    numbers: int
    rounds: int
    slow_rank: str
    measured_s: float
    modelled_s: float | None


def fitted(runs: Sequence[Run]) -> RoundFit | None:
    """The fit over all rounds in which nobody was told to be slow."""
    return fit_rounds([(run.numbers, took_s) for run in runs if run.slow_rank is None for took_s in run.rounds_s])


def wait_s(run: Run) -> float:
    """What somebody was told to wait in each round."""
    return 0.0 if run.slow_rank is None else WAIT_S


def rounds(runs: Sequence[Run]) -> list[Round]:
    """Every round, one ring after another."""
    took_s = [took_s for run in runs for took_s in run.rounds_s]
    return [Round(index + 0.5, one) for index, one in enumerate(took_s)]


def bands(runs: Sequence[Run]) -> list[Band]:
    """A band for each ring, flat on the axis where nothing can be fitted yet."""
    fit, drawn, begins = fitted(runs), [], 0
    for run in runs:
        ends = begins + len(run.rounds_s)
        alpha_s = fit.alpha_s if fit else 0.0
        sent_s = fit.round_s(run.numbers) if fit else 0.0
        waited_s = sent_s + wait_s(run) if fit else 0.0
        name = "band" if run.slow_rank is None else "band_slow"
        words = said("cluster", f"says.{name}", n=run.numbers, rank=run.slow_rank)
        total = said("cluster", "says.total", total_s=run.total_s)
        drawn.append(Band(begins, ends, (begins + ends) / 2, alpha_s, sent_s, waited_s, words, total))
        begins = ends
    return drawn


def table(runs: Sequence[Run]) -> list[Passed]:
    """Each ring with its measured time and the fit's."""
    fit = fitted(runs)
    return [
        Passed(
            run.ranks,
            run.numbers,
            len(run.rounds_s),
            "" if run.slow_rank is None else f"r{run.slow_rank}",
            run.total_s,
            fit.ring_s(run.ranks, run.numbers, wait_s(run)) if fit else None,
        )
        for run in runs
    ]
