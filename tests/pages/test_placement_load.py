"""The planner's tabs under load and held to measurements, as the entry opens them."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.evidence.report import residuals
from core.serving.bench_results import example_bench
from runtime.published import shipped_table
from tests.said import without_terms
from ui.placement.examples import EXAMPLE_TRACE

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


def opened(scene, **query):
    """The page at an address, on a tab."""
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in {"place_scene": scene, **query}.items():
        at.query_params[name] = str(value)
    at.switch_page("pages/5_placement.py")
    return at.run()


def said(at):
    parts = (str(element.value) for element in [*at.title, *at.markdown, *at.error])
    return without_terms(" ".join(parts)).replace("\\", "")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"model": "llama-3-70b", "gpu": "rtx-4090"},
        {"model": "deepseek-v3", "gpu": "h200-sxm", "prompt": "32768"},
        {"place_p99_itl": "0.1", "place_chunk": "256", "present": "true"},
    ],
    ids=["usual", "nothing fits", "a mixture", "strict and projected"],
)
@pytest.mark.parametrize("scene", ["load", "accuracy"])
def test_both_tabs_open_whatever_is_placed(scene, query):
    at = opened(scene, **query)
    assert not at.exception
    assert not at.error
    assert "{{" not in said(at)


def test_a_pasted_benchmark_stands_beside_the_plan():
    at = opened("load", model="qwen2-7b")
    at = at.text_area(key="bench_result").set_value(example_bench()).run()
    assert not at.exception
    (table,) = [found.value for found in at.dataframe if "predicted" in found.value]
    assert set(table.figure) == {"first token, mean, ms", "between tokens, mean, ms", "output tokens/s"}


def test_a_paste_without_a_result_is_said_in_its_place():
    at = opened("load")
    at = at.text_area(key="bench_result").set_value("nothing of the kind").run()
    assert "no benchmark result in this text" in said(at)
    assert at.get("vega_lite_chart")


def test_the_nearest_runs_and_every_source_are_listed():
    at = opened("accuracy")
    nearest, classes, regimes, sources = (found.value for found in at.dataframe[-4:])
    assert len(nearest) == 6
    held = [each.measurement for each in residuals(shipped_table())]
    assert sum(sources.rows) == len(held)
    served = sum(each.engine != "megatron" for each in held)
    assert sum(classes.rows) == sum(regimes.rows) == served


def test_a_source_can_be_looked_at_alone():
    at = opened("accuracy", place_source="vllm-project/vllm issue #16300")
    assert "In vllm-project/vllm issue #16300" in said(at)


def test_a_pasted_trace_runs_on_the_plan_shown():
    at = opened("load", model="qwen2-7b")
    at = at.text_area(key="request_trace").set_value(EXAMPLE_TRACE).run()
    assert not at.exception
    assert "80 requests of the trace" in said(at).replace("\N{NO-BREAK SPACE}", " ")
    at = at.text_area(key="request_trace").set_value("arrival,prompt,output\n5,600,70\n").run()
    assert not at.exception, "one request has no rate"
    at = at.text_area(key="request_trace").set_value("no,such,columns\n1,2,3").run()
    assert "needs columns arrival, prompt and output" in said(at)
