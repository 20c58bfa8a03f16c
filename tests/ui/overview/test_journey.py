"""The overview's journey: every choice is a bill of lab 03, and no answer is told before it was asked."""

import json
from dataclasses import replace

import pytest

from core.course import trips
from core.scenario import Scenario
from core.steps.view import View
from core.units import significant
from tests.each import each
from ui.overview import journey


@pytest.mark.parametrize("scenario", [trips.OWN, Scenario(model="mixtral-8x7b", weight_dtype="int4")])
def test_every_trip_is_the_bill_that_lab_03_shows(scenario):
    for choice in trips.choices(trips.shown(scenario)):
        view = View(replace(scenario, tp=choice.ranks, batch=choice.batch))
        assert choice.trip.bill == view.price(choice.link)
        assert choice.trip.total_s == pytest.approx(view.price(choice.link).total_s)
        program = trips.programs([choice])[choice.way].program
        assert (program.ranks, len(program.rounds)) == (choice.ranks, choice.trip.rounds)


@each("tp", [1, 2, 4, 8])
@each("model", ["llama-3-8b", trips.OWN.model, trips.OTHER.model])
def test_nothing_answers_lab_03_before_it_was_answered(model, tp):
    """No trip is of the model, of the number of GPUs or of a network that lab 03 or the overview asks about."""
    scenario = Scenario(model=model, tp=tp)
    shown = trips.shown(scenario, answered=False)
    assert shown.scenario.model != model
    assert shown.ranks[trips.first(shown)[0]] > 1
    for choice in trips.choices(shown):
        assert choice.ranks == 1 or choice.ranks not in (tp, Scenario().tp)
        assert choice.link.reach == "node"
    asked = View(scenario).price(View(scenario).asked)
    told = {word for choice in trips.choices(shown) for word in journey.in_words(choice).values()}
    assert tp == 1 or not {significant(asked.speedup), f"{100 * asked.speedup:.0f}"} & told


def test_the_answer_brings_the_scenario_and_its_network():
    scenario = Scenario(tp=2)
    shown = trips.shown(scenario, answered=True)
    assert shown.scenario == scenario
    assert 2 in shown.ranks
    assert View(scenario).network in shown.links


def test_no_batch_multiplies_longer_than_it_reads():
    """Of 4-bit weights half a GB of reading is soon outlasted: the ladder of batches ends before."""
    for scenario in (trips.OWN, Scenario(weight_dtype="int4")):
        batches = trips.batches_of(scenario)
        assert batches == list(trips.BATCHES[: len(batches)])
    assert len(trips.batches_of(Scenario(weight_dtype="int4"))) < len(trips.BATCHES)


def test_first_comes_what_the_scenario_says_or_what_is_nearest_below():
    assert trips.first(trips.shown(Scenario(tp=64, batch=1000))) == (3, 1, 6)
    assert trips.first(trips.shown(Scenario(tp=1, batch=3))) == (0, 1, 1)


def test_the_payload_is_small_enough_to_be_sent_with_the_page():
    """112 trips with their stops: what dragging needs, so that it asks the server for nothing."""
    from ui.overview.journey import _played

    choices, told = _played(trips.shown(trips.OWN), "en")
    played = json.loads(told)
    assert len(played["trips"]) == len(choices["tp"]) * len(choices["links"]) * len(choices["batch"])
    assert all(trip["program"] in played["programs"] for trip in played["trips"])
    assert len(told) < 250_000
