"""What a prediction draws: the learner's number as it is slid, the truth only once it is revealed."""

import re

import pytest
import vl_convert

from tests.each import each
from ui.comm_cost.pictures import Tail
from ui.figures.prediction import prediction_line
from ui.sharding_math.pictures import CutLayers
from ui.start_here.pictures import Boxes, Drain, Message, Pass
from ui.strategy.pictures import Memory
from ui.theme import DARK, LIGHT, Look
from ui.two_way_tp.pictures import LETTERS, PLAYED, Typed

PICTURES = {
    "drain": (Drain("15 GB", "read"), 40, 12, 7.4),
    "pass": (Pass(500, 5, "read once", "tokens"), 500, 100, 153.0),
    "boxes": (Boxes(20, 141 / 85, "141 GB", "GPUs"), 20, 5, 2.0),
    "message": (Message("8 KiB over 10 GbE", "latency", "bytes"), 100, 30, 88.4),
    "layers": (CutLayers(32, 2, 320, "32 layers"), 320, 48, 64.0),
    "tail": (Tail(8e-3, 4e-3, "One GPU", "8 ms", "Each", "too fast"), 400, 150, 185.0),
    "typed": (Typed("he went to school and came back home again today", "one", "two", "real", 6.0), 200, 60, 13.0),
    "memory": (Memory(85.0, "a GPU", "does not fit"), 120, 40, 30.4),
}
"""Each with how far its number line goes, a guess and a truth."""
LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def svg(name, guess, truth=None, moved="", width=600, look=LOOKS[0]):
    picture, high, *_ = PICTURES[name]
    line = prediction_line(guess, truth, look, high=high, unit="", slider="a_guess", picture=picture).to_dict()
    for param in line.get("params", ()):
        if param["name"] == "live_a_guess":
            param["value"] = moved
    return vl_convert.vegalite_to_svg({**line, "width": width})


@each("name", PICTURES)
def test_the_slider_draws_what_the_server_would_draw_for_its_number(name):
    *_, guess, _truth = PICTURES[name]
    for look in LOOKS:
        assert svg(name, None, moved=str(guess), look=look) == svg(name, guess, look=look)
        assert svg(name, None, look=look) != svg(name, guess, look=look)


@each("name", PICTURES)
def test_a_picture_knows_the_truth_only_once_it_is_revealed(name):
    picture, high, guess, truth = PICTURES[name]
    before = prediction_line(guess, None, LOOKS[0], high=high, unit="", slider="a_guess", picture=picture)
    assert "answer:" not in svg(name, guess)
    assert svg(name, guess, truth) != svg(name, guess)
    assert truth not in [row.get("said") for row in before.to_dict()["datasets"]["rows"]]


@each("name", PICTURES)
def test_a_right_guess_is_one_number_and_not_two_over_one_another(name):
    *_, truth = PICTURES[name]
    drawn = svg(name, round(truth), truth)
    assert "you said" not in drawn
    assert ">right<" in drawn


@pytest.mark.parametrize("percent", [100, 50, 13])
def test_in_one_time_two_processes_type_their_share_of_the_letters(percent):
    text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
    picture = Typed(text, "", "", "", 1.0)
    line = prediction_line(percent, None, LOOKS[0], high=200, unit="", slider="a", picture=picture).to_dict()
    letters = re.findall(r">(\w)</text>", vl_convert.vegalite_to_svg({**line, "width": 800}))
    assert letters.count("a") == 2
    assert len([letter for letter in letters if letter.isalpha()]) == LETTERS + LETTERS * percent // 100


@pytest.mark.parametrize("look", LOOKS)
def test_while_letters_are_played_only_those_are_there_that_are_typed_by_then(look):
    """Of 20 letters of one process 5 are done after a quarter of the time, and 1 at a fifth of the pace."""
    picture = Typed("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst", "", "", "", 6.0)
    line = prediction_line(20, None, look, high=200, unit="", picture=picture).to_dict()

    def letters(played):
        param = next(param for param in line["params"] if param["name"] == PLAYED)
        param["value"] = played
        return len(re.findall(r">[a-z]</text>", vl_convert.vegalite_to_svg({**line, "width": 600})))

    assert [letters(played) for played in ("0", "0.25", "1", "")] == [0, 5 + 1, LETTERS + 4, LETTERS + 4]
