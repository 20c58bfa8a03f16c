"""A predicted time on any page has its errors beside it, or says that none was tested."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
SHOWN = {
    "9_strategy": {"strategy_scene": "serving"},
    "3_comm_cost": {"bill_scene": "bench", "bill_figure": "prefill_apart", "bill_more": "true"},
    "5_placement": {"place_scene": "race"},
}


@pytest.mark.parametrize(
    ("stem", "asked"),
    [
        ("2_two_way_tp", {"real_scene": "bench", "real_figure": "two_replicas"}),
        ("4_pipeline_bubble", {"pipe_scene": "bench", "pipe_figure": "tp_pp"}),
    ],
)
def test_a_figure_of_a_bench_that_goes_by_the_data_sheet_says_so(stem, asked):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in asked.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{stem}.py")
    at.run()
    assert not at.exception
    assert [mark.value for mark in at.markdown if "a floor and not a prediction" in mark.value]


@pytest.mark.parametrize("stem", SHOWN)
@pytest.mark.parametrize(("gpu", "said"), [("a100-80gb-sxm", "72 published times"), ("l4", "never tested here")])
def test_a_predicted_time_says_what_it_was_held_to(stem, gpu, said):
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {**SHOWN[stem], "gpu": gpu, "model": "llama-3-8b"}.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{stem}.py")
    at.run()
    assert not at.exception
    beside = [mark.value for mark in at.markdown if "Error, between tokens" in mark.value]
    assert len(beside) == 1
    assert said in beside[0].replace("\\", "")
