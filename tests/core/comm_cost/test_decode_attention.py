"""A decode step's attention over ranks: what is copied, what a cut by context saves and what it sends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import gpu, link, model
from core.comm_cost.decode_attention import WAYS, decode_attention
from core.errors import IndivisibleError
from core.models.kv_cache import kv_bytes_per_token
from core.models.loaded_weights import attention_weight_bytes
from core.models.parameters import count_parameters

DEEPSEEK, LLAMA = model("deepseek-v3"), model("llama-3-70b")
H100, LINK = gpu("h100-sxm"), link("nvlink-4")


def ways(row, ranks, sequences=64, tokens=8192):
    return {way: decode_attention(row, H100, LINK, way, ranks, sequences, tokens) for way in WAYS}


def test_a_latent_row_is_copied_to_every_rank_and_a_kv_head_once_ranks_outnumber_them():
    """61 layers · 576 values · 2 B = 68.6 KiB a token, on each of 8 ranks: vLLM warns of "8x KV cache"."""
    assert ways(DEEPSEEK, 8)["heads"].copies == 8
    assert ways(DEEPSEEK, 8)["heads"].cache_bytes == 64 * 8192 * 61 * 576 * 2
    assert [ways(LLAMA, ranks)["heads"].copies for ranks in (1, 4, 8, 16)] == [1, 1, 1, 2]


@given(ranks=st.sampled_from([1, 2, 4, 8, 16]), sequences=st.integers(1, 20), tokens=st.integers(1, 10**6))
@pytest.mark.parametrize("row", [DEEPSEEK, LLAMA], ids=lambda row: row.key)
def test_without_copies_the_ranks_hold_every_sequences_keys_and_values_once(row, ranks, sequences, tokens):
    """N shares are the whole; data parallel, where sequences divide over the ranks, too."""
    whole = sequences * ranks * tokens * kv_bytes_per_token(row)
    found = ways(row, ranks, sequences * ranks, tokens)
    assert ranks * found["context"].cache_bytes == pytest.approx(whole)
    assert ranks * found["data"].cache_bytes == pytest.approx(whole)
    assert ranks * found["heads"].cache_bytes == pytest.approx(found["heads"].copies * whole)


def test_a_cut_by_context_adds_nothing_where_nothing_is_copied():
    found = ways(LLAMA, 8)
    assert found["context"].cost == found["heads"].cost
    assert found["data"].cost.total_s == 0


def test_the_exchange_gathers_queries_and_scatters_results_of_the_latent_width():
    """128 heads on 8 ranks: 64 rows · 128 heads · 576 · 2 B gathered, 512 · 2 scattered, 4 a sum of each of 8."""
    found = ways(DEEPSEEK, 8)
    extra = found["context"].cost.traffic_bytes - found["heads"].cost.traffic_bytes
    assert extra == pytest.approx(61 * 7 / 8 * 64 * 128 * (576 * 2 + 512 * 2 + 8 * 4))


def test_partial_attention_over_parts_of_a_context_adds_up_to_the_whole():
    """What the exchange relies on: results weighted by their softmax sums are the softmax over all tokens."""
    rng = np.random.default_rng(7)
    query, keys, values = rng.normal(size=16), rng.normal(size=(24, 16)), rng.normal(size=(24, 16))

    def attend(part):
        scores = np.exp(keys[part] @ query)
        return scores @ values[part] / scores.sum(), scores.sum()

    parts = [attend(slice(rank, None, 3)) for rank in range(3)]  # token i is on rank i mod c
    total = sum(weight for _, weight in parts)
    assert sum(result * weight / total for result, weight in parts) == pytest.approx(attend(slice(None))[0])


def test_on_one_rank_attention_has_all_its_weights_and_cut_at_most_some_copies():
    """MLA's ways down, queries' and keys', stay whole: eight ranks hold more than the model has."""
    for row in (DEEPSEEK, LLAMA):
        assert attention_weight_bytes(row, 1) == 2 * count_parameters(row).attention
    down = 61 * (7168 * 1536 + 1536 + 7168 * 576 + 512)
    copied = 8 * attention_weight_bytes(DEEPSEEK, 8) - attention_weight_bytes(DEEPSEEK, 1)
    assert copied == 2 * 7 * down


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(IndivisibleError, match="num_attention_heads"):
        decode_attention(LLAMA, H100, LINK, "heads", 6, 1, 1)
