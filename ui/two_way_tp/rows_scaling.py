"""Lab 02's bench: the rows of the widths, of TP against replicas, and of a prompt over a shaped link."""

from collections.abc import Sequence

from core import units
from core.two_way_tp.replicas import Duel
from core.two_way_tp.run_log import RunLog
from core.two_way_tp.scaling import Crossover, ScalingRun, crossover, curve
from runtime.catalog_words import short_name
from runtime.kept import kept_of
from runtime.prose import named, said
from runtime.quantities import percent, significant
from runtime.rows import Row, table
from ui.two_way_tp.rows import stretches

ASKED = {
    "full memory": "decode, both memories full",
    "same batch": "decode, the same batch",
    "prompts": "prompts, bound by arithmetic",
}


@kept_of
def width_lines(run: ScalingRun) -> list[Row]:
    """A decode step over all widths: at TP=1, and at TP=N with its fastest and slowest sums."""
    cases = zip(curve(run), curve(run, "fast"), curve(run, "slow"), strict=True)
    return table(
        "hidden_size single_ms token_ms token_fast_ms token_slow_ms",
        (
            (usual.hidden_size, *(1e3 * s for s in (usual.single_s, usual.token_s, fast.token_s, slow.token_s)))
            for usual, fast, slow in cases
        ),
    )


@kept_of
def width_dots(run: ScalingRun) -> list[Row]:
    """Both arms at every width that was measured: the median, and for TP=N its least and 95th percentile."""
    arms = (
        (point.hidden_size, arm)
        for point in run.points
        for arm in (
            ("TP=1", True, point.single.median_s, point.single.median_s, point.single.median_s),
            (f"TP={run.tp_size}", False, point.token.median_s, point.token.min_s, point.token.p95_s),
        )
    )
    return table(
        "arm single hidden_size time_ms min_ms p95_ms",
        ((name, single, width, *(1e3 * s for s in times_s)) for width, (name, single, *times_s) in arms),
    )


@kept_of
def crossover_marks(run: ScalingRun) -> list[Row]:
    """The crossover with its band, one row; none where no width is wide enough."""
    crossing, widest = crossover(run), max(point.hidden_size for point in run.points)
    if crossing.usual is None or crossing.fast is None or crossing.usual > widest:
        return []
    told = {"width_words": width_words(crossing.usual), "band_words": band_words(crossing)}
    mark = (crossing.usual, crossing.fast, min(crossing.slow or widest, widest))
    return table("hidden_size low high in_words", [(*mark, said("two_way_tp", "says.crossover", **told))])


def band_words(crossing: Crossover) -> str:
    """The band of a crossover: `680 to 1420`, open at the top where the slowest sums never pay."""
    low = width_words(crossing.fast) if crossing.fast else said("two_way_tp", "says.no_least")
    if crossing.slow and width_words(crossing.slow) == low:
        return said("two_way_tp", "says.whether_sums_are_fast")
    slow = crossing.slow
    return said("two_way_tp", "says.to" if slow else "says.up", low=low, width_words=width_words(slow or 0))


def width_words(value: float) -> str:
    """A width as it is said: two figures, for its band is wider than a third."""
    return f"{float(units.significant(value, 2)):.0f}"


def duel_rows(on_links: Sequence[Sequence[Duel]]) -> list[Row]:
    """Every way of asking, on each link below one another: TP=2's throughput as a multiple of two replicas'."""
    rows = []
    for together in zip(*on_links, strict=True):
        for duel in together:
            allowed = said("two_way_tp", "says.most_allowed" if duel.allowed_s else "says.none_allowed", duel)
            rows.append(
                Row(
                    asked=named("two_way_tp", ASKED[duel.kind]),
                    kind=named("two_way_tp", duel.kind),
                    link=short_name(duel.link),
                    gain=duel.gain,
                    tp_wins=duel.tp_wins,
                    in_words=said("two_way_tp", "says.sums", duel, allowed=allowed),
                )
            )
    return rows


def host_rows(runs: Sequence[tuple[str, RunLog]]) -> list[Row]:
    """A prompt by one process, then by two ranks over each link: half of the compute, and what its sums take."""
    told = [(name, log.prefill) for name, log in runs if log.prefill is not None]
    if not told:
        return []
    single_s = told[0][1].single_s
    rows = [(said("two_way_tp", "says.one_process"), "work", 0.0, single_s, f"{significant(1e3 * single_s)} ms")]
    for name, prefill in told:
        half_s, whole_s = prefill.single_s / 2, prefill.median_s
        sums = said(
            "two_way_tp",
            "says.ms_sums",
            whole_ms=significant(1e3 * whole_s),
            share=percent(max(0.0, whole_s - half_s) / whole_s, 0),
        )
        rows.append((name, "work", 0.0, min(half_s, whole_s), ""))
        rows.append((name, "sum", min(half_s, whole_s), whole_s, sums))
    return stretches(rows)
