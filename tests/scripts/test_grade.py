"""Grading from a terminal: the three formats, a student's questions and answers, and bad input refused."""

import json
from xml.etree import ElementTree

import pytest

from core.course.grading.tasks import LABS, tally
from core.course.grading.questions import questions, seed_of
from scripts import grade

BILL = LABS["lab-03"]


@pytest.fixture(autouse=True)
def graded(monkeypatch):
    """What the tests of a lab would say, said at once: every test passes but one."""
    files = []

    def stand_in(lab, file):
        files.append(file)
        said = {test: None for task in lab.tasks for test in task.tests}
        return tally(lab, said | {lab.tasks[0].tests[0]: "assert 1 == 2"})

    monkeypatch.setattr(grade, "grade", stand_in)
    return files


def printed(capsys, *arguments):
    assert grade.main(["lab-03", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def answers_of(tmp_path, student, word=""):
    """A sheet with every answer of a student right."""
    asked = questions(BILL, seed_of(student, BILL, word))
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(f"{q.key} = {q.answer:.6g} {q.unit}" for q in asked), encoding="utf-8")
    return str(path)


def test_code_alone_is_out_of_eighty(capsys, graded):
    assert printed(capsys).endswith("75 of 80 points\n")
    assert graded[0].name == "starter.py"
    assert graded[0].parent.name == BILL.folder


def test_a_students_own_answers_count(capsys, tmp_path):
    arguments = ["--student", "ada@x.org", "--answers", answers_of(tmp_path, "ada@x.org")]
    assert printed(capsys, *arguments).endswith("95 of 100 points\n")
    assert printed(capsys, "--student", "bob@x.org", *arguments[2:]).endswith("75 of 100 points\n")
    assert printed(capsys, *arguments, "--word", "next year").endswith("75 of 100 points\n")


def test_questions_are_printed_with_lines_to_fill_in(capsys, graded):
    out = printed(capsys, "--student", "ada", "--questions")
    for question in questions(BILL, seed_of("ada", BILL)):
        assert question.text in out
        assert f"{question.key} = ? {question.unit}" in out
        assert f"{question.answer:.4g}" not in out.replace(question.ask, "")
    assert graded == []


def test_gradescope_reads_who_submitted_and_a_group_is_one_student(capsys, tmp_path):
    """submission_metadata.json as its documentation shows it: `users`, each with an email and an id."""
    metadata = tmp_path / "submission_metadata.json"
    metadata.write_text(json.dumps({"users": [{"email": "b@x.org", "id": 2}, {"email": "a@x.org", "id": 1}]}))
    out = tmp_path / "results.json"
    arguments = ["--metadata", str(metadata), "--answers", answers_of(tmp_path, "a@x.org+b@x.org")]
    assert printed(capsys, *arguments, "--format", "gradescope", "--out", str(out)) == ""
    assert json.loads(out.read_text(encoding="utf-8"))["score"] == 95


def test_junit_is_xml_with_the_one_failure(capsys):
    root = ElementTree.fromstring(printed(capsys, "--format", "junit"))
    assert [failure.get("message") for failure in root.iter("failure")] == ["assert 1 == 2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["lab-09"],
        ["lab-03", "--questions"],
        ["lab-03", "--format", "html"],
        ["lab-03", "--student", "ada", "--answers", "/nowhere/answers.txt"],
        ["lab-03", "--metadata", "/nowhere/metadata.json"],
    ],
)
def test_bad_input_is_one_line_and_status_two(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        grade.main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("text", ["", "[]", '{"users": 3}', '{"users": [{}]}', "\ufeff{"])
def test_metadata_that_names_nobody_is_refused(capsys, tmp_path, text):
    path = tmp_path / "metadata.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        grade.main(["lab-03", "--metadata", str(path)])
    assert "is not a submission_metadata.json" in capsys.readouterr().err
