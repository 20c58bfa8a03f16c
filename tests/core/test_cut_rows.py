"""No answer differs silently when a row is cut in half: every reader of rows, complete by their names."""

import ast
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.clinic.hang_log import read_hang
from core.errors import ShardlabError
from core.links.fitted_tables import fitted_tables
from core.links.nccl_tests import read_tables
from core.models.hf_config import model_from_config
from core.placement.devices import read_devices
from core.placement.topology import read_node, read_topology
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from core.two_way_tp.result import read_result
from core.two_way_tp.run_log import read_log as read_run
from core.two_way_tp.scaling import read_scaling
from runtime import captures
from tests.core.links.printed_tables import table
from tests.core.serving.test_bench_results import PRINTED, SAVED
from tests.core.startup_log.printed_logs import DEEPSEEK, QWEN2
from tests.core.test_paste_fuzz import AZURE, CASES, CONFIG, HANG, MOONCAKE, TOPOLOGY

ROOT = Path(__file__).resolve().parents[2]
MOST_CUTS = 150
RANKS = (
    '{"event": "start", "rank": 0, "world_size": 2}\n{"event": "start", "rank": 1, "world_size": 2}\n'
    "exitcode: -9 (pid: 4129) of rank 1\n"
)
CURVE = next(captures.CURVES.glob("*.json"))
LISTED = """GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5e3c1b7a-0000-0000-0000-000000000000)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-5e3c1b7a-0000-0000-0000-000000000001)
"""
NO_ROWS = {
    "core.startup_log.lines.read_lines": "each line as it stands: read_log answers",
    "core.text.quantity.read_quantity": "one number, no rows",
    "core.evidence.foretold.read_foretold": "a file of this repository",
    "core.ask.reading.read_question": "a sentence, no rows",
    "core.course.receipt.read_receipt": "one line, held to its hash",
    "core.evidence.own_gpu.read_told": "a file of this repository",
    "core.evidence.own_gpu.read_part": "a file of this repository",
    "core.evidence.foretold.read_tables": "the same file",
}


def says_nothing(answer: Any) -> bool:
    return False


def trace_says(answer: Any) -> bool:
    return answer.open_end or bool(answer.unread)


def results_say(answer: Any) -> bool:
    return any(warning.code.endswith("_cut") for one in answer for warning in one.warnings)


def log_says(answer: Any) -> bool:
    return any(one.code in ("startup_log.end_cut", "startup_log.end_open") for one in answer.remarks)


def tables_say(answer: Any) -> bool:
    return any(one.warnings or one.dropped for one in answer)


def fitted_tables_say(answer: Any) -> bool:
    return any(own.warnings or own.table.dropped or own.table.warnings for own in answer)


Says = Callable[[Any], bool]
READERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...], Says]] = {
    "core.links.nccl_tests.tables.read_tables": (read_tables, (table(largest=1 << 20),), tables_say),
    "core.links.fitted_tables.fitted_tables": (fitted_tables, (table(largest=1 << 20),), fitted_tables_say),
    "core.startup_log.reader.read_log": (read_log, (QWEN2, DEEPSEEK), log_says),
    "core.placement.devices.read_devices": (read_devices, (LISTED,), says_nothing),
    "core.placement.topology.read_topology": (read_topology, (TOPOLOGY,), says_nothing),
    "core.placement.topology.read_node": (read_node, (TOPOLOGY,), says_nothing),
    "core.models.hf_config.model_from_config": (model_from_config, (CONFIG,), says_nothing),
    "core.serving.bench_reader.read_bench_results": (
        read_bench_results,
        (PRINTED, json.dumps(SAVED), json.dumps([SAVED, SAVED], indent=1)),
        results_say,
    ),
    "core.serving.trace.read_trace": (read_trace, (AZURE, MOONCAKE), trace_says),
    "core.clinic.hang_log.read_hang": (read_hang, (HANG,), says_nothing),
    "core.two_way_tp.run_log.read_log": (
        lambda text: read_run(text.splitlines()),
        (captures.load("gloo-cpu").lines_text,),
        says_nothing,
    ),
    "core.two_way_tp.result.read_result": (read_result, (captures.load("gloo-cpu").result_text,), says_nothing),
    "core.two_way_tp.scaling.read_scaling": (read_scaling, (CURVE.read_text(encoding="utf-8"),), says_nothing),
}
"""By name: the reader, texts that it can read, and whether an answer says that something was left out."""


def readers_of_the_tree() -> Iterator[str]:
    """Every public function of core that is called `read_…` and is given a text or lines."""
    for path in sorted((ROOT / "core").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            named = isinstance(node, ast.FunctionDef) and node.name.startswith("read_")
            if named and {arg.arg for arg in node.args.args} & {"text", "lines"}:
                yield f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{node.name}"


def test_every_reader_of_rows_is_cut_here():
    found = set(readers_of_the_tree())
    assert found <= READERS.keys() | NO_ROWS.keys()
    assert NO_ROWS.keys() <= found


@pytest.mark.parametrize(
    ("reader", "text", "says"),
    [(read, text, says) for read, texts, says in READERS.values() for text in texts],
    ids=[
        f"{name.rpartition('.')[2]}-{place}"
        for name, (_, texts, _) in READERS.items()
        for place in range(len(texts))
    ],
)
def test_no_answer_differs_silently_when_a_row_is_cut(reader, text, says):
    """Wherever the last line is cut: a refusal, what the whole text says, a part of that, or the cut is said."""
    whole, last = reader(text), text.rstrip().rfind("\n") + 1
    places = range(last, len(text.rstrip()))
    for at in places[:: max(1, len(places) // MOST_CUTS)]:
        try:
            cut = reader(text[:at])
        except ShardlabError:
            continue
        assert cut == whole or says(cut) or "cut:" in repr(cut) or _is_part(cut, whole), text[last:at]


CUTS_OF_A_FILE = 4


@pytest.mark.slow
def test_no_row_of_a_real_table_is_lost_silently_wherever_it_is_cut():
    """In the middle of a table or at its end: what is kept was printed, and the cut row is said, by its line."""
    rng = random.Random(23)
    for name, text, lines, number, at, ends in _cut_in(rng, "nccl/*.txt", r"[\d:\s]{0,12}\d+\s+\d+\s+[a-z]"):
        try:
            whole, cut = (read_tables(one) for one in (text, _cut(lines, number, at, ends)))
        except ShardlabError:
            continue
        here, before = _measured(cut), _measured(whole)
        assert {size for size, *_ in here} <= {size for size, *_ in before}, (name, number, at)
        assert {us for _, *times in here for us in times} <= {None} | {us for _, *times in before for us in times}
        kept = here == before if not ends else here == _measured(read_tables("\n".join(lines[: number + 1]) + "\n"))
        said = any(one.line == number + 1 for table in cut for one in (*table.dropped, *table.warnings))
        # what a row should have, and that it is one, is known by a row or a heading before it
        alone = all(len(table.rows) == 1 for table in cut) or not any("busbw" in one for one in lines[:number])
        assert kept or said or alone or (tables_say(cut) and not tables_say(whole)), (
            name,
            lines[number][:at],
            ends,
        )


@pytest.mark.slow
def test_no_line_of_a_real_log_gives_another_figure_silently_where_it_is_cut():
    """Whatever the last line is cut to: a figure that the whole log does not print is said to be unsure."""
    rng = random.Random(23)
    for name, _, lines, number, at, _ in _cut_in(rng, "logs/*/*.txt", r".*\d"):
        try:
            whole, cut = (
                read_log("\n".join(one))
                for one in ([*lines[: number + 1], ""], [*lines[:number], lines[number][:at]])
            )
        except ShardlabError:
            continue
        printed, here = ({(one.quantity, one.logged) for one in each.checks} for each in (whole, cut))
        assert here <= printed or log_says(cut) or _is_part(here, "\n".join(lines)), (name, lines[number][:at])


def _cut_in(rng: random.Random, files: str, row: str) -> Iterator[tuple[str, str, list[str], int, int, bool]]:
    """Rows of the real cases and where to cut them: with what follows them, and as the end of their text."""
    for path in sorted(CASES.glob(files)) if CASES.name else ():
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")
        rows = [number for number, line in enumerate(lines) if re.match(row, line) and len(line) > 3]
        for number in rng.sample(rows, min(CUTS_OF_A_FILE, len(rows))):
            filled = len(lines[number]) - len(lines[number].lstrip(" :0"))
            at = rng.randrange(filled + 2, len(lines[number]) + 1)
            yield path.name, text, lines, number, at, rng.random() < 0.5


def _cut(lines: list[str], number: int, at: int, ends: bool) -> str:
    return "\n".join([*lines[:number], lines[number][:at], *([] if ends else lines[number + 1 :])])


def _measured(tables: Any) -> set[tuple[int, float | None, float | None]]:
    return {(row.size_bytes, row.out_of_place_us, row.in_place_us) for one in tables for row in one.rows}


def _is_part(cut: object, whole: object) -> bool:
    """Whether every figure that was read stands in the whole answer too; None is a figure that is missing."""
    return set(re.findall(r"[\d.]*\d", repr(cut))) <= set(re.findall(r"[\d.]*\d", repr(whole)))
