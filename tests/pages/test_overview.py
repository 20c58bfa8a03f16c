"""The overview: progress comes along in the address, and what one can do is linked to where it is proved."""

import pytest

from core.course.quiz import paper
from tests.pages.test_every_scene import said, visit
from ui.course.pages import LABS, OVERVIEW, PAGES, START, entry
from ui.overview.course_map import ABILITIES


def test_a_revealed_question_is_counted_in_the_address():
    app = visit(LABS[1], bill_guess="15", done="start.rank")
    app.button(key="reveal").click().run()
    assert app.query_params["done"] == "start.rank,bill.question"


def test_the_overview_shows_what_was_answered():
    app = visit(OVERVIEW, done="bill.question,start.rank,start.decode")
    marks = [element.value for element in app.markdown if "answered:" in element.value]
    assert [mark.split()[-1] for mark in marks] == ["2", "1"]


@pytest.mark.parametrize("garbage", ["<script>", "," * 500, "bill.nowhere", "x.y,bill.question"])
def test_progress_that_is_garbage_counts_for_nothing(garbage):
    app = visit(OVERVIEW, done=garbage)
    assert not app.exception
    assert said(app).count("answered:") == ("bill.question" in garbage)


def test_every_ability_names_a_scene_and_a_concept_that_are_there():
    concepts = {question.concept for question in paper(0)}
    for _, stem, scene, concept in ABILITIES:
        assert scene in entry(stem).scenes
        assert concept in concepts


def test_start_here_stands_before_the_labs():
    assert PAGES.index(START) < PAGES.index(LABS[0])


ANSWERS = {"sharding_math": "need 64", "comm_cost": "1.85 times", "pipeline_bubble": "30"}
"""By lab, what its question asks for."""


def test_the_overview_tells_the_question_and_the_answer_once_it_was_revealed():
    """64, the speed-up and 30 % are asked for in the labs: nobody is told before."""
    before = said(visit(OVERVIEW))
    assert not [answer for answer in ANSWERS.values() if answer in before]
    for stem, answer in ANSWERS.items():
        assert answer in said(visit(OVERVIEW, done=f"{entry(stem).prefix}.question"))
