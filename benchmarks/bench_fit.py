"""How well a link is read out of real tables: `python -m benchmarks.bench_fit [FOLDER]`.

FOLDER holds outputs of nccl-tests, one or more tables a file; without it, the folder `nccl` under SHARDLAB_CASES.
One row a table: the median relative error of two numbers, of two numbers with a size held out, of three (with the
hand-over term), and of interpolation with the size held out; then the medians, and the time to read 10,000 lines.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from core.errors import ShardlabError
from core.links.fit import LinkFit, fit_link, held_out_errors, why_not_fitted
from core.links.nccl_tests import Table, read_tables
from runtime.prose import worded

LINES = 10_000


@dataclass(frozen=True)
class Errors:
    """Median relative errors over the rows of one table."""

    two_numbers: float
    two_held_out: float
    with_hand_over: float
    interpolated_held_out: float | None


def main(arguments: Sequence[str]) -> int:
    """Print a row a table, the medians, and the reading speed."""
    folder = Path(arguments[0] if arguments else os.environ.get("SHARDLAB_CASES", ".") + "/nccl")
    texts = {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.txt"))}
    if not texts:
        print(f"no table in {folder}; name a folder, or set SHARDLAB_CASES", file=sys.stderr)
        return 2
    print(f"{'table':54} {'op':14} {'ranks':>5} {'rows':>4} {'two':>8} {'held out':>8} {'three':>8} {'interp.':>8}")
    found = [errors for name, table in tables_of(texts) if (errors := report(name, table)) is not None]
    summary = [median(getattr(errors, name) for errors in found) for name in ("two_numbers", "two_held_out")]
    summary += [median(errors.with_hand_over for errors in found)]
    summary += [median(e.interpolated_held_out for e in found if e.interpolated_held_out is not None)]
    print(f"{f'median over {len(found)} tables':80}" + "".join(f" {percent(value)}" for value in summary))
    print(f"{LINES} lines read in {reading_s(list(texts.values())):.3f} s of one core")
    return 0


def tables_of(texts: dict[str, str]) -> Iterator[tuple[str, Table]]:
    """Every table that can be read, under its file's name."""
    for name, text in texts.items():
        try:
            for table in read_tables(text):
                yield name, table
        except ShardlabError as error:
            print(f"{name[:54]:54} refused: {error}")


def report(name: str, table: Table) -> Errors | None:
    """Print one table's row."""
    head = f"{name[:54]:54} {table.op or '?':14} {table.ranks or '?':>5} {len(table.rows):>4}"
    errors = errors_of(table)
    if errors is None:
        refusal = why_not_fitted(table)
        print(f"{head} {worded(refusal) if refusal else ''}")
        return None
    held_out = errors.interpolated_held_out
    figures = (errors.two_numbers, errors.two_held_out, errors.with_hand_over)
    print(
        head
        + "".join(f" {percent(v)}" for v in figures)
        + (f" {percent(held_out)}" if held_out is not None else "")
    )
    return errors


def errors_of(table: Table) -> Errors | None:
    """The errors of one table; None where it is not fitted."""
    two, three = fit_link(table), fit_link(table, handover=True)
    if two is None or three is None:
        return None
    told = [abs(error.ratio - 1) for error in held_out_errors(table)]
    return Errors(
        two_numbers=two.median_relative_error,
        two_held_out=median(held_out_error(table, place, two) for place in range(len(table.rows))),
        with_hand_over=three.median_relative_error,
        interpolated_held_out=median(told) if told else None,
    )


def held_out_error(table: Table, place: int, otherwise: LinkFit) -> float:
    """The relative error at one row of the fit to all the others; of the whole fit where those are too few."""
    row = table.rows[place]
    others = replace(table, rows=table.rows[:place] + table.rows[place + 1 :])
    return abs((fit_link(others) or otherwise).time_us(row.size_bytes) / row.time_us - 1)


def reading_s(texts: Sequence[str]) -> float:
    """Processor time to read 10,000 lines of these texts, the best of three."""
    lines = "\n".join(texts).splitlines()
    text = "\n".join((lines * (LINES // len(lines) + 1))[:LINES])
    return min(_processor_s(text) for _ in range(3))


def _processor_s(text: str) -> float:
    began = time.process_time()
    read_tables(text)
    return time.process_time() - began


def percent(fraction: float) -> str:
    """Eight columns: `  3.62 %`."""
    return f"{100 * fraction:6.2f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
