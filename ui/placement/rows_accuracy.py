"""The planner held to measurements: published times as dots and rows, each beside what was predicted."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import get_args

from core.catalog import GPUS
from core.evidence.foretold import Foretold
from core.evidence.kinds import Kind
from core.evidence.measurements import Quantity
from core.evidence.nearest import nearest
from core.evidence.report import Errors, Residual, by_class, by_regime, by_source
from core.placement.beside import Regime
from core.placement.plan import Plan, Question, case_of
from runtime.catalog_words import told
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import percent, seconds
from runtime.rows import Row

EVERY = "every source"

KIND_NAMES: Mapping[Kind, str] = {
    "dense": "dense",
    "mixture": "experts",
    "latent": "experts, latent attention",
    "hybrid": "layers with a state",
    "compressed": "compressed keys and values",
}


@lru_cache(maxsize=1024)
def short(source: str) -> str:
    """A source's name without addresses, commits and versions."""
    name = re.sub(r" \([^)]{0,200}\)| @ \w+|^github\.com/|, Plots/.*$| README$", "", source)
    return name if len(name) <= 52 else f"{name[:51]}…"


def sources(rows: Sequence[Residual]) -> list[str]:
    return list(dict.fromkeys(short(each.measurement.source) for each in rows))


def dots(residuals: Sequence[Residual], chosen: str) -> list[Row]:
    """Every residual; those of the chosen source in front, and all where none is chosen."""
    rows = [
        Row(
            source=short(each.measurement.source),
            run=run_name(each),
            quantity=named("placement", each.measurement.quantity),
            role="decode" if each.is_decode else "another",
            published_ms=1e3 * each.measurement.measured_s,
            predicted_ms=1e3 * each.predicted_s,
            ratio=each.ratio,
            chosen=chosen in (EVERY, short(each.measurement.source)),
        )
        for each in residuals
    ]
    return sorted(rows, key=lambda dot: dot.chosen)


def run_name(each: Residual) -> str:
    measurement = each.measurement
    full = measurement.batch is None
    batch = named("shell", "full") if full else phrase("placement", "says.batch", measurement)
    stages = f" PP={measurement.pp_size}" if measurement.pp_size > 1 else ""
    lengths = phrase("placement", "says.tokens", measurement)
    placed = f"{measurement.gpu.name}, TP={measurement.group.tp_size}{stages}"
    return f"{told(measurement.model.name)}, {measurement.dtype}, {placed}, {batch}, {lengths}"


def class_lines(rows: Sequence[Residual]) -> list[Row]:
    """What was tested; a class that has no line never was."""
    return [
        Row(
            gpus=which,
            layers=named("placement", KIND_NAMES[kind]),
            quantity=named("placement", quantity),
            **_sizes(line),
        )
        for (which, kind, quantity), line in by_class(rows).items()
    ]


def regime_lines(rows: Sequence[Residual]) -> list[Row]:
    """What was tested, by what the largest part of the predicted time is."""
    return [
        Row(gpus=which, quantity=named("placement", quantity), regime=regime, **_sizes(line))
        for (which, quantity, regime), line in by_regime(rows).items()
    ]


def unknown_table(rows: Sequence[Residual], head: str) -> str:
    """Every class of GPU in the catalog, and which quantities of dense models nothing was ever held to."""
    tested = {(which, quantity) for which, kind, quantity in by_class(rows) if kind == "dense"}
    lines = [head, "|---|---|"]
    for which in dict.fromkeys(gpu.gpu_class for gpu in GPUS.values()):
        never = [named("placement", quantity) for quantity in get_args(Quantity) if (which, quantity) not in tested]
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
            quantity=named("placement", one.quantity),
        )
        seen = "–" if one.measured_s is None else seconds(one.measured_s)
        off = "–" if one.ratio is None else signed(one.ratio - 1)
        lines.append(
            f"| {one.made[:10]} | {what} | {one.tested_rows} | {seconds(one.predicted_s)} | {seen} | {off} |"
        )
    return "\n".join(lines)


def source_lines(rows: Sequence[Residual]) -> list[Row]:
    return [
        Row(source=short(source), gpus=which, quantity=named("placement", quantity), **_sizes(line, "sources"))
        for (source, which, quantity), line in by_source(rows).items()
    ]


def _sizes(line: Errors, without: str = "") -> dict[str, object]:
    """How far off so many are. One time alone has no median and no nine in ten: its error stands as the worst."""
    alone = line.rows == 1
    sizes = {
        "rows": line.rows,
        "sources": line.sources,
        "median_error": "–" if alone else percent(line.median_error),
        "p90_error": "–" if alone else percent(line.p90_error),
        "worst_error": percent(line.worst_error),
        "bias": signed(line.bias),
    }
    return {name: size for name, size in sizes.items() if name != without}


def signed(fraction: float) -> str:
    return f"{'+' if fraction >= 0 else '−'}{percent(abs(fraction))}"


def near_lines(rows: Sequence[Residual], question: Question, plan: Plan | None) -> list[Row]:
    """The published runs nearest to a plan at the concurrency of one of its engines."""
    return [
        Row(
            run=run_name(each),
            quantity=named("placement", each.measurement.quantity),
            published=seconds(each.measurement.measured_s),
            predicted=seconds(each.predicted_s),
            off=signed(each.ratio - 1),
            source=short(each.measurement.source),
        )
        for each in nearest(rows, case_of(question, plan))
    ]


def bands_beside(regimes: Sequence[Regime]) -> list[Row]:
    return [
        Row(
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
