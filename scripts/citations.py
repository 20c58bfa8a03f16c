"""What is said of an engine: `python -m scripts.citations --engine vllm --wheel vllm-0.33.0-….whl`.

The archive is a wheel, a source package (`pip download --no-deps vllm`), or the folder that it is installed in. It
is read, never executed. Exit 0 when every claim holds, 1 when one has moved, 2 for an archive that is none.
"""

from argparse import Namespace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from core.course.citations import SOURCES, citations, source
from core.errors import OutOfRangeError, remark
from runtime import citations as archives
from runtime import content
from scripts.terminal import OFF, Computed, Parser, command, picked, print_aligned, run


def _answer(options: Namespace) -> Computed:
    engine = source(options.engine)
    if options.wheel is None:
        last = [f"{one.release} on {one.checked}" for one in archives.recorded() if one.engine == engine.engine]
        checked = ", ".join(last) or "never"
        raise OutOfRangeError("wheel", remark("errors.none"), "an_archive", fetched=engine.fetched_by, last=checked)
    done = archives.check(engine, options.wheel, datetime.now(UTC).date().isoformat())
    if options.record:
        archives.record(done)
    figures = picked(done, "package", "release", "checked", "archive", "rows", "moved")
    return figures, partial(_print, done, options.rows)


def _print(done: archives.Check, every_row: bool) -> None:
    words = content.load("reading_rooms")
    rows = [row for row in citations(done.engine) if every_row or done.rows[row.key] == "moved"]
    if rows:
        print_aligned(
            [(done.rows[row.key], row.key, row.file, row.symbol, words[f"{done.engine}.{row.key}"]) for row in rows]
        )
    counts = ", ".join(f"{done.count(outcome)} {outcome}" for outcome in ("holds", "moved", "not asked"))
    print(f"{done.package} {done.release}: {counts}")


def make_parser() -> Parser:
    parser = Parser(prog="citations", description="Check what is said of an engine against its source.")
    parser.add_argument("--engine", required=True, choices=[each.engine for each in SOURCES])
    parser.add_argument("--wheel", type=Path, help="a wheel, a source package, or a folder it is installed in")
    parser.add_argument("--rows", action="store_true", help="every claim, not those alone that have moved")
    parser.add_argument("--record", action="store_true", help="keep the outcome for the page")
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: OFF if told["moved"] else 0)

if __name__ == "__main__":
    run(main)
