"""Start here: five questions, each committed and revealed by itself, and numbers that are the labs' own."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.said import without_terms
from ui.course import glossary
from ui.course.pages import START

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
TRUTHS = {
    "rank": ("the other 88", 20),
    "collectives": ("It sends six", 3),
    "decode": ("Reading takes 7.36 ms", 2),
    "prefill": ("At 153 tokens", 300),
    "bottlenecks": ("On two it fits", 1),
}
"""By scene, the words that only the revealed page says, and a prediction."""


def opened(scene, **query):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {"start_scene": START.scenes[scene], **query}.items():
        at.query_params[name] = str(value)
    at.switch_page(START.path)
    at.run()
    assert not at.exception
    return at


def text_of(at):
    return without_terms(" ".join(str(element.value) for element in [*at.title, *at.markdown, *at.error]))


@pytest.mark.parametrize("scene", TRUTHS)
def test_the_truth_is_hidden_until_a_prediction_is_committed_and_revealed(scene):
    truth, guess = TRUTHS[scene]
    at = opened(scene)
    assert at.button(key="reveal").disabled
    assert truth not in text_of(at)
    at.slider(key=f"start_{scene}_guess").set_value(guess).run()
    assert not at.button(key="reveal").disabled
    assert truth not in text_of(at)
    at.button(key="reveal").click().run()
    assert truth in text_of(at)
    assert "An easy slip" in text_of(at)


def test_one_revealed_answer_reveals_no_other():
    revealed = {f"start_{scene}_revealed": "true" for scene in TRUTHS if scene != "decode"}
    assert TRUTHS["decode"][0] not in text_of(opened("decode", **revealed))
    assert TRUTHS["prefill"][0] in text_of(opened("prefill", **revealed))


@pytest.mark.parametrize("scene", TRUTHS)
def test_every_question_of_the_page_may_stand_in_its_address(scene):
    """A link to one scene keeps what was said in the others, and nothing of it is called a stranger."""
    others = {f"start_{name}_guess": guess for name, (_, guess) in TRUTHS.items()}
    revealed = {f"start_{name}_revealed": "true" for name in TRUTHS}
    assert "Ignored in the address" not in text_of(opened(scene, **others, **revealed))


@pytest.mark.parametrize("scene", TRUTHS)
@pytest.mark.parametrize("present", ["false", "true"])
def test_the_numbers_are_the_labs_own_whatever_the_scenario_is(scene, present):
    query = {f"start_{scene}_revealed": "true", "present": present}
    other = {"model": "deepseek-v3", "gpu": "h200-sxm", "tp": "8", "network": "ib-ndr"}
    assert TRUTHS[scene][0] in text_of(opened(scene, **query, **other))


def test_the_last_scene_lists_every_word():
    text = text_of(opened("glossary"))
    for term in glossary.terms():
        assert term.address in text
