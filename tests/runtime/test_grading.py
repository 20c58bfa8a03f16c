"""Submissions of every kind: right, untouched, half right, endless, ended, greedy, and no Python at all."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.course.grading.tasks import LABS, earned
from core.errors import OutOfRangeError, ShardlabError
from runtime import grading
from runtime.grading import Limits, grade
from runtime.processes import tagged

ROOT = Path(__file__).resolve().parents[2]
BILL = LABS["lab-03"]
TRAFFIC, FRACTION = BILL.tasks[1], BILL.tasks[4]
TWO_TASKS = replace(BILL, tasks=(TRAFFIC, FRACTION))
"""A lab small enough to be graded often: each task is a process."""

QUICK = Limits(wall_s=8.0, cpu_s=20)
RIGHT = "from core.comm_cost.bill import *\n"
pytestmark = pytest.mark.slow


def submitted(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(code, encoding="utf-8")
    return path


def points(results):
    """Points by task."""
    return {result.task.number: float(result.points) for result in results}


def only(task, file, limits=None):
    """One task of lab 03, graded."""
    (result,) = grade(replace(BILL, tasks=(task,)), file, limits)
    return result


def test_the_reference_earns_every_point():
    lab = LABS["lab-01"]
    results = grade(lab, ROOT / "labs" / lab.folder / "solution.py")
    assert earned(results) == lab.points
    assert not any(test.problem for result in results for test in result.tests)


def test_the_untouched_starter_earns_none_and_names_each_task():
    lab = LABS["lab-04"]
    results = grade(lab, ROOT / "labs" / lab.folder / "starter.py")
    assert earned(results) == 0
    for result in results:
        assert any(f"{lab.key}, task {result.task.number}" in test.problem for test in result.tests)


def test_an_empty_file_earns_none(tmp_path):
    results = grade(TWO_TASKS, submitted(tmp_path, ""))
    assert earned(results) == 0
    assert "ring_allreduce_traffic_per_rank" in results[0].tests[0].problem


def test_what_is_right_counts_and_what_is_wrong_says_what_was_expected(tmp_path):
    """The share of the step alone: task 5 is wrong, and nothing else."""
    code = RIGHT + "def comm_fraction(comm_s, step_s):\n    return comm_s / step_s if step_s else 1\n"
    results = grade(BILL, submitted(tmp_path, code))
    assert points(results) == {1: 10, 2: 15, 3: 25, 4: pytest.approx(20 * 2 / 3), 5: 0}
    assert "assert" in results[4].tests[0].problem


def test_an_endless_task_costs_its_own_points_and_no_others(tmp_path):
    code = RIGHT + "import time\ndef ring_allreduce_traffic_per_rank(*args):\n    time.sleep(600)\n"
    began = time.monotonic()
    results = grade(TWO_TASKS, submitted(tmp_path, code), QUICK)
    assert time.monotonic() - began < 60
    assert points(results) == {2: 0, 5: 10}
    assert "more than 8 s" in results[0].tests[0].problem


def test_a_busy_loop_is_ended_by_its_processor_time(tmp_path):
    pytest.importorskip("resource")
    code = RIGHT + "def comm_fraction(*args):\n    while True: pass\n"
    last = only(FRACTION, submitted(tmp_path, code), Limits(wall_s=120.0, cpu_s=4))
    assert last.points == 0
    assert "processor time" in last.tests[0].problem


@pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()"])
def test_a_task_that_ends_its_process_costs_its_own_points(tmp_path, end):
    code = RIGHT + f"import os\ndef ring_allreduce_traffic_per_rank(*args):\n    {end}\n"
    results = grade(TWO_TASKS, submitted(tmp_path, code))
    assert points(results) == {2: 0, 5: 10}
    assert "ended before its tests did" in results[0].tests[0].problem


@pytest.mark.parametrize("code", ["def broken(:\n", "raise SystemExit(0)\n"])
def test_a_file_that_cannot_be_loaded_earns_none_and_says_why(tmp_path, code):
    last = only(FRACTION, submitted(tmp_path, code))
    assert last.points == 0
    assert all(test.problem for test in last.tests)


def test_memory_is_bounded(tmp_path):
    pytest.importorskip("resource")
    code = RIGHT + "def comm_fraction(*args):\n    return bytearray(2**33)\n"
    assert "MemoryError" in only(FRACTION, submitted(tmp_path, code)).tests[0].problem


def test_what_a_submission_started_is_ended_with_it(tmp_path):
    code = "import os, subprocess, sys\n" + (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        f" env={{**os.environ, 'SHARDLAB_LEFT_BEHIND': {str(tmp_path)!r}}})\n"
    )
    only(FRACTION, submitted(tmp_path, code + RIGHT))
    deadline_s = time.monotonic() + 10
    while tagged("SHARDLAB_LEFT_BEHIND", str(tmp_path)) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert tagged("SHARDLAB_LEFT_BEHIND", str(tmp_path)) == []


def test_our_environment_stays_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "do not tell")
    code = RIGHT + "import os\ndef comm_fraction(*args):\n    raise ValueError(os.environ.get('A_SECRET'))\n"
    assert "ValueError: None" in only(FRACTION, submitted(tmp_path, code)).tests[0].problem


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutOfRangeError, match="is not there"):
        grade(BILL, tmp_path / "nowhere.py")


def test_lab_02_without_torch_is_refused_and_not_graded_as_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "find_spec", lambda name: None)
    with pytest.raises(ShardlabError, match="runs on PyTorch"):
        grade(LABS["lab-02"], submitted(tmp_path, ""))


def test_lab_02_is_graded_on_real_ranks(tmp_path):
    """The bias of every rank, added before the sum, arrives twice: one of task 2's tests finds it."""
    pytest.importorskip("torch")
    code = """
from distributed import layers

class RowParallelLinear(layers.RowParallelLinear):
    def forward(self, x):
        y = x @ self.weight.T
        return self.group.all_reduce(y if self.bias is None else y + self.bias)
"""
    lab = LABS["lab-02"]
    assert points(grade(replace(lab, tasks=lab.tasks[1:2]), submitted(tmp_path, code))) == {2: 12.5}
