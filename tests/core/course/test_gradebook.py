"""Rows that add up, what each gradebook imports, a quiz as QTI 2.1, and code that is alike."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.grading.gradebook import Marked, cell, gradebook, heads, row, spread
from core.course.grading.likeness import alike
from core.course.grading.probes import probes
from core.course.grading.qti import PACKAGING, QTI, package
from core.course.grading.questions import questions, seed_of
from core.course.grading.report import Grade
from core.course.grading.roster import Student, roster_of
from core.course.grading.tasks import LABS, QUESTION_POINTS, Outcome, tally
from core.errors import OutOfRangeError
from runtime.files import ROOT
from runtime.released import released_starter
from scripts.grade import answer_to, worded

EVERY_LAB = pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.key)
BILL = LABS["lab-03"]
SECRET = "0" * 32
CANVAS = roster_of([
    ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"],
    ["Doe, Jane", "1", "s1", "jd", "A"], ["Li, Wei", "2", "s2", "wl", "A"],
])  # fmt: skip
MOODLE = roster_of(
    [["First name", "Surname", "Email address"], ["Jane", "Doe", "jd@x.org"], ["Wei", "Li", "wl@x.org"]]
)
SCHEMA = os.environ.get("SHARDLAB_QTI_SCHEMA", "")
"""A folder with `qtiv2p1/imsqti_v2p1.xsd` and `imscp_v1p1.xsd`, as 1EdTech publishes them."""


@EVERY_LAB
@given(data=st.data())
def test_whatever_failed_the_cells_add_up_to_the_total(lab, data):
    asked = questions(lab, 1)
    wrong = data.draw(st.sets(st.sampled_from([str(probe.claim) for probe in probes(lab, 1)])))
    right = data.draw(st.lists(st.booleans(), min_size=len(asked), max_size=len(asked)))
    outcomes = [(p.task, Outcome(str(p.claim), "no" if str(p.claim) in wrong else "")) for p in probes(lab, 1)]
    answers = tuple(
        answer_to(n, question, repr(question.in_unit) if is_right else None)
        for n, (question, is_right) in enumerate(zip(asked, right, strict=True), 1)
    )
    grade = Grade(lab, tally(lab, outcomes), answers)
    line = dict(zip(heads(lab), row(lab, Marked(Student("ada"), "graded", grade)), strict=True))
    tasks = sum(float(line[f"{task.name} ({task.points})"]) for task in lab.tasks)
    each = sum(float(text) for head, text in line.items() if re.match(r"q\d ", head))
    assert float(line[f"code ({lab.points})"]) == pytest.approx(tasks, abs=1e-9)
    assert float(line[f"questions ({QUESTION_POINTS})"]) == pytest.approx(each, abs=1e-9)
    assert float(line["total"]) == pytest.approx(tasks + each, abs=1e-9) == grade.points
    assert bool(line["remark"]) == any(not result.points for result in grade.tasks) or not all(right)


@given(st.text())
def test_no_cell_begins_a_formula_or_holds_a_control_character(text):
    told = cell(text)
    assert told[:1] not in ("=", "+", "@")
    assert told[:1] != "-" or told.lstrip("-").replace(".", "", 1).isdecimal()
    assert not [one for one in told if one < " " or "\x7f" <= one <= "\x9f"]


def test_numbers_stay_numbers_and_attacks_are_texts():
    assert [cell(text) for text in ("-2.5", "100", "-2+3+cmd|' /C calc'!A0", " =x", "\t@x", "-")] == [
        "-2.5", "100", "'-2+3+cmd|' /C calc'!A0", "' =x", "' @x", "'-",
    ]  # fmt: skip


GRADES = {
    name: {"student": name, "total": total, "remark": "-x"}
    for name, total in (("Doe, Jane", "87.5"), ("Li, Wei", ""), ("jd@x.org", "87.5"), ("wl@x.org", ""))
}


def test_canvas_gets_its_own_columns_back_and_no_cell_for_who_has_no_grade():
    """Its import wants these heads, and takes the row of points possible."""
    assert list(gradebook("canvas", BILL, CANVAS, GRADES)) == [
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "lab-03-tp-comm-cost"),
        ("    Points Possible", "", "", "", "", "100"),
        ("Doe, Jane", "1", "s1", "jd", "A", "87.5"),
    ]


def test_moodle_and_prairielearn_know_students_by_address():
    assert list(gradebook("moodle", BILL, MOODLE, GRADES)) == [
        ("Email address", "lab-03-tp-comm-cost", "Feedback"), ("jd@x.org", "87.5", "'-x"),
    ]  # fmt: skip
    assert list(gradebook("prairielearn", BILL, MOODLE, GRADES)) == [
        ("uid", "instance", "score_perc"), ("jd@x.org", "1", "87.5"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["canvas", "moodle", "prairielearn"])
def test_a_roster_that_a_gradebook_does_not_know_students_by_is_refused(kind):
    with pytest.raises(OutOfRangeError, match="takes a roster with a column"):
        list(gradebook(kind, BILL, roster_of([["student"], ["ada"]]), {"ada": {"total": "3"}}))


def test_a_spread_is_that_of_statistics():
    found = spread([0, 25, 50, 75, 100])
    assert (found.mean, found.median, found.low, found.high) == (50, 50, 25, 75)
    assert spread([]) is None
    assert spread([7]).high == 7


def parsed(lab, variants=3):
    return {name: ElementTree.fromstring(text) for name, text in package(lab, SECRET, variants, worded)}


@EVERY_LAB
def test_a_quiz_has_a_pool_for_each_question_and_draws_one_of_it(lab):
    files = parsed(lab)
    test, manifest = files["test.xml"], files["imsmanifest.xml"]
    sections = test.findall(f".//{{{QTI}}}assessmentSection")
    assert [one.find(f"{{{QTI}}}selection").get("select") for one in sections] == ["1"] * 4
    named = [ref.get("href") for one in sections for ref in one.findall(f"{{{QTI}}}assessmentItemRef")]
    listed = [one.get("href") for one in manifest.findall(f".//{{{PACKAGING}}}file")]
    assert sorted([*named, "test.xml"]) == sorted(listed) == sorted(set(files) - {"imsmanifest.xml"})
    weights = {float(one.get("value")) for one in test.findall(f".//{{{QTI}}}weight")}
    assert weights == {15.0}
    used = {one.get("identifierref") for one in manifest.findall(f".//{{{PACKAGING}}}dependency")}
    assert used == {Path(name).stem for name in named}


@EVERY_LAB
def test_an_item_asks_what_a_sheet_asks_and_is_right_within_its_tolerance(lab):
    files = parsed(lab, 2)
    for variant in (1, 2):
        for n, question in enumerate(questions(lab, seed_of(f"variant {variant}", lab, SECRET)), 1):
            item = files[f"items/q{n}-{variant:03d}.xml"]
            assert worded(n, question) in [one.text for one in item.iter(f"{{{QTI}}}p")]
            due = float(item.find(f".//{{{QTI}}}correctResponse/{{{QTI}}}value").text)
            assert due == pytest.approx(question.in_unit, rel=1e-9)
            equal = item.find(f".//{{{QTI}}}equal")
            exact = question.dimension == "count"
            assert equal.get("toleranceMode") == ("exact" if exact else "relative")
            assert exact or equal.get("tolerance") == "1 1"


@EVERY_LAB
def test_every_file_of_a_quiz_is_valid_by_its_schema(lab):
    if not SCHEMA:
        pytest.skip("SHARDLAB_QTI_SCHEMA names no folder with the schemas")
    etree = pytest.importorskip("lxml.etree")
    schemas = {
        name: etree.XMLSchema(etree.parse(f"{SCHEMA}/{file}"))
        for name, file in ((QTI, "qtiv2p1/imsqti_v2p1.xsd"), (PACKAGING, "imscp_v1p1.xsd"))
    }
    for text in dict(package(lab, SECRET, 4, worded)).values():
        document = etree.fromstring(text.encode())
        schemas[etree.QName(document).namespace].assertValid(document)


def test_a_renamed_copy_is_alike_and_another_solution_is_not():
    code = (ROOT / "tests" / "runtime" / "answers" / "lab_04.py").read_text(encoding="utf-8")
    copy = re.sub(r"\bspans\b", "runs", re.sub(r"\bstage\b", "s", code)).replace("\n\n", "\n\n# mine\n")
    other = (ROOT / "core" / "pipeline_bubble" / "bubble.py").read_text(encoding="utf-8")
    starter = released_starter(LABS["lab-04"])[0]
    pairs = alike({"ada": code, "bob": copy, "cy": other, "idle": starter}, starter, 0.8)
    assert [(pair.first, pair.second) for pair in pairs] == [("ada", "bob")]
    assert pairs[0].shared_fraction > 0.95


@given(st.text())
def test_any_text_can_be_compared(text):
    assert alike({"a": text, "b": text}, "", 0.5) in ([], alike({"a": text, "b": text}, "", 0.99))
