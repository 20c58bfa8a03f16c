"""What strategies send, compared by what they all batch alike: one sequence."""

from dataclasses import replace

import pytest

from core.catalog import gpu, model
from core.strategy.training.memory import Job
from core.strategy.training.side_by_side import Held, side_by_side

ASKED = Held(model("llama-3-8b"), 64, 8, gpu("h100-sxm").usable_memory_bytes, Job(microbatches=8), "selective")


def gb_a_sequence(asked: Held) -> dict[str, float]:
    return {one.name: one.sent_bytes / 1e9 for one in side_by_side(asked)}


def test_a_sequence_costs_tp_more_than_fsdp_and_ddp_least():
    """A step of FSDP sends 379 GB a rank and has 512 sequences, TP=8's 64 GB and 64, TP=8 with PP=4's has 16."""
    found = gb_a_sequence(ASKED)
    assert {one.name: one.sequences for one in side_by_side(ASKED)} == {
        "DDP": 512, "ZeRO-1": 512, "ZeRO-2": 512, "FSDP": 512, "FSDP, kept": 512,
        "TP=8": 64, "TP=8 + SP": 64, "PP=8": 64, "TP=8, PP=4": 16,
    }  # fmt: skip
    told = {"FSDP": 47.4, "DDP": 3.95, "TP=8": 63.5, "TP=8 + SP": 78.5}
    assert {name: found[name] for name in told} == pytest.approx(told, rel=0.01)
    assert found["DDP"] < found["PP=8"] < found["FSDP"] < found["TP=8"] < found["TP=8 + SP"]


def test_ddp_by_hand_is_twice_its_gradients_over_64_ranks_and_512_sequences():
    """2 · 63/64 · 8.03e9 · 2 B a rank, 64 ranks, 512 sequences."""
    by_hand = 2 * 63 / 64 * 8_030_261_248 * 2 * 64 / 512
    assert gb_a_sequence(ASKED)["DDP"] == pytest.approx(by_hand / 1e9)


@pytest.mark.parametrize("microbatches", [1, 4, 32])
def test_more_microbatches_make_ddp_s_sums_cheaper_a_sequence_and_leave_fsdp_s_gathers(microbatches):
    found = gb_a_sequence(replace(ASKED, job=Job(microbatches=microbatches)))
    assert found["DDP"] == pytest.approx(8 / microbatches * gb_a_sequence(ASKED)["DDP"])
    assert found["FSDP"] == pytest.approx(gb_a_sequence(ASKED)["FSDP"])
