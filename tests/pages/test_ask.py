"""The page of questions: answered as the command answers, with the scenario's model and GPUs, in both languages."""

from urllib.parse import parse_qsl

import pytest

from core.ask.answers import ANSWERS, answered
from core.ask.reading import read_question
from core.scenario import Scenario
from runtime import content
from runtime.prose import worded
from tests.pages.test_every_scene import said, visit
from ui.ask.answer import GROUPS, Question, answer_to
from ui.course.pages import PAGES, entry

ASK = entry("ask")
WORDS = "CodeLlama 13B on 4 A100: why is TP=4 no faster than TP=2?"


def plain(text: str) -> str:
    return text.replace("\\", "").replace("\u202f", " ")


def links(app) -> list[tuple[str, dict[str, str]]]:
    return [(one.proto.page, dict(parse_qsl(one.proto.query_string))) for one in app.get("page_link")]


def test_the_page_answers_with_the_lines_of_the_command():
    app = visit(ASK, ask_words=WORDS)
    assert not app.exception
    shown = plain(said(app))
    for line in answered(read_question(WORDS)).lines:
        assert plain(worded(line)).rstrip() in shown
    assert "Why is a larger TP slower, or no faster?" in shown


def test_a_link_opens_its_page_filled_in_and_nothing_of_it_is_ignored():
    """The scenario of the address does not stay where the question names another model and GPU."""
    app = visit(ASK, ask_words=WORDS, model="deepseek-v3", gpu="b200-sxm", lang="en")
    to = {page: query for page, query in links(app) if page in ("comm_cost", "placement")}
    assert set(to) == {"comm_cost", "placement"}
    for stem, query in to.items():
        scenario, ignored = Scenario.from_query(query)
        assert not ignored
        assert (scenario.model, scenario.gpu) == ("codellama-13b", "a100-80gb-sxm")
        opened = visit(entry(stem), **query)
        assert not opened.exception
        assert not opened.error
        assert "Ignored" not in said(opened)
    assert to["placement"]["place_gpus"] == "4"


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_question_of_the_list_is_answered_for_the_scenario(kind):
    """Each for the model and the GPU that all pages share, and each of its links opens without a remark."""
    app = visit(ASK, ask_kind=kind, model="qwen3-32b", gpu="h200-sxm")
    assert not app.exception
    assert not app.error
    assert "Qwen3 32B in bf16 on 8 × H200 SXM 141 GB" in plain(said(app))
    own = [(page, query) for page, query in links(app) if page != "ask"]
    assert own
    for stem, query in own:
        assert (query["model"], query["gpu"]) == ("qwen3-32b", "h200-sxm")
        assert f"{entry(stem).prefix}_scene" in query
        names = {name for name in query if name.startswith(f"{entry(stem).prefix}_")}
        assert not names & {f"{other.prefix}_scene" for other in PAGES if other.stem != stem}


def test_every_kind_stands_in_the_list_once_with_a_link_to_its_answer():
    app = visit(ASK, ask_scene="every", model="qwen3-32b")
    asked = [query["ask_kind"] for page, query in links(app) if page == "ask"]
    assert sorted(asked) == sorted(ANSWERS) == sorted(kind for kinds in GROUPS.values() for kind in kinds)
    assert {query["model"] for page, query in links(app) if page == "ask"} == {"qwen3-32b"}


def test_a_question_that_is_not_known_is_said_to_be_and_others_are_offered():
    app = visit(ASK, ask_words="What is the weather?")
    assert "This page does not know that question" in said(app)
    assert len([page for page, _ in links(app) if page == "ask"]) == len(content.load("ask")["posted"].splitlines())


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_posted_question_of_a_language_is_understood(language):
    """They are examples: each is recognised, and names its GPUs."""
    posted = content.load("ask", language)["posted"].splitlines()
    assert len(posted) == 6
    for words in posted:
        found = answered(read_question(words))
        assert found.kind, words
        assert "gpu" not in found.asked.usual, words


def test_a_kind_that_was_picked_counts_for_words_that_may_be_of_it_alone():
    """What the words of the question before meant is not asked of another question."""
    asked = Question("Does Llama 3.1 70B fit on 4 A100 with 32k context?", "fits")
    assert answer_to(asked, Scenario()).kind == "fits"
    assert answer_to(Question(WORDS, "fits"), Scenario()).kind == "tp_slower"
    assert answer_to(Question(), Scenario()) is None
    assert answer_to(Question("which TP?"), Scenario(model="qwen3-32b")).asked.model.key == "qwen3-32b"
    assert answer_to(Question("a 7B model: which TP?"), Scenario()).asked.model.key != Scenario().model


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", "tp=" * 600, "$x$ **b** TP=3 why", "\x00", "9" * 999]
)
def test_any_words_are_answered_or_not_known(words):
    app = visit(ASK, ask_words=words)
    assert not app.exception
    assert "<script>" not in said(app)


def test_a_card_that_is_not_known_is_said_and_the_page_stands():
    app = visit(ASK, ask_words="Does gpt-oss-20b fit on an RTX 4080 16GB?")
    assert not app.exception
    (refusal,) = app.error
    assert "rtx 4080" in plain(refusal.value)
    assert "rtx-4090" in plain(refusal.value)
