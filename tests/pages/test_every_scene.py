"""Every page and scene as a visitor can ask for it: it runs, says all it means to, refuses nonsense."""

import json
import logging.handlers
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import MappingProxyType

import pytest
from streamlit.elements.lib import policies
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_server_config import WEBSOCKET_MAX_SEND_QUEUE_SIZE

from runtime import content
from tests.core.referee.replayed import held
from tests.equations import wrong
from tests.said import disagreements, shown, unknown_fields, without_terms
from ui import page_parts, shell
from ui.course.pages import LABS, OVERVIEW, PAGES, entry
from ui.page import Page

ROOT = Path(__file__).resolve().parents[2]
MOST_SENT = 1 << 19
"""Bytes of one run, all of which may wait for a browser that takes nothing."""
SCENARIOS = {
    "the labs' own": {},
    "one of each": {"tp": "1", "pp": "1", "batch": "1", "prompt_tokens": "1", "output_tokens": "1"},
    "refused": {"tp": "6", "model": "llama-3-8b"},
    "odd": {"tp": "3", "gpu": "rtx-4090", "batch": "21", "slow_percent": "1"},
    "large": {
        "model": "deepseek-v3",
        "gpu": "h200-sxm",
        "tp": "64",
        "pp": "4",
        "network": "ib-ndr",
        "batch": "4096",
    },
}

PREDICTED = {
    ("placement", "plan"),
    ("placement", "compare"),
    ("placement", "cases"),
    ("placement", "load"),
    ("placement", "race"),
    ("strategy", "picker"),
    ("strategy", "serving"),
}
"""Scenes that tell a time of a real machine by fitted constants; the others' are a data sheet's, or measured."""
ERRORS = re.compile("this class of GPU and kind of model|never tested here")
FLOOR = re.compile("Not timed: (compute is|these times come)")
"""What stands there instead beside a time that goes by a data sheet or a link's row."""
IN_SECONDS = re.compile(r"\d[\s\u00a0\u202f]?(?:ms|µs)\b")
NOT_PREDICTED = {
    ("start_here", "collectives"): "a ring in rounds",
    **{
        ("pipeline_bubble", name): "schedules in ticks"
        for name in ("question", "see", "count", "break_it", "bench")
    },
    **{("two_way_tp", name): "recorded from real processes" for name in entry("two_way_tp").names},
    ("cluster", "time"): "people pressed",
    ("puzzles", "play"): "messages that are counted",
    ("quiz", "ask"): "sums of the numbers that a question gives",
    **{(page.stem, "limits"): "says itself by how much and which way its page errs" for page in PAGES},
}
"""Scenes that tell or draw a time and predict none, and why."""

LOWERED = re.compile(r"(?<![\w./-])(?:[kmgt]i?b(?:it)?(?:/s)?|tflop/s)(?![\w/-])")
"""A unit without its capitals: `gb/s` is neither GB/s nor Gb/s."""

VISITS = [
    pytest.param(page, scene, scenario, id=f"{page.stem}-{scene}-{name}")
    for page in PAGES[1:]
    for scene in page.names
    for name, scenario in SCENARIOS.items()
    if page in (*LABS, entry("placement"), entry("strategy")) or name in ("the labs' own", "large")
]
"""Every scene under every scenario, where the page computes with it; else the plainest and the largest."""


FOLDS = ("details", "more", "brought", "engines", "manifests", "race", "mermaid")
"""What pages fold away, of which nothing is made until it is open."""


def visit(page, held: Mapping[str, str] = MappingProxyType({}), **query: str) -> AppTest:
    """The app as it stands after a visit to a page with a query, its folds open; `held` was pasted into fields."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for scene, number in product(page.names, range(4)):
        app.session_state[f"table_{scene}_{number}"] = True
    for scene, name in product(page.names, FOLDS):
        app.session_state[f"fold_{scene}_{name}"] = True
    app.session_state["_texts"] = dict(held)
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(page.path)
    return app.run()


def revealed(page, scene: str) -> dict[str, str]:
    """What answers a scene's question and reveals it: a lab's one question needs no name."""
    asked = {f"{page.prefix}_{part}" for part in ("", f"{scene}_")}
    return {f"{one}revealed": "true" for one in asked} | {f"{one}guess": "1" for one in asked}


def test_a_browser_is_told_of_a_title_once_unless_it_changes(monkeypatch):
    """A scene that stays is named at once, another after the one before, and each page by its own."""
    told, tell = [], shell.st.set_page_config

    def noted(*, page_title, **others):
        told.append(page_title)
        tell(page_title=page_title, **others)

    prepare = PagesManager.__init__

    def declared(self, *args, **named):
        prepare(self, *args, **named)
        PagesManager.uses_pages_directory = False  # as a server knows once st.navigation has run in it

    monkeypatch.setattr(shell.st, "set_page_config", noted)
    monkeypatch.setattr(PagesManager, "__init__", declared)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    app.query_params["bill_scene"] = "see"
    app.run()
    app.switch_page(entry("comm_cost").path).run()
    assert told[-1] == "See it · The bill · Shardlab"
    for scene, titles in (("see", ["See it"]), ("count", ["See it", "Count it"]), ("count", ["Count it"])):
        told.clear()
        app.query_params["bill_scene"] = str(scene)
        app.run()
        assert told == [f"{title} · The bill · Shardlab" for title in titles]
    told.clear()
    app.switch_page(entry("puzzles").path).run()
    assert "The bill" not in "".join(told)


TIMES = re.compile(r"' ?(?:ms|s|µs|\\\\u00b5s)'|(?:_s|_ms|_us|_ticks|_per_tick)\"")
"""What a figure's axes or columns are written with where it draws a time or a rate."""


@pytest.fixture
def timed_figures(monkeypatch):
    """The names of the figures that have times along them, as they are drawn."""
    names, draw = [], page_parts.draw

    def noted(chart, alt, key):
        if TIMES.search(json.dumps(chart.spec, ensure_ascii=False)):
            names.append(key.removeprefix("figure_"))
        draw(chart, alt, key)

    monkeypatch.setattr(page_parts, "draw", noted)
    return names


def players_drawn(app: AppTest) -> list[str]:
    """The keys of the players on the page: each moves on a clock of ours."""
    parts = (one.proto for one in app.get("bidi_component"))
    return [part.id.split("-", 2)[-1] for part in parts if part.component_name.endswith("_player")]


def headless(app: AppTest) -> set[str]:
    """The columns of a page's tables that content/ has no words for, or a letter; `tick 3` is a number's."""
    heads = {words for name, words in content.load("tables").items() if name.startswith("head.") and words[1:]}
    names = {name for table in app.dataframe for name in table.value.columns}
    return {name for name in names - heads if not re.search(r"\d$", name)}


def said(app: AppTest) -> str:
    """All text of a page."""
    texts = (element.value for kind in ("title", "markdown", "error") for element in app.get(kind))
    return without_terms("\n".join(texts))


@pytest.fixture
def widgets_log(monkeypatch):
    """What Streamlit logs of widgets that are given two values; it would do so once a process only."""
    lines = logging.handlers.BufferingHandler(1000)
    monkeypatch.setattr(policies, "_shown_default_value_warning", False)
    monkeypatch.setattr(policies._LOGGER, "handlers", [lines])
    return lines.buffer


@pytest.fixture
def sent(monkeypatch):
    """The bytes of each message that is sent."""
    sizes, enqueue = [], ForwardMsgQueue.enqueue

    def noted(queue, message):
        sizes.append(message.ByteSize())
        enqueue(queue, message)

    monkeypatch.setattr(ForwardMsgQueue, "enqueue", noted)
    return sizes


@pytest.fixture
def predictions(monkeypatch):
    """Of each question that is asked with a slider: the answer, and where the slider ends."""
    asked, ask = [], Page.ask
    monkeypatch.setattr(
        Page, "ask", lambda page, truth, **how: asked.append((truth, how["high"])) or ask(page, truth, **how)
    )
    return asked


def _slow_rank_twice():
    """The panel's field and the handle on a page, at an address that has a slow rank."""
    from core.scenario import LIMITS  # AppTest runs this function's text alone
    from ui import address, scenario_bar
    from ui.question import Whole

    address.begin()
    scenario_bar.draw_field("slow_percent", Whole(*LIMITS["slow_percent"]))
    scenario_bar.draw_straggler()


def test_the_slow_rank_on_a_page_and_in_the_panel_logs_no_warning(widgets_log):
    """The panel's field `slow` had a default and a value set beside it: a warning in the server's log."""
    app = AppTest.from_function(_slow_rank_twice)
    app.query_params["slow"] = "20"
    app.run()
    assert not app.exception
    assert [field.value for field in app.number_input] == [20, 20]
    assert not [record.getMessage() for record in widgets_log]


@pytest.mark.parametrize(("page", "scene", "scenario"), VISITS)
def test_every_scene_runs_and_leaves_no_field_unfilled(
    page, scene, scenario, widgets_log, predictions, timed_figures, sent
):
    app = visit(page, **page.scene(scene), **revealed(page, scene), **scenario)
    assert not app.exception
    assert app.title
    assert "{{" not in said(app)
    assert "nan" not in said(app).split()
    assert not [found for text in shown(app) for found in disagreements(text)]
    assert not [found for text in shown(app) for found in LOWERED.findall(text)]
    assert not [found for text in shown(app) for found in wrong(text)], "an equation does not hold as it is shown"
    assert not [record.getMessage() for record in widgets_log]
    assert not unknown_fields(app)
    assert sum(sent) <= MOST_SENT, "what may wait for a browser is more than docs/threats.md says"
    assert 2 * len(sent) <= WEBSOCKET_MAX_SEND_QUEUE_SIZE
    assert not headless(app), "a table's column has no words"
    assert all(high == 100 or truth <= 0.8 * high for truth, high in predictions), "a range gives its answer away"
    drawn = [*timed_figures, *players_drawn(app)]
    if (page.stem, scene) in PREDICTED and (drawn or app.get("vega_lite_chart")):
        assert ERRORS.search(said(app)), "a predicted time stands without how far such times were off"
    priced = [name for name in drawn if (by := held(f"{page.stem}#{name}")) and not by.why]
    if (priced or IN_SECONDS.search(said(app))) and (page.stem, scene) not in NOT_PREDICTED and not app.error:
        assert ERRORS.search(said(app)) or FLOOR.search(said(app)), "a time says neither its error nor what it is"
    unheld = [name for name in drawn if held(f"{page.stem}#{name}") is None]
    assert not unheld, "a time is drawn that no clock replays and no test holds"


@pytest.mark.parametrize("presenting", ["true", "false"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_in_the_dark_and_on_a_projector_and_answers_nothing_before_it_asks(
    page, presenting, predictions
):
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    app.context = {"theme": "dark"}
    app.query_params["present"] = presenting
    app.switch_page(page.path)
    assert not app.run().exception
    for truth, _ in predictions:
        answers = "|".join(re.escape(f"{truth:.{digits}f}") for digits in range(3))
        assert not re.search(rf"(?<![\w.,\u202f])(?:{answers})(?!\w|[.,\u202f]\d)", said(app))


@pytest.mark.parametrize(
    "garbage", ["", "-1", "1e309", "nan", "9" * 400, "<script>alert(1)</script>", "$x$ **b**", "\x00"]
)
def test_garbage_in_the_scenario_gives_defaults(garbage):
    app = visit(LABS[1], **dict.fromkeys(("model", "gpu", "tp", "batch", "weights", "present"), garbage))
    assert not app.exception
    assert not app.error


def test_what_was_ignored_is_said_and_shows_only_itself():
    """The value came from outside: it must not become markup."""
    app = visit(LABS[1], tp="**bold** $x$ <b>")
    line = next(element.value for element in app.markdown if "Ignored in the address" in element.value)
    assert r"\*\*bold\*\* \$x\$ \<b\>" in line


def test_the_overview_is_the_default_page_and_leads_to_every_other():
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60).run()
    assert not app.exception
    targets = {link.proto.page for link in app.get("page_link")}
    assert targets >= {page.stem for page in PAGES[1:]}
    assert OVERVIEW.stem not in targets


@pytest.mark.parametrize("title", ["Question", "See it", "Count it", "Break it", "Bench"])
def test_a_refused_tp_size_stands_with_the_equation_it_breaks(title):
    """32 heads over 6 ranks leave 2; the bill is still drawn, and nothing is lost."""
    app = visit(LABS[1], tp="6", model="llama-3-8b", bill_scene=title, bill_revealed="true")
    assert not app.exception
    assert any("num_attention_heads: 32 = 5 × 6 + 2" in error.value.replace("\\", "") for error in app.error)
    assert app.get("vega_lite_chart")


def test_the_question_of_the_bill_is_asked_of_decode_whatever_phase_was_looked_at():
    """Its figure is a decode step: 8 KiB and 8 ms, not the prefill's 16 MiB."""
    app = visit(LABS[1], bill_phase="prefill", bill_revealed="true")
    assert "One all-reduce of 8 KiB then takes" in said(app)
    assert "16 MiB" not in said(app)
