"""The log reader's figures and rows, without an app: what they are drawn from, and what they say."""

import pytest

from core.catalog import model
from core.scenario import Scenario
from core.startup_log import weight_rules
from core.startup_log.exercises import exercises
from core.startup_log.reader import read_log
from ui.startup_log import charts, report, words
from ui.theme import DARK, LIGHT, Look


@pytest.mark.parametrize("look", [Look(LIGHT), Look(DARK, present=True)], ids=["light", "dark, projected"])
def test_both_figures_are_specifications(look):
    found = read_log(report.EXAMPLE.replace("450,192", "225,104"))
    marks = charts.residual_marks(report.check_rows(found), look).to_dict()
    assert "symlog" in str(marks)
    assert "format(datum.value" in str(marks), "a scale's own format would write 25 as 3e+1"
    assert charts.shrinking_residuals(weight_rules.steps(), look).to_dict()["layer"]


def test_every_rule_brings_the_logs_closer():
    """The last rule ends at four decimals: 0.004 %, from more than three per cent."""
    found = weight_rules.steps()
    worst = [max(step.residual_percent for step in found if step.number == number) for number in (1, 2, 3, 4)]
    assert worst == sorted(worst, reverse=True)
    assert worst[0] > 3
    assert worst[-1] < 0.004


def test_ranks_that_agree_are_one_row():
    logged = read_log(report.EXAMPLE)
    rows = report.check_rows(logged)
    assert len(rows) == len(logged.checks) - 1
    assert rows[0].ranks == "ranks 0–1"


def test_the_figure_is_picked_out_of_its_line():
    found = report.log_rows(report.check_rows(read_log(report.EXAMPLE)))
    assert [row.field for row in found] == ["7.1217", "450,192", "27.48"]


def test_a_second_model_explains_its_exercise_to_the_block():
    """51.63 GiB by 33 layers of 4 KiB a token, whole blocks: 410,128, as logged."""
    second = next(exercise for exercise in exercises() if exercise.key == "second")
    assert 51.63 * 2**30 // (16 * 33 * 4096) * 16 == 410128
    assert words.answers(second)[second.answer] == "33 layers keep a cache, not 32"


def test_a_tensor_table_tells_what_is_whole_on_every_rank():
    whole = {row.tensor for row in weight_rules.tensor_rows(model("llama-3-8b"), 4) if row.whole_on_every_rank}
    assert whole == {"norm", "final norm", "rotary table"}


@pytest.mark.parametrize(("pp", "block"), [(1, "2 MiB"), (4, "512 KiB")])
def test_a_block_and_the_weights_of_a_rank_are_of_the_same_stage(pp, block):
    """Llama-3-8B: 2 x 8 heads x 128 x 2 bytes x 16 tokens a layer, for all 32 layers or for the 8 of a stage."""
    assert words.fields(Scenario(tp=1, pp=pp), 1)["block_bytes"] == block
