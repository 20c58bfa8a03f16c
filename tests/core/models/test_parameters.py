"""Parameter counts against the published totals; cache bytes against worked numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import MODELS, model
from core.errors import IndivisibleError
from core.models.checkpoint import as_served
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank
from core.models.loaded_weights import rank_tensors
from core.models.parameters import active_parameters, count_parameters, distinct_expert_fraction, total_parameters
from core.models.weights import held_weight_bytes

PUBLISHED = {
    "codellama-34b": 33_743_970_304,
    "yi-34b": 34_388_917_248,
    "phi-4": 14_659_507_200,
    "phi-4-mini": 3_836_021_760,
    "smollm3-3b": 3_075_098_624,
    "solar-10.7b": 10_731_524_096,
    "codellama-13b": 13_016_028_160,
    "deepseek-coder-6.7b": 6_740_512_768,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v2.5": 235_741_434_880,
    "deepseek-v3": 671_026_419_200,
    "gemma-2-27b": 27_227_128_320,
    "gemma-2-2b": 2_614_341_888,
    "gemma-2-9b": 9_241_705_984,
    "gpt-oss-120b": 116_829_156_672,
    "gpt-oss-20b": 20_914_757_184,
    "kimi-k2": 1_026_408_232_448,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-2-7b": 6_738_415_616,
    "llama-3-70b": 70_553_706_496,
    "llama-3-8b": 8_030_261_248,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "llama-65b": 65_285_660_672,
    "mistral-7b": 7_241_732_096,
    "mistral-7b-v0.3": 7_248_023_552,
    "mistral-nemo-12b": 12_247_782_400,
    "mistral-small-24b": 23_572_403_200,
    "mixtral-8x22b": 140_620_634_112,
    "mixtral-8x22b-instruct": 140_630_071_296,
    "mixtral-8x7b": 46_702_792_704,
    "opt-1.3b": 1_315_758_080,
    "opt-13b": 12_853_473_280,
    "opt-30b": 29_974_540_288,
    "opt-6.7b": 6_658_473_984,
    "qwen2-7b": 7_615_616_512,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-1.5b": 1_543_714_304,
    "qwen2.5-14b": 14_770_033_664,
    "qwen2.5-32b": 32_763_876_352,
    "qwen2.5-3b": 3_085_938_688,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-0.6b": 596_049_920,
    "qwen3-1.7b": 1_720_574_976,
    "qwen3-14b": 14_768_307_200,
    "qwen3-235b-a22b": 235_093_634_560,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-32b": 32_762_123_264,
    "qwen3-4b": 4_022_468_096,
    "qwen3-8b": 8_190_735_360,
    "qwen3-coder-480b-a35b": 480_154_875_392,
    "tinyllama-1.1b": 1_100_048_384,
}
"""Totals of the published checkpoints; DeepSeek-V3 without its MTP module.

Seen in public places other than this project: checkpoint metadata, model lists and loading logs print the totals of
codellama-13b, deepseek-coder-6.7b, deepseek-v2-lite, deepseek-v2.5 (as DeepSeek-V2), gemma-2-9b, gemma-2-27b,
gpt-oss-120b, kimi-k2, llama-65b, mistral-nemo-12b, mistral-small-24b, mixtral-8x22b-instruct, opt-1.3b, qwen2.5-32b
and qwen3-coder-480b-a35b; the totals of llama-2-7b, llama-3-8b, llama-3-70b,
llama-3.1-405b, llama-3.2-1b, mixtral-8x7b and deepseek-v3 are the widely quoted ones. The others are as commonly
published, not looked up again; the shapes they follow from are confirmed where each row's `source` says.
"""


def test_totals_are_exact():
    assert {key: total_parameters(model(key)) for key in PUBLISHED} == PUBLISHED


def test_every_row_without_a_confirmed_shape_says_so():
    """A source that names no place is a memory: only these rows may have one, and each admits it."""
    admitted = {
        key for key, row in MODELS.items() if "unconfirmed here" in row.source or "and unconfirmed" in row.source
    }
    assert admitted == {"deepseek-coder-6.7b", "deepseek-r1-distill-qwen-32b", "mistral-nemo-12b"}
    places = ("/", "log", "public", "shape of")
    assert all(any(place in row.source for place in places) for row in MODELS.values())


def test_active_parameters_of_a_mixture_are_exact():
    assert active_parameters(model("mixtral-8x7b")) == 12_879_925_248
    assert active_parameters(model("deepseek-v3")) == 37_552_297_472


def test_a_dense_model_uses_every_parameter():
    assert active_parameters(model("llama-3-8b")) == total_parameters(model("llama-3-8b"))


def test_distinct_experts_agree_with_drawing_them():
    """Eight tokens, each sent to 2 of 8 experts at random: 1 - (3/4)^8 = 0.8999 of them are hit on average."""
    rng = np.random.default_rng(0)
    draws = [len(set().union(*(rng.choice(8, 2, replace=False) for _ in range(8)))) / 8 for _ in range(2000)]
    assert distinct_expert_fraction(model("mixtral-8x7b"), 8) == pytest.approx(sum(draws) / 2000, abs=0.01)


def test_kv_bytes_a_token():
    """Llama-3-8B: 2 x 32 x 8 x 128 x 2 B = 128 KiB; Llama-2-7B has all 32 heads: 512 KiB.

    DeepSeek-V3 keeps one latent row of 512 + 64 in 61 layers: 70,272 B in bf16.
    """
    assert kv_bytes_per_token(model("llama-3-8b")) == 131072
    assert kv_bytes_per_token(model("llama-2-7b")) == 524288
    assert kv_bytes_per_token(model("deepseek-v3")) == 70272
    assert kv_bytes_per_token(model("llama-3-8b"), "fp8") == 65536


def test_kv_heads_are_distributed_then_repeated():
    llama = model("llama-3-8b")
    per_rank = [kv_bytes_per_token_per_rank(llama, tp_size) for tp_size in (1, 2, 8, 16)]
    assert per_rank == [131072, 65536, 16384, 16384]


def test_a_latent_cache_is_whole_on_every_rank():
    deepseek = model("deepseek-v3")
    assert kv_bytes_per_token_per_rank(deepseek, 8) == kv_bytes_per_token(deepseek)


@pytest.mark.parametrize("tp_size", [3, 12])
def test_kv_heads_that_do_not_divide_are_refused(tp_size):
    with pytest.raises(IndivisibleError, match="num_key_value_heads"):
        kv_bytes_per_token_per_rank(model("llama-3-8b"), tp_size)


@given(st.sampled_from(list(MODELS.values())))
def test_the_parts_add_up(row):
    count = count_parameters(row)
    assert count.total == count.embedding + count.positions + count.layers + count.head
    assert count.active <= count.total


def test_models_of_this_year_have_the_parameters_that_are_printed_of_them():
    """Qwen3.5 9B: a loader prints 8.95 B (lzwjava.github.io/qwen3-5-9b-hybrid-review-en). Kimi K3: 2.8 T.

    Each row of Qwen3-VL has the text model of the same size, whose totals are above.
    """
    assert round(total_parameters(model("qwen3.5-9b")) / 1e9, 2) == 8.95
    assert round(total_parameters(model("kimi-k3")) / 1e12, 1) == 2.8
    for size in ("4b", "8b", "32b", "30b-a3b", "235b-a22b"):
        assert total_parameters(model(f"qwen3-vl-{size}")) == total_parameters(model(f"qwen3-{size}"))


def test_a_flash_of_glm_has_the_parts_that_its_classes_print():
    """GLM-5.3-Flash: 11 layers of latent attention with 117,442,560 parameters and an indexer of 7,471,872 each.

    With its MTP layer and tower 321.3 billion (unslothai/llama.cpp pull 116), in FP8 305.81 GiB of safetensors.
    Cached keys of the indexer are 118,272 bytes for 3,584 tokens: a key of 132 for four (vllm-project/vllm 53906,
    logged in MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks pull 94).
    """
    spec = model("glm-5.3-flash")
    parts = {part.name: part.copies * part.size_bytes // 2 for part in rank_tensors(as_served(spec, "bf16"), 1)}
    latent = sum(parts[name] for name in ("q down", "q up", "q norm", "kv down", "kv norm", "kv up", "o"))
    assert latent == 11 * 117_442_560
    assert sum(count for name, count in parts.items() if name.startswith("index ")) == 11 * 7_471_872
    draft = (117_442_560 + 7_471_872) + 289 * 3 * 4096 * 2048 + 288 * 4096 + 2 * 4096 * 4096
    tower = 0.55e9
    assert (total_parameters(spec) + draft + tower) / 1e9 == pytest.approx(321.3, rel=1e-3)
    assert held_weight_bytes(spec, "fp8") + draft + 2 * tower == pytest.approx(305.81 * 2**30, rel=2e-3)
    assert kv_bytes_per_token(spec) == 11 * (512 * 2 + 118_272 / 3584)


def test_mistral_s_largest_has_the_parameters_that_it_publishes():
    """673 billion in the language model, 39 to 40 of them for a token (mistral.ai/news/mistral-3)."""
    spec = model("mistral-large-3")
    assert round(total_parameters(spec) / 1e9) == 673
    assert round(active_parameters(spec) / 1e9) in (39, 40)


def test_a_flash_of_step_has_the_parameters_that_it_publishes():
    """196.81 billion in all and 11 for a token, the tables aside (its model card)."""
    spec = model("step-3.5-flash")
    assert total_parameters(spec) / 1e9 == pytest.approx(196.81, rel=1e-3)
    assert (active_parameters(spec) - 2 * 128896 * 4096) / 1e9 == pytest.approx(11, rel=0.01)
