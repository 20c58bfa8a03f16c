"""Grades: points that add up, tests that speak for the task they name, questions nobody else is asked."""

import ast
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collectives.cost import ring_all_reduce
from core.course.grading.probe import _short
from core.course.grading.probes import probes
from core.course.grading.questions import answers_in, points_each, questions, seed_of
from core.course.grading.report import Grade, as_gradescope, as_junit, as_text, lines
from core.course.grading.tasks import LABS, QUESTION_POINTS, Outcome, earned, lab_of, tally
from core.errors import OutOfRangeError, UnknownNameError
from core.pipeline_bubble.bubble import fill_drain, run_on_ticks
from core.specs import LinkSpec
from core.text.question import judge
from runtime import content
from scripts.grade import answer_to, worded
from tests.said import fields_of

ROOT = Path(__file__).resolve().parents[3]
WORD = "a secret"
EVERY_LAB = pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.key)


def source(lab, file):
    return (ROOT / "labs" / lab.folder / file).read_text(encoding="utf-8")


def graded(lab, *failing, student="ada"):
    """A grade in which these claims failed, and every question is answered rightly."""
    asked = questions(lab, seed_of(student, lab, WORD))
    answers = tuple(answer_to(place, question, repr(question.in_unit)) for place, question in enumerate(asked, 1))
    return Grade(lab, tally(lab, outcomes(lab, *failing)), answers, student)


def outcomes(lab, *failing):
    """What each probe of a lab came to, those of these claims with a problem."""
    return [
        (p.task, Outcome(str(p.claim), "assert 1 == 2" if str(p.claim) in failing else "")) for p in probes(lab, 1)
    ]


@EVERY_LAB
def test_code_and_questions_are_worth_a_hundred(lab):
    assert lab.points + QUESTION_POINTS == 100
    assert points_each(lab) * len(questions(lab, 0)) == QUESTION_POINTS


@EVERY_LAB
def test_every_test_of_a_lab_counts_once(lab):
    """A test added to a lab must be given to a task, or it would be graded by nobody."""
    written = [
        node.name for node in ast.parse(source(lab, "test_lab.py")).body if isinstance(node, ast.FunctionDef)
    ]
    counted = [test for task in lab.tasks for test in task.tests]
    assert sorted(counted) == sorted(name for name in written if name.startswith("test_"))


@EVERY_LAB
def test_the_tasks_are_those_of_the_starter(lab):
    told = re.findall(rf"{lab.key}, task (\d+): (\w+)\"", source(lab, "starter.py"))
    assert [(str(task.number), task.name) for task in lab.tasks] == list(dict.fromkeys(told))


@pytest.mark.parametrize("name", ["lab-03", "03", "3", "lab-03-tp-comm-cost"])
def test_a_lab_goes_by_number_and_by_folder(name):
    assert lab_of(name) is LABS["lab-03"]


@pytest.mark.parametrize("name", ["lab-09", "", "lab-", "lab-03x", "³", "tp-comm-cost", "../lab-03"])
def test_another_name_is_no_lab(name):
    with pytest.raises(UnknownNameError, match="no lab named"):
        lab_of(name)


def test_a_tasks_points_are_spread_over_its_probes():
    """Five probes for 8 points, one of them wrong: 6.4."""
    lab = LABS["lab-01"]
    result = tally(lab, outcomes(lab, "nothing is sent"))[0]
    assert (len(result.outcomes), float(result.points)) == (5, 6.4)


@EVERY_LAB
def test_a_function_is_asked_for_by_one_task(lab):
    asked = {(probe.function, probe.task) for probe in probes(lab, 1)}
    assert len(asked) == len(dict(asked))


def test_what_two_ranks_answer_is_a_list_of_two():
    for probe in probes(LABS["lab-02"], 1):
        assert all(len(due) == 2 for due in probe.expected.values())


def test_attention_is_asked_with_keys_for_every_rank_and_with_one_key_for_all():
    for seed in range(20):
        asked = [one.given for one in probes(LABS["lab-01"], seed) if one.function == "attention_tp"]
        heads = [(len(given["Wk"][1]) // given["head_dim"], given["num_ranks"]) for given in asked]
        assert {kv_heads < ranks for kv_heads, ranks in heads} == {True, False}


@EVERY_LAB
def test_all_right_is_forty_and_all_wrong_is_nothing(lab):
    assert earned(tally(lab, outcomes(lab))) == lab.points == 40
    assert earned(tally(lab, outcomes(lab, *(str(probe.claim) for probe in probes(lab, 1))))) == 0


@EVERY_LAB
def test_every_seed_asks_something_that_its_own_answer_answers(lab):
    for seed in range(200):
        for question in questions(lab, seed):
            assert judge(question, f"{question.in_unit!r} {question.unit}").right
            assert judge(question, repr(question.in_unit)).right
            assert np.isfinite(question.answer)
            assert question.answer > 0


@EVERY_LAB
def test_students_are_asked_different_things_and_the_same_one_the_same(lab):
    asked = [tuple(worded(1, q) for q in questions(lab, seed_of(f"student-{n}", lab, WORD))) for n in range(100)]
    assert max(Counter(asked).values()) == 1
    assert questions(lab, seed_of(" Ada@x.org", lab, WORD)) == questions(lab, seed_of("ada@X.org ", lab, WORD))
    assert seed_of("ada", lab, "2026") != seed_of("ada", lab, "2027")
    with pytest.raises(OutOfRangeError, match="secret seed"):
        seed_of("ada", lab, " ")


def test_the_last_tick_that_is_asked_for_is_that_of_the_run():
    for seed in range(0, 60, 7):
        asked = questions(LABS["lab-04"], seed)[2]
        stages, microbatches = (int(asked.fields[name]) for name in ("stages", "microbatches"))
        run = run_on_ticks(fill_drain(stages, microbatches), stages)
        assert asked.answer == max(span.end for span in run)


@EVERY_LAB
def test_a_neighbours_answers_are_hardly_ever_right(lab):
    """Of all four at once never; one by one, in fewer than one case in ten on the average."""
    sheets = [questions(lab, seed_of(f"student-{n}", lab, WORD)) for n in range(40)]
    right = [
        [judge(question, repr(other.in_unit)).right for question, other in zip(mine, theirs, strict=True)]
        for mine, theirs in pairwise(sheets)
    ]
    assert not any(all(row) for row in right)
    assert np.mean(right) < 0.1


def test_the_bill_is_asked_of_the_students_own_link():
    """The text holds everything that the answer needs: worked here by the closed form from the text alone."""
    lab = LABS["lab-03"]
    for seed in range(20):
        asked = questions(lab, seed)
        ranks, latency_us, gb_s = re.search(
            r"TP=(\d+) .* with (\d+) µs a hop and (\d+) GB/s", worded(2, asked[1])
        ).groups()
        link = LinkSpec("x", "x", int(latency_us) * 1e-6, int(gb_s) * 1e9)
        whole = ring_all_reduce(asked[0].answer, int(ranks), link)
        assert asked[1].answer == pytest.approx(whole.total_s)


def test_parameters_of_a_rank_are_those_of_its_arrays():
    """Counted on arrays that are cut, bias distributed with the outputs or whole with the inputs."""
    for seed in range(20):
        column, row, *_ = questions(LABS["lab-02"], seed)
        features, outputs, ranks = map(int, re.findall(r"\d+", worded(0, column))[1:])
        W, bias = np.zeros((outputs, features), np.int8), np.zeros(outputs, np.int8)
        assert column.answer == np.split(W, ranks, 0)[0].size + np.split(bias, ranks)[0].size
        assert row.answer == np.split(W, ranks, 1)[0].size + bias.size


@pytest.mark.parametrize(
    "said", ["", "many", "1e999 µs", "nan", "inf", "12 ms", "12 KiB", "0x10", "1 2", "-", "--5"]
)
def test_what_is_no_answer_is_wrong_and_says_why(said):
    question = questions(LABS["lab-03"], 1)[1]
    assert not judge(question, said).right
    assert answer_to(2, question, said).remark


@EVERY_LAB
def test_every_question_and_slip_has_its_words_and_every_slip_is_told(lab):
    words = content.load("grading")
    for seed in range(20):
        for question in questions(lab, seed):
            blocks = [f"{question.key}.asks", *(f"{question.key}.slip_{name}" for name in question.slips)]
            assert all(fields_of(words[block]) <= set(question.fields) for block in blocks)
            for name, value in question.slips.items():
                said = f"{value / question.unit_size!r} {question.unit}"
                assert answer_to(1, question, said).remark == words[f"{question.key}.slip_{name}"]


def test_an_answer_that_is_missing_earns_nothing_and_says_so():
    answered = answer_to(1, questions(LABS["lab-01"], 1)[0], None)
    assert (answered.right, answered.said, answered.remark) == (False, "", "There is no answer.")


def test_a_hundredth_is_rounding_and_two_are_not():
    question = questions(LABS["lab-03"], 1)[1]
    assert judge(question, f"{1.009 * question.in_unit}").right
    assert not judge(question, f"{1.02 * question.in_unit}").right


@pytest.mark.parametrize("said", ["{:.4f} µs", "{:.4f} μs", "{:.4f}us", "{:.4f}", "{milli:.7f} ms"])
@pytest.mark.parametrize("comma", [False, True])
def test_a_right_answer_is_right_however_it_is_written(said, comma):
    question = questions(LABS["lab-03"], 1)[1]
    text = said.format(question.in_unit, milli=question.in_unit / 1e3, nano=question.in_unit * 1e3)
    assert judge(question, text.replace(".", ",") if comma else text).right


def test_a_count_has_no_tolerance():
    question = questions(LABS["lab-04"], 1)[2]
    assert judge(question, f"{question.answer:.0f} ticks").right
    assert not judge(question, f"{question.answer + 1:.0f}").right


def test_answers_are_read_a_line_each_and_the_last_counts():
    text = "my answers\nq1 = 5 KiB\n  q2: 1,024.5 µs  \r\nq1 = 6 KiB\nq3 =\nquatsch q4 = 1\nQ4. 32,19 µs\n"
    assert dict(answers_in(text)) == {"q1": "6 KiB", "q2": "1,024.5 µs", "q4": "32,19 µs"}


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text):
    question = questions(LABS["lab-01"], 3)[0]
    for said in [text, *answers_in(text).values()]:
        judge(question, said)


def test_a_long_sheet_is_read_at_once():
    assert dict(answers_in("q1 = " + " " * 1_000_000)) == {}
    assert len(answers_in("q1 = 1 ms\n" * 100_000)) == 1


@EVERY_LAB
def test_the_formats_agree_on_the_points(lab):
    failing = str(probes(lab, 1)[-1].claim)
    grade = graded(lab, failing)
    assert sum(line.points for line in lines(grade)) == pytest.approx(grade.points, abs=0.01), "told to a hundredth"
    assert sum(line.max_points for line in lines(grade)) == pytest.approx(grade.max_points) == 100
    results = json.loads(as_gradescope(grade))
    assert results["score"] == pytest.approx(grade.points, abs=0.01)
    assert sum(test["score"] for test in results["tests"]) == pytest.approx(grade.points, abs=0.01)
    suites = list(ElementTree.fromstring(as_junit(grade)).iter("testsuite"))
    points = [float(suite.find("properties/property[@name='points']").get("value")) for suite in suites]
    assert sum(points) == pytest.approx(grade.points, abs=0.05)
    assert f"{failing}: assert 1 == 2" in as_text(grade)


def test_gradescope_is_given_only_what_its_specification_names():
    """gradescope-autograders.readthedocs.io/en/latest/specs: "Output format"."""
    results = json.loads(as_gradescope(graded(LABS["lab-03"], "every hop waits")))
    assert set(results) <= {
        "score", "execution_time", "output", "output_format", "test_output_format", "test_name_format",
        "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard",
    }  # fmt: skip
    for test in results["tests"]:
        assert set(test) <= {
            "score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags",
            "visibility", "extra_data",
        }  # fmt: skip
        assert test["status"] == ("passed" if test["score"] == test["max_score"] else "failed")
        assert test["visibility"] in ("hidden", "after_due_date", "after_published", "visible")
    assert [test["number"] for test in results["tests"]][-1] == "11.4"


def test_junit_counts_what_it_holds():
    root = ElementTree.fromstring(as_junit(graded(LABS["lab-04"], "a real run")))
    assert root.tag == "testsuites"
    assert root.get("tests") == str(len(list(root.iter("testcase"))))
    assert root.get("failures") == str(len(list(root.iter("failure")))) == "1"
    for suite in root:
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
        assert {case.get("classname") for case in suite.iter("testcase")} == {f"lab-04.{suite.get('name')}"}
    (failure,) = root.iter("failure")
    assert failure.get("message") == "assert 1 == 2"


@given(st.text(max_size=200))
def test_no_message_of_a_learner_breaks_a_report(message):
    lab = LABS["lab-03"]
    said = [(number, Outcome(one.name, message)) for number, one in outcomes(lab)]
    grade = Grade(lab, tally(lab, said), (answer_to(1, questions(lab, 1)[0], message),), message)
    ElementTree.fromstring(as_junit(grade))
    json.loads(as_gradescope(grade))
    as_text(grade)


def test_the_slips_of_the_bill_leave_out_what_they_say():
    """One all-reduce a layer is half of two, hops alone 2(N-1)α, of the compute alone more than of the whole."""
    for seed in range(20):
        payload, one, every, share = questions(LABS["lab-03"], seed)
        assert payload.slips["values"] == payload.answer / 2
        assert every.slips["one_a_layer"] == pytest.approx(every.answer / 2)
        hops_s = 2 * (int(one.fields["tp"]) - 1) * float(one.fields["hop_us"]) * 1e-6
        assert one.slips.get("latency_alone", hops_s) == pytest.approx(hops_s)
        compute_s = float(share.fields["step_ms"]) / 1e3
        assert share.slips["of_compute"] == pytest.approx(every.answer / compute_s)


def test_a_long_value_is_shown_by_its_beginning():
    assert _short("x" * 80) == "x" * 80
    assert _short("x" * 81) == "x" * 79 + "…"
