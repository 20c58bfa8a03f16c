"""The judge has a verdict for whatever comes out of a submission: any bytes, any JSON, any text to a question."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.grading.answer import LONGEST_TEXT, UNREADABLE, answer_in, writable
from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.questions import answers_in, questions
from core.course.grading.report import Grade, as_gradescope, as_junit, as_text
from core.course.grading.tasks import LABS, Outcome, tally
from core.errors import Remark
from scripts.grade import answer_to

PROBES = [(lab, probe) for lab in LABS.values() for probe in probes(lab, 1)]
KEYS = ("value", "ledger", "reduced", "shares", "held", "raised")
LEAVES = (
    st.none() | st.booleans() | st.integers(-(10**500), 10**500) | st.floats() | st.text() | st.characters()
    | st.sampled_from(["\ud800", "\x00", "1/3", "IndivisibleError: no", "-2+3+cmd|' /C calc'!A0"])
)  # fmt: skip
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
ANSWERS = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)


def judged(line):
    """Every probe's problem with a line of bytes, as the judge comes to it."""
    answer = answer_in(line)
    return [answer if isinstance(answer, Remark) else verdict(probe, answer) for _, probe in PROBES]


@given(st.binary(max_size=400))
def test_any_bytes_are_an_answer_or_a_sentence(line):
    assert all(isinstance(problem, Remark) and str(problem) for problem in judged(line))


@given(JSON)
def test_any_json_is_an_answer_or_a_sentence(value):
    judged(json.dumps(value).encode())


@given(ANSWERS)
def test_any_answer_to_any_probe_has_a_verdict_that_every_report_can_hold(answer):
    problems = judged(json.dumps(answer).encode())
    for lab in LABS.values():
        rows = [(p, problem) for (of, p), problem in zip(PROBES, problems, strict=True) if of is lab]
        grade = Grade(
            lab,
            tally(lab, [(probe.task, Outcome(str(probe.claim), str(problem or ""))) for probe, problem in rows]),
        )
        for report in (as_text, as_junit, as_gradescope):
            report(grade).encode("utf-8")


@given(st.data())
def test_a_right_answer_that_is_spoilt_in_one_place_has_a_verdict(data):
    """What is nearly right goes further into the judge than what is drawn from nothing."""
    _, probe = data.draw(st.sampled_from(PROBES))
    due = json.loads(json.dumps(dict(probe.expected)))
    name = data.draw(st.sampled_from(sorted(due)))
    at, spot = due, name
    while isinstance(at[spot], list) and at[spot] and data.draw(st.booleans()):
        at, spot = at[spot], data.draw(st.integers(0, len(at[spot]) - 1))
    at[spot] = data.draw(JSON)
    answer = answer_in(json.dumps(due).encode())
    assert isinstance(answer, Remark) or isinstance(verdict(probe, answer), Remark | None)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"value": ' + b"1" + 400 * b"0" + b"}", "is returned"),
        (b'{"value": ' + 5000 * b"9" + b"}", "a number of 5000 digits"),
        (b'{"raised": "\\ud800"}', "?"),
        (b'{"value": ' + 600 * b"[" + 600 * b"]" + b"}", "more than 40 lists in one another"),
        (b'{"value": ' + 100_000 * b"[" + b"}", UNREADABLE),
        (b"\xff\xfe", UNREADABLE),
        (b"[]", UNREADABLE),
    ],
    ids=["10**400", "5000 digits", "half a pair", "600 deep", "no end", "no text", "a list"],
)
def test_what_once_ended_the_grading_of_a_class_is_wrong_in_a_sentence(line, said):
    problems = {str(problem) for (lab, p), problem in zip(PROBES, judged(line), strict=True) if lab.key == "lab-03"}
    assert any(str(said).replace("is returned", "was returned") in problem for problem in problems)
    for problem in problems:
        problem.encode("utf-8")


@given(st.text() | st.text(alphabet="q1=., eE+-09kKiBµms%"))
def test_any_sheet_of_answers_is_read_and_judged(text):
    for lab in LABS.values():
        given_to = answers_in(text)
        for number, question in enumerate(questions(lab, 1), 1):
            answered = answer_to(number, question, given_to.get(f"q{number}", text))
            assert isinstance(answered.right, bool)


@given(st.text() | st.characters())
def test_a_text_that_is_told_can_be_written_anywhere(text):
    told = writable(text)
    told.encode("utf-8")
    assert len(told) <= LONGEST_TEXT
    assert all(one.isprintable() or one >= "\xa0" for one in told)
