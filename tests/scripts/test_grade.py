"""Grading from a terminal: the three formats, a student's questions and answers, and bad input refused."""

import json
import os
from xml.etree import ElementTree

import pytest

from core.course.grading.probes import probes
from core.course.grading.questions import questions, seed_of
from core.course.grading.tasks import LABS, Outcome, tally
from scripts import grade

BILL = LABS["lab-03"]
WORD = "a secret"


@pytest.fixture(autouse=True)
def graded(monkeypatch):
    """What the judge of a lab would say, said at once: all is right but the first probe."""
    files = []

    def stand_in(lab, file, seed, unseen):
        files.append(file)
        said = [(probe.task, Outcome(probe.claim)) for probe in probes(lab, seed)]
        return tally(lab, [(said[0][0], Outcome(said[0][1].name, "The value is wrong.")), *said[1:]])

    monkeypatch.setattr(grade, "grade", stand_in)
    monkeypatch.setenv(grade.WORD, WORD)
    return files


def printed(capsys, *arguments):
    assert grade.main(["lab-03", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def answers_of(tmp_path, student):
    """A sheet with every answer of a student right."""
    asked = questions(BILL, seed_of(student, BILL, WORD))
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(f"q{n} = {q.in_unit:.6g} {q.unit}" for n, q in enumerate(asked, 1)), encoding="utf-8")
    return str(path)


def test_code_alone_is_out_of_forty(capsys, graded):
    """Two probes for five points, one of them wrong."""
    assert printed(capsys).endswith("38.5 of 40 points\n")
    assert graded[0].name == "starter.py"
    assert graded[0].parent.name == BILL.folder


def test_a_students_own_answers_count_for_sixty(capsys, tmp_path, monkeypatch):
    arguments = ["--student", "ada@x.org", "--answers", answers_of(tmp_path, "ada@x.org")]
    assert printed(capsys, *arguments).endswith("98.5 of 100 points\n")
    monkeypatch.setenv(grade.WORD, WORD)
    assert printed(capsys, "--student", "bob@x.org", *arguments[2:]).endswith("38.5 of 100 points\n")
    monkeypatch.setenv(grade.WORD, "next year")
    assert printed(capsys, *arguments).endswith("38.5 of 100 points\n")


def test_a_word_is_needed_and_is_taken_out_of_the_environment(capsys, tmp_path, monkeypatch):
    printed(capsys)
    assert grade.WORD not in os.environ
    with pytest.raises(SystemExit):
        grade.main(["lab-03"])
    assert "--word-file" in capsys.readouterr().err
    (tmp_path / "word").write_text(WORD + "\n", encoding="utf-8")
    assert printed(capsys, "--word-file", str(tmp_path / "word")).endswith("of 40 points\n")
    assert printed(capsys, "--practice").endswith("of 40 points\n")


def test_questions_are_printed_with_lines_to_fill_in(capsys, graded):
    out = printed(capsys, "--student", "ada", "--questions")
    for place, question in enumerate(questions(BILL, seed_of("ada", BILL, WORD)), 1):
        assert grade.worded(place, question) in out
        assert f"q{place} = ? {question.unit}" in out
        assert f"{question.in_unit:.4g}" not in out.replace(grade.worded(place, question), "")
    assert graded == []


def test_gradescope_reads_who_submitted_and_a_group_is_one_student(capsys, tmp_path):
    """submission_metadata.json as its documentation shows it: `users`, each with an email and an id."""
    metadata = tmp_path / "submission_metadata.json"
    metadata.write_text(json.dumps({"users": [{"email": "b@x.org", "id": 2}, {"email": "a@x.org", "id": 1}]}))
    out = tmp_path / "results.json"
    arguments = ["--metadata", str(metadata), "--answers", answers_of(tmp_path, "a@x.org+b@x.org")]
    assert printed(capsys, *arguments, "--format", "gradescope", "--out", str(out)) == ""
    assert json.loads(out.read_text(encoding="utf-8"))["score"] == 98.5


def test_a_grade_and_questions_are_one_json_object_as_of_any_command(capsys, monkeypatch):
    said = json.loads(printed(capsys, "--json"))
    assert (said["schema_version"], said["points"], said["max_points"]) == (1, 38.5, 40.0)
    assert sum(line["points"] for line in said["lines"]) == pytest.approx(38.5)
    monkeypatch.setenv(grade.WORD, WORD)
    asked = json.loads(printed(capsys, "--json", "--questions", "--student", "ada"))
    assert len(asked["questions"]) == 4
    assert WORD not in json.dumps(asked)


def test_junit_is_xml_with_the_one_failure(capsys):
    root = ElementTree.fromstring(printed(capsys, "--format", "junit"))
    assert [failure.get("message") for failure in root.iter("failure")] == ["The value is wrong."]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lab-09"], "no lab named"),
        (["lab-03", "--questions"], "must be named"),
        (["lab-03", "--answers", "/nowhere/answers.txt"], "No such file"),
        (["lab-03", "--metadata", "README.md"], "submission_metadata.json"),
        (["lab-03", "--word-file", "/nowhere/word"], "No such file"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        grade.main(arguments)
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in err
    assert err.count("\n") == 1
