"""A class: handouts and a key that agree, grades from folders and notebooks, and what Gradescope is sent."""

import csv
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core.course.grading.questions import questions, seed_of
from core.course.grading.tasks import LABS
from scripts import classroom
from scripts.grade import worded

ROOT = Path(__file__).resolve().parents[2]
BILL = LABS["lab-03"]
WORD = "a secret"
CODE = (ROOT / "tests" / "runtime" / "answers" / "lab_03.py").read_text(encoding="utf-8")


@pytest.fixture
def class_of(tmp_path):
    """A folder with a roster of so many students, and the word."""

    def make(*students):
        (tmp_path / "word").write_text(WORD, encoding="utf-8")
        (tmp_path / "roster.csv").write_text("student,section\n" + "".join(f"{s},1\n" for s in students))
        return tmp_path

    return make


def run(what, folder, out, *more):
    word, roster = ("--word-file", str(folder / "word")), ("--roster", str(folder / "roster.csv"))
    return classroom.main([what, "lab-03", *word, *roster, "--out", str(out), *more])


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def submit(folder, student, code=CODE, answers=None, right=True):
    """A student's folder; the answers are all right or all wrong."""
    home = folder / "submissions" / student
    home.mkdir(parents=True)
    (home / "starter.py").write_text(code, encoding="utf-8")
    asked = questions(BILL, seed_of(student, BILL, WORD))
    lines = [f"q{n} = {q.in_unit if right else 3 * q.in_unit + 1:.6g} {q.unit}" for n, q in enumerate(asked, 1)]
    (home / "answers.txt").write_text("\n".join(lines) if answers is None else answers, encoding="utf-8")


def test_a_line_of_noughts_says_what_stopped_them_all(class_of):
    """A submission that ends its process, or a machine that cannot run one, is not a learner who knows nothing."""
    folder = class_of("ada", "bob", "cy")
    submit(folder, "ada", "import os\nos._exit(3)\n")
    submit(folder, "bob")
    submit(folder, "cy", (ROOT / "labs" / BILL.folder / "starter.py").read_text(encoding="utf-8"))
    run("grade", folder, folder / "grades.csv", "--submissions", str(folder / "submissions"))
    remarks = [row["remark"] for row in table(folder / "grades.csv")]
    assert remarks == ["The process ended before it answered (exit status 3).", "", ""]


@pytest.mark.parametrize(
    ("what", "missing"),
    [("grade", "--roster and --submissions"), ("handout", "--roster"), ("key", "--roster")],
)
def test_what_is_not_given_is_asked_for_by_name(what, missing, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        classroom.main([what, "lab-03", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert f"{what} needs {missing}\n" in capsys.readouterr().err


def test_handouts_and_the_key_are_of_the_same_questions(class_of):
    folder = class_of("ada@x.org", "bob")
    assert run("handout", folder, folder / "handouts") == 0
    assert run("key", folder, folder / "key.csv") == 0
    rows = table(folder / "key.csv")
    assert len(rows) == 8
    sheet = (folder / "handouts" / "ada@x.org.md").read_text(encoding="utf-8")
    for place, question in enumerate(questions(BILL, seed_of("ada@x.org", BILL, WORD)), 1):
        assert worded(place, question) in sheet
    assert "allreduce_time_s" in sheet
    (first,) = [row for row in rows if (row["student"], row["question"]) == ("bob", "q1")]
    assert float(first["answer"]) == pytest.approx(questions(BILL, seed_of("bob", BILL, WORD))[0].in_unit, rel=1e-4)


def test_a_class_is_graded_from_its_folders(class_of):
    """Right, wrong answers, no shards of anything, an attack, a file that is missing and a folder that is."""
    folder = class_of("right", "guessing", "idle", "attacker", "empty", "absent")
    submit(folder, "right")
    submit(folder, "guessing", right=False)
    submit(folder, "idle", (ROOT / "labs" / BILL.folder / "starter.py").read_text(encoding="utf-8"))
    submit(folder, "attacker", "import os\nos._exit(0)\n", answers="=cmd|' /C calc'!A0")
    (folder / "submissions" / "empty").mkdir()
    assert run("grade", folder, folder / "grades.csv", "--submissions", str(folder / "submissions")) == 0
    rows = {row["student"]: row for row in table(folder / "grades.csv")}
    assert {name: float(row["points"]) for name, row in rows.items()} == {
        "right": 100, "guessing": 40, "idle": 60, "attacker": 0, "empty": 0, "absent": 0,
    }  # fmt: skip
    assert "holds 0 Python files" in rows["empty"]["remark"]
    assert "is not there" in rows["absent"]["remark"]


def test_a_notebook_is_what_its_cells_hold(class_of):
    folder = class_of("ada")
    notebook = folder / "lab.ipynb"
    assert classroom.main(["notebook", "lab-03", "--out", str(notebook)]) == 0
    document = json.loads(notebook.read_text(encoding="utf-8"))
    asked = questions(BILL, seed_of("ada", BILL, WORD))
    for cell in document["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "submission":
            cell["source"] = CODE.splitlines(keepends=True)
        if cell["metadata"]["nbgrader"]["grade_id"] == "answers":
            cell["source"] = "\n".join(f"q{n} = {q.in_unit:.6g}" for n, q in enumerate(asked, 1))
    home = folder / "submissions" / "ada" / "lab-03"
    home.mkdir(parents=True)
    (home / "lab.ipynb").write_text(json.dumps(document), encoding="utf-8")
    run("grade", folder, folder / "grades.csv", "--submissions", str(folder / "submissions"))
    assert table(folder / "grades.csv")[0]["points"] == "100"


def test_gradescopes_zip_runs_where_gradescope_would_unpack_it(class_of, tmp_path):
    """The paths of run_autograder put under a folder of ours; Python as it is here."""
    folder = class_of("ada")
    archive, home = folder / "lab-03.zip", folder / "autograder"
    assert classroom.main(["gradescope", "lab-03", "--word-file", str(folder / "word"), "--out", str(archive)]) == 0
    with zipfile.ZipFile(archive) as opened:
        assert {"setup.sh", "run_autograder", "word"} <= set(opened.namelist())
        assert not [name for name in opened.namelist() if "solution" in name and "lab-03" not in name]
        opened.extractall(home / "source")
    submission = home / "submission"
    submission.mkdir()
    (home / "results").mkdir()
    (submission / "starter.py").write_text(CODE, encoding="utf-8")
    asked = questions(BILL, seed_of("ada@x.org", BILL, WORD))
    (submission / "answers.txt").write_text(
        "\n".join(f"q{n} = {q.in_unit:.6g} {q.unit}" for n, q in enumerate(asked, 1))
    )
    (home / "submission_metadata.json").write_text(json.dumps({"users": [{"email": "ada@x.org", "id": 1}]}))
    script = (home / "source" / "run_autograder").read_text(encoding="utf-8")
    script = script.replace("/autograder", str(home)).replace("python3", sys.executable)
    subprocess.run(["bash", "-c", script], check=True, env={**os.environ, "PYTHONPATH": ""}, timeout=120)
    assert json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))["score"] == 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name\nada\n", "no column `student`"),
        ("student\n", "names 0 students"),
        ("student\nada\nada\n", "twice: ada"),
        ("student\n../ada\n", "is no name of a folder"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused_in_a_line(class_of, capsys, text, said):
    folder = class_of("ada")
    (folder / "roster.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        run("key", folder, folder / "key.csv")
    err = capsys.readouterr().err
    assert said in re.sub(r"\s+", " ", err)
    assert err.count("\n") == 1
