"""Served times held to predictions: `python -m scripts.served [TABLE]`, by system, model, engine, width and ranks.

Without a table, the one that ships. A table is kept, or as ai-dynamo/aiconfigurator prints its silicon_sample.csv:
system, model, backend, dtype, tp, ep, batch, isl, measured_s, id. Every row is told three ways: by the constants
that ship; by constants that no row of its model had a part in; and of its system. `--fit` prints those it gives.
"""

from argparse import Namespace
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from core.evidence.blind import Held, held
from core.evidence.left_out import counted_out
from core.evidence.report import Residual
from core.evidence.served import ServedRow
from core.evidence.served_fit import SHIPPED, Constants, columns, fit_served
from core.evidence.served_report import (
    blind_residuals,
    crossed_residuals,
    kept_served,
    served_prediction,
    shipped_residuals,
)
from core.units import percent, plain
from runtime.served import SERVED, served_table
from scripts.terminal import Computed, Parser, command, print_aligned, run

Told = Mapping[str, Sequence[Residual]]
BY: Mapping[str, Callable[[Residual], Hashable]] = {
    "system": lambda each: each.measurement.gpu.key,
    "model": lambda each: each.measurement.model.key,
    "engine": lambda each: each.measurement.engine or "other",
    "width": lambda each: each.measurement.dtype,
    "ranks": lambda each: each.measurement.group.tp_size,
}


def _answer(options: Namespace) -> Computed:
    rows = served_table(Path(options.table) if options.table else SERVED)
    kept = kept_served(rows)
    told: Told = {
        "blind": blind_residuals(kept),
        "shipped": shipped_residuals(kept),
        "model_left_out": crossed_residuals(kept),
        "system_left_out": crossed_residuals(kept, of_systems=True),
    }
    fitted = fit_served(columns([served_prediction(row) for row in kept])) if options.fit else None
    return _as_json(rows, told, fitted), partial(_print, rows, told, fitted)


def _as_json(rows: Sequence[ServedRow], told: Told, fitted: Constants | None) -> Mapping[str, object]:
    return {
        "rows": len(rows),
        "left_out": counted_out(map(served_prediction, rows)),
        "every": {name: _figures(held(each)) for name, each in told.items()},
        **{
            by: [
                {"group": group, **{name: _figures(found) for name, found in line.items()}}
                for group, line in _grouped(told, key).items()
            ]
            for by, key in BY.items()
        },
        "shipped": asdict(SHIPPED),
        "fitted": asdict(fitted) if fitted else None,
    }


def _figures(found: Held | None) -> Mapping[str, object] | None:
    return None if found is None else {**asdict(found.errors), "inside": found.inside}


def _grouped(told: Told, key: Callable[[Residual], Hashable]) -> Mapping[Hashable, Mapping[str, Held | None]]:
    groups = dict.fromkeys(key(each) for rows in told.values() for each in rows)
    return {
        group: {name: held([each for each in rows if key(each) == group]) for name, rows in told.items()}
        for group in sorted(groups, key=str)
    }


_TOLD = ("blind", "shipped", "model left out", "system left out")
_HEADS = ("n", *(f"{name}: {what}" for name in _TOLD for what in ("median", "p90", "ratio", "in band")))


def _print(rows: Sequence[ServedRow], told: Told, fitted: Constants | None) -> None:
    lines = [("every", "", *_cells({name: held(each) for name, each in told.items()}))]
    for by, key in BY.items():
        lines += [(by, str(group), *_cells(line)) for group, line in _grouped(told, key).items()]
    print_aligned([("by", "", *_HEADS), *lines])
    for reason, count in counted_out(map(served_prediction, rows)).items():
        print(f"left out: {count} of {len(rows)}, {reason}")
    for name, numbers in (("shipped", SHIPPED), ("fitted", fitted)):
        if numbers is not None:
            print(f"{name}: " + ", ".join(f"{key} {plain(value, 3)}" for key, value in asdict(numbers).items()))


def _cells(line: Mapping[str, Held | None]) -> tuple[str, ...]:
    count = max((one.errors.rows for one in line.values() if one), default=0)
    return (str(count), *(cell for one in line.values() for cell in _four(one)))


def _four(one: Held | None) -> tuple[str, str, str, str]:
    if one is None:
        return "–", "–", "–", "–"
    line = one.errors
    return (
        percent(line.median_error),
        percent(line.p90_error),
        plain(1 + line.bias, 2),
        percent(one.inside_fraction),
    )


def make_parser() -> Parser:
    parser = Parser(
        prog="served", description="Served times against predictions, with models and systems left out."
    )
    parser.add_argument("table", nargs="?", help="a table of served times; the one that ships")
    parser.add_argument("--fit", action="store_true", help="the constants that the table gives as well")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
