"""The planner held to measurements: published times as dots and rows, each beside what was predicted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.catalog import GPUS
from core.evidence.foretold import Foretold
from core.evidence.kinds import Kind
from core.evidence.nearest import Case, nearest
from core.evidence.report import Errors, Residual, by_class, by_regime, by_source
from core.placement.beside import Regime
from core.placement.plan import Plan, Question
from runtime.catalog_words import told
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import percent, seconds

EVERY = "every source"

_ROLES = {True: "decode", False: "another"}
_KINDS: Mapping[Kind, str] = {
    "dense": "dense",
    "mixture": "experts",
    "latent": "experts, latent attention",
    "hybrid": "layers with a state",
    "compressed": "compressed keys and values",
}
_QUANTITIES = {
    "decode": "between tokens",
    "first_token": "first token",
    "run": "a batch, whole",
    "saturated": "a token, server full",
}


@lru_cache(maxsize=1024)
def short(source: str) -> str:
    """A source's name without addresses, commits and versions."""
    name = re.sub(r" \([^)]{0,200}\)| @ \w+|^github\.com/|, Plots/.*$| README$", "", source)
    return name if len(name) <= 52 else f"{name[:51]}…"


def sources(rows: Sequence[Residual]) -> list[str]:
    """Each source's short name, as it first comes."""
    return list(dict.fromkeys(short(each.measurement.source) for each in rows))


@dataclass(frozen=True)
class Dot:
    """One published time beside the predicted one."""

    source: str
    run: str
    quantity: str
    role: str
    published_ms: float
    predicted_ms: float
    ratio: float
    chosen: bool


def dots(residuals: Sequence[Residual], chosen: str) -> list[Dot]:
    """Every residual; those of the chosen source in front, and all where none is chosen."""
    rows = [
        Dot(
            source=short(each.measurement.source),
            run=run_name(each),
            quantity=named("placement", _QUANTITIES[each.measurement.quantity]),
            role=_ROLES[each.is_decode],
            published_ms=1e3 * each.measurement.measured_s,
            predicted_ms=1e3 * each.predicted_s,
            ratio=each.ratio,
            chosen=chosen in (EVERY, short(each.measurement.source)),
        )
        for each in residuals
    ]
    return sorted(rows, key=lambda dot: dot.chosen)


def run_name(each: Residual) -> str:
    """What was run, in one line."""
    measurement = each.measurement
    batch = (
        named("shell", "full")
        if measurement.batch is None
        else phrase("placement", "says.batch", batch=measurement.batch)
    )
    stages = f" PP={measurement.pp_size}" if measurement.pp_size > 1 else ""
    lengths = phrase(
        "placement", "says.tokens", prompt_tokens=measurement.prompt_tokens, output_tokens=measurement.output_tokens
    )
    placed = f"{measurement.gpu.name}, TP={measurement.group.tp_size}{stages}"
    return f"{told(measurement.model.name)}, {measurement.dtype}, {placed}, {batch}, {lengths}"


@dataclass(frozen=True)
class SourceLine:
    """A source in one line."""

    source: str
    gpus: str
    quantity: str
    rows: int
    median_error: str
    p90_error: str
    worst_error: str
    bias: str


@dataclass(frozen=True)
class ClassLine:
    """A class of GPU with a kind of layer in one line."""

    gpus: str
    layers: str
    quantity: str
    rows: int
    sources: int
    median_error: str
    p90_error: str
    worst_error: str
    bias: str


def class_lines(rows: Sequence[Residual]) -> list[ClassLine]:
    """What was tested; a class that has no line never was."""
    return [
        ClassLine(
            which,
            named("placement", _KINDS[kind]),
            named("placement", _QUANTITIES[quantity]),
            line.rows,
            line.sources,
            *_sizes(line),
        )
        for (which, kind, quantity), line in by_class(rows).items()
    ]


@dataclass(frozen=True)
class RegimeLine:
    """A class of GPU in one regime, in one line."""

    gpus: str
    quantity: str
    regime: str
    rows: int
    sources: int
    median_error: str
    p90_error: str
    worst_error: str
    bias: str


def regime_lines(rows: Sequence[Residual]) -> list[RegimeLine]:
    """What was tested, by what the largest part of the predicted time is."""
    return [
        RegimeLine(which, named("placement", _QUANTITIES[quantity]), regime, line.rows, line.sources, *_sizes(line))
        for (which, quantity, regime), line in by_regime(rows).items()
    ]


def unknown_table(rows: Sequence[Residual], head: str) -> str:
    """Every class of GPU in the catalog, and which quantities of dense models nothing was ever held to."""
    tested = {(which, quantity) for which, kind, quantity in by_class(rows) if kind == "dense"}
    lines = [head, "|---|---|"]
    for which in dict.fromkeys(gpu.gpu_class for gpu in GPUS.values()):
        never = [
            named("placement", name) for quantity, name in _QUANTITIES.items() if (which, quantity) not in tested
        ]
        keys = ", ".join(f"`{gpu.key}`" for gpu in GPUS.values() if gpu.gpu_class == which)
        lines.append(f"| {keys} | {', '.join(never) or '–'} |")
    return "\n".join(lines)


def foretold_table(told: Sequence[Foretold], head: str) -> str:
    """Every prediction that was put down before its figure was seen, and what was seen of it since."""
    lines = [head, "|---|---|---|---|---|---|"]
    for one in told:
        what = phrase(
            "placement",
            "says.put_down",
            model=one.model,
            gpu=one.gpu,
            tp=one.tp_size,
            batch=one.batch,
            quantity=named("placement", _QUANTITIES[one.quantity]),
        )
        seen = "–" if one.measured_s is None else seconds(one.measured_s)
        off = "–" if one.ratio is None else signed(one.ratio - 1)
        lines.append(
            f"| {one.made[:10]} | {what} | {one.tested_rows} | {seconds(one.predicted_s)} | {seen} | {off} |"
        )
    return "\n".join(lines)


def source_lines(rows: Sequence[Residual]) -> list[SourceLine]:
    """Each source, by class of GPU and quantity."""
    return [
        SourceLine(short(source), which, named("placement", _QUANTITIES[quantity]), line.rows, *_sizes(line))
        for (source, which, quantity), line in by_source(rows).items()
    ]


def _sizes(line: Errors) -> tuple[str, str, str, str]:
    """One time alone has no median and no nine in ten: its error stands as the worst."""
    middle = ("–", "–") if line.rows == 1 else (percent(line.median_error), percent(line.p90_error))
    return *middle, percent(line.worst_error), signed(line.bias)


def signed(fraction: float) -> str:
    """A fraction as a percentage with its sign."""
    return f"{'+' if fraction >= 0 else '−'}{percent(abs(fraction))}"


@dataclass(frozen=True)
class NearLine:
    """A published run that is like the learner's, beside what is predicted of it."""

    run: str
    quantity: str
    published: str
    predicted: str
    off: str
    source: str


def near_lines(rows: Sequence[Residual], question: Question, plan: Plan | None) -> list[NearLine]:
    """The published runs nearest to a plan at the concurrency of one of its engines."""
    return [
        NearLine(
            run=run_name(each),
            quantity=named("placement", _QUANTITIES[each.measurement.quantity]),
            published=seconds(each.measurement.measured_s),
            predicted=seconds(each.predicted_s),
            off=signed(each.ratio - 1),
            source=short(each.measurement.source),
        )
        for each in nearest(rows, case_of(question, plan))
    ]


def case_of(question: Question, plan: Plan | None) -> Case:
    """What a plan has in common with published runs: its engine's ranks, its share of the sequences."""
    demand = question.demand
    copies = plan.layout.attention_copies if plan else 1
    return Case(
        model=question.model,
        gpu=question.cluster.gpu,
        tp_size=plan.layout.tp_size if plan else 1,
        batch=max(1, demand.concurrency // copies),
        prompt_tokens=demand.prompt_tokens,
        output_tokens=demand.output_tokens,
    )


@dataclass(frozen=True)
class BandRow:
    """One planner in one regime: the band of eight in ten measured times, as multiples of the predicted one."""

    regime: str
    rows: int
    planner: str
    name: str
    low: float
    middle: float
    high: float
    error: str
    position: float


def bands_beside(regimes: Sequence[Regime]) -> list[BandRow]:
    """Both planners, regime by regime."""
    return [
        BandRow(
            regime=phrase("placement", f"beside.{one.code}", rows=one.rows),
            rows=one.rows,
            planner=planner,
            name=phrase("placement", f"beside.{side}"),
            low=held.low,
            middle=held.middle,
            high=held.high,
            error=percent(held.median_error),
            position=index + (0.0 if side == "ours" else 0.28),
        )
        for index, one in enumerate(regimes)
        for planner, side, held in (
            ("shardlab", "ours", one.shardlab),
            ("aiconfigurator", "theirs", one.aiconfigurator),
        )
    ]
