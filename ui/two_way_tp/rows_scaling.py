"""Lab 02's bench: the rows of the widths, of TP against replicas, and of a prompt over a shaped link."""

from collections.abc import Sequence
from dataclasses import dataclass

from core import units
from core.two_way_tp import Crossover, Duel, RunLog, ScalingRun, crossover, curve
from runtime.catalog_words import short_name
from runtime.prose import named, said
from runtime.quantities import percent, plain, seconds, significant
from ui.two_way_tp.rows import Part

ASKED = {
    "full memory": "decode, both memories full",
    "same batch": "decode, the same batch",
    "prompts": "prompts, bound by arithmetic",
}


@dataclass(frozen=True)
class WidthLine:
    """One width of a curve: a decode step at TP=1, and at TP=N with its fastest and slowest sums."""

    hidden_size: float
    single_ms: float
    token_ms: float
    token_fast_ms: float
    token_slow_ms: float


@dataclass(frozen=True)
class WidthDot:
    """A decode step that was measured: the median, and for TP=N its least and 95th percentile."""

    arm: str
    single: bool
    hidden_size: int
    time_ms: float
    min_ms: float
    p95_ms: float


@dataclass(frozen=True)
class CrossoverMark:
    """Where the lines meet, and between which widths that lies; in words beside it."""

    hidden_size: float
    low: float
    high: float
    in_words: str


@dataclass(frozen=True)
class DuelRow:
    """One way of asking on one link: the throughput of TP=2 as a multiple of two replicas'."""

    asked: str
    kind: str
    link: str
    gain: float
    tp_wins: bool
    in_words: str


def width_lines(run: ScalingRun) -> list[WidthLine]:
    """Both curves over all widths, with the band of the second."""
    cases = zip(curve(run), curve(run, "fast"), curve(run, "slow"), strict=True)
    return [
        WidthLine(
            usual.hidden_size, 1e3 * usual.single_s, 1e3 * usual.token_s, 1e3 * fast.token_s, 1e3 * slow.token_s
        )
        for usual, fast, slow in cases
    ]


def width_dots(run: ScalingRun) -> list[WidthDot]:
    """Both arms at every width that was measured."""
    dots = []
    for point in run.points:
        single_ms = 1e3 * point.single_s
        dots.append(WidthDot("TP=1", True, point.hidden_size, single_ms, single_ms, single_ms))
        spread = (1e3 * point.token_s, 1e3 * point.token_min_s, 1e3 * point.token_p95_s)
        dots.append(WidthDot(f"TP={run.tp_size}", False, point.hidden_size, *spread))
    return dots


def crossover_marks(run: ScalingRun) -> list[CrossoverMark]:
    """The crossover with its band, one row; none where no width is wide enough."""
    crossing, widest = crossover(run), max(point.hidden_size for point in run.points)
    if crossing.usual is None or crossing.fast is None or crossing.usual > widest:
        return []
    high = min(crossing.slow or widest, widest)
    return [
        CrossoverMark(
            crossing.usual,
            crossing.fast,
            high,
            said(
                "two_way_tp",
                "says.crossover",
                width_words=width_words(crossing.usual),
                band_words=band_words(crossing),
            ),
        )
    ]


def band_words(crossing: Crossover) -> str:
    """The band of a crossover: `680 to 1420`, open at the top where the slowest sums never pay."""
    low = width_words(crossing.fast) if crossing.fast else said("two_way_tp", "says.no_least")
    if crossing.slow and width_words(crossing.slow) == low:
        return said("two_way_tp", "says.whether_sums_are_fast")
    return (
        said("two_way_tp", "says.to", low=low, width_words=width_words(crossing.slow))
        if crossing.slow
        else said("two_way_tp", "says.up", low=low)
    )


def width_words(value: float) -> str:
    """A width as it is said: two figures, for its band is wider than a third."""
    return f"{float(units.significant(value, 2)):.0f}"


def duel_rows(on_links: Sequence[Sequence[Duel]]) -> list[DuelRow]:
    """Every way of asking, on each link below one another."""
    rows = []
    for together in zip(*on_links, strict=True):
        for duel in together:
            allowed = (
                said("two_way_tp", "says.most_allowed", allowed_s=seconds(duel.allowed_s))
                if duel.allowed_s
                else said("two_way_tp", "says.none_allowed")
            )
            words = said(
                "two_way_tp", "says.sums", gain=plain(duel.gain, 2), comm_s=seconds(duel.comm_s), allowed=allowed
            )
            rows.append(DuelRow(*_asked(duel.kind), short_name(duel.link), duel.gain, duel.tp_wins, words))
    return rows


def _asked(kind: str) -> tuple[str, str]:
    """How a duel was asked, at length and in short."""
    return named("two_way_tp", ASKED[kind]), named("two_way_tp", kind)


def host_rows(runs: Sequence[tuple[str, RunLog]]) -> list[Part]:
    """A prompt by one process, then by two ranks over each link: half of the compute, and what its sums take."""
    told = [(name, log.prefill) for name, log in runs if log.prefill is not None]
    if not told:
        return []
    single_ms = 1e3 * told[0][1].single_s
    rows = [Part(said("two_way_tp", "says.one_process"), "work", 0.0, single_ms, f"{significant(single_ms)} ms")]
    for name, prefill in told:
        half_ms, whole_ms = 500 * prefill.single_s, 1e3 * prefill.median_s
        share = percent(max(0.0, whole_ms - half_ms) / whole_ms, 0)
        rows.append(Part(name, "work", 0.0, min(half_ms, whole_ms), ""))
        words = said("two_way_tp", "says.ms_sums", whole_ms=significant(whole_ms), share=share)
        rows.append(Part(name, "sum", min(half_ms, whole_ms), whole_ms, words))
    return rows
