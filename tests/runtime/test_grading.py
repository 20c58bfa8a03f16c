"""Submissions of every kind: right, untouched, half right, endless, ended, greedy, and no Python at all."""

import time
from pathlib import Path

import pytest

from core.errors import OutOfRangeError, ShardlabError
from core.grading import LABS, earned
from runtime import grading
from runtime.grading import Limits, grade
from runtime.run_ending import tagged

ROOT = Path(__file__).resolve().parents[2]
BILL = LABS["lab-03"]
QUICK = Limits(wall_s=5.0, cpu_s=20)
RIGHT = "from core.comm_cost import *\n"
pytestmark = pytest.mark.slow


def submitted(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(code, encoding="utf-8")
    return path


def points(results):
    """Points by task."""
    return {result.task.number: float(result.points) for result in results}


@pytest.mark.parametrize("key", ["lab-01", "lab-03", "lab-04"])
def test_the_reference_earns_every_point(key):
    results = grade(LABS[key], ROOT / "labs" / LABS[key].folder / "solution.py")
    assert earned(results) == LABS[key].points
    assert not any(test.problem for result in results for test in result.tests)


@pytest.mark.parametrize("key", ["lab-01", "lab-03", "lab-04"])
def test_the_untouched_starter_earns_none_and_names_each_task(key):
    results = grade(LABS[key], ROOT / "labs" / LABS[key].folder / "starter.py")
    assert earned(results) == 0
    for result in results:
        assert any(f"{key}, task {result.task.number}" in test.problem for test in result.tests)


def test_an_empty_file_earns_none(tmp_path):
    results = grade(BILL, submitted(tmp_path, ""))
    assert earned(results) == 0
    assert "allreduce_payload_bytes" in results[0].tests[0].problem


def test_what_is_right_counts_and_what_is_wrong_says_what_was_expected(tmp_path):
    """The share of the step alone: task 5 is wrong, and nothing else."""
    code = RIGHT + "def comm_fraction(comm_s, step_s):\n    return comm_s / step_s if step_s else 1\n"
    results = grade(BILL, submitted(tmp_path, code))
    assert points(results) == {1: 10, 2: 15, 3: 25, 4: pytest.approx(20 * 2 / 3), 5: 0}
    assert "assert" in results[4].tests[0].problem


def test_an_endless_task_costs_its_own_points_and_no_others(tmp_path):
    code = RIGHT + "import time\ndef ring_allreduce_traffic_per_rank(*args):\n    time.sleep(600)\n"
    began = time.monotonic()
    results = grade(BILL, submitted(tmp_path, code), QUICK)
    assert time.monotonic() - began < 60
    assert points(results) == {1: 10, 2: 0, 3: 25, 4: 20, 5: 10}
    assert "more than 5 s" in results[1].tests[0].problem


def test_a_busy_loop_is_ended_by_its_processor_time(tmp_path):
    pytest.importorskip("resource")
    code = RIGHT + "def comm_fraction(*args):\n    while True: pass\n"
    (*_, last) = grade(BILL, submitted(tmp_path, code), Limits(wall_s=40.0, cpu_s=4))
    assert last.points == 0
    assert "processor time" in last.tests[0].problem


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 11)", "os.abort()"])
def test_a_task_that_ends_its_process_costs_its_own_points(tmp_path, end):
    code = RIGHT + f"import os\ndef allreduce_payload_bytes(*args):\n    {end}\n"
    results = grade(BILL, submitted(tmp_path, code))
    assert points(results) == {1: 0, 2: 15, 3: 25, 4: 20, 5: 10}
    assert "ended before its tests did" in results[0].tests[0].problem


@pytest.mark.parametrize(
    "code", ["def broken(:\n", "raise SystemExit(0)\n", "1 / 0\n", "\x00", "import nowhere_to_be_found\n"]
)
def test_a_file_that_cannot_be_loaded_earns_none_and_says_why(tmp_path, code):
    results = grade(BILL, submitted(tmp_path, code))
    assert earned(results) == 0
    assert all(test.problem for result in results for test in result.tests)


def test_memory_is_bounded(tmp_path):
    pytest.importorskip("resource")
    code = RIGHT + "def comm_fraction(*args):\n    return bytearray(2**33)\n"
    (*_, last) = grade(BILL, submitted(tmp_path, code))
    assert "MemoryError" in last.tests[0].problem


def test_what_a_submission_started_is_ended_with_it(tmp_path):
    code = "import os, subprocess, sys\n" + (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        f" env={{**os.environ, 'SHARDLAB_LEFT_BEHIND': {str(tmp_path)!r}}})\n"
    )
    grade(BILL, submitted(tmp_path, code + RIGHT))
    assert tagged("SHARDLAB_LEFT_BEHIND", str(tmp_path)) == []


def test_our_environment_stays_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "do not tell")
    code = RIGHT + "import os\ndef comm_fraction(*args):\n    raise ValueError(os.environ.get('A_SECRET'))\n"
    (*_, last) = grade(BILL, submitted(tmp_path, code))
    assert "ValueError: None" in last.tests[0].problem


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutOfRangeError, match="is not there"):
        grade(BILL, tmp_path / "nowhere.py")


def test_lab_02_without_torch_is_refused_and_not_graded_as_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "find_spec", lambda name: None)
    with pytest.raises(ShardlabError, match="runs on PyTorch"):
        grade(LABS["lab-02"], submitted(tmp_path, ""))


def test_lab_02_is_graded_on_real_ranks(tmp_path):
    """One wrong layer: the bias of every rank, added before the sum, arrives twice."""
    pytest.importorskip("torch")
    code = """
from distributed.layers import *
from distributed import layers

class RowParallelLinear(layers.RowParallelLinear):
    def forward(self, x):
        y = x @ self.weight.T
        return self.group.all_reduce(y + self.bias if self.bias is not None else y)
"""
    results = grade(LABS["lab-02"], submitted(tmp_path, code))
    assert points(results) == {1: 20, 2: 12.5, 3: 20, 4: 15}
