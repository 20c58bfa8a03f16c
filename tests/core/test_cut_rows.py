"""No answer differs silently when a row is cut in half: every reader of rows, complete by their names."""

import ast
import json
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
from core.placement.topology import read_node, read_topology
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from core.two_way_tp import read_log as read_run
from core.two_way_tp import read_result, read_scaling
from runtime import captures
from tests.core.links.printed_tables import table
from tests.core.serving.test_bench_results import PRINTED, SAVED
from tests.core.startup_log.printed_logs import DEEPSEEK, QWEN2
from tests.core.test_paste_fuzz import AZURE, CONFIG, HANG, MOONCAKE, TOPOLOGY

ROOT = Path(__file__).resolve().parents[2]
MOST_CUTS = 150
RANKS = (
    '{"event": "start", "rank": 0, "world_size": 2}\n{"event": "start", "rank": 1, "world_size": 2}\n'
    "exitcode: -9 (pid: 4129) of rank 1\n"
)
CURVE = next(captures.CURVES.glob("*.json"))
NO_ROWS = {
    "core.startup_log.lines.read_lines": "each line as it stands: read_log answers",
    "core.quantity.read_quantity": "one number, no rows",
    "core.evidence.foretold.read_foretold": "a file of this repository",
}


def says_nothing(answer: Any) -> bool:
    return False


def trace_says(answer: Any) -> bool:
    return answer.open_end or bool(answer.unread)


def results_say(answer: Any) -> bool:
    return any(warning.code.endswith("_cut") for one in answer for warning in one.warnings)


def log_says(answer: Any) -> bool:
    return any(one.code == "startup_log.end_cut" for one in answer.remarks)


def tables_say(answer: Any) -> bool:
    return any(one.warnings or one.dropped for one in answer)


def fitted_tables_say(answer: Any) -> bool:
    return any(own.warnings or own.table.dropped or own.table.warnings for own in answer)


Says = Callable[[Any], bool]
READERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...], Says]] = {
    "core.links.nccl_tests.tables.read_tables": (read_tables, (table(largest=1 << 20),), tables_say),
    "core.links.fitted_tables.fitted_tables": (fitted_tables, (table(largest=1 << 20),), fitted_tables_say),
    "core.startup_log.reader.read_log": (read_log, (QWEN2, DEEPSEEK), log_says),
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


def _is_part(cut: object, whole: object) -> bool:
    """Whether every figure that was read stands in the whole answer too; None is a figure that is missing."""
    return set(re.findall(r"[\d.]*\d", repr(cut))) <= set(re.findall(r"[\d.]*\d", repr(whole)))
