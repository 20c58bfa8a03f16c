"""What the rounds of a room's rings have been, over what α + n/β says of them."""

from collections.abc import Sequence

from core.course.cluster.standing import Run, fitted
from runtime.prose import said
from runtime.rows import Row


def rounds(runs: Sequence[Run]) -> list[Row]:
    took_s = [took_s for run in runs for took_s in run.rounds_s]
    return [Row(position=index + 0.5, took_s=one) for index, one in enumerate(took_s)]


def bands(runs: Sequence[Run]) -> list[Row]:
    """A band for each ring: α, then n/β, then what a slow rank waits; flat where nothing can be fitted yet."""
    fit, drawn, begins = fitted(runs), [], 0
    for run in runs:
        ends = begins + len(run.rounds_s)
        sent_s = fit.round_s(run.numbers) if fit else 0.0
        name = "band" if run.slow_rank is None else "band_slow"
        drawn.append(
            Row(
                begins=begins,
                ends=ends,
                middle=(begins + ends) / 2,
                latency_s=fit.alpha_s if fit else 0.0,
                sent_s=sent_s,
                waited_s=sent_s + run.wait_s if fit else 0.0,
                in_words=said("cluster", f"says.{name}", n=run.numbers, rank=run.slow_rank),
                total=said("cluster", "says.total", total_s=run.total_s),
                zero=0.0,
            )
        )
        begins = ends
    return drawn


def table(runs: Sequence[Run]) -> list[Row]:
    """Each ring with its measured time and the fit's."""
    fit = fitted(runs)
    return [
        Row(
            ranks=run.ranks,
            numbers=run.numbers,
            rounds=len(run.rounds_s),
            slow_rank="" if run.slow_rank is None else f"r{run.slow_rank}",
            measured_s=run.total_s,
            modelled_s=fit.ring_s(run.ranks, run.numbers, run.wait_s) if fit else None,
        )
        for run in runs
    ]
