"""Put a prediction down before its figure is seen: `python -m scripts.foretell add KEY --model M --gpu G`.

add KEY …               predict one time by today's constants, and append it with the time of day
seen KEY --measured-ms  append the figure that was then looked up, with its source
table KEY FILE          predict every row of a table that nothing was fitted to, keep it, and append its digest
list                    every prediction beside what was seen of it
"""

from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import get_args

from core.errors import OutOfRangeError
from core.evidence.foretold import Foretold, ForetoldTable, foretell, predicted_line, seen_line, table_line
from core.evidence.measurements import Engine
from core.evidence.served import told_digest
from core.evidence.served_report import told_rows
from core.units import percent, seconds
from runtime import foretold as ledger
from runtime.served import served_table, write_served
from scripts.asking import USUAL
from scripts.terminal import Computed, Parser, command, finite, print_aligned, run


def _answer(options: Namespace) -> Computed:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if options.action == "add":
        one = foretell(
            options.key, now, model_key=options.model, gpu_key=options.gpu, tp_size=options.tp,
            dtype=options.dtype, batch=options.batch, prompt_tokens=options.prompt,
            output_tokens=options.output, quantity=options.quantity, arrival=options.arrival,
            engine=options.engine,
        )  # fmt: skip
        told = ledger.append(lambda before: predicted_line(before, one), options.ledger)
    elif options.action == "seen":
        if not options.source.strip():
            raise OutOfRangeError("source", "''", "no_source")
        measured_s = options.measured_ms / 1e3
        told = ledger.append(
            lambda before: seen_line(before, options.key, now, measured_s, options.source), options.ledger
        )
    elif options.action == "table":
        rows = told_rows(served_table(options.file))
        write_served(rows, options.keep, f"{len(rows)} rows of {options.source}, told {now} by {options.commit}")
        table = ForetoldTable(
            options.key, now, options.commit, options.keep.name, len(rows), told_digest(rows), options.source
        )
        told = ledger.append(lambda before: table_line(before, table), options.ledger)
    else:
        told = ledger.foretold(options.ledger)
    figures = {"predictions": told, "seen": sum(one.measured_s is not None for one in told)}
    return figures, partial(_print, told)


def _print(told: Sequence[Foretold]) -> None:
    if not told:
        print("no prediction is in the ledger")
        return
    head = ("key", "made", "model", "GPU", "TP", "batch", "quantity", "predicted", "seen", "off", "source")
    print_aligned([head, *map(_cells, told)])


def _cells(one: Foretold) -> tuple[str, ...]:
    seen = "not yet" if one.measured_s is None else seconds(one.measured_s)
    off = "" if one.ratio is None else f"{'+' if one.ratio >= 1 else '−'}{percent(abs(one.ratio - 1))}"
    what = (one.model, one.gpu, str(one.tp_size), str(one.batch), one.quantity)
    return one.key, one.made, *what, seconds(one.predicted_s), seen, off, one.source


def make_parser() -> Parser:
    parser = Parser(prog="foretell", description="Predictions made before a figure was seen.")
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="predict one time and append it")
    add.add_argument("key", help="a name of its own")
    add.common("--model", required=True)
    add.common("--gpu", required=True)
    add.common("--tp", default=1)
    add.add_argument("--dtype", default="bf16")
    add.add_argument("--batch", type=int, default=1)
    add.common("--prompt", default=USUAL.prompt_tokens)
    add.common("--output", default=USUAL.output_tokens)
    add.add_argument("--quantity", choices=("decode", "first_token", "run"), default="decode")
    add.add_argument("--arrival", choices=("static", "burst", "closed"), default="static")
    add.add_argument("--engine", choices=get_args(Engine), default="")
    seen = actions.add_parser("seen", help="append the figure that was then looked up")
    seen.add_argument("key")
    seen.add_argument("--measured-ms", type=finite, required=True)
    seen.add_argument("--source", required=True)
    table = actions.add_parser("table", help="predict every row of a table of served times, and keep what was told")
    table.add_argument("key", help="a name of its own")
    table.add_argument("file", type=Path, help="the table, as it was printed: see scripts.served")
    table.add_argument(
        "--keep", type=Path, required=True, help="where the rows and what is told of them are written"
    )
    table.add_argument("--commit", required=True, help="whose constants these are")
    table.add_argument("--source", required=True)
    listed = actions.add_parser("list", help="every prediction")
    for one in (add, seen, table, listed):
        one.common("--ledger", default=ledger.LEDGER)
        one.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
