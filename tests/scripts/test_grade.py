"""Grading from a terminal: the three formats, a student's questions and answers, and bad input refused."""

import json
from xml.etree import ElementTree

import pytest

from core.course.grading.probes import probes
from core.course.grading.questions import questions, seed_of
from core.course.grading.tasks import LABS, Outcome, tally
from core.errors import NotGradedError
from runtime.seed_file import text_of_seed
from scripts import grade

BILL = LABS["lab-03"]
SECRET, NEXT_YEARS = "0" * 32, "1" * 32


@pytest.fixture(autouse=True)
def graded(monkeypatch):
    """What the judge of a lab would say, said at once: all is right but the first probe."""
    codes = []

    def stand_in(lab, code, seed, confine):
        codes.append(code)
        said = [(probe.task, Outcome(str(probe.claim))) for probe in probes(lab, seed)]
        return tally(lab, [(said[0][0], Outcome(said[0][1].name, "The value\x1b[2J is wrong.")), *said[1:]])

    monkeypatch.setattr(grade, "grade_code", stand_in)
    return codes


@pytest.fixture
def seed(tmp_path):
    (tmp_path / "seed.txt").write_text(text_of_seed(SECRET))
    return ("--seed-file", str(tmp_path / "seed.txt"))


def printed(capsys, *arguments):
    assert grade.main(["lab-03", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def answers_of(tmp_path, student):
    """A sheet with every answer of a student right."""
    asked = questions(BILL, seed_of(student, BILL, SECRET))
    path = tmp_path / "answers.txt"
    path.write_text("\n".join(f"q{n} = {q.in_unit:.6g} {q.unit}" for n, q in enumerate(asked, 1)), encoding="utf-8")
    return str(path)


def test_code_alone_is_out_of_forty(capsys, graded, seed):
    """Two probes for five points, one of them wrong."""
    assert printed(capsys, *seed).endswith("38.5 of 40 points\n")
    assert b"lab-03, task 1" in graded[0]


def test_a_students_own_answers_count_for_sixty(capsys, tmp_path, seed):
    arguments = ["--student", "ada@x.org", "--answers", answers_of(tmp_path, "ada@x.org"), *seed]
    assert printed(capsys, *arguments).endswith("98.5 of 100 points\n")
    assert printed(capsys, "--student", "bob@x.org", *arguments[2:]).endswith("38.5 of 100 points\n")
    (tmp_path / "seed.txt").write_text(text_of_seed(NEXT_YEARS))
    assert printed(capsys, *arguments).endswith("38.5 of 100 points\n")


def test_a_roster_says_who_somebody_is(capsys, tmp_path, seed):
    (tmp_path / "roster.csv").write_text("student,email\nada,ada@x.org\n")
    named = ["--student", "ADA@x.org", "--roster", str(tmp_path / "roster.csv")]
    assert printed(capsys, *named, "--answers", answers_of(tmp_path, "ada"), *seed).endswith("98.5 of 100 points\n")


@pytest.mark.parametrize("text", ["a secret\n", "tulip", "shardlab-seed tulip", text_of_seed(SECRET)[:-3]])
def test_a_word_that_somebody_typed_is_no_seed(capsys, tmp_path, text):
    (tmp_path / "seed.txt").write_text(text)
    with pytest.raises(SystemExit):
        grade.main(["lab-03", "--seed-file", str(tmp_path / "seed.txt")])
    assert "can be guessed" in capsys.readouterr().err
    assert printed(capsys, "--practice").endswith("of 40 points\n")


@pytest.mark.parametrize("seed_", range(5))
def test_bytes_are_right_in_any_unit_and_a_k_that_is_meant_for_1024_is_told(seed_):
    """`1 KB` is 1000 bytes and `1 KiB` is 1024, in all that is read."""
    question = questions(BILL, seed_)[0]
    due = question.answer
    for right in (
        f"{due / 1024:g} KiB",
        f"{due / 1000} kB",
        f"{due / 1000} KB",
        f"{due:.0f} bytes",
        f"{due:.0f} B",
    ):
        assert grade.answer_to(1, question, right).right, right
    told = grade.answer_to(1, question, f"{due / 1024:g} KB")
    assert told.remark == "In kB and KB, k is a thousand. Write KiB for 1024 bytes."
    assert grade.answer_to(1, question, f"{3 * due:.0f} bytes").remark == "This is not the answer."


def test_questions_are_printed_with_lines_to_fill_in(capsys, graded, seed):
    out = printed(capsys, "--student", "ada", "--questions", *seed)
    for place, question in enumerate(questions(BILL, seed_of("ada", BILL, SECRET)), 1):
        assert grade.worded(place, question) in out
        assert f"q{place} = ? {question.unit}" in out
        assert f"{question.in_unit:.4g}" not in out.replace(grade.worded(place, question), "")
    assert graded == []


def test_a_grade_and_questions_are_one_json_object_as_of_any_command(capsys, seed):
    said = json.loads(printed(capsys, "--json", *seed))
    assert (said["schema_version"], said["points"], said["max_points"]) == (1, 38.5, 40.0)
    assert sum(line["points"] for line in said["lines"]) == pytest.approx(38.5)
    asked = json.loads(printed(capsys, "--json", "--questions", "--student", "ada", *seed))
    assert len(asked["questions"]) == 4
    assert SECRET not in json.dumps(asked)


def test_junit_is_xml_with_the_one_failure(capsys, seed):
    root = ElementTree.fromstring(printed(capsys, "--format", "junit", *seed))
    assert [failure.get("message") for failure in root.iter("failure")] == ["The value[2J is wrong."]


@pytest.mark.parametrize("format_", grade.FORMATS)
def test_no_control_character_reaches_a_report_and_each_says_where_no_sandbox_was(capsys, seed, format_):
    confined = printed(capsys, "--format", format_, *seed)
    assert not {one for one in confined if one < " "} - {"\n"}
    assert "sandbox" not in confined
    assert "No sandbox confined the code" in printed(capsys, "--format", format_, "--unconfined", *seed)


def test_no_grade_is_not_a_grade_of_zero(capsys, monkeypatch, seed):
    def fault(*given, **named):
        raise NotGradedError("the disk is full")

    monkeypatch.setattr(grade, "grade_code", fault)
    assert grade.main(["lab-03", *seed]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "shardlab grade: not graded: the disk is full\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lab-09"], "no lab named"),
        (["lab-03"], "--practice draws"),
        (["lab-03", "--practice", "--questions"], "must be named"),
        (["lab-03", "--practice", "--answers", "/nowhere/answers.txt"], "is not there"),
        (["lab-03", "--practice", "--file", "/dev/null"], "no file"),
        (["lab-03", "--seed-file", "/nowhere/seed"], "`classroom seed` makes one"),
        (["lab-03", "--practice", "--student", "x", "--roster", "/nowhere"], "is not there"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        grade.main(arguments)
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in err
    assert err.count("\n") == 1
