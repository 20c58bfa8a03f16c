"""A class: sheets and a key that agree, grades that add up and say why, one student the same by every route."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.course.grading.questions import questions, seed_of
from core.course.grading.tasks import LABS, tally
from core.errors import NotGradedError
from runtime import content
from runtime.files import ROOT
from runtime.lab_text import task_text
from runtime.seed_file import make_seed, seed_in, text_of_seed
from scripts import classroom
from scripts import grade as grading
from scripts.classes import grading as class_grading
from scripts.classes.packages import task_command
from scripts.classes.sheets import CHROMIUM
from scripts.grade import worded
from tests.sandbox import CANNOT_CONFINE

BILL = LABS["lab-03"]
CODE = (ROOT / "tests" / "runtime" / "answers" / "lab_03.py").read_text(encoding="utf-8")
STARTER = (ROOT / "labs" / BILL.folder / "starter.py").read_text(encoding="utf-8")
confined = pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")


@pytest.fixture
def class_of(tmp_path):
    """A folder with a seed, and a roster of so many students with an address and a number each."""

    def make(*students):
        make_seed(tmp_path / "seed.txt")
        rows = "".join(f'"{s}",{s.lower().replace(" ", ".")}@x.org,{n}\n' for n, s in enumerate(students, 501))
        (tmp_path / "roster.csv").write_text("student,email,sid\n" + rows, encoding="utf-8")
        (tmp_path / "class").mkdir()
        return tmp_path

    return make


def run(what, folder, out, *more):
    given = ("--seed-file", str(folder / "seed.txt"), "--roster", str(folder / "roster.csv"))
    return classroom.main([what, "lab-03", *given, "--out", str(out), *map(str, more)])


def grade(folder, *more):
    status = run("grade", folder, folder / "grades.csv", "--submissions", folder / "class", *more)
    return status, {row["student"]: row for row in table(folder / "grades.csv")}


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sheet(folder, student, right=True):
    """A student's answers, all of them right or all wrong."""
    asked = questions(BILL, seed_of(student, BILL, seed_in(folder / "seed.txt")))
    lines = [f"q{n} = {q.in_unit if right else 3 * q.in_unit + 1:.6g} {q.unit}" for n, q in enumerate(asked, 1)]
    return "\n".join(lines)


def submit(folder, student, code=CODE, answers=None, right=True):
    home = folder / "class" / student
    home.mkdir(parents=True)
    (home / "starter.py").write_text(code, encoding="utf-8")
    (home / "answers.txt").write_text(
        sheet(folder, student, right) if answers is None else answers, encoding="utf-8"
    )


@pytest.fixture
def quick(monkeypatch):
    """A judge that runs nothing: code that defines the last task right earns all, other code nothing."""

    def stand_in(lab, code, seed, confine=True):
        from core.course.grading.probes import probes
        from core.course.grading.tasks import Outcome

        right = b"comm_s + step_s" in code or b"step_s + comm_s" in code
        told = "" if right else "=cmd|' /C calc'!A0\x1b[2J"
        return tally(lab, [(probe.task, Outcome(str(probe.claim), told)) for probe in probes(lab, seed)])

    monkeypatch.setattr(grading, "grade_code", stand_in)
    monkeypatch.setattr(class_grading.confinement, "missing", lambda: "")


@confined
def test_a_class_is_graded_from_its_folders(class_of, capsys):
    """Right, wrong answers, untouched code, an attack, an empty folder, nothing, and what cannot be read."""
    folder = class_of("right", "guessing", "idle", "attacker", "empty", "absent", "word")
    submit(folder, "right")
    submit(folder, "guessing", right=False)
    submit(folder, "idle", STARTER)
    submit(folder, "attacker", "import os\nos._exit(3)\n", answers="q1 = =cmd|' /C calc'!A0")
    (folder / "class" / "empty").mkdir()
    (folder / "class" / "word").mkdir()
    (folder / "class" / "word" / "mine.docx").write_bytes(b"PK\3\4")
    status, rows = grade(folder)
    assert status == 1
    assert {name: row["total"] for name, row in rows.items()} == {
        "right": "100", "guessing": "40", "idle": "60", "attacker": "0", "empty": "0", "absent": "0", "word": "",
    }  # fmt: skip
    assert [rows[name]["status"] for name in ("attacker", "absent", "word")] == [
        "graded",
        "nothing sent",
        "not graded",
    ]
    assert "The process ended before it answered (exit status 3)." in rows["attacker"]["remark"]
    assert "found: mine.docx" in rows["word"]["remark"]
    assert "not graded: word: no Python file" in capsys.readouterr().err
    assert rows["right"]["remark"] == ""


def test_grades_add_up_and_every_zero_has_its_reason(class_of, quick):
    folder = class_of("ada", "bob", "-2+3", "=SUM(A1)", "@x")
    for student in ("ada", "-2+3", "=SUM(A1)", "@x"):
        submit(folder, student)
    submit(folder, "bob", STARTER, answers="q1 = ten\nq2 = 3 GB\n")
    status, rows = grade(folder)
    assert status == 0
    for row in rows.values():
        points = {head: float(cell) for head, cell in row.items() if re.search(r"\(\d+\)$", head)}
        code = sum(value for head, value in points.items() if not head.startswith(("q", "code")))
        asked = sum(value for head, value in points.items() if re.match(r"q\d ", head))
        assert (code, asked) == (points["code (40)"], points["questions (60)"])
        assert float(row["total"]) == code + asked
        assert row["maximum"] == "100"
        assert bool(row["remark"]) == (float(row["total"]) < 100)
    bob = rows["bob"]["remark"]
    assert re.fullmatch(r"code: .* \| q1: .* \| q2: .* \| q3, q4: There is no answer\.", bob), bob
    raw = (folder / "grades.csv").read_text(encoding="utf-8")
    assert not set(raw) & {"\x1b", "\0"}
    cells = [cell for line in csv.reader(raw.splitlines()) for cell in line]
    assert not [cell for cell in cells if cell[:1] in "=+@-" and cell]


@pytest.mark.parametrize(
    "error", [NotGradedError("the disk is full"), ValueError("a slip of ours"), OSError(28, "x")]
)
def test_a_fault_of_ours_costs_one_student_nothing_and_the_others_go_on(
    class_of, quick, monkeypatch, capsys, error
):
    folder = class_of("ada", "bob", "cy")
    for student in ("ada", "bob", "cy"):
        submit(folder, student, CODE + f"# {student}\n")
    judge = grading.grade_code

    def failing(lab, code, seed, confine=True):
        if b"# bob" in code:
            raise error
        return judge(lab, code, seed)

    monkeypatch.setattr(grading, "grade_code", failing)
    status, rows = grade(folder, "--feedback", folder / "feedback")
    assert (status, [row["total"] for row in rows.values()]) == (1, ["100", "", "100"])
    assert rows["bob"]["status"] == "not graded"
    assert str(error) in rows["bob"]["remark"]
    assert "not a grade of zero" in (folder / "feedback" / "bob.md").read_text()
    monkeypatch.setattr(grading, "grade_code", judge)
    status, rows = grade(folder, "--only", "bob@x.org")
    assert (status, [row["total"] for row in rows.values()]) == (0, ["100", "100", "100"])


@pytest.mark.slow
@confined
def test_the_same_student_gets_the_same_points_by_every_route(class_of, tmp_path, monkeypatch):
    """Handed out by name; graded from a folder, a Canvas export, one command, Gradescope with a partner."""
    folder = class_of("Rita Díaz", "bob")
    roster = ("student,email,sid,group\nRita Díaz,rita@x.org,501,\nbob,bob@x.org,502,\n").encode("utf-8-sig")
    (folder / "roster.csv").write_bytes(roster)
    assert run("handout", folder, folder / "sheets") == 0
    asked = questions(BILL, seed_of("Rita Díaz", BILL, seed_in(folder / "seed.txt")))
    text = (folder / "sheets" / "Rita Díaz.md").read_text(encoding="utf-8")
    assert all(worded(n, question) in text for n, question in enumerate(asked, 1))
    answers = sheet(folder, "Rita Díaz")

    submit(folder, "rita@x.org", answers=answers)
    assert grade(folder)[1]["Rita Díaz"]["total"] == "100"

    shutil.rmtree(folder / "class")
    (folder / "class").mkdir()
    (folder / "class" / "diazrita_501_9001_starter.py").write_text(CODE)
    (folder / "class" / "diazrita_501_9002_answers.txt").write_bytes(answers.encode("utf-16"))
    assert grade(folder)[1]["Rita Díaz"]["total"] == "100"

    (folder / "mine.py").write_text(CODE)
    (folder / "mine.txt").write_text(answers)
    command = ["lab-03", "--file", folder / "mine.py", "--answers", folder / "mine.txt", "--student", "501"]
    command += ["--roster", folder / "roster.csv", "--seed-file", folder / "seed.txt", "--json"]
    command += ["--out", folder / "one.json"]
    assert grading.main(list(map(str, command))) == 0
    assert json.loads((folder / "one.json").read_text())["points"] == 100

    result = on_gradescope(folder, tmp_path, answers, "RITA@x.org", "bob@x.org")
    assert result["score"] == 100
    assert on_gradescope(folder, tmp_path, answers, "bob@x.org")["score"] < 100, "another's answers"


def on_gradescope(folder, tmp_path, answers, *addresses, files=("starter.py", "answers.txt")):
    """What the zip's own script writes where Gradescope would unpack it; Python as it is here."""
    archive, home = folder / "lab-03.zip", tmp_path / f"autograder-{len(list(tmp_path.iterdir()))}"
    assert run("gradescope", folder, archive) == 0
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(home / "source")
    submission = home / "submission"
    submission.mkdir()
    if files:
        (submission / files[0]).write_text(CODE, encoding="utf-8")
        (submission / files[1]).write_text(answers, encoding="utf-8")
    users = [{"email": address, "id": n, "name": "N N"} for n, address in enumerate(addresses)]
    (home / "submission_metadata.json").write_text(json.dumps({"users": users}))
    script = (home / "source" / "run_autograder").read_text(encoding="utf-8")
    script = script.replace("/autograder/venv/bin/python", sys.executable).replace("/autograder", str(home))
    subprocess.run(["bash", "-c", script], check=True, env={**os.environ, "PYTHONPATH": ""}, timeout=120)
    return json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@confined
def test_gradescopes_zip_always_writes_a_result(class_of, tmp_path):
    folder = class_of("ada")
    right = sheet(folder, "ada")
    assert on_gradescope(folder, tmp_path, right, "ada@x.org", files=("my lab.py", "Answers.TXT"))["score"] == 100
    for addresses, files, said in [
        (("ada@x.org",), (), "nothing was sent"),
        (("zed@x.org",), ("starter.py", "answers.txt"), "zed@x.org is nobody in the instructor's roster"),
        (("ada@x.org",), ("starter.txt", "answers.md"), "no Python file"),
    ]:
        result = on_gradescope(folder, tmp_path, right, *addresses, files=files)
        assert "score" not in result
        assert said in result["output"]


def test_gradescopes_zip_says_which_image_it_needs_and_holds_no_solution(class_of):
    folder = class_of("ada")
    assert run("gradescope", folder, folder / "lab.zip") == 0
    with zipfile.ZipFile(folder / "lab.zip") as archive:
        names, setup = archive.namelist(), archive.read("setup.sh").decode()
        assert archive.read(f"labs/{BILL.folder}/starter.py").decode() == STARTER
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o755
    assert {"setup.sh", "run_autograder", "seed.txt", "roster.csv"} <= set(names)
    assert not [name for name in names if "solution" in name]
    assert "3.11" in setup
    assert "bubblewrap" in setup
    for name, text in (("setup.sh", setup), ("run", "#!/bin/bash\n")):
        (folder / name).write_text(text)
        subprocess.run(["bash", "-n", str(folder / name)], check=True)
    old = folder / "bin"
    old.mkdir()
    for program in ("apt-get", "chmod"):
        (old / program).write_text("#!/bin/sh\n")
    for python in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        (old / python).write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.10.12 || exit 1\n')
    for path in old.iterdir():
        path.chmod(0o755)
    environment = {"PATH": f"{old}:/usr/bin:/bin"}
    done = subprocess.run(["bash", str(folder / "setup.sh")], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer; this image has Python 3.10.12" in done.stderr


class Text(HTMLParser):
    """A page's text, its tags counted as they open and close."""

    def __init__(self):
        super().__init__()
        self.text, self.open, self.seen = "", [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.open += [tag] if tag != "meta" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_feedback_says_what_failed_and_nothing_that_is_due(class_of, quick):
    folder = class_of("ada", "bob", "<script>")
    # a seed whose answers are numbers that a page has no other use for
    (folder / "seed.txt").write_text(text_of_seed("3" * 32))
    (folder / "roster.csv").write_text("student,name\nada,Ada\nbob,<script>alert(1)</script>\n")
    submit(folder, "ada", answers="q1 = <img src=x onerror=alert(1)> KiB\nq2 = `x`\n")
    submit(folder, "bob", STARTER)
    grade(folder, "--feedback", folder / "feedback")
    for student in ("ada", "bob"):
        page = Text()
        page.feed((folder / "feedback" / f"{student}.html").read_text(encoding="utf-8"))
        assert page.open == []
        assert not page.seen & {"script", "img", "a"}
        due = [f"{q.in_unit:.4g}" for q in questions(BILL, seed_of(student, BILL, seed_in(folder / "seed.txt")))]
        own = (folder / "feedback" / f"{student}.md").read_text(encoding="utf-8")
        if student == "ada":
            assert not [value for value in due if value in own.replace("100", "")]
            assert "40 of 100 points" in page.text
            assert "There is no answer." in page.text
        else:
            assert "<script>alert(1)</script>" in page.text
            assert "allreduce_payload_bytes" in page.text.partition("What failed")[2]


def test_handouts_and_the_key_are_of_the_same_questions_and_say_all_a_student_needs(class_of):
    folder = class_of("ada", "bob")
    assert run("handout", folder, folder / "sheets", "--url", "https://example.org/shardlab.git") == 0
    assert run("key", folder, folder / "key.csv") == 0
    key = {(row["student"], row["question"]): row for row in table(folder / "key.csv")}
    assert len(key) == 8
    for student in ("ada", "bob"):
        text = (folder / "sheets" / f"{student}.md").read_text(encoding="utf-8")
        for n, question in enumerate(questions(BILL, seed_of(student, BILL, seed_in(folder / "seed.txt"))), 1):
            assert worded(n, question) in text
            assert f"q{n} = ? {question.unit}" in text
            assert float(key[student, f"q{n}"]["answer"]) == pytest.approx(question.in_unit, rel=1e-4)
        assert all(f"| `{task.name}` | {task.points} |" in text for task in BILL.tasks)
        for said in (student, "https://example.org", "`answers.txt`", "within 1%", "1 KiB = 1024 bytes"):
            assert said in text, said
        page = Text()
        page.feed((folder / "sheets" / f"{student}.html").read_text(encoding="utf-8"))
        assert page.open == []
        assert "Your questions" in page.text


def test_a_handout_in_another_language_asks_the_same(class_of):
    folder = class_of("ada")
    assert run("handout", folder, folder / "hojas", "--lang", "es") == 0
    assert "Tus preguntas" in (folder / "hojas" / "ada.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, CHROMIUM)), reason="no Chromium prints here")
def test_a_handout_is_printed_by_the_browser(class_of):
    folder = class_of("ada")
    assert run("handout", folder, folder / "sheets", "--pdf") == 0
    assert (folder / "sheets" / "ada.pdf").read_bytes().startswith(b"%PDF")


def notebook(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells}


def test_a_notebook_has_the_students_questions_the_released_starter_and_a_cell_that_checks(class_of, quick, capsys):
    folder = class_of("ada", "bob")
    assert run("notebook", folder, folder / "notebooks") == 0
    path = folder / "notebooks" / "ada" / f"{BILL.folder}.ipynb"
    cells = notebook(path)
    assert cells["submission"]["source"] == STARTER
    asked = questions(BILL, seed_of("ada", BILL, seed_in(folder / "seed.txt")))
    assert all(worded(n, question) in cells["questions"]["source"] for n, question in enumerate(asked, 1))
    for code, told in ((STARTER, "comm_fraction is not written yet"), (CODE, "comm_fraction is there")):
        (folder / "cell.py").write_text(
            "\n".join([code, 'ANSWERS = """\nq1 = 3 KiB\nq2 = ? µs\n"""', cells["check"]["source"]])
        )
        done = subprocess.run([sys.executable, "cell.py"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # fmt: skip
        assert told in done.stdout
        assert "q1 is read as '3 KiB'" in done.stdout
        assert "no answer is read from 'q2 = ? µs'" in done.stdout
    document = json.loads(path.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == "submission":
            cell["source"] = CODE.splitlines(keepends=True)
        if cell["metadata"]["nbgrader"]["grade_id"] == "answers":
            cell["source"] = f'ANSWERS = """\n{sheet(folder, "ada")}\n"""\n'
    home = folder / "class" / "ada" / "lab-03"
    home.mkdir(parents=True)
    (home / "lab.ipynb").write_text(json.dumps(document), encoding="utf-8")
    assert grade(folder)[1]["ada"]["total"] == "100"


def test_a_solved_starter_is_handed_out_by_nobody(class_of, tmp_path, monkeypatch, capsys):
    """The text of the last commit is, with a warning; where that is solved too, or there is no git, nothing is."""
    from runtime import released

    copy = tmp_path / "copy"
    place = copy / "labs" / BILL.folder / "starter.py"
    place.parent.mkdir(parents=True)
    place.write_text(STARTER)
    git = ("git", "-C", str(copy), "-c", "user.name=x", "-c", "user.email=x@x")
    monkeypatch.setattr(released, "ROOT", copy)
    assert released.released_starter(BILL) == (STARTER, "")
    place.write_text(CODE)
    with pytest.raises(ValueError, match="holds an answer to allreduce_payload_bytes, "):
        released.released_starter(BILL)
    place.write_text(STARTER)
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Release")):
        subprocess.run([*git, *command], check=True)
    place.write_text(CODE)
    text, warning = released.released_starter(BILL)
    assert text == STARTER
    assert "differs from the released text" in warning
    monkeypatch.setattr("scripts.classes.sheets.released_starter", released.released_starter)
    folder = class_of("ada")
    assert classroom.main(["notebook", "lab-03", "--out", str(folder / "lab.ipynb")]) == 0
    assert notebook(folder / "lab.ipynb")["submission"]["source"] == STARTER
    assert "differs from the released text" in capsys.readouterr().err
    subprocess.run([*git, "commit", "-qam", "Solve"], check=True)
    with pytest.raises(ValueError, match="holds an answer"):
        released.released_starter(BILL)


@pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.key)
def test_the_released_starters_hold_no_answer_and_the_answers_hold_all(lab):
    from runtime.released import answered_tasks, released_starter

    assert answered_tasks(released_starter(lab)[0], lab) == []
    assert answered_tasks(answers(lab), lab) == [task.name for task in lab.tasks]


@pytest.mark.slow
@pytest.mark.parametrize("lab", [lab for lab in LABS.values() if not lab.needs_torch], ids=lambda lab: lab.key)
def test_github_classrooms_template_runs_by_its_own_workflow(class_of, tmp_path, lab):
    """Each task's command, as the workflow has it: right code passes it, and the untouched file does not."""
    folder = tmp_path / "template"
    assert classroom.main(["github", lab.key, "--out", str(folder)]) == 0
    text = (folder / ".github" / "workflows" / f"{lab.key}.yml").read_text(encoding="utf-8")
    assert [int(points) for points in re.findall(r"max-score: (\d+)", text)] == [task.points for task in lab.tasks]
    assert not list(folder.rglob("solution.py"))
    starter = folder / "labs" / lab.folder / "starter.py"
    assert starter.read_text() == (ROOT / "labs" / lab.folder / "starter.py").read_text()
    commands = [task_command(lab, task.number) for task in lab.tasks]
    assert [command for command in commands if command not in text] == []
    assert run_in(folder, commands[-1]).returncode == 1
    starter.write_text(answers(lab), encoding="utf-8")
    done = run_in(folder, commands[0] + "".join(command.partition("-q")[2] for command in commands[1:]))
    assert done.returncode == 0, done.stdout


def run_in(folder, command):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)


def answers(lab):
    place = ROOT / "tests" / "runtime" / "answers" / f"{lab.key.replace('-', '_')}.py"
    return place.read_text(encoding="utf-8")


@pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.key)
def test_what_is_handed_out_names_every_task_and_leads_to_no_file_beside_it(class_of, tmp_path, lab):
    for language in content.languages():
        text = task_text(lab, language)
        assert [task.name for task in lab.tasks if task.name not in text] == []
        assert re.findall(r"\]\((?!http)[^)]*\)", text) == []
    assert classroom.main(["github", lab.key, "--out", str(tmp_path / "template")]) == 0
    assert (tmp_path / "template" / "README.md").read_text(encoding="utf-8") == task_text(lab, "en")


def test_check_runs_nothing_and_says_what_each_would_get_for_its_form(class_of, capsys):
    folder = class_of("ada", "bob", "cy")
    submit(folder, "ada", CODE + f"\nopen({str(folder / 'ran')!r}, 'w')\n")
    submit(folder, "bob", STARTER, answers="q1 = ten\n")
    (folder / "class" / "zed").mkdir()
    (folder / "class" / "zed" / "starter.py").write_text("def broken(:")
    status = classroom.main(["check", "lab-03", str(folder / "class"), "--roster", str(folder / "roster.csv")])
    out = capsys.readouterr().out
    assert status == 1
    assert not (folder / "ran").exists()
    assert re.search(r"^ada +ok$", out, re.M)
    assert re.search(
        r"^bob +look +comm.*|^bob .*comm_fraction is not written yet.*q1 is no number: 'ten'.*q2", out, re.M
    )
    assert re.search(r"^cy +look +nothing was sent", out, re.M)
    assert re.search(r"^zed +look +is of nobody", out, re.M)
    assert classroom.main(["check", str(folder / "class")]) == 1
    assert "the code is no Python: SyntaxError at line 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "lab-03", "--out", "x"], "grade needs --roster and --submissions and --seed-file"),
        (["handout", "lab-03", "--out", "x"], "handout needs --roster and --seed-file"),
        (["key"], "lab=none was named"),
        (["seed"], "seed needs --seed-file"),
        (["gradebook", "lab-03", "--roster", "x", "--grades", "y", "--out", "z"], "gradebook needs --for"),
        (["qti", "lab-03", "--seed-file", "SEED", "--out", "x", "--variants", "0"], "variants=0 is not from 1"),
        (["grade", "lab-03", "/nowhere", "--roster", "ROSTER", "--seed-file", "SEED", "--out", "x"], "no folder"),
        (
            ["grade", "lab-03", "EMPTY", "--roster", "ROSTER", "--seed-file", "SEED", "--out", "x"],
            "none of the roster",
        ),
    ],
)
def test_what_cannot_begin_is_refused_in_a_line(class_of, quick, capsys, arguments, said):
    folder = class_of("ada")
    places = {"SEED": folder / "seed.txt", "ROSTER": folder / "roster.csv", "EMPTY": folder / "class"}
    with pytest.raises(SystemExit) as ended:
        classroom.main([str(places.get(one, one)) for one in arguments])
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_without_bubblewrap_a_class_is_graded_by_who_types_that_it_is_unconfined(
    class_of, quick, monkeypatch, capsys
):
    monkeypatch.setattr(class_grading.confinement, "missing", lambda: "apt-get install bubblewrap")
    folder = class_of("ada")
    submit(folder, "ada")
    with pytest.raises(SystemExit):
        grade(folder)
    assert "apt-get install bubblewrap; --unconfined" in capsys.readouterr().err
    status, rows = grade(folder, "--unconfined", "--feedback", folder / "feedback")
    assert status == 0
    for report in (rows["ada"]["remark"], (folder / "feedback" / "ada.md").read_text(), capsys.readouterr().err):
        assert "No sandbox confined the code" in report


def test_a_seed_is_made_once_is_128_bits_and_only_its_owners(tmp_path, capsys):
    path = tmp_path / "seed.txt"
    assert classroom.main(["seed", "--seed-file", str(path)]) == 0
    seed = seed_in(path)
    assert len(bytes.fromhex(seed)) * 8 == 128
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(SystemExit):
        classroom.main(["seed", "--seed-file", str(path)])
    assert "is there already, and is kept" in capsys.readouterr().err
    assert seed_in(path) == seed
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ValueError, match="is not there"):
        seed_in(tmp_path / "link")
