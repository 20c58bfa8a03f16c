"""Bytes of weights held and read: one count, of the tensors that an engine makes, in every width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import MODELS, model
from core.errors import UnknownNameError
from core.models.loaded_weights import rank_tensors
from core.models.parameters import count_parameters, distinct_expert_fraction, total_parameters
from core.models.weight_formats import FORMATS, weight_format
from core.models.weights import held_weight_bytes, read_weight_bytes, routed_weight_bytes

LLAMA = model("llama-3-8b")
MODEL = st.sampled_from(list(MODELS.values()))
WIDTH = st.sampled_from(["bf16", "fp32", "fp8", "int8", "int4", "int4-g32", "awq", "mxfp4", "nvfp4"])


def test_held_and_read_are_two_conventions():
    """16.06 GB held; the embedding's 128256 x 4096 bf16 rows, 1.05 GB, are looked up, not streamed."""
    assert held_weight_bytes(LLAMA) == 16_060_522_496
    assert held_weight_bytes(LLAMA) - read_weight_bytes(LLAMA) == 128256 * 4096 * 2


def test_a_shared_embedding_is_read_as_the_head():
    """Llama-3.2-1B ties its tables: 2.472 GB, which is 2.302 GiB, held and read alike."""
    small = model("llama-3.2-1b")
    assert read_weight_bytes(small) == held_weight_bytes(small) == 2_471_628_800
    assert held_weight_bytes(small) / 2**30 == pytest.approx(2.302, abs=5e-4)


def test_seventy_billion_is_8_8_times_eight():
    assert held_weight_bytes(model("llama-3-70b")) / held_weight_bytes(LLAMA) == pytest.approx(8.8, abs=0.05)


@pytest.mark.parametrize(
    ("key", "width", "held_gb"),
    [("llama-3-8b", "fp8", 9.08), ("llama-3-8b", "awq", 5.73), ("gpt-oss-120b", "mxfp4", 65.2)],
)
def test_quantised_weights_weigh_what_their_checkpoints_do(key, width, held_gb):
    """Layers in the width, the two tables of 1.05 GB each in 16 bits, a scale and a zero point a group of 128.

    Source: the sizes of the files on the Hub as remembered: RedHatAI/Meta-Llama-3-8B-Instruct-FP8,
    casperhansen/llama-3-8b-instruct-awq, openai/gpt-oss-120b.
    """
    assert held_weight_bytes(model(key), width) / 1e9 == pytest.approx(held_gb, rel=0.002)


@given(MODEL)
def test_all_weights_in_16_bits_are_the_parameters_twice(row):
    assert held_weight_bytes(row) == pytest.approx(2 * total_parameters(row), rel=1e-12)


@given(MODEL, WIDTH)
def test_held_weights_are_the_tensors_of_a_single_rank(row, width):
    """But for the padded vocabulary, the rotary table, and what MLA keeps twice."""
    left_out = ("rotary table", "kv up, dequantised")
    tensors = sum(t.copies * t.size_bytes for t in rank_tensors(row, dtype=width) if t.name not in left_out)
    padding = 2 * (-row.vocab_size % 64) * (row.hidden_size + 1) * weight_format(width).other_bytes
    assert 0 <= tensors - held_weight_bytes(row, width) <= padding


@given(MODEL, WIDTH, st.integers(1, 4096))
def test_more_tokens_read_more_experts_and_never_more_than_is_held(row, width, tokens):
    """A dense model reads the same whatever the batch; its embedding is not streamed unless the head shares it."""
    one, some, held = (
        read_weight_bytes(row, width),
        read_weight_bytes(row, width, tokens),
        held_weight_bytes(row, width),
    )
    assert one <= some <= held
    assert some == pytest.approx(one - routed_weight_bytes(row, width) + routed_weight_bytes(row, width, tokens))
    if row.moe is None:
        assert one == some
    if not row.tie_word_embeddings:
        table = count_parameters(row).embedding * weight_format(width).other_bytes
        assert held - some >= table * (1 - 1e-9)


def test_one_token_of_a_mixture_reads_k_experts_and_many_read_nearly_all():
    mixtral = model("mixtral-8x7b")
    assert distinct_expert_fraction(mixtral, 1) == pytest.approx(2 / 8)
    assert distinct_expert_fraction(mixtral, 32) > 0.9998
    assert read_weight_bytes(mixtral) == pytest.approx(2 * (12_879_925_248 - 32000 * 4096))


@pytest.mark.parametrize(
    ("name", "width"),
    [("int4-g32", 0.5 + 2.5 / 32), ("int4-g32-z16", 0.625), ("int4", 0.515625), ("nvfp4", 0.5625), ("fp8", 1)],
)
def test_a_group_s_scale_counts(name, width):
    """And its zero point: 4 bits, or 16 as gpt-fast keeps it."""
    assert weight_format(name).linear_bytes == width


@pytest.mark.parametrize("name", ["int4-g0", "int3", "", "int4-g99999"])
def test_an_unknown_width_is_refused(name):
    with pytest.raises(UnknownNameError, match="weight format"):
        held_weight_bytes(LLAMA, name)


def test_a_dense_model_in_mxfp4_keeps_its_matrices_in_it():
    assert weight_format("mxfp4", LLAMA).linear_bytes == FORMATS["mxfp4"].expert_bytes < 0.54
    assert weight_format("mxfp4", model("gpt-oss-20b")).linear_bytes == 2
