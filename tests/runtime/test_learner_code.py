"""The learner's file: which one, where it may run, what is read of it, and what ends it."""

import ast
import random
import resource
import shutil
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from core.sharding_math.submission import TASKS, judge, reference, submitted_trace
from core.sharding_math.trace_diagram import trace_diagram
from runtime import learner_code
from runtime.learner_code import LAB, learner_file, saved, submissions
from runtime.learner_grading import _PROGRAM, grade
from tests.pages.test_message_fuzz import WHOLE, anything
from ui import solve

OWN = {"SHARDLAB_LIVE_RUNS": "1"}
HEAD = "import numpy as np\nfrom core.sharding_math.collectives import all_reduce\n"
HEAD += "from core.sharding_math.lab import *\n"


def written(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + code, encoding="utf-8")
    return path


def of(task, tried):
    return next(submission for submission in tried if submission.task == task)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        OWN,
        {**OWN, "LAB_IMPL": "solution"},
        {"LAB_IMPL": "starter"},
        {"LAB_IMPL": "starter", "SHARDLAB_LIVE_RUNS": "0"},
        {**OWN, "LAB_IMPL": "/nowhere/mine.py"},
    ],
)
def test_nobodys_code_runs_unless_the_server_was_started_for_it_at_home(environ):
    assert learner_file(environ) is None


def test_the_server_names_the_file(tmp_path):
    path = written(tmp_path, "")
    assert learner_file({**OWN, "LAB_IMPL": "starter"}) == LAB / "starter.py"
    assert learner_file({**OWN, "LAB_IMPL": str(path)}) == path


def test_the_reference_is_right_in_every_task():
    for submission in submissions(LAB / "solution.py", 4):
        assert submission.error is None
        assert judge(submission).right


def test_an_untouched_starter_stops_at_its_own_lines():
    tried = submissions(LAB / "starter.py", 4)
    source = (LAB / "starter.py").read_text(encoding="utf-8").splitlines()
    for number, submission in enumerate(tried, start=1):
        assert f"lab-01, task {number}" in str(submission.error.message)
        assert "raise NotImplementedError" in source[submission.error.line - 1]


def test_terms_given_to_an_all_reduce_are_drawn(tmp_path):
    """The mean for the sum: the terms are right, the result a quarter of what is due."""
    code = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    parts = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    return all_reduce(parts, ledger) / num_ranks
"""
    submission = of("row_parallel", submissions(written(tmp_path, code), 4))
    judged = judge(submission)
    assert (judged.wrong, judged.entries, judged.collectives, judged.due) == (4, 4, 1, 1)
    trace = submitted_trace(submission)
    assert np.allclose(sum(trace.tensor("partial y").parts), 4 * trace.result.parts[0])
    dense, _ = reference("row_parallel", 4)
    board = trace_diagram(trace, dense)
    assert all(len(block.wrong) == 4 for row in board.rows if row.key == "y" for block in row.blocks)


COLUMN = """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    return np.concatenate([x @ part.T for part in np.split(W, num_ranks)], axis=1)"""


def drawn(submission):
    """The picture of a row-parallel layer, in which one collective is due."""
    return trace_diagram(submitted_trace(submission), submission.y, unwanted=range(1, 9))


def test_collectives_that_should_not_be_are_marked(tmp_path):
    code = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    all_reduce([x[:, :1]] * num_ranks, ledger)
    parts = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    return all_reduce(parts, ledger)
"""
    submission = of("row_parallel", submissions(written(tmp_path, code), 4))
    assert (judge(submission).right, judge(submission).wrong, judge(submission).collectives) == (False, 0, 2)
    bars = [
        row
        for row in trace_diagram(submitted_trace(submission), submission.y, unwanted=range(1, 9)).rows
        if row.kind == "bar"
    ]
    assert [bar.fault for bar in bars] == [False, True]


def test_an_all_reduce_that_was_left_out_is_marked(tmp_path):
    code = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))][0]
"""
    submission = of("row_parallel", submissions(written(tmp_path, code), 4))
    (bar,) = (
        row
        for row in trace_diagram(submitted_trace(submission), submission.y, unwanted=range(1, 9)).rows
        if row.kind == "bar"
    )
    assert (bar.fault, bar.sent) == (True, False)


def test_a_product_with_more_than_a_share_is_refused(tmp_path):
    code = "def column_parallel(x, W, num_ranks, ledger=None, bias=None):\n    return x @ W.T\n"
    error = of("column_parallel", submissions(written(tmp_path, code), 4)).error
    assert "is more than one rank holds: cut it into 4 shares" in str(error.message)
    assert error.line


def test_a_result_of_another_shape_is_said_and_not_drawn(tmp_path):
    code = COLUMN + ".T\n"
    judged = judge(of("column_parallel", submissions(written(tmp_path, code), 4)))
    assert (judged.can_be_drawn, judged.shape, judged.expected_shape) == (False, (4, 1), (1, 4))


def test_not_a_number_is_wrong(tmp_path):
    code = COLUMN + " * np.nan\n"
    assert judge(of("column_parallel", submissions(written(tmp_path, code), 4))).wrong == 4


def test_a_typing_mistake_is_told_with_its_line(tmp_path):
    tried = submissions(written(tmp_path, "def row_parallel(:\n"), 4)
    assert all("SyntaxError" in str(submission.error.message) for submission in tried)
    assert {submission.error.line for submission in tried} == {4}


@pytest.mark.slow
def test_an_endless_loop_is_ended_and_what_came_before_it_kept(tmp_path):
    code = "def row_parallel(*args, **kwargs):\n    import time\n    time.sleep(60)\n"
    tried = submissions(written(tmp_path, code), 4, wall_s=4)
    assert judge(of("column_parallel", tried)).right
    assert "more than 4 s" in str(of("row_parallel", tried).error.message)
    assert "more than 4 s" in str(of("mlp_tp", tried).error.message)


def test_memory_is_limited(tmp_path):
    pytest.importorskip("resource")
    code = "def row_parallel(*args, **kwargs):\n    return np.ones(2**33)\n"
    assert "MemoryError" in str(of("row_parallel", submissions(written(tmp_path, code), 4)).error.message)


def test_prints_and_exits_of_their_own_harm_nothing(tmp_path):
    code = "print('{\"task\": 1}')\ndef row_parallel(*args, **kwargs):\n    raise SystemExit(3)\n"
    tried = submissions(written(tmp_path, code), 4)
    assert judge(of("column_parallel", tried)).right
    assert "SystemExit" in str(of("row_parallel", tried).error.message)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_is_printed_without_end_is_kept_nowhere(tmp_path, stream):
    """`while True: print(x)` took four gigabytes of the server that waited for it."""
    path = written(tmp_path, f"import sys\nwhile True: print('x' * 10**6, file=sys.{stream})\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (error,) = {str(submission.error.message) for submission in submissions(path, 4, wall_s=2)}
    assert "more than 2 s" in error or "File too large" in error
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_what_it_started_ends_with_it(tmp_path):
    pid = tmp_path / "pid"
    code = "import os, time\nif (child := os.fork()) == 0: time.sleep(600)\n"
    code += f"open({str(pid)!r}, 'w').write(str(child))\n"
    submissions(written(tmp_path, code), 4, wall_s=60)
    told = Path(f"/proc/{pid.read_text()}/cmdline")
    deadline_s = time.monotonic() + 60
    while told.is_file() and told.read_bytes() and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert not (told.is_file() and told.read_bytes())


def test_a_line_that_was_cut_costs_its_own_task_alone(tmp_path, monkeypatch):
    """As where its process was killed while it wrote, or the disk was full."""

    def cut(command, folder, *_):
        Path(command[6]).write_bytes(
            b'{"task": "column_parallel", "error": "its own", "line": 3}\n{"task": "row_pa'
        )
        return 0

    monkeypatch.setattr(learner_code, "run_bounded", cut)
    column, row, *_ = submissions(tmp_path / "mine.py", 4)
    assert (str(column.error.message), column.error.line) == ("its own", 3)
    assert "did not come to this task" in str(row.error.message)


def test_a_disk_without_room_and_a_file_that_is_away_are_said(tmp_path, monkeypatch):
    gone = tmp_path / "mine.py"
    assert saved(gone) == saved(gone)
    assert all("FileNotFoundError" in str(one.error.message) for one in submissions(gone, 4))
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    monkeypatch.setenv("TMPDIR", "/proc/nowhere")
    assert {str(one.error.message) for one in submissions(gone, 4)} == {
        "The code cannot be run: No such file or directory in /proc/nowhere."
    }
    assert grade(gone) == ()


def test_a_message_is_text_that_a_page_can_show(tmp_path):
    code = "def row_parallel(*args, **kwargs):\n    raise ValueError('half a pair: \\ud800')\n"
    tried = of("row_parallel", submissions(written(tmp_path, code), 4))
    assert str(tried.error.message) == "ValueError: half a pair: ?"


def test_our_environment_stays_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "do not tell")
    code = "import os\ndef row_parallel(*args, **kwargs):\n    raise ValueError(os.environ.get('A_SECRET'))\n"
    assert str(of("row_parallel", submissions(written(tmp_path, code), 4)).error.message) == "ValueError: None"


def test_a_file_is_new_when_it_was_saved_again(tmp_path):
    path = Path(shutil.copy(LAB / "starter.py", tmp_path / "mine.py"))
    before = saved(path)
    assert saved(path) == before
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert saved(path) != before


def test_every_task_is_tried():
    assert [submission.task for submission in submissions(LAB / "solution.py", 2)] == list(TASKS)


def test_the_grading_program_finds_what_it_imports():
    """A folded file renamed `limit`: every grade on lab 01's page was empty, and only a slow test saw it."""
    for part in ast.walk(ast.parse(_PROGRAM.format(root="", cpu_s=1))):
        if isinstance(part, ast.ImportFrom):
            assert [name for name in part.names if not hasattr(import_module(part.module), name.name)] == []


@pytest.mark.slow
def test_the_labs_tests_are_counted_by_task(tmp_path):
    """Column right, row without its sum: all of task 1 and some of task 2 stand."""
    code = """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    return np.split(x, num_ranks, 1)[0] @ np.split(W, num_ranks, 1)[0].T
"""
    grades = {one.task: one for one in grade(written(tmp_path, code))}
    assert grades[1].done
    assert 0 <= grades[2].passed < grades[2].tests
    assert "Rank 0 has its own term alone" in grades[2].first_failure
    assert all(one.done for one in grade(LAB / "solution.py"))


@pytest.mark.slow
def test_code_that_runs_for_ever_gets_no_grade(tmp_path):
    assert grade(written(tmp_path, "import time\ntime.sleep(60)\n"), wall_s=3) == ()


def test_whatever_a_browser_tells_of_a_run_is_read_or_refused():
    """4,000 rows of lab 01 made up by a seed; what is read can be judged, and its lines are a ledger's."""
    rng, read = random.Random(40), 0
    for _ in range(4_000):
        row = {name: anything(rng) for name in ("task", "y", "collectives", "reduced", "line")}
        if rng.random() < 0.3:
            row["collectives"] = [["all_reduce", rng.choice(WHOLE), rng.choice(WHOLE)]]
        if rng.random() < 0.1:
            row["error"] = anything(rng)
        if rng.random() < 0.5:
            row |= {"y": [[1.0, 2.0]], "reduced": []}
        for one in learner_code.read_submissions({"row_parallel": row}, 4):
            judge(one)
            read += one.error is None
            assert all(0 <= line.payload_bytes < 2**53 for line in one.collectives)
    assert read > 200


NO_ROWS = ("", "[", "[" * 100_000, "{}", "1", "null", '[{"a": 1}]', '[{"task": []}]', "[[]]", None, 7)


@pytest.mark.parametrize("text", NO_ROWS, ids=range(len(NO_ROWS)))
def test_what_names_no_task_is_no_row(text):
    assert solve.rows_in(text) == []
    assert solve.rows_in('[{"task": "bill", "bills": []}, 3]') == [{"task": "bill", "bills": []}]
