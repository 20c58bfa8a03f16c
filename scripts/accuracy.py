"""Predicted against published: `python -m scripts.accuracy`, by class of GPU and by source.

Each source is tested by constants that were fitted on the others of its class.
"""

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from core.evidence.blind import Held
from core.evidence.calibration import CALIBRATIONS, Calibration
from core.evidence.headline import Headline, headline
from core.evidence.measurements import PublishedTable
from core.evidence.report import (
    Errors,
    Residual,
    agreed_out_of_memory,
    band,
    by_class,
    by_regime,
    by_source,
    decode_residuals,
    errors_of,
    fit_rows,
    residuals,
)
from core.units import percent, plain
from runtime.foretold import foretold
from runtime.prose import said
from runtime.published import default_table, published_table, write_table
from runtime.served import shipped_served
from scripts.terminal import Computed, Parser, command, picked, print_aligned, run


def _answer(options: Namespace) -> Computed:
    path = Path(options.table) if options.table else default_table()
    table = published_table(path)
    rows = residuals(table)
    first = headline(foretold(), shipped_served(), table, rows)
    if options.keep:
        write_table((*table.measurements, *table.out_of_memory), Path(options.keep))
    figures = {**_headline(first), **_as_json(path, table, rows)}
    return figures, partial(_print_report, path, table, rows, first, options.rows)


def _headline(first: Headline) -> Mapping[str, object]:
    """What was told blind, then what was tested, then what was fitted: times between tokens alone."""
    return {
        "headline": {line.code: {**asdict(line.held.errors), "inside": line.held.inside} for line in first.lines},
        "headline_classes": [asdict(line) for line in first.classes],
        "left_out": first.left_out,
    }


def _as_json(path: Path, table: PublishedTable, rows: Sequence[Residual]) -> Mapping[str, object]:
    decode = decode_residuals(rows)
    return {
        "table": path.name,
        "calibrations": [_calibration(row, rows) for row in CALIBRATIONS.values()],
        "classes": [
            {"gpu_class": which, "kind": kind, "quantity": quantity, **asdict(line)}
            for (which, kind, quantity), line in by_class(rows).items()
        ],
        "regimes": [
            {"gpu_class": which, "quantity": quantity, "regime": regime, **asdict(line)}
            for (which, quantity, regime), line in by_regime(rows).items()
        ],
        "rule": RULE,
        "sources": [
            {"source": source, "gpu_class": which, "quantity": quantity, "role": "test", **asdict(line)}
            for (source, which, quantity), line in by_source(rows).items()
        ],
        "decode": {"train": None, "test": _decode(decode) if decode else None},
        "roofline_above_measured": [_row(each) for each in rows if each.roofline_ratio > 1],
        "out_of_memory": {"rows": len(table.out_of_memory), "agreed": agreed_out_of_memory(table)},
        "rows": [_row(each) for each in rows],
        "skipped": [asdict(each) for each in table.skipped],
    }


def _decode(rows: Sequence[Residual]) -> Mapping[str, object]:
    low, high = band(rows)
    return {**asdict(errors_of(rows)), "band_low": low, "band_high": high}


def _calibration(row: Calibration, residuals_of: Sequence[Residual]) -> Mapping[str, object]:
    rows = fit_rows((each.prediction for each in residuals_of), row.gpu_class, row.kind)
    return {
        "gpu_class": row.gpu_class,
        "kind": row.kind,
        **asdict(row.efficiency),
        "floor_fitted": row.floor_fitted,
        "trained_on": sorted({each.measurement.source for each in rows}),
    }


def _row(each: Residual) -> Mapping[str, object]:
    measurement = each.measurement
    return {
        **picked(measurement, "source", model="model.key", gpu="gpu.key", dtype="dtype"),
        **picked(measurement, tp="group.tp_size", pp="pp_size"),
        **picked(measurement, "batch", "prompt_tokens", "output_tokens", "quantity"),
        "role": "test",
        **picked(measurement, "measured_s"),
        **picked(each, "predicted_s", roofline_s="prediction.roofline_s"),
    }


RULE = (
    "a source is fitted or tested as a whole: each is tested by constants fitted on the other sources of its class"
    " of GPU and kind of layers; where none is left, on its class's dense layers, else on the A100's; the split was"
    " chosen with all rows in view"
)

_HEADS = ("n", "sources", "median", "p90", "worst", "bias", "roofline at most")


def _print_headline(first: Headline) -> None:
    """The blind number first, as the page has it."""
    heads = ("times between tokens", "n", "sources", "median", "p90", "bias", "in the band")
    print_aligned(
        [heads, *((said("placement", f"headline.{line.code}"), *_line(line.held)) for line in first.lines)]
    )
    print()
    none = ("–",) * 6
    classes = (
        (
            line.gpu_class,
            line.kind,
            *(cell for one in (line.blind, line.now) for cell in (_line(one) if one else none)),
        )
        for line in first.classes
    )
    both = tuple(f"{name}: {what}" for name in ("blind", "now") for what in heads[1:])
    print_aligned([("GPUs", "layers", *both), *classes])
    for reason, count in first.left_out.items():
        print(f"left out of all: {count} rows, {said('placement', f'left_out.{reason}')}")
    print()


def _line(one: Held) -> tuple[str, ...]:
    line = one.errors
    sizes = percent(line.median_error), percent(line.p90_error), _signed(line.bias)
    return (str(line.rows), str(line.sources), *sizes, str(one.inside))


def _print_report(
    path: Path, table: PublishedTable, rows: Sequence[Residual], first: Headline, every_row: bool
) -> None:
    _print_headline(first)
    classes = [(*key, *_cells(line)) for key, line in by_class(rows).items()]
    print_aligned([("GPUs", "layers", "quantity", *_HEADS), *classes])
    print()
    regimes = [(*key, *_cells(line)) for key, line in by_regime(rows).items()]
    print_aligned([("GPUs", "quantity", "regime", *_HEADS), *regimes])
    print()
    sources = [(_short(source), *rest, *_cells(line)) for (source, *rest), line in by_source(rows).items()]
    print_aligned([("source", "GPUs", "quantity", *_HEADS), *sources])
    decode = decode_residuals(rows)
    if decode:
        line, (low, high) = errors_of(decode), band(decode)
        print(
            f"decode latency: {line.rows} rows of {line.sources} sources, each tested by the others, median error"
            f" {percent(line.median_error)}, 9 of 10 within {percent(line.p90_error)}, bias {_signed(line.bias)},"
            f" 8 of 10 from {plain(low)} to {plain(high)} of the prediction"
        )
    print(f"roofline above a measurement: {sum(each.roofline_ratio > 1 for each in rows)} of {len(rows)} rows")
    print(f"ran out of memory: {len(table.out_of_memory)} rows, {agreed_out_of_memory(table)} by our count too")
    for reason, count in Counter(each.reason for each in table.skipped).most_common():
        print(f"left out: {count} rows, {reason[:90]}")
    print(f"rule: {RULE}")
    print("never tested here: what is not in the first table")
    print(f"table: {path.name}")
    if every_row:
        print_aligned([_row_cells(each) for each in rows])


def _short(source: str) -> str:
    return re.sub(r" \(github[^)]*\)", "", source)[:60]


def _cells(line: Errors) -> tuple[str, ...]:
    middle = ("–", "–") if line.rows == 1 else (percent(line.median_error), percent(line.p90_error))
    counts = (str(line.rows), str(line.sources))
    return (*counts, *middle, percent(line.worst_error), _signed(line.bias), plain(line.highest_roofline_ratio, 2))


def _row_cells(each: Residual) -> tuple[str, ...]:
    measurement = each.measurement
    return (
        measurement.model.key,
        measurement.gpu.key,
        measurement.dtype,
        f"TP={measurement.group.tp_size}",
        f"PP={measurement.pp_size}",
        "max" if measurement.batch is None else str(measurement.batch),
        f"{measurement.prompt_tokens}+{measurement.output_tokens}",
        measurement.quantity,
        *map(plain, (measurement.measured_s, each.predicted_s, each.ratio)),
    )


def _signed(fraction: float) -> str:
    return f"{'+' if fraction >= 0 else '−'}{percent(abs(fraction))}"


def make_parser() -> Parser:
    parser = Parser(prog="accuracy", description="Predicted against published: median error and bias.")
    parser.add_argument(
        "table", nargs="?", help="without one, $SHARDLAB_CASES/measurements.csv, or the one shipped"
    )
    parser.add_argument("--rows", action="store_true", help="every row as well")
    parser.add_argument("--keep", metavar="FILE", help="write what was read, under our own names")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
