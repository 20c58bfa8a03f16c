"""Start here: five questions, each committed and revealed by itself, and numbers that are the labs' own."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.said import without_terms
from ui.course import glossary
from ui.course.pages import START

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
TRUTHS = {
    "decode": ("Reading the weights takes 7.36 ms", 2),
    "prefill": ("equal at 153 tokens", 300),
    "bottlenecks": ("On 2 GPUs the weights fit", 1),
    "rank": ("The other 88", 20),
    "collectives": ("Each rank sends 14 chunks", 3),
}
"""By scene, in the order of the argument, the words that only the revealed page says, and a prediction."""


def opened(scene, **query):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {"start_scene": scene, **query}.items():
        at.query_params[name] = str(value)
    at.switch_page(START.path)
    at.run()
    assert not at.exception
    return at


def text_of(at):
    return without_terms(" ".join(str(element.value) for element in [*at.title, *at.markdown, *at.error]))


def test_the_argument_leads_from_one_token_to_the_collectives():
    """One token reads the model; it must fit; it is cut; ranks are joined by links; their parts are added up."""
    assert list(START.names) == [*TRUTHS, "glossary"]


def test_the_truth_is_hidden_until_a_prediction_is_committed_and_revealed():
    for scene, (truth, guess) in TRUTHS.items():
        at = opened(scene)
        assert at.button(key="reveal").disabled
        assert truth not in text_of(at)
        at.slider(key=f"start_{scene}_guess").set_value(guess).run()
        at.button(key="reveal").click().run()
        assert truth in text_of(at)
        assert "An easy slip" in text_of(at)


def test_no_scene_tells_what_a_later_one_asks():
    revealed = {f"start_{scene}_revealed": "true" for scene in TRUTHS}
    scenes = list(TRUTHS)
    for scene in ("decode", "bottlenecks", "rank"):
        text = text_of(opened(scene, **revealed))
        assert not [later for later in scenes[scenes.index(scene) + 1 :] if TRUTHS[later][0] in text]


def test_a_ring_runs_with_its_rounds_named_before_its_chunks_are_asked_for():
    """Four ranks run, eight are asked for: what runs does not tell the answer, and shows how to find it."""
    (ring,) = (
        one.proto
        for one in opened("collectives").get("bidi_component")
        if "ring_player" in one.proto.component_name
    )
    for said in ("Reduce-scatter, round 1", "Reduce-scatter, round 3", "All-gather, round 3", '"10"'):
        assert said in ring.json
    assert "round 4" not in ring.json


def test_one_revealed_answer_reveals_no_other_and_all_may_stand_in_the_address():
    revealed = {f"start_{scene}_revealed": "true" for scene in TRUTHS if scene != "decode"}
    guesses = {f"start_{name}_guess": guess for name, (_, guess) in TRUTHS.items()}
    hidden, shown = (text_of(opened(scene, **revealed, **guesses)) for scene in ("decode", "prefill"))
    assert TRUTHS["decode"][0] not in hidden
    assert TRUTHS["prefill"][0] in shown
    assert "Ignored in the address" not in hidden + shown


@pytest.mark.parametrize("present", ["false", "true"])
def test_the_numbers_are_the_labs_own_whatever_the_scenario_is(present):
    other = {"model": "deepseek-v3", "gpu": "h200-sxm", "tp": "8", "network": "ib-ndr", "present": present}
    for scene, (truth, _) in TRUTHS.items():
        assert truth in text_of(opened(scene, **{f"start_{scene}_revealed": "true"}, **other))


def test_the_last_scene_lists_every_word():
    text = text_of(opened("glossary"))
    assert all(term.address in text for term in glossary.terms())


@pytest.mark.parametrize(("scenario", "says"), [({}, False), ({"tp": 8}, False), ({"model": "llama-3-70b"}, True)])
def test_a_scenario_of_another_model_is_told_that_the_page_keeps_its_own(scenario, says):
    texts = " ".join(block.value for block in opened("decode", **scenario).markdown)
    assert ("whatever the scenario at the top of the page says" in texts) == says
