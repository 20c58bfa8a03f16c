"""A class of 150 made-up students by every route that the guide names: each gets the points that are due.

Who sends what is drawn from a number: the encoding, the names of the files, the packing, what is wrong with them.
"""

import csv
import random
import unicodedata
import zipfile

import pytest

from core.course.grading.gradebook import heads
from core.course.grading.questions import questions, seed_of
from core.course.grading.roster import bare
from core.course.grading.tasks import LABS
from runtime.files import ROOT
from runtime.seed_file import seed_in
from scripts import classroom
from scripts.grade import roster_in
from tests.sandbox import CANNOT_CONFINE
from tests.scripts.test_classroom import BILL, CODE, STARTER, on_gradescope

STUDENTS = 150
FIRST = ("Ana María", "José", "Zoë", "Øyvind", "Nguyễn", "Jane", "Wei", "Ahmed", "Łukasz", "Çelik")
LAST = ("García", "Müller", "O'Neil", "Smith-Jones", "Lê", "Nakamura", "Đặng", "Ivanov", "Ångström", "d'Arc",
        "Abebe", "Brown", "Costa", "Diaz", "Evans")  # fmt: skip
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")]


def names():
    return [(f"{last}, {first}", 1000 + n, f"u{n:03d}") for n, (last, first) in enumerate(
        (last, first) for last in LAST for first in FIRST)][:STUDENTS]  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A folder with a seed, a Canvas roster, what everybody sent, and the points that each is due."""
    folder, rng = tmp_path_factory.mktemp("course"), random.Random(7)
    assert classroom.main(["seed", "--seed-file", str(folder / "seed.txt")]) == 0
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ["    Points Possible", "", "", "", ""]]
    rows += [[name, str(number), f"s{number}", f"{login}@x.edu", "A"] for name, number, login in names()]
    with (folder / "roster.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=rng.choice(",;")).writerows(rows)
    (folder / "class").mkdir()
    due = {name: sent(folder, rng, name, number, login) for name, number, login in names()}
    return folder, due


def sent(folder, rng, name, number, login):
    """Put what a student sends into the class; the points that it is worth, None for what cannot be graded."""
    kind = rng.choices(("right", "no answers", "wrong task", "idle", "nothing", "unreadable", "hostile"),
                       (40, 10, 10, 8, 20, 8, 4))[0]  # fmt: skip
    asked = questions(BILL, seed_of(name, BILL, seed_in(folder / "seed.txt")))
    sheet = "".join(f"q{n} = {q.in_unit:.6g} {q.unit}\n" for n, q in enumerate(asked, 1))
    code = {"wrong task": CODE + "\ndef comm_fraction(comm_s, step_s):\n    return 10**400\n", "idle": STARTER,
            "hostile": "import os\nos._exit(0)\n"}.get(kind, CODE)  # fmt: skip
    if kind == "nothing":
        return 0.0
    encoded = sheet.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16", "latin-1")))
    if kind == "unreadable":
        put(folder, f"{bare(name)}_{number}_77_report.docx", b"PK\3\4")
        return None
    files = {"starter.py": code.encode(), "answers.txt": b"" if kind == "no answers" else encoded}
    packing = rng.choice(("canvas", "folder", "decomposed", "zip", "login", "moodle"))
    late = rng.choice(("", "LATE_"))
    for file, data in files.items():
        match packing:
            case "canvas":
                put(folder, f"{bare(name)}_{late}{number}_{rng.randrange(10**5, 10**6)}_{file}", data)
            case "folder":
                put(folder, f"{name}/lab/{file.title()}", data)
            case "decomposed":
                put(folder, unicodedata.normalize("NFD", f"{name}/{file}"), data)
            case "login":
                put(folder, f"lab-03-{login}/{file}", data)
            case "moodle":
                first, last = reversed(name.split(", "))
                put(folder, f"{last} {first}_{number + 7}_assignsubmission_file_/{file}", data)
    if packing == "zip":
        put(folder, f"{login}@x.edu/mine.zip", b"")
        with zipfile.ZipFile(folder / "class" / f"{login}@x.edu" / "mine.zip", "w") as archive:
            for file, data in files.items():
                archive.writestr(file, data)
    code_points = {"idle": 0, "hostile": 0, "wrong task": 40 - BILL.tasks[4].points}.get(kind, 40)
    return float(code_points + (0 if kind == "no answers" else 60))


def put(folder, place, data):
    path = folder / "class" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def run(course, what, out, *more):
    folder, _ = course
    given = ("--seed-file", folder / "seed.txt", "--roster", folder / "roster.csv", "--out", folder / out)
    return classroom.main([what, "lab-03", *map(str, (*given, *more))])


def test_everybody_gets_what_is_due_and_every_gradebook_has_a_line_for_them(course):
    """In one test, for a class is graded once: in a minute, on two cores."""
    folder, due = course
    told = ("--feedback", folder / "feedback", "--statistics", folder / "class.md")
    assert run(course, "grade", "grades.csv", "--submissions", folder / "class", *told) == 1
    with (folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    assert len(due) == len(grades) == STUDENTS
    assert {name: float(row["total"]) if row["total"] else None for name, row in grades.items()} == due
    assert all(row["remark"] for row in grades.values() if row["total"] != "100")
    assert tuple(next(iter(grades.values()))) == heads(BILL)
    assert (
        len(list((folder / "feedback").glob("*.md"))) == len(list((folder / "feedback").glob("*.html"))) == STUDENTS
    )
    assert f"not graded: {sum(points is None for points in due.values())}" in (folder / "class.md").read_text()
    for kind, lines in (("canvas", 2), ("moodle", 1), ("prairielearn", 1)):
        in_a_gradebook(course, kind, lines)


def in_a_gradebook(course, kind, lines):
    """Write a gradebook of the grades: it has a line for whom there are points, and all of these."""
    folder, due = course
    assert run(course, "gradebook", f"{kind}.csv", "--for", kind, "--grades", folder / "grades.csv") == 0
    with (folder / f"{kind}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) - lines == sum(points is not None for points in due.values())
    assert sum(float(row[-2 if kind == "moodle" else -1]) for row in rows[lines:]) == pytest.approx(
        sum(points or 0 for points in due.values())
    )


def test_everybody_has_a_sheet_a_key_and_a_notebook_of_the_same_questions(course):
    folder, due = course
    assert (
        run(course, "handout", "sheets") == run(course, "key", "key.csv") == run(course, "notebook", "books") == 0
    )
    sheets = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "sheets").glob("*.md")}
    books = {path.parent.name: path.read_text(encoding="utf-8") for path in (folder / "books").glob("*/*.ipynb")}
    assert set(sheets) == set(books) == set(due)
    assert len(set(sheets.values())) == len(set(books.values())) == STUDENTS
    with (folder / "key.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4 * STUDENTS


def test_gradescope_gives_some_of_them_the_same(course, tmp_path):
    """One in fifty: each run is a container there, and two seconds here."""
    folder, _ = course
    for student in roster_in(folder / "roster.csv").students[::50]:
        asked = questions(BILL, seed_of(student.identity, BILL, seed_in(folder / "seed.txt")))
        sheet = "\n".join(f"q{n} = {q.in_unit:.6g} {q.unit}" for n, q in enumerate(asked, 1))
        assert on_gradescope(folder, tmp_path, sheet, student.row["login"])["score"] == 100


def test_a_quiz_has_numbers_for_each_of_them(course):
    folder, _ = course
    for lab in LABS.values():
        out = folder / f"{lab.key}-qti.zip"
        command = ["qti", lab.key, "--seed-file", folder / "seed.txt", "--variants", STUDENTS, "--out", out]
        assert classroom.main(list(map(str, command))) == 0
        with zipfile.ZipFile(out) as archive:
            assert len(archive.namelist()) == 4 * STUDENTS + 2
    assert (ROOT / "labs" / BILL.folder / "starter.py").read_text(encoding="utf-8") == STARTER
