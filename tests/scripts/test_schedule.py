"""A schedule from a terminal: the figures of the page, the fields of the contract, and bad input refused."""

import json
from fractions import Fraction

import pytest

from core.pipeline_bubble.schedules.families import FAMILIES
from scripts import schedule

SMALL = ["--stages", "4", "--microbatches", "8"]


def printed(capsys, *arguments):
    assert schedule.main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_sixty_three_microbatches_on_eight_stages_are_seven_seventieths(capsys):
    """p - 1 = 7 idle of m + p - 1 = 70, written so; one tenth."""
    found = printed(capsys, "fill_drain", "--stages", "8", "--microbatches", "63")
    assert found["bubble_fraction_exact"] == "7/70"
    assert found["bubble_fraction"] == 0.1
    assert found["makespan"] == 70
    assert found["overhead"] == pytest.approx(7 / 63)


@pytest.mark.parametrize("name", [*FAMILIES, "decode"])
@pytest.mark.parametrize("chunks", [[], ["--chunks", "1"], ["--chunks", "2"]])
def test_every_schedule_takes_chunks_prints_its_ranks_and_agrees_with_itself(capsys, name, chunks):
    """bubble_fraction is 1 - busy / (P · makespan), from the actions printed."""
    found = printed(capsys, name, *SMALL, *chunks)
    assert len(found["ranks"]) == 4
    busy = sum(action["end"] - action["start"] for rank in found["ranks"] for action in rank["actions"])
    assert found["makespan"] == max(action["end"] for rank in found["ranks"] for action in rank["actions"])
    assert found["bubble_fraction"] == pytest.approx(1 - busy / (4 * found["makespan"]))
    assert found["overhead"] == pytest.approx(4 * found["makespan"] / busy - 1)
    assert Fraction(found["bubble_fraction_exact"]) == Fraction(found["bubble_fraction"]).limit_denominator(10**6)
    for rank in found["ranks"]:
        assert rank["idle"] == found["makespan"] - sum(a["end"] - a["start"] for a in rank["actions"])


def test_costs_are_of_a_chunk_and_a_full_backward_is_both_halves(capsys):
    """GPipe, p = 4, m = 8: (m + p - 1)(F + I + W) = 11 · 6.5."""
    costs = ["--forward", "2", "--backward-input", "3", "--backward-weight", "1.5"]
    found = printed(capsys, "gpipe", *SMALL, *costs)
    assert found["makespan"] == 71.5
    assert "bubble_fraction_exact" not in found
    assert [rank["peak_activations"] for rank in found["ranks"]] == [8] * 4


def test_whole_costs_that_give_halves_still_print_a_fraction(capsys):
    """Two stages of 1 whose backwards are 3/2 of it, one microbatch: idle 5/2 each of 5, which is one half."""
    costs = ["--forward", "2", "--backward-input", "1", "--backward-weight", "2", "--stage-times", "1,1"]
    found = printed(capsys, "gpipe", "--stages", "2", "--microbatches", "1", *costs)
    assert (found["makespan"], found["bubble_fraction_exact"]) == (5, "5/10")


def test_decimals_are_kept_exact(capsys):
    """Eight stages of 0.1 and seven links of 0.2, three microbatches: 0.8 + 1.4 + 0.2 = 2.4."""
    found = printed(
        capsys, "fill_drain", "--stages", "8", "--microbatches", "3", "--forward", "0.1", "--link-delay", "0.2"
    )
    assert found["makespan"] == 2.4


def test_decode_settles_to_a_cycle(capsys):
    """Stages 1, 2, 1 with links of 1 and a way back of 3: cycle max(2m, 4 + 2 + 3); full at ⌈9/2⌉ = 5."""
    pipe = ["--stages", "3", "--stage-times", "1,2,1", "--link-delay", "1", "--return-delay", "3"]
    found = printed(capsys, "decode", *pipe, "--microbatches", "2")
    assert (found["cycle"], found["filling_microbatches"]) == (9, 5)
    assert found["items_per_time"] == pytest.approx(2 / 9)
    assert found["utilisation"] == pytest.approx([2 / 9, 4 / 9, 2 / 9])
    full = printed(capsys, "decode", *pipe, "--microbatches", "6")
    assert (full["cycle"], full["items_per_time"], full["utilisation"]) == (12, 0.5, [0.5, 1, 0.5])


def test_decode_over_two_chunks_enters_a_token_once_the_last_has_left_the_last_chunk(capsys):
    """Four ranks of two stages, one microbatch: eight ticks and a way back of 3, each rank busy for 2."""
    pipe = ["--stages", "4", "--microbatches", "1", "--chunks", "2", "--return-delay", "3", "--tokens", "2"]
    found = printed(capsys, "decode", *pipe)
    assert found["cycle"] == 11
    assert found["utilisation"] == pytest.approx([2 / 11] * 4)
    first = [(action["action"], action["start"]) for action in found["ranks"][0]["actions"]]
    assert first == [("0F0", 0), ("4F0", 4), ("0F1", 11), ("4F1", 15)]


@pytest.mark.parametrize(("send", "makespan"), [("latency", 8), ("serial", 14), ("blocking", 17)])
def test_a_link_is_what_send_says(capsys, send, makespan):
    """Two stages of 1, four microbatches, a link of 3. A delay: 1 + 3 + 4. A link that carries one message at a
    time: 1 + 4·3 + 1. A sender that waits: 4·(1 + 3) + 1.
    """
    sizes = ["--stages", "2", "--microbatches", "4"]
    found = printed(capsys, "fill_drain", *sizes, "--link-delay", "3", "--send", send)
    assert found["makespan"] == makespan


def test_each_link_and_each_rank_may_have_its_own(capsys):
    """On a V each link is crossed twice: 4 stages of 1, down over 5 and back over 5, one forward each."""
    found = printed(capsys, "zbv", "--stages", "2", "--microbatches", "1", "--link-delays", "5")
    up = [action for action in found["ranks"][0]["actions"] if action["action"] == "3F0"]
    assert up[0]["start"] == 1 + 5 + 1 + 1 + 5


def test_without_json_a_table_is_printed(capsys):
    assert schedule.main(["1f1b", *SMALL]) == 0
    out = capsys.readouterr().out
    assert "27.3" in out
    assert "3F0@3" in out
    assert "holds 4" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gpipe", "--stages", "0", "--microbatches", "8"], "stages=0"),
        (["gpipe", "--stages", "4"], "--microbatches"),
        (["zb_h3", *SMALL], "zb_h1"),
        (["zbv", *SMALL, "--chunks", "3"], "chunks=3"),
        (["decode", *SMALL, "--chunks", "0"], "chunks=0"),
        (["interleaved_1f1b", "--stages", "4", "--microbatches", "9", "--chunks", "2"], "microbatches=9"),
        (["dualpipe_v", "--stages", "4", "--microbatches", "7"], "microbatches=7"),
        (["gpipe", *SMALL, "--forward", "0"], "forward"),
        (["gpipe", *SMALL, "--forward", "nan"], "forward=nan"),
        (["gpipe", *SMALL, "--link-delay", "-1"], "link_delay"),
        (["gpipe", *SMALL, "--link-delays", "1,2"], "link_delays"),
        (["gpipe", *SMALL, "--link-delay", "1", "--link-delays", "1,1,1"], "exclude"),
        (["gpipe", *SMALL, "--stage-times", "1,x,1,1"], "stage_times=x"),
        (["gpipe", *SMALL, "--stage-times", "1,1"], "stage_times"),
        (["gpipe", *SMALL, "--return-delay", "1"], "return_delay"),
        (["gpipe", *SMALL, "--send", "pigeon"], "--send"),
        (["decode", *SMALL, "--tokens", "0"], "tokens=0"),
        (["gpipe", "--stages", "100000", "--microbatches", "100000"], "at most"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        schedule.main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert says in err
