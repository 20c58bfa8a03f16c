"""The clinic's page: every case before and after its diagnosis, every bench, and what a visitor can type."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.clinic import CASES, examine
from core.clinic.hang import TESTS

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
ALL = [examine(key) for key in CASES]


def opened(**query) -> AppTest:
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = str(value)
    at.switch_page("pages/7_clinic.py")
    at.run()
    assert not at.exception
    assert not at.error
    return at


def text_of(at: AppTest) -> str:
    return " ".join(str(element.value) for element in [*at.title, *at.markdown])


def answers(case, letter: str) -> str:
    return "".join(letter if key == case.key else "-" for key in CASES)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.key)
def test_the_truth_is_hidden_until_it_is_revealed(case):
    at = opened(clinic_case=case.key)
    assert "The answer." not in text_of(at)
    assert at.radio[0].value is None
    (reveal,) = (button for button in at.button if button.key == "reveal_case")
    assert reveal.disabled
    assert "{{" not in text_of(at)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.key)
def test_a_wrong_diagnosis_is_answered_beside_the_right_one(case):
    right = case.candidates.index(case.truth)
    for index in (right, (right + 1) % len(case.candidates)):
        candidate = case.candidates[index]
        text = text_of(opened(clinic_case=case.key, clinic_answers=answers(case, "ABCD"[index])))
        assert ("That is it." in text) == (candidate == case.truth)
        assert ("That is not it." in text) == (candidate != case.truth)
        assert "{{" not in text


def test_a_commitment_goes_into_the_address_and_then_reveals():
    at = opened()
    at.radio[0].set_value("slow_rank").run()
    assert at.query_params["clinic_answers"] == "c-------"
    next(button for button in at.button if button.key == "reveal_case").click().run()
    assert at.query_params["clinic_answers"] == "C-------"
    assert "That is it." in text_of(at)
    assert "1 of 1" in text_of(at)


def test_a_presenter_may_reveal_without_a_diagnosis():
    at = opened(present="true")
    next(button for button in at.button if button.key == "reveal_case").click().run()
    assert "This is the answer." in text_of(at)
    assert at.query_params["clinic_answers"] == "!-------"


@pytest.mark.parametrize(
    ("slow", "tp", "late"),
    [(0, 1, "one_slow_rank"), (900, 64, "one_slow_rank"), (40, 8, "every_rank_a_little_late")],
)
def test_one_knob_moves_all_three(slow, tp, late):
    at = opened(clinic_scene="straggler", slow=slow, tp=tp, clinic_late=late)
    assert len(at.get("vega_lite_chart")) == (4 if late == "one_slow_rank" else 1)


@pytest.mark.parametrize(
    ("slow", "said", "unsaid"), [(0, "none of them", "sets the pace"), (50, "sets the pace", "none of them")]
)
def test_a_rank_is_called_slow_only_where_one_is(slow, said, unsaid):
    text = text_of(opened(clinic_scene="straggler", slow=slow))
    assert said in text
    assert unsaid not in text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({}, "uses its custom"),
        ({"clinic_joined": "pcie_only"}, "two ranks, or NVLink between every two"),
        ({"clinic_nodes": 2}, "all ranks on one node"),
        ({"clinic_ranks": 3}, "2, 4, 6, 8, 16 ranks"),
        ({"clinic_ranks": 1}, "nothing to reduce"),
        ({"clinic_p2p": "false"}, "peer-to-peer copies that arrive"),
    ],
)
def test_the_rule_that_stops_the_kernel_is_said(query, said):
    text = text_of(opened(clinic_scene="all_reduce", **query))
    assert said in text.replace("<span", " <span")


def test_a_hang_without_a_log_asks_for_the_test_that_halves():
    text = text_of(opened(clinic_scene="hangs"))
    assert "Six causes are possible" in text
    assert "It leaves 3 causes if yes, 3 causes if no" in text


def test_outcomes_of_tests_in_the_address_narrow_the_causes():
    text = text_of(opened(clinic_scene="hangs", clinic_test_gloo="yes", clinic_test_p2p="yes"))
    assert text.count("excluded") == 5
    assert "NCCL_P2P_DISABLE=1" in text


def test_a_pasted_log_is_read_and_not_shown():
    at = opened(clinic_scene="hangs")
    line = "secrethost:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 - Init START"
    at.text_area[0].set_value(line).run()
    assert "Found: 1 of 2" in text_of(at)
    assert "secrethost" not in text_of(at)


@pytest.mark.parametrize("outcome", ["yes", "no"])
def test_an_outcome_of_every_test_is_taken_though_they_contradict(outcome):
    opened(clinic_scene="hangs", **{f"clinic_test_{test.key}": outcome for test in TESTS})


@pytest.mark.parametrize(("diagnosis", "said"), [("rank_hung", "That is not it"), ("other_shape", "That is it")])
def test_a_recorded_fault_is_told_once_a_diagnosis_is_made(diagnosis, said):
    """The first log is of ranks that sum unlike shapes; nothing of the answer or the command stands before."""
    asked = {"clinic_scene": "hangs", "clinic_whose": "recorded_faults"}
    before = opened(**asked)
    assert "other_shape" not in " ".join(code.value for code in before.code)
    after = opened(**asked, clinic_fault_1=diagnosis)
    assert said in text_of(after)
    assert any("distributed.faulty other_shape" in code.value for code in after.code)
