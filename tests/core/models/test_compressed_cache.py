"""DeepSeek-V4's cache by vLLM's blocks, against what it printed."""

from dataclasses import replace

import pytest

from core.catalog import gpu, model
from core.models.compressed_cache import block_bytes, compressed_sequence_bytes
from core.models.kv_cache import held_bytes, sequence_bytes
from core.placement.asked import Machine, question_of
from core.placement.assumed import assumed
from core.placement.demand import Demand
from core.placement.planner import place
from core.placement.rank_memory import Overhead, RankMemory, RankWeights
from core.placement.trace import answer
from core.units import GIB

FLASH = model("deepseek-v4-flash")
NOTHING = RankWeights(0.0, 0.0, 0.0, 0.0)


def rank(available_gib: float) -> RankMemory:
    empty = Overhead(0.0, 0.0, 0.0)
    return RankMemory(0, 43, 2, available_gib * GIB, NOTHING, empty, 1.0, FLASH, 2, 1, "fp8", 0, 8192)


def test_one_request_of_30_000_tokens_needs_what_vllm_printed_on_two_gh200():
    """6.66 GiB needed, 5.44 available: refused; 13,528 tokens fit (posted, vLLM, 8,192 a step)."""
    assert sequence_bytes(FLASH, 2, 30_000, "fp8", 8192) / GIB == pytest.approx(6.66, abs=0.005)
    assert rank(5.44).shortage(1, 30_000) is not None
    assert rank(5.44).kv_tokens(30_000) < 30_000
    assert rank(5.44).longest() == pytest.approx(13_528, abs=8), "5.44 is rounded"
    assert rank(6.67).shortage(1, 30_000) is None


def test_a_block_by_hand():
    """64 rows of 584 B, 64 keys of 132 and 2 rows of 584, each to 576: 37,440 + 8,640 + 1,728, 22 times."""
    narrow = next(block for kind, _ in FLASH.kinds_of() for block in kind.blocks if getattr(block, "index_dim", 0))
    assert block_bytes(22, narrow, "fp8") == 22 * (37_440 + 8_640 + 1_728) == 1_051_776


@pytest.mark.parametrize(("tokens", "blocks"), [(30_000, 118 + 2 * 259 + 4099 + 2065), (100, 1 + 2 * 3 + 26 + 14)])
def test_the_blocks_of_a_request_by_hand(tokens, blocks):
    """16,384 in flight: ⌈16,511/64⌉ + 1 for each of two groups of windows, ⌈16,391/4⌉ + 1, ⌈16,511/8⌉ + 1."""
    assert compressed_sequence_bytes(FLASH, tokens, "fp8", 16_384) == blocks * 1_051_776


def test_a_sequence_that_decodes_holds_little_and_only_one_prompt_is_in_flight():
    held, whole = (count(FLASH, 2, 30_000, "fp8", 8192) for count in (held_bytes, sequence_bytes))
    assert held == (118 + 2 * 4 + 4 + 18) * 1_051_776
    assert rank(12.0).kv_tokens(30_000) // 30_000 == int((12 * GIB - whole + held) / held)


def test_the_tokens_that_vllm_prints_are_told_with_the_context_that_they_are_of():
    """DeepSeek-V4-Flash-0731 on two H20, 7.71 GiB, a context of 121,344: vLLM prints 150,992 (issue 51041).

    It drafts seven tokens for each of 128 sequences, which leaves 8,192 - 128 · 8 = 7,168 tokens to a step:
    474 + 2 · 227 + 3,587 + 1,809 = 6,324 blocks a request of 7,871. What sequences that decode may keep is more.
    """
    drafting = replace(rank(7.71), step_tokens=8192 - 128 * 8)
    assert drafting.printed_tokens(121_344) == pytest.approx(150_992, rel=0.001), "7.71 is rounded"
    assert rank(7.71).printed_tokens(121_344) < drafting.printed_tokens(121_344) < rank(7.71).kv_tokens(121_344)
    assert rank(7.71).printed_tokens(1_048_576) > 5 * rank(7.71).printed_tokens(121_344)


def test_a_plan_says_what_a_compressed_cache_keeps_and_what_vllm_will_print_of_it():
    """A sentence about windows would say that a sequence needs seven times its own cache."""
    asked = question_of(
        FLASH, Machine(gpu("h20"), 2), Demand(prompt_tokens=29_000, output_tokens=1000, dtype="mxfp4")
    )
    told = {one.code: one for one in (*assumed(asked), *answer(place(asked)))}
    assert "placement.assumed_windows" not in told
    compressed = told["placement.assumed_compressed"].values
    assert compressed["read"] == sequence_bytes(FLASH, 1, 30_000, asked.demand.kv_dtype, 8192)
    assert 0 < compressed["held"] < compressed["read"]
    printed = told["placement.printed_tokens"].values
    assert printed["printed"] < printed["kept"]


def test_other_models_hold_what_they_did():
    for key in ("llama-3-8b", "gemma-3-27b", "deepseek-v3"):
        row = model(key)
        assert held_bytes(row, 1, 9000, "bf16", 2048) == sequence_bytes(row, 1, 9000, "bf16", 2048)
        assert compressed_sequence_bytes(row, 9000, "bf16", 4096) == 0
