"""Lab 04's page in every scene, for every choice, and for sizes nobody would ask."""

import json
import re
import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.pipeline_bubble.schedules.families import FAMILIES
from tests.said import in_address, without_terms
from ui.course.pages import entry
from ui.pipeline_bubble import rows

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"


def opened(**query):
    """The page as the entry opens it, at an address."""
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = in_address(value)
    at.switch_page("pages/4_pipeline_bubble.py")
    return at.run()


def players(at):
    """The head and the cells of each player on the page; of one that can be turned, those of the runs it shows."""
    found = []
    for element in at.get("bidi_component"):
        if not element.proto.component_name.endswith("schedule_player"):
            continue
        payload = element.proto.bytes
        (length,) = struct.unpack_from("<I", payload)
        head = json.loads(payload[4 : 4 + length])
        cells = np.frombuffer(payload, "<i2", offset=4 + length)
        if turns := list(head["turns"].values()):
            (place, _), (at_place, of) = turns
            sizes = [grid["ranks"] * grid["ticks"] for grid in head["grids"]]
            first = head["beside"] * (place * of + at_place)
            last = first + head["beside"]
            cells, head["shown"] = cells[sum(sizes[:first]) :][: sum(sizes[first:last])], head["grids"][first:last]
        found.append((head, cells))
    return found


def text_of(at):
    return without_terms(" ".join(str(element.value) for element in [*at.title, *at.markdown]))


@pytest.mark.parametrize("scene", entry("pipeline_bubble").names)
def test_every_scene_is_projected(scene):
    at = opened(pipe_scene=scene, present="true")
    assert not at.exception
    assert not at.error
    assert "{{" not in text_of(at)


def test_every_choice_of_a_wrong_run_is_drawn():
    for stages, microbatches, wrong in product((2, 16), (1, 63), rows.WRONGS):
        at = opened(pipe_scene="break_it", pipe_p=stages, pipe_m=microbatches, pipe_wrong=wrong)
        assert not at.exception, (stages, microbatches, wrong)
        assert not at.error, (stages, microbatches, wrong)


def test_the_lab_opens_with_serving_and_counts_hand_overs_against_sums():
    """Eight stages of 32 layers: seven hand-overs against 64 sums; one sequence keeps an eighth busy, eight all."""
    alone = text_of(opened())
    for words in (
        "64 all-reduces",
        "7 hand-overs",
        "works 12.5% of the time",
        "times as fast",
        "activations, 8 KiB",
    ):
        assert words in alone
    together = opened(pipe_flow=8)
    assert "works 100.0% of the time" in text_of(together)
    ((head, cells),) = players(together)
    assert head["follow"] == 0
    assert (cells >= 0).sum() == 3 * 8 * 8


def test_the_bench_has_three_figures_and_two_more_for_who_asks():
    def figures(at):
        return at.button_group("pipe_figure").options

    usual = figures(opened(pipe_scene="bench"))
    assert usual == ["serving", "against m", "TP × PP"]
    assert len(figures(opened(pipe_scene="bench", pipe_more="true"))) == 5
    assert len(figures(opened(pipe_scene="bench", pipe_figure="two_schedules"))) == 5


def test_what_two_schedules_hold_is_said_as_it_is():
    """1F1B and ZBV both hold four: neither pays for its order. GPipe holds all eight."""
    assert "Both schedules hold the activations of up to 4 microbatches" in text_of(
        opened(pipe_scene="bench", pipe_figure="two_schedules")
    )
    more = opened(pipe_scene="bench", pipe_figure="two_schedules", pipe_second="gpipe")
    assert "GPipe holds more: on one rank, the activations of up to 8 microbatches" in text_of(more)


def test_the_player_is_at_rest_on_opening_and_holds_the_run():
    """8 stages, 16 microbatches: 184 cells, 56 of them idle."""
    ((head, cells),) = players(opened(pipe_scene="see"))
    assert head["start"] == "end"
    assert (cells.size, (cells == -1).sum()) == (184, 56)


def test_held_axes_keep_a_shorter_run_on_the_ticks_of_the_longer_and_grow_with_one_that_is_longer_yet():
    """Eight stages: 32 microbatches take 39 ticks, 16 take 23 and 64 take 71."""
    at = opened(pipe_scene="see", pipe_m=32)
    at.button(key="held_axes").click().run()
    for microbatches, span in ((32, 39), (16, 39), (64, 71), (8, 71)):
        at.query_params["pipe_m"] = str(microbatches)
        at.run()
        ((head, _),) = players(at)
        assert head["span"] == span
    at.button(key="held_axes").click().run()
    ((head, _),) = players(at)
    assert head["span"] == 0
    assert head["turns"]


def test_counted_and_formula_end_in_the_same_fraction():
    html = " ".join(element.proto.body for element in opened(pipe_scene="see").get("html"))
    assert html.count("equals 7 over 23") == 2


def test_the_wrong_run_stands_beside_the_right_one_with_its_cells_marked():
    """Nobody waits: stages 1 to 7 run 16 microbatches each before their inputs exist."""
    ((head, cells),) = players(opened(pipe_scene="break_it"))
    right, wrong = head["shown"]
    assert len(wrong["wrong"]) == 7 * 16
    assert right["wrong"] == []
    assert (cells[right["ranks"] * right["ticks"] :] >= 0).all()


def test_whoever_starts_early_is_named_for_each_size_that_the_browser_turns_to():
    """The stage before the middle, and in kilobytes all 24 sizes are few."""
    at = opened(pipe_scene="break_it", pipe_wrong="one_stage_a_tick_early")
    ((head, _),) = players(at)
    titles = [wrong["title"] for wrong in head["grids"][1::2]]
    assert titles == [f"Stage {early} starts a tick early" for early in (1, 1, 3, 7) for _ in range(6)]
    assert len(next(iter(at.get("bidi_component"))).proto.bytes) < 100_000


def test_the_truth_stays_hidden_until_a_prediction_is_revealed():
    assert "30.4" not in text_of(opened(pipe_scene="question"))
    assert "30.4" in text_of(opened(pipe_scene="question", pipe_guess=20, pipe_revealed="true"))


def test_the_bench_solves_the_budget_at_and_under():
    text = text_of(opened(pipe_scene="bench", pipe_figure="against_m"))
    assert "63" in text
    assert "64" in text
    between = text_of(opened(pipe_scene="bench", pipe_figure="against_m", pipe_budget=7, pipe_bench_p=5))
    assert "No whole number meets the budget exactly" in between


def test_a_64_by_1024_run_is_on_the_bench():
    at = opened(pipe_scene="bench", pipe_figure="the_run", pipe_bench_p=64, pipe_bench_m=1024)
    ((_, cells),) = players(at)
    assert cells.size == 64 * 1087


@pytest.mark.parametrize("pin", ["4x8", "99x1", "<b>"])
def test_a_pin_is_read_from_the_address_and_garbage_pins_nothing(pin):
    at = opened(pipe_scene="bench", pipe_figure="against_m", pipe_pin=pin)
    assert not at.exception
    assert ("Unpin" in [button.label for button in at.button]) == (pin == "4x8")


def test_any_two_schedules_stand_on_one_axis_of_time():
    """Both grids share the playhead, so both are cut to the same ticks a unit."""
    for first, second in zip(list(FAMILIES)[::2], [*list(FAMILIES)[1::2], "zbv"], strict=True):
        pair = {"pipe_first": first, "pipe_second": second, "pipe_path": "true", "pipe_hop": "1/2"}
        at = opened(pipe_scene="bench", pipe_figure="two_schedules", **pair)
        assert not at.exception, (first, second)
        assert not at.error, (first, second)
        ((head, _),) = players(at)
        assert len(head["grids"]) == 2
        assert all(grid["path"] for grid in head["grids"])


def test_what_each_rank_holds_is_drawn_as_time_passes_and_nothing_is_left_at_the_end():
    """1F1B on four ranks: rank r comes to hold 4 - r microbatches' activations, and frees them all."""
    ((head, _),) = players(opened(pipe_scene="bench", pipe_figure="two_schedules"))
    first = head["grids"][0]["held"]
    assert [max(value for _, value in levels) for levels in first] == [4, 3, 2, 1]
    assert all(levels[-1][1] == 0 for grid in head["grids"] for levels in grid["held"])


def test_sizes_a_schedule_refuses_are_said_where_the_figure_would_stand():
    at = opened(pipe_scene="bench", pipe_figure="two_schedules", pipe_second="dualpipe_v", pipe_pair_m=4)
    assert not at.exception
    assert "must be at least 8" in at.error[0].value
    assert players(at) == []


def test_serving_shows_its_sequences_coming_round():
    """Three rounds of four sequences over eight stages: a cell for each of 4 · 3 tokens on each stage."""
    ((head, cells),) = players(opened(pipe_scene="bench", pipe_figure="serving"))
    assert (cells >= 0).sum() == 4 * 3 * 8
    assert cells.max() == 3
    assert head["follow"] == 0


def test_the_straggler_sets_the_pace():
    """Full at ⌈(7 + 2)/2⌉ = 5 with the last of eight stages at twice the time, and half a token a tick at most."""
    text = text_of(opened(pipe_scene="bench", pipe_figure="serving", slow=100, pipe_serve_m=12))
    assert "The pipeline is full at 5" in text
    assert "the rate is 0.5 tokens a tick" in text


def test_the_straggler_is_the_scenarios_and_may_be_set_from_the_page():
    """What is typed on the page stands in the panel; eight stages at 150 % of one: two thirds of a token a tick."""
    at = opened(pipe_scene="bench", pipe_figure="serving", pipe_serve_m=12)
    at.number_input("_straggler").set_value(50).run()
    assert at.query_params["slow"] == "50"
    assert "the rate is 0.6667 tokens a tick" in text_of(at)
    at.query_params["slow"] = str(100)
    at.run()
    assert at.number_input("_straggler").value == 100
    assert "the rate is 0.5 tokens a tick" in text_of(at)


@pytest.mark.parametrize("slow", ["-1", "901", "fast"])
def test_a_straggler_out_of_range_is_left_out(slow):
    at = opened(pipe_scene="bench", pipe_figure="serving", slow=slow)
    assert not at.exception
    assert at.number_input("_straggler").value == 0


@pytest.mark.parametrize("gpus", [2, 16])
def test_every_composition_is_priced_on_the_scenario(gpus):
    at = opened(pipe_scene="bench", pipe_figure="tp_pp", pipe_gpus=gpus)
    assert not at.exception
    assert not at.error
    assert "A user alone gets tokens soonest" in text_of(at)


def test_the_stages_begin_with_the_scenarios_pipeline_and_stay_as_chosen():
    """PP=4 in the address is four stages here; a choice on the page then holds whatever the scenario says."""
    at = opened(pp=4, pipe_scene="see")
    assert at.segmented_control(key="pipe_p").value == 4
    at.query_params["pipe_p"] = str(2)
    at.query_params["pp"] = str(16)
    assert at.run().segmented_control(key="pipe_p").value == 2


def test_compositions_stand_beside_one_gpu():
    """Llama-3-8B, the labs' 8 ms: a pipe of eight gives a sequence its tokens no sooner."""
    at = opened(pipe_scene="bench", pipe_figure="tp_pp")
    text = text_of(at)
    assert "would give a user alone a token every 8.00 ms" in text
    assert "The deepest pipeline here, TP=1 PP=8, takes 8." in text


def test_the_learners_own_run_is_drawn_at_the_pages_sizes(monkeypatch, tmp_path):
    """A clock that starts every stage at once: cells before their inputs are outlined, the task is wrong."""
    own = tmp_path / "mine.py"
    own.write_text(
        "from core.pipeline_bubble.bubble import *\nfrom core.pipeline_bubble.schedules.actions import Span\n"
        "def run_on_ticks(actions, stages):\n"
        "    return [Span(a, a.stage, a.microbatch, a.microbatch + 1) for a in actions]\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("LAB_IMPL", str(own))
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    at = opened(pipe_scene="build", pipe_p=4, pipe_m=8)
    assert not at.exception
    ((head, cells),) = players(at)
    assert cells.size == 4 * 8
    assert len(head["grids"][0]["wrong"]) == 3 * 8
    text = text_of(at)
    assert ":red[:material/close:] `run_on_ticks`" in text
    assert ":green[:material/check:] `bubble_fraction`" in text


def test_without_a_file_of_ones_own_the_page_says_how_to_name_one():
    text = text_of(opened(pipe_scene="build"))
    assert "SHARDLAB_LIVE_RUNS=1 LAB_IMPL=starter streamlit run" in text
    assert "SHARDLAB_LAB_FILES=dist" in text, "and how the lab is solved in the page"


def test_a_hand_over_is_the_sum_of_what_stands_beside_it():
    whole, launch, hop, rate = re.search(
        r"A hand-over takes (\S+) µs over .*?with its own launch, (\S+) µs, and (\S+) µs for the hop. "
        r"The bytes cross at (\S+) GB/s",
        re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text_of(opened()))),
    ).groups()
    assert 2 * (float(launch) + float(hop) + 8.192 / float(rate)) == pytest.approx(float(whole), abs=0.06)
