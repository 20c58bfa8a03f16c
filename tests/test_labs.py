"""The labs as contracts: the reference passes, the untouched starter fails everywhere, by name.

The bare environment refuses every import outside of the standard library, numpy, pytest and what pytest needs,
so that a learner without torch or Streamlit can do the labs that need neither.
"""

import math
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core.catalog import link
from core.course.grading.tasks import LABS as GRADED
from labs.diagnosis import agree, is_due
from tests.each import each
from tests.lab_runs import LABS, ROOT, run_lab

LABS_OF = {lab.folder: lab for lab in GRADED.values()}
BARE = [name for name in LABS if not name.startswith("lab-02")]

REFUSE = """
import sys
from importlib.abc import MetaPathFinder

ALLOWED = sys.stdlib_module_names | {
    "numpy", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli",
    "colorama", "core", "bare_environment",
}

class Refuse(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED and not name.startswith(("lab", "conftest")):
            raise ImportError(f"{name} is not in the bare environment")
        return None

sys.meta_path.insert(0, Refuse())
"""


@pytest.mark.parametrize("lab", BARE)
def test_an_untouched_starter_fails_every_test_by_lab_and_every_task(lab, tmp_path):
    """Each NotImplementedError that the file can raise is what some test meets first."""
    outcomes = run_lab(lab, "starter", tmp_path / "report.xml")
    number = re.match(r"lab-\d\d", lab).group()
    assert outcomes
    for outcome in outcomes:
        assert re.search(rf"NotImplementedError: {number}, task \d+: \w+", outcome.failure or ""), outcome.name
    task = re.compile(rf"{number}, task (\d+)")
    written = set(task.findall((ROOT / "labs" / lab / "starter.py").read_text(encoding="utf-8")))
    assert written == {one for outcome in outcomes for one in task.findall(outcome.failure)}


@pytest.mark.parametrize("lab", BARE)
def test_a_lab_needs_numpy_and_pytest_alone(lab, tmp_path, monkeypatch):
    (tmp_path / "bare_environment.py").write_text(REFUSE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    outcomes = run_lab(lab, "solution", tmp_path / "report.xml", "-p", "bare_environment")
    assert outcomes
    assert [outcome.name for outcome in outcomes if outcome.failure] == []


def test_the_bare_environment_refuses_what_the_app_needs(tmp_path, monkeypatch):
    """Without this, the test above could pass by refusing nothing."""
    (tmp_path / "bare_environment.py").write_text(REFUSE, encoding="utf-8")
    (tmp_path / "greedy.py").write_text("import torch", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    outcomes = run_lab(BARE[0], str(tmp_path / "greedy.py"), tmp_path / "report.xml", "-p", "bare_environment")
    assert all("torch is not in the bare environment" in (outcome.failure or "") for outcome in outcomes)


def told(attempt: str, folder, lab: str = "lab-04-pipeline-bubble") -> str:
    """What pytest prints of a starter with more written under it."""
    starter = (ROOT / "labs" / lab / "starter.py").read_text(encoding="utf-8")
    (folder / "mine.py").write_text(starter + attempt, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"labs/{lab}"]
    # as on a learner's machine: where CI is set, pytest repeats an error whole in its last lines
    here = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    environment = {**here, "LAB_IMPL": str(folder / "mine.py"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
def test_a_wrong_answer_is_told_once_and_with_what_was_wanted(tmp_path):
    """A formula that is wrong in fifty cases is one line, with the first of them."""
    attempt = "\ndef microbatches_for_budget(stages, budget, *, under=False):\n    return 1\n"
    lines = told(attempt, tmp_path)
    assert "p=8, a budget of Fraction(1, 10), under=False: 1 was returned, and 63 is due." in lines
    assert "assert" not in lines
    assert len(lines.splitlines()) < 60


@pytest.mark.slow
def test_a_file_that_cannot_be_loaded_is_told_once(tmp_path):
    """107 tests meet the same missing module: a line for each of seven tasks, and one as pytest tells an error."""
    lines = told("\nimport nowhere\n", tmp_path)
    assert lines.count("No module named 'nowhere'") == 8
    assert len(lines.splitlines()) < 40


@pytest.mark.slow
def test_what_an_attempt_prints_and_numpy_says_is_kept_short(tmp_path):
    attempt = """
def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    print("rank\\n" * 5000, "x" * 400_000)
    return np.concatenate([x @ w for w in np.split(W, num_ranks)], axis=-1)
"""
    lines = told(attempt, tmp_path, "lab-01-tp-sharding-math")
    assert len(lines) < 20_000
    assert (
        "ValueError: a product of 5 columns and 16 rows, which should be as many; W is [16, 5], (out, in) (line"
        in lines
    )
    assert len(lines.splitlines()) < 160


@each(
    ("found", "due", "said"),
    [
        (None, 8192, "it: nothing was returned, and 8192 is due."),
        ([1.0], 0.5, "it: a result of the type list was returned, and 0.5 is due."),
        (Decimal(1), 0.5, "it: a result of the type Decimal was returned, and 0.5 is due."),
        (0.5j, 0.5, "it: a result of the type complex was returned, and 0.5 is due."),
        (0.25, Fraction(1, 4), "it: 0.25 was returned as a float, and the Fraction 1/4 is due."),
        (1.0000000001, 1.0, "it: 1.0000000001 was returned, and 1.0 is due."),
        (math.inf, math.inf, ""),
        (None, np.ones((1, 16)), "Nothing was returned, and an array of the shape (1, 16) is due."),
        (
            "done",
            np.ones((1, 16)),
            "A result of the type str was returned, and an array of the shape (1, 16) is due.",
        ),
        (
            True,
            np.ones((1, 16)),
            "A result of the type bool was returned, and an array of the shape (1, 16) is due.",
        ),
        (
            ([1], None),
            np.ones(2),
            "A result of the type tuple was returned, and an array of the shape (2,) is due.",
        ),
        (np.full(2, 1 + 1e-12), np.ones(2), "y[0], is 1.000000000001 and should be 1.0."),
    ],
)
def test_a_wrong_result_is_told_with_what_was_returned_and_what_is_due(found, due, said):
    with pytest.raises(pytest.fail.Exception) if said else nullcontext() as failed:
        agree(found, due) if isinstance(due, np.ndarray) else is_due(found, due, "it")
    assert not said or said in str(failed.value)


@pytest.mark.slow
def test_an_error_of_the_attempt_is_one_line_with_its_place(tmp_path):
    """Its own assertion too, which is no claim of the lab's, and an error in a thread of its own."""
    attempt = """
def counted_bubble(spans, stages):
    raise RuntimeError("one\\ntwo")
def is_valid(spans, stages, microbatches):
    assert stages % 2 == 0, "odd"
def bubble_fraction(stages, microbatches):
    import threading
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
"""
    lines = told(attempt, tmp_path)
    assert "RuntimeError: one two (line" in lines
    assert "AssertionError: odd (line" in lines
    assert re.search(r"ZeroDivisionError: division by zero \(line \d+ of \w+\.py, in a thread\)", lines)
    assert "Traceback" not in lines


@pytest.mark.slow
def test_a_loop_without_end_is_ended_and_its_task_with_it(tmp_path):
    """One test waits, the others of its task are told why they need not; other tasks are graded."""
    attempt = """
def bubble_overhead(stages, microbatches):
    while True:
        try:
            stages += 1
        except Exception:
            continue
"""
    lines = told(attempt, tmp_path)
    assert re.search(r"The code ran for more than 10 s and was ended \(line \d+ of mine\.py\)", lines)
    assert "lab-04 task 5  bubble_overhead              0 of 8" in lines
    assert "NotImplementedError: lab-04, task 6" in lines


@pytest.mark.slow
@pytest.mark.parametrize("lab", BARE)
def test_a_task_is_not_blamed_for_another_that_is_not_written(lab, tmp_path):
    """A file of one right task: each of its tests passes, whichever other tasks a test or the code asks."""
    folder = ROOT / "labs" / lab
    number = re.match(r"lab-\d\d", lab).group().replace("-", "_")
    right = (ROOT / "tests" / "runtime" / "answers" / f"{number}.py").read_text(encoding="utf-8")
    names = [task.name for task in LABS_OF[lab].tasks]
    for task in LABS_OF[lab].tasks[2::3]:
        own = "".join(
            f"\ndef {name}(*args, **options):\n    raise NotImplementedError\n"
            for name in names
            if name != task.name
        )
        path = tmp_path / f"{task.name}.py"
        path.write_text(right + own, encoding="utf-8")
        failed = {one.name for one in run_lab(folder.name, str(path), tmp_path / "report.xml") if one.failure}
        assert not failed & set(task.tests), task.name
        assert failed >= set(LABS_OF[lab].tasks[0].tests)


@pytest.mark.slow
def test_a_link_is_told_by_its_name(tmp_path):
    """A row of the catalog has thirty fields."""
    attempt = """
def allreduce_time_s(payload_bytes, ranks, link):
    if payload_bytes == 8192:
        raise ValueError(f"never on {link}")
    return 0.0
def crossing_payload_bytes(one, other, ranks):
    return one
"""
    lines = told(attempt, tmp_path, "lab-03-tp-comm-cost")
    assert f"ValueError: never on {link('nvlink-lab').name} (line" in lines
    assert "Spec(" not in lines
