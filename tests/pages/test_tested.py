"""A predicted time on any page has its errors beside it, or says that none was tested."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.evidence import accuracy
from tests.pages.test_every_scene import visit
from ui import page_parts
from ui.course.pages import entry

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
    assert [mark.value for mark in at.markdown if "lower bound" in mark.value]


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


@pytest.mark.parametrize(
    ("stem", "asked"),
    [
        *(("placement", {"place_scene": scene}) for scene in ("plan", "compare", "cases", "load")),
        ("strategy", {"strategy_scene": "picker", "strategy_purpose": "serving"}),
        ("strategy", {"strategy_scene": "serving"}),
        ("comm_cost", {"bill_scene": "bench", "bill_figure": "prefill_apart"}),
    ],
)
def test_every_table_of_predicted_times_is_saved_with_their_errors(stem, asked, monkeypatch):
    saved = []
    monkeypatch.setattr(page_parts, "marked", lambda csv, beside: saved.append(dict(beside)) or csv)
    app = visit(entry(stem), **asked)
    assert not app.exception
    assert saved
    assert all(any(name.endswith("decode_published_times") for name in beside) for beside in saved)


def test_one_published_time_is_told_as_one_and_not_as_never(monkeypatch):
    """Where a class and a kind have one decode time alone, as Hopper's hybrids had: it was "never tested"."""
    key = "hopper", "hybrid"
    one = {**accuracy.TESTED, (*key, "decode"): accuracy.Accuracy(1, 1, 0.521, 0.521, 0.521, -0.521)}
    monkeypatch.setattr(accuracy, "TESTED", one)
    monkeypatch.setattr(accuracy, "BANDS", {name: band for name, band in accuracy.BANDS.items() if name != key})
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {"place_scene": "accuracy", "gpu": "h100-sxm", "model": "qwen3-next-80b-a3b"}.items():
        at.query_params[name] = value
    at.switch_page("pages/5_placement.py")
    at.run()
    assert not at.exception
    told = " ".join(mark.value for mark in at.markdown)
    assert "One time makes no band" in told
    assert "Never tested here: no" not in told
