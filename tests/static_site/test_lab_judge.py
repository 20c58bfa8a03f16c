"""What the page says of a learner's file is what `pytest` says, and a receipt belongs to one file alone."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.course.grading.tasks import LABS
from core.course.receipt import Receipt, read_receipt
from core.errors import OutOfRangeError
from scripts.receipt import main as hold

ROOT = Path(__file__).resolve().parents[2]
AS_IN_A_TAB = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""A tab has pytest without the plugins that are installed here; hypothesis's alone takes two seconds to be read."""
JUDGE = "import sys; sys.path[:0] = sys.argv[1:3]; import lab_judge; print(lab_judge.judged(*sys.argv[3:]))"


def judged(lab, source, folder, *more):
    """In a process of its own, as the page has it in a worker of its own: pytest is not begun within pytest."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            JUDGE,
            str(ROOT),
            str(ROOT / "static_site/browser"),
            lab,
            source,
            str(folder),
            *more,
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=AS_IN_A_TAB,
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize("lab", ["lab-01", "lab-03", "lab-04"])
@pytest.mark.parametrize("which", ["starter", "solution"])
def test_every_task_has_the_verdict_that_pytest_gives(lab, which, tmp_path):
    folder = ROOT / "labs" / LABS[lab].folder
    verdict = judged(lab, (folder / f"{which}.py").read_text(), tmp_path)
    own = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        env={**AS_IN_A_TAB, "LAB_IMPL": which},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    ).stdout
    lines = re.findall(r"^(?:ok|  )  lab-\d+ task (\d+)  (\S+) +(\d+) of (\d+)$", own, re.MULTILINE)
    assert [tuple(map(str, list(task.values())[:4])) for task in verdict["tasks"]] == lines
    assert len(lines) == len(LABS[lab].tasks)
    assert all(task["said"][:60] in own for task in verdict["tasks"])
    assert read_receipt(verdict["receipt"]).is_whole == (which == "solution")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def (:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("x = 1", "has no attribute 'column_parallel'"),
    ],
)
def test_a_file_that_does_not_load_is_said_of_each_task(source, said, tmp_path):
    tasks = judged("lab-01", source, tmp_path)["tasks"]
    assert [task["passed"] for task in tasks] == [0, 0, 0, 0]
    assert said in tasks[0]["said"]


def test_a_page_in_spanish_is_told_in_spanish(tmp_path):
    """The same verdicts, in the language that the page hands to its worker."""
    source = (ROOT / "labs" / LABS["lab-03"].folder / "starter.py").read_text()
    source += "\n\ndef comm_fraction(comm_s, step_s):\n    return 100 * comm_s / (comm_s + step_s)\n"
    tasks = judged("lab-03", source, tmp_path, "", "es")["tasks"]
    assert [(task["number"], task["name"], task["tests"]) for task in tasks] == [
        (task["number"], task["name"], task["tests"]) for task in judged("lab-03", source, tmp_path)["tasks"]
    ]
    assert tasks[3]["said"].startswith("NotImplementedError: lab-03, tarea 4: tp_comm_time_per_step (línea ")
    assert tasks[4]["said"].endswith("Eso está en tanto por ciento: se espera una fracción de 0 a 1.")


def test_the_rows_of_a_right_file_are_drawn(tmp_path):
    from core.sharding_math.submission import TASKS, judge
    from runtime.learner_code import read_submissions

    told = judged("lab-01", (ROOT / "labs" / LABS["lab-01"].folder / "solution.py").read_text(), tmp_path)
    submitted = read_submissions({row["task"]: row for row in told["rows"]}, told["sizes"][0])
    assert [one.task for one in submitted] == list(TASKS)
    assert all(judge(one).right for one in submitted)


def test_the_bill_of_a_right_file_is_the_references(tmp_path):
    from core.comm_cost.submission import own_bills

    source = (ROOT / "labs" / LABS["lab-03"].folder / "solution.py").read_text()
    sizes = 80, 8192, 16, 4, 2 * 10**7
    told = judged("lab-03", source, tmp_path, " ".join(map(str, sizes)))
    (row,) = told["rows"]
    bills = own_bills(row, sizes)
    assert len(bills) == 2
    assert all(own.right for own in bills)


def test_a_receipt_is_of_one_file_whatever_its_line_ends(tmp_path, capsys):
    source = "x = 1\ny = 2\n"
    receipt = Receipt(
        "lab-03", (1, 2, 3, 4, 5), 5, judged("lab-03", source, tmp_path)["receipt"].rpartition(" ")[2]
    )
    (tmp_path / "receipt.txt").write_text(f"Here it is:\n  {receipt}\n")
    for text, status in ((source, 0), (source.replace("\n", "\r\n"), 0), (source + " ", 1)):
        (tmp_path / "mine.py").write_bytes(text.encode())
        assert hold([str(tmp_path / "receipt.txt"), str(tmp_path / "mine.py")]) == status
    assert "another file" in capsys.readouterr().out
    assert read_receipt(f"> {receipt}".replace(" sha256", "\nsha256")) == receipt
    with pytest.raises(OutOfRangeError):
        read_receipt("shardlab receipt lab-03 passed all")
