"""The strategy page: what it asks, what it draws for every strategy and collective, and what it refuses."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.strategy.block import BLOCKS
from core.strategy.rooms import ROOMS
from runtime.content import slug
from scripts import strategy
from tests.said import without_terms

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


def opened(scene: str, **query: object) -> AppTest:
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {"strategy_scene": scene, **query}.items():
        at.query_params[name] = str(value)
    at.switch_page("pages/9_strategy.py")
    at.run()
    assert not at.exception
    return at


def text_of(at: AppTest) -> str:
    return without_terms(" ".join(str(element.value) for element in [*at.title, *at.markdown]))


def test_the_papers_figures_are_hidden_until_a_prediction_is_made():
    asked = text_of(opened("memory"))
    assert "120 GB" in asked
    assert "31.4 GB" not in asked
    said = text_of(opened("memory", strategy_memory_revealed="true"))
    assert all(figure in said for figure in ("31.4 GB", "16.6 GB", "1.9 GB"))


@pytest.mark.parametrize(
    ("model", "ranks"), [("llama-3-8b", 1), ("mixtral-8x7b", 8), ("deepseek-v3", 1024), ("gpt-oss-120b", 8)]
)
def test_every_number_of_ranks_is_drawn_for_dense_models_and_mixtures(model, ranks):
    at = opened("memory", strategy_memory_revealed="true", strategy_ranks=ranks, model=model)
    assert not at.error
    assert len(at.get("vega_lite_chart")) == 3


def test_a_projector_shows_one_of_the_two_figures():
    for view in ("held", "saved_and_paid"):
        at = opened("memory", strategy_memory_revealed="true", present="true", strategy_view=view)
        assert len(at.get("vega_lite_chart")) == 2


@pytest.mark.parametrize("goal", ["throughput", "latency"])
@pytest.mark.parametrize("purpose", ["training", "serving"])
def test_the_picker_answers_with_its_trace_and_a_counter_example(purpose, goal):
    at = opened("picker", strategy_purpose=purpose, strategy_goal=goal, model="llama-3-8b", strategy_nodes=2)
    said = text_of(at)
    assert all(words in said for words in ("Take ", "What would change the answer", "How this was decided"))
    assert not at.error


def test_what_fits_nowhere_is_said_and_what_would_make_it_fit():
    said = text_of(opened("picker", model="llama-3-70b"))
    assert "Nothing fits" in said
    assert "the answer would be" in said


@pytest.mark.parametrize("strategy", BLOCKS)
def test_a_block_is_drawn_and_can_be_taken_away(strategy):
    model = "mixtral-8x7b" if strategy == "EP" else "llama-3-8b"
    at = opened("block", strategy_block=strategy, model=model)
    assert not at.error
    assert not at.code
    at.session_state["fold_block_mermaid"] = True
    at.run()
    assert at.code[0].value.startswith("flowchart TD")
    assert len(at.get("download_button")) == 2


def test_experts_of_a_dense_model_are_refused_where_the_block_would_stand():
    at = opened("block", strategy_block="EP", model="llama-3-8b")
    assert len(at.error) == 1


@pytest.mark.parametrize(("op", "ranks"), [("all-reduce", 2), *((op, 8) for op in ROOMS)])
def test_every_collective_is_played_and_says_who_uses_it(op, ranks):
    said = text_of(opened("collectives", strategy_op=slug(op), strategy_room_ranks=ranks))
    assert "Who uses it" in said
    assert "finishes first" in said.replace("</span>", "")


@pytest.mark.parametrize("alone", [1, 16])
def test_prefill_apart_pays_for_many_and_never_for_one(alone):
    said = text_of(opened("serving", strategy_neighbours=alone))
    assert ("does not pay" in said) == (alone == 1)


def test_a_checkpoint_s_own_width_is_asked_as_the_planner_and_the_command_ask_it(capsys):
    """DeepSeek-V3 in its own fp8 fits eight H200: in bf16, the scenario's untouched default, it would not."""
    scenario = {"model": "deepseek-v3", "gpu": "h200-sxm", "link": "nvlink-4"}
    at = opened("picker", strategy_purpose="serving", strategy_served_sequences=16, **scenario)
    given = ("--model", "deepseek-v3", "--gpu", "h200-sxm", "--for", "serve", "--sequences", "16", "--json")
    assert strategy.main(list(given)) == 0
    name = json.loads(capsys.readouterr().out)["name"]
    assert name in text_of(at).replace("\\", "")
