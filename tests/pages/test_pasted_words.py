"""A word of a paste is a value of a chart's rows, and nothing that a chart computes with: Vega has expressions."""

import json

import pytest

from runtime.measurements import example_paste
from tests.pages.test_every_scene import visit
from ui.course.pages import entry
from ui.placement.examples import EXAMPLE_CONFIG
from ui.startup_log.report import EXAMPLE

MARK = "evilword"
HOSTILE = (
    f"{MARK}'+warn('x')+'",
    f'{MARK}"+datum.x.constructor.constructor("alert(1)")()+"',
    f"datum['{MARK}']",
    f"<img/src=x/onerror={MARK}>",
    f"{MARK}\\u0027);alert(1)//",
    f"[{MARK}](javascript:alert(1))",
    f"{{{{{MARK}}}}}",
)
NAME = '"model_type"'
PASTES = {
    "a model's name in a log": ("startup_log", "log_text", lambda word: EXAMPLE.replace("Qwen2-7B-Instruct", word)),
    "an attention's name in a log": (
        "startup_log",
        "log_text",
        lambda word: EXAMPLE.replace("kv_cache_dtype=auto", word),
    ),
    "a config's name": (
        *("placement", "place_config"),
        lambda word: EXAMPLE_CONFIG.replace(NAME, f'"_name_or_path": {json.dumps(word)}, {NAME}'),
    ),
    "a config's type": (
        "placement",
        "place_config",
        lambda word: EXAMPLE_CONFIG.replace('"awq"', json.dumps(word)),
    ),
    "a column of a table": (
        "comm_cost",
        "own_table",
        lambda word: example_paste().replace("float", word.replace(" ", "")),
    ),
}


def strings(part):
    """Every text of a specification, the names of its parts among them, but for rows that stand in it."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield name
            yield from () if name in ("values", "datasets") else strings(value)
    elif isinstance(part, list):
        for value in part:
            yield from strings(value)
    elif isinstance(part, str):
        yield part


@pytest.mark.slow
@pytest.mark.parametrize("kind", PASTES)
def test_no_word_of_a_paste_comes_into_an_expression(kind):
    stem, key, made = PASTES[kind]
    drawn = 0
    for word in HOSTILE:
        page = entry(stem)
        for scene in {"read", "plan", "load", "bench"} & {*page.names}:
            app = visit(page, {key: made(word)}, **page.scene(scene))
            assert not app.exception, (scene, word)
            for chart in app.get("vega_lite_chart"):
                drawn += 1
                assert not [text for text in strings(json.loads(chart.proto.spec)) if MARK in text], (scene, word)
    assert drawn or stem == "placement", "a type that nobody knows has no plan"
