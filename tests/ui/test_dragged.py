"""Numbers in prose that are dragged: what is offered, how it is written as HTML, and what a browser may write."""

import re
from types import SimpleNamespace

import pytest

from runtime import content
from runtime.files import ROOT
from ui import address, dragged, memory
from ui.pipeline_bubble.question import MICROBATCHES, Question
from ui.question import asked

FIELDS = asked(Question, "pipe")


class Query(dict):
    """An address bar, as Streamlit has one."""

    def to_dict(self):
        return dict(self)

    def from_dict(self, values):
        self.clear()
        self.update(values)


@pytest.fixture
def visit(monkeypatch):
    """A visit with an empty address."""
    st = SimpleNamespace(session_state={}, query_params=Query())
    monkeypatch.setattr(dragged, "st", st)
    monkeypatch.setattr(address, "st", st)
    monkeypatch.setattr(memory, "st", st)
    return st


def slider(markdown: str) -> dict[str, str]:
    return dict(re.findall(r'([\w-]+)="([^"]*)"', dragged.marked(markdown, FIELDS, "pipeline_bubble")))


def test_a_number_of_the_page_goes_through_what_its_control_offers(visit):
    told = slider("With [16 microbatches](drag:m) it takes long.")
    assert told["role"] == "slider"
    assert told["tabindex"] == "0"
    assert told["data-values"].split() == [str(value) for value in MICROBATCHES]
    assert (told["data-drag"], told["aria-valuenow"], told["aria-valuetext"]) == ("pipe_m", "16", "16 microbatches")
    assert (told["aria-valuemin"], told["aria-valuemax"]) == ("1", "64")


def test_a_number_of_the_scenario_is_doubled_and_what_was_asked_is_among_its_values(visit):
    assert slider("[3 GPUs](drag:tp)")["data-values"] == "1 2 3 4 8 16 32 64"
    assert slider("[2,500 tokens](drag:prompt_tokens)")["aria-valuenow"] == "2500"


def test_what_stands_around_a_number_stays_as_it_is(visit):
    words = dragged.marked("**All** of [1 token](drag:batch) in [vLLM](https://x.org)", {}, "comm_cost")
    assert words.startswith("**All** of <span ")
    assert words.endswith(">1 token</span> in [vLLM](https://x.org)")


def test_a_link_to_no_field_is_an_error(visit):
    with pytest.raises(KeyError):
        dragged.marked("[8](drag:nothing)", FIELDS, "pipeline_bubble")


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ({"name": "pipe_m", "value": 63}, {"pipe_m": "63"}),
        ({"name": "pipe_m", "value": 16}, {}),
        ({"name": "tp", "value": 8}, {"tp": "8"}),
        ({"name": "tp", "value": 2}, {}),
        ({"name": "tp", "value": 7}, {"pipe_m": "8"}),
        ({"name": "pipe_m", "value": True}, {"pipe_m": "8"}),
        ({"name": "pipe_m", "value": "63"}, {"pipe_m": "8"}),
        ({"name": "lang", "value": 1}, {"pipe_m": "8"}),
        ({"name": [], "value": 1}, {"pipe_m": "8"}),
        ("pipe_m=63", {"pipe_m": "8"}),
        (None, {"pipe_m": "8"}),
    ],
)
def test_a_browser_writes_what_the_scene_offers_and_no_more(visit, told, written):
    """A default leaves the address, as of any control; what was not offered changes nothing."""
    dragged.begin()
    dragged.marked("[16 microbatches](drag:m) on [2 GPUs](drag:tp)", FIELDS, "pipeline_bubble")
    address.put({"pipe_m": "8"})
    dragged.take(told)
    expected = written if isinstance(told, dict) and told.get("name") == "pipe_m" else {"pipe_m": "8", **written}
    assert visit.query_params.to_dict() == expected


def test_both_languages_let_the_same_numbers_be_dragged():
    def dragged_in(language):
        return {
            (stem, name, field)
            for stem in (path.stem for path in (ROOT / "content" / "en").glob("*.md"))
            for name, block in content.load(stem, language).items()
            for _, field in dragged.LINK.findall(block)
        }

    english = dragged_in("en")
    assert english == dragged_in("es")
    assert 3 <= len(english) <= 9
