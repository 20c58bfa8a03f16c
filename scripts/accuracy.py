"""Predicted against published, by source: `python -m scripts.accuracy`, the rows of the fit and the tests apart."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from core.evidence.calibration import CALIBRATIONS, Calibration, Role
from core.evidence.published import PublishedTable, read_published
from core.evidence.report import (
    Overall,
    Residual,
    Summary,
    agreed_out_of_memory,
    by_source,
    overall,
    residuals,
)
from core.units import percent, plain
from runtime.published import default_table, published_rows
from scripts.terminal import Parser, answer, print_aligned


def main(arguments: Sequence[str] | None = None) -> int:
    """Predict every row of a table of measurements, and say how far each source is off."""
    parser = _parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        path = Path(options.table) if options.table else default_table()
        table = read_published(published_rows(path))
        found = residuals(table)
        if not options.json:
            _print_report(path, table, found, options.rows)
        return _as_json(path, table, found)

    return answer(parser, compute, options.json, table=False)


def _as_json(path: Path, table: PublishedTable, found: Sequence[Residual]) -> Mapping[str, object]:
    overalls = {part: overall(found, part) for part in get_args(Role)}
    return {
        "table": path.name,
        "calibrations": [_calibration(row) for row in CALIBRATIONS.values()],
        "sources": [asdict(line) for line in by_source(found)],
        "decode": {part: None if said is None else asdict(said) for part, said in overalls.items()},
        "roofline_above_measured": [_row(each) for each in found if each.roofline_ratio > 1],
        "out_of_memory": {"rows": len(table.out_of_memory), "agreed": agreed_out_of_memory(table)},
        "rows": [_row(each) for each in found],
        "skipped": [
            {"source": each.row.source, "metric": each.row.metric, "reason": each.reason} for each in table.skipped
        ],
    }


def _calibration(row: Calibration) -> Mapping[str, object]:
    return {
        "gpu_class": row.gpu_class,
        **asdict(row.efficiency),
        "floor_fitted": row.floor_fitted,
        "trained_on": list(row.trained_on),
    }


def _row(each: Residual) -> Mapping[str, object]:
    said = each.measurement
    return {
        "source": said.row.source,
        "model": said.model.key,
        "gpu": said.gpu.key,
        "dtype": said.dtype,
        "tp": said.group.tp_size,
        "pp": said.pp_size,
        "batch": said.batch,
        "prompt_tokens": said.prompt_tokens,
        "output_tokens": said.output_tokens,
        "quantity": said.quantity,
        "role": each.role,
        "measured_s": said.measured_s,
        "predicted_s": each.predicted_s,
        "roofline_s": each.prediction.roofline_s,
    }


def _print_report(path: Path, table: PublishedTable, found: Sequence[Residual], every_row: bool) -> None:
    heads = ("", "source", "GPUs", "quantity", "rows", "median error", "bias", "roofline at most")
    print_aligned([heads, *(_cells(line) for line in by_source(found))])
    for part in get_args(Role):
        said = overall(found, part)
        if said is not None:
            print(f"decode latency, {part}: {_in_words(said)}")
    print(f"roofline above a measurement: {sum(each.roofline_ratio > 1 for each in found)} of {len(found)} rows")
    print(f"ran out of memory: {len(table.out_of_memory)} rows, {agreed_out_of_memory(table)} by our count too")
    for reason, count in Counter(each.reason for each in table.skipped).most_common():
        print(f"left out: {count} rows, {reason[:90]}")
    print(f"table: {path.name}")
    if every_row:
        print_aligned([_row_cells(each) for each in found])


def _in_words(said: Overall) -> str:
    span = f"8 of 10 from {plain(said.band_low)} to {plain(said.band_high)} of the prediction"
    return f"{said.rows} rows, median error {percent(said.median_error)}, bias {_signed(said.bias)}, {span}"


def _cells(line: Summary) -> tuple[str, ...]:
    return (
        line.role,
        re.sub(r" \(github[^)]*\)", "", line.source)[:60],
        line.gpu_class,
        line.quantity,
        str(line.rows),
        percent(line.median_error),
        _signed(line.bias),
        plain(line.highest_roofline_ratio, 2),
    )


def _row_cells(each: Residual) -> tuple[str, ...]:
    said = each.measurement
    asked = "max" if said.batch is None else str(said.batch)
    where = (said.model.key, said.gpu.key, said.dtype, f"TP={said.group.tp_size}", f"PP={said.pp_size}", asked)
    lengths = f"{said.prompt_tokens}+{said.output_tokens}"
    return (*where, lengths, said.quantity, plain(said.measured_s), plain(each.predicted_s), plain(each.ratio))


def _signed(fraction: float) -> str:
    return f"{'+' if fraction >= 0 else '−'}{percent(abs(fraction))}"


def _parser() -> Parser:
    parser = Parser(prog="scripts.accuracy", description="Predicted against published: median error and bias.")
    parser.add_argument(
        "table", nargs="?", help="without one, $SHARDLAB_CASES/measurements.csv, or the one shipped"
    )
    parser.add_argument("--rows", action="store_true", help="every row as well")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
