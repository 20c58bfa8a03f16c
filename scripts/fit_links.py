"""A link out of a pasted table: `python -m scripts.fit_links nccl-tests.txt --predict 8192 16777216`.

Exit status 1 where the run's own check found wrong sums, or the run broke off: such a network is mended before
it is measured, and the rows before a failure are no whole run.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from core.errors import UnreadableTextError, require_positive
from core.links.fit import LinkFit, predicted_us, spikes
from core.links.fitted_tables import FittedTable, fitted_tables
from core.units import GB, binary_bytes, plain
from runtime.prose import explained, worded
from scripts.terminal import OFF, Computed, Parser, command, picked, print_aligned, read_text, run

_HEADLINES = ("links.corrupts", "links.corrupts_somewhere", "links.run_failed")
_EXACT = 1e-12
"""A median error below this is what floats lose, and none of the fit's."""


@dataclass(frozen=True)
class Fitted:
    """One table with all that is told of it. `predictions` are µs by size, None outside of what was measured."""

    own: FittedTable
    predictions: Mapping[int, float | None]

    @property
    def warnings(self) -> list[str]:
        """The table's, the fit's, and one for each size that cannot be predicted."""
        return [*map(worded, self.own.warnings), *self._outside()]

    def _outside(self) -> list[str]:
        table = self.own.table
        sizes = [row.size_bytes for row in table.rows] if table.trusted else []
        span = f"{binary_bytes(min(sizes))} to {binary_bytes(max(sizes))}" if sizes else "what can be trusted"
        missing = [size for size, time_us in self.predictions.items() if time_us is None]
        flagged = {error.size_bytes for error in spikes(table)} & set(self.predictions)
        return [
            *(f"{size} bytes lies outside of {span}: no prediction" for size in missing),
            *(f"{size} bytes is predicted from its neighbours: its own row is a spike" for size in sorted(flagged)),
        ]


def _answer(options: Namespace) -> Computed:
    for size_bytes in options.predict:
        require_positive(predict=size_bytes)
    fitted = fit_file(options.file, options.predict)
    corrupts = any(entry.own.table.corrupts for entry in fitted)
    failed = any(one.code == "links.run_failed" for entry in fitted for one in entry.own.warnings)
    told = {"tables": [_as_json(entry) for entry in fitted], "corrupts": corrupts, "failed": failed}
    return told, partial(_print_tables, fitted)


def fit_file(path: str, sizes: Sequence[int]) -> list[Fitted]:
    """Every table of a file, fitted."""
    try:
        tables = fitted_tables(read_text(path))
    except UnreadableTextError as error:
        raise UnreadableTextError(explained(error)) from error
    return [
        Fitted(own, {size: predicted_us(own.table, size) if own.table.trusted else None for size in sizes})
        for own in tables
    ]


def _as_json(entry: Fitted) -> Mapping[str, object]:
    table, fit, handover = entry.own.table, entry.own.fit, entry.own.handover
    return {
        **picked(table, "op", "ranks", "corrupts", "wrong_sums"),
        "rows": [picked(row, "size_bytes", "out_of_place_us", "in_place_us") for row in table.rows],
        "dropped": [{"line": dropped.line, "reason": worded(dropped)} for dropped in table.dropped],
        "warnings": entry.warnings,
        "fit": None if fit is None else _numbers(fit),
        "fit_handover": None
        if handover is None
        else {**_numbers(handover), **picked(handover, "us_per_sqrt_byte")},
        "predictions": {str(size): time_us for size, time_us in entry.predictions.items()},
    }


def _numbers(fit: LinkFit) -> Mapping[str, object]:
    bandwidth = fit.bandwidth_bytes_per_s
    return {
        **picked(fit, "fixed_us", "alpha_us", "base_us"),
        "bandwidth_gb_s": None if bandwidth is None else bandwidth / GB,
        "median_relative_error": 0.0 if fit.median_relative_error < _EXACT else fit.median_relative_error,
    }


def _print_tables(fitted: Sequence[Fitted]) -> None:
    for number, entry in enumerate(fitted, start=1):
        for headline in (worded(one) for one in entry.own.warnings if one.code in _HEADLINES):
            print(f"table {number}: {headline}")
    heads = ("op", "ranks", "rows", "fixed µs", "α µs", "base µs", "GB/s", "median error")
    print_aligned([heads, *(_cells(entry) for entry in fitted)])
    for number, entry in enumerate(fitted, start=1):
        times = [f"{size} bytes: {plain(us)} µs" for size, us in entry.predictions.items() if us is not None]
        dropped = [f"line {dropped.line}: {worded(dropped)}" for dropped in entry.own.table.dropped]
        for note in (*times, *entry.warnings, *dropped):
            print(f"  table {number}: {note}")


def _cells(entry: Fitted) -> tuple[str, ...]:
    table, fit = entry.own.table, entry.own.fit
    numbers: list[object] = [None] * 5 if fit is None else list(_numbers(fit).values())
    if numbers[-1] == 0:
        numbers[-1] = "exact"
    heads = (table.op or "?", str(table.ranks or "?"), str(len(table.rows)))
    return (*heads, *(plain(one) if isinstance(one, float | int) else str(one or "–") for one in numbers))


def make_parser() -> Parser:
    parser = Parser(prog="fit_links", description="Fit a link to what nccl-tests or rccl-tests printed.")
    parser.add_argument("file", help="the output, as text; prefixes, logs and several tables do not matter")
    parser.add_argument(
        "--predict", nargs="+", type=int, default=[], metavar="BYTES", help="sizes to interpolate at"
    )
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: OFF if told["corrupts"] or told["failed"] else 0)

if __name__ == "__main__":
    run(main)
