"""Models whose layers are of several kinds: read to the published parameters, their caches, what a rank holds."""

import json
import os
from pathlib import Path

import pytest

from core.catalog import model
from core.comm_cost.bill import all_reduces_per_step
from core.errors import IndivisibleError, OutOfRangeError
from core.models.checkpoint import named_checkpoint
from core.models.hf_config import model_from_config
from core.models.kv_cache import kv_bytes_per_token, sequence_bytes, state_bytes_per_sequence, step_cache_bytes
from core.models.loaded_weights import loaded_weight_bytes, rank_tensors, stages
from core.models.parameters import active_parameters, total_parameters
from core.models.weights import held_weight_bytes
from core.sharding_math.step_ledger import step_ledger
from core.sharding_math.tp_sizes import check_tp_size
from tests.core.models.configs_of_others import LING_26, LONGCAT, MAMBA2, OTHERS, ROUNDED, STEP3, ZAMBA2
from tests.core.models.configs_of_today import (
    E4B,
    GEMMA4,
    GLM52,
    GRANITE4,
    IN_THE_CATALOG,
    JAMBA,
    MAVERICK,
    MIMO,
    NANO,
    PUBLISHED,
    QWEN35_MOE,
    SUPER_120B,
    V4_FLASH,
    V32,
    shape,
)
from tests.each import each


@each(("key", "fields"), IN_THE_CATALOG.items())
def test_a_row_of_the_catalog_is_what_its_config_says(key, fields):
    """Parameters, cache, states, and what one of four ranks holds."""
    row, found = model(key), read(fields)
    assert total_parameters(row) == total_parameters(found)
    assert active_parameters(row) == active_parameters(found)
    assert sequence_bytes(row, 4, 30_000) == sequence_bytes(found, 4, 30_000)
    whole = [{t.name: t.copies * t.size_bytes for t in rank_tensors(one, 4)} for one in (row, found)]
    assert {name: size for name, size in whole[0].items() if name != "rotary table"} == {
        name: size for name, size in whole[1].items() if name != "rotary table"
    }


def read(fields):
    return model_from_config(json.dumps({name: value for name, value in fields.items() if value is not None}))


EXACT = {**PUBLISHED, **OTHERS}
CUT_IN_TWO = [fields for fields, *_ in (*EXACT.values(), *ROUNDED.values()) if fields is not OTHERS["Falcon 7B"][0]]


@each(("fields", "total"), EXACT.values())
def test_a_model_of_today_has_the_parameters_of_its_own_class(fields, total):
    assert total_parameters(read(fields)) == total


@pytest.mark.parametrize(("fields", "billions", "used"), ROUNDED.values(), ids=ROUNDED)
def test_a_total_that_is_published_rounded_is_met(fields, billions, used):
    spec = read(fields)
    assert total_parameters(spec) / 1e9 == pytest.approx(billions, rel=0.002)
    assert active_parameters(spec) / 1e9 == pytest.approx(used, rel=0.012)


@each("fields", CUT_IN_TWO)
def test_ranks_and_stages_hold_the_whole_model_between_them(fields):
    """Cut in two, a rank has half of what is cut and all of what is whole; stages share out every layer."""
    spec = read(fields)
    one, two = ({t.name: t.copies * t.size_bytes for t in rank_tensors(spec, n)} for n in (1, 2))
    assert all(two[name] in (size, size / 2) or one[name] > two[name] > one[name] / 2 for name, size in one.items())
    layers = [t for stage in stages(spec, 3) for t in rank_tensors(spec, 1, stage) if t.group != "table"]
    assert sum(t.copies * t.size_bytes for t in layers) == sum(
        t.copies * t.size_bytes for t in rank_tensors(spec, 1) if t.group != "table"
    )


def test_a_hybrid_keeps_rows_of_its_few_attention_layers_and_a_state_of_the_others():
    """Qwen3.5-122B: 12 of 48 layers keep 2 · 2 · 256 elements a token; a state is 64 · 128 · 128 floats, 3 inputs
    of 12,288 channels, in each of 36 layers (vllm mamba_utils.py, gated_delta_net_state_shape)."""
    spec = read(QWEN35_MOE)
    assert kv_bytes_per_token(spec) == 12 * 2 * 2 * 256 * 2
    states = 36 * (64 * 128 * 128 * 4 + 3 * 12288 * 2)
    assert state_bytes_per_sequence(spec) == states
    assert state_bytes_per_sequence(spec, 4) == states / 4
    assert sequence_bytes(spec, 1, 10_000) == 10_000 * kv_bytes_per_token(spec) + states


def test_layers_that_share_a_block_keep_rows_of_their_own_and_hold_it_once():
    """Zamba 2: nine of 54 layers look through two blocks: nine caches of 2 · 32 · 160 a token."""
    spec = read(ZAMBA2)
    assert kv_bytes_per_token(spec) == 9 * 2 * 32 * 160 * 2
    assert {t.name: t.copies for t in rank_tensors(spec)}["qkv"] == 2


def test_a_model_without_attention_keeps_states_alone_and_is_planned():
    """Mamba 2: 64 layers of 128 heads · 64 · 128 numbers, and 3 inputs of 128 · 64 + 2 · 8 · 128 channels."""
    spec = read(MAMBA2)
    assert kv_bytes_per_token(spec) == 0
    assert state_bytes_per_sequence(spec) == 64 * (128 * 64 * 128 * 2 + 3 * (8192 + 2048) * 2)
    assert check_tp_size(spec, 8).verdict == "allowed"


def test_a_layer_of_two_attentions_keeps_both_latent_rows():
    """LongCat: 28 layers, two latent rows of 512 + 64 in each; Step 3 one key and value of 256 a layer on all."""
    assert kv_bytes_per_token(read(LONGCAT)) == 28 * 2 * 576 * 2
    assert kv_bytes_per_token(read(STEP3)) == 61 * 2 * 256 * 2


def test_blocks_side_by_side_are_summed_once_where_the_engine_does():
    """Command's and Falcon's 40 and 32 layers once each (vLLM's commandr.py, falcon.py); GPT-J's 28 twice."""
    once = [read(PUBLISHED["Command, 40 layers"][0]), read(OTHERS["Falcon 7B"][0]), read(OTHERS["GPT-J 6B"][0])]
    assert [all_reduces_per_step(spec, 2) for spec in once] == [40, 32, 56]
    assert [step_ledger(spec, 1, 2).count() for spec in once] == [40, 32, 56]


def test_a_norm_in_groups_is_not_cut_through():
    """Ling 2.6: a state of 32 · 128 · 128 in 28 layers of 32, normed in four groups: TP=4 at the most."""
    spec = read(LING_26)
    assert state_bytes_per_sequence(spec) == 28 * 32 * 128 * 128 * 2
    assert check_tp_size(spec, 4).verdict == "kv_replicated"
    assert check_tp_size(spec, 8).broken == ("group_norm_size: 4 = 0 × 8 + 4",)


def test_a_mamba_model_splits_its_states_over_ranks_and_copies_its_only_group():
    """Nano: 23 layers of 64 heads · 64 · 128 floats, and 3 inputs of 64 · 64 + 2 · 8 · 128 channels."""
    spec = read(NANO)
    assert state_bytes_per_sequence(spec) == 23 * (64 * 64 * 128 * 4 + 3 * 6144 * 2)
    assert state_bytes_per_sequence(spec, 8) == state_bytes_per_sequence(spec) / 8
    one_group = read(GRANITE4)
    assert state_bytes_per_sequence(one_group, 8) == 3 * (16 * 64 * 128 * 2 + 3 * (16 * 64 + 2 * 128) * 2)
    assert kv_bytes_per_token(spec) == 6 * 2 * 2 * 128 * 2


def test_mamba_of_the_first_kind_keeps_a_state_a_channel_and_is_cut_by_channels():
    """Jamba: 28 of 32 layers, 8,192 channels of 16 numbers, and 3 inputs of each; 4 layers of attention."""
    spec = read(JAMBA)
    assert state_bytes_per_sequence(spec) == 28 * (8192 * 16 * 2 + 3 * 8192 * 2)
    assert state_bytes_per_sequence(spec, 8) == state_bytes_per_sequence(spec) / 8
    assert kv_bytes_per_token(spec) == 4 * 2 * 8 * 128 * 2


def test_a_layer_that_looks_at_anothers_keys_keeps_none_of_its_own():
    """Gemma 4 E4B: the last 18 of 42 layers; of the 24 others each sixth is full, of heads of 512."""
    assert kv_bytes_per_token(read(E4B)) == (20 * 2 * 2 * 256 + 4 * 2 * 2 * 512) * 2


def test_a_layer_that_looks_at_anothers_keys_reads_them_as_if_they_were_its_own():
    """Gemma 4 E4B: a step moves what it would with no layer shared, from a cache that is four sevenths as large."""
    spec, alone = read(E4B), read({**E4B, "num_kv_shared_layers": 0})
    for tokens in (100, 5000):
        assert step_cache_bytes(spec, 1, tokens) == step_cache_bytes(alone, 1, tokens)
        assert sequence_bytes(spec, 1, tokens) < sequence_bytes(alone, 1, tokens)


@pytest.mark.parametrize(
    ("fields", "total", "kv_heads"),
    [
        ({"hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71}, 6_921_720_704, 1),
        (
            {"hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8}
            | {"new_decoder_architecture": True},
            41_303_293_952,
            8,
        ),
    ],
)
def test_a_falcon_has_one_key_for_all_queries_or_as_many_as_it_names(fields, total, kv_heads):
    """Falcon 7B and 40B."""
    spec = read({"model_type": "falcon", "vocab_size": 65024, "multi_query": True, "alibi": False, **fields})
    assert (total_parameters(spec), spec.num_key_value_heads) == (total, kv_heads)


def test_ling_s_mixture_has_the_parameters_that_its_makers_publish():
    """Ling-mini-2.0: 16.26B in all, 1.43B for a token, 789M of them outside of the tables (its README)."""
    fields = {"model_type": "bailing_moe_v2", "hidden_size": 2048, "num_hidden_layers": 20, "vocab_size": 157184}
    fields |= {"num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 5120}
    fields |= {"moe_intermediate_size": 512, "num_experts": 256, "num_shared_experts": 1, "num_experts_per_tok": 8}
    spec = read({**fields, "first_k_dense_replace": 1, "use_qkv_bias": False, "use_qk_norm": True})
    assert round(total_parameters(spec) / 1e9, 2) == 16.26
    assert round(active_parameters(spec) / 1e9, 2) == 1.43
    assert round((active_parameters(spec) - 2 * 157184 * 2048) / 1e6) == 789


def test_a_falcon_with_alibi_or_one_thing_after_the_other_is_refused():
    fields = {"model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32}
    for part in ({"alibi": True}, {"parallel_attn": False}):
        with pytest.raises(OutOfRangeError, match=next(iter(part))):
            read({**fields, "vocab_size": 50304, **part})


def test_a_norm_without_weights_has_no_parameters():
    """OLMo 7B: 32 layers of four projections and three matrices, and two tables of 50,304 words."""
    fields = {"model_type": "olmo", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32}
    spec = read({**fields, "num_attention_heads": 32, "vocab_size": 50304})
    assert total_parameters(spec) == 6_888_095_744


def test_a_window_keeps_no_more_than_it_sees_whatever_its_heads_are():
    """MiMo-V2-Flash: 9 full layers of 4 KV heads, 39 of 8 that see 128 tokens; a key has 192, a value 128."""
    spec = read(MIMO)
    full, windowed = 9 * 4 * 320 * 2, 39 * 8 * 320 * 2
    assert kv_bytes_per_token(spec) == full + windowed
    assert sequence_bytes(spec, 1, 50_000) == 50_000 * full + 128 * windowed
    assert (spec.sliding_window, spec.windowed_layers) == (128, 39)


def test_an_indexer_keeps_a_row_of_eight_bits_beside_the_latent_one():
    """DeepSeek-V3.2: 128 bytes and a scale of four in each of 61 layers; GLM-5.2 in the 21 that choose."""
    assert kv_bytes_per_token(read(V32)) == 61 * (576 * 2 + 132)
    assert kv_bytes_per_token(read(GLM52)) == 78 * 576 * 2 + 21 * 132


def test_experts_of_four_bits_among_eight_bit_layers_weigh_what_each_weighs():
    """DeepSeek-V4-Flash: 43 · 256 experts of 3 · 4096 · 2048 at 17/32 bytes, the rest at a byte or two."""
    spec = read(V4_FLASH)
    experts = 43 * 256 * 3 * 4096 * 2048
    rest = total_parameters(spec) - experts
    held = held_weight_bytes(spec, spec.weight_dtype)
    assert experts * 17 / 32 + rest < held < experts * 17 / 32 + 2 * rest
    assert held == pytest.approx(155.4e9, rel=0.02)


def test_a_file_that_lists_its_modules_widths_is_read_module_by_module():
    """MIXED_PRECISION: experts in NVFP4, attention in FP8, what is not named in 16 bits."""
    names = {f"model.layers.{layer}.mlp.experts.{one}.up_proj": "NVFP4" for layer in range(48) for one in range(3)}
    names |= {f"model.layers.{layer}.mlp.experts.0.down_proj": "NVFP4" for layer in range(48)}
    names |= {f"model.layers.{layer}.linear_attn.out_proj": "FP8" for layer in range(48)}
    algorithms = {name: {"quant_algo": width, "group_size": 16} for name, width in names.items()}
    mixed = QWEN35_MOE | {
        "quantization_config": {
            "quant_method": "modelopt",
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": algorithms,
        }
    }
    spec, wide = read(mixed), read(QWEN35_MOE)
    assert spec.weight_dtype == "nvfp4"
    sizes = {name: [{t.name: t.size_bytes for t in rank_tensors(one, dtype=width)}[name]
                    for one, width in ((spec, "nvfp4"), (wide, "bf16"))]
             for name in ("experts in", "linear out", "linear in", "qkv")}  # fmt: skip
    assert sizes["experts in"][0] == sizes["experts in"][1] * 9 / 32
    assert sizes["linear out"][0] == sizes["linear out"][1] / 2
    assert sizes["linear in"][0] == sizes["linear in"][1]
    assert sizes["qkv"][0] == sizes["qkv"][1]


def test_active_parameters_are_those_in_a_models_name():
    """A10B, A3B, A12B: what a token uses, to the half of a billion that names leave out."""
    for fields, billions in ((QWEN35_MOE, 10), (NANO, 3.5), (SUPER_120B, 12.5), (MAVERICK, 17)):
        assert active_parameters(read(fields)) / 1e9 == pytest.approx(billions, abs=0.8)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (NANO | {"hybrid_override_pattern": "MX" * 26}, "X is a kind of layer unknown"),
        (QWEN35_MOE | {"layer_types": ["linear_attention"] * 3}, "must name num_hidden_layers"),
        (MIMO | {"hybrid_layer_pattern": [1]}, "must be a list of 48 layers"),
        (V4_FLASH | {"compress_ratios": [7] * 43}, "must be 0, 4 or 128"),
        (V4_FLASH | {"mlp_layer_types": ["fancy"] * 43}, "is a kind of MLP unknown here"),
        (shape("rwkv7", 64, 2, 2, 2, 128), "keeps a kind of state that is not counted"),
    ],
)
def test_a_layer_that_nobody_here_counts_is_named(fields, said):
    with pytest.raises(OutOfRangeError, match=said):
        read(fields)


CONFIGS = os.environ.get("SHARDLAB_CONFIGS")


@pytest.mark.slow
@pytest.mark.skipif(CONFIGS is None, reason="SHARDLAB_CONFIGS names no folder of config.json files")
def test_every_config_of_a_folder_is_read_and_split():
    """`SHARDLAB_CONFIGS=model_configs pytest -m slow -k folder`; a hf_quant_config.json goes with its config."""
    refused = []
    files = [file for file in Path(CONFIGS or ".").glob("*.json") if "hf_quant_config" not in file.name]
    assert files
    for file in sorted(files):
        beside = file.with_name(file.name.replace("config.json", "hf_quant_config.json"))
        text = file.read_text() + (beside.read_text() if beside.exists() and beside != file else "")
        try:
            spec = model_from_config(text)
            assert loaded_weight_bytes(spec, 1, dtype=spec.weight_dtype) > 0
        except OutOfRangeError as error:
            refused.append(f"{file.name}: {error}")
    assert refused == []


def test_a_size_is_allowed_where_every_part_of_every_kind_divides():
    """What check_tp_size allows is what a rank can be made of; blocks of FP8 refuse more."""
    for key in IN_THE_CATALOG:
        row = model(key)
        for size in (1, 2, 3, 4, 6, 8, 16, 32):
            broken = check_tp_size(row, size).broken
            try:
                rank_tensors(row, size, dtype=row.weight_dtype)
            except IndivisibleError:
                assert broken, (key, size)
            else:
                assert not broken or row.weight_block, (key, size, broken)
    assert check_tp_size(model("deepseek-v4-flash"), 16).broken == ("o_groups: 8 = 0 × 16 + 8",)
    assert check_tp_size(model("nemotron-3-nano-30b-a3b"), 16).broken == ("mamba groups: 8 = 0 × 16 + 8",)
    assert "moe_intermediate_size: 1536 / 128 = 1 × 8 + 4" in check_tp_size(model("minimax-m2"), 8).broken


LLAMA_70B = shape("llama", 8192, 80, 64, 8, 128256, intermediate_size=28672)
TWO_WIDTHS = {
    "group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}},
    "group_1": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}},
}


@pytest.mark.parametrize(
    ("block", "dtype", "wide"),
    [
        ({"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["model.layers.0."]}, "int4", {0}),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*layers.3.self_attn.*": {}}}, "int4", {3}),
        (
            {
                "quant_method": "auto-round",
                "bits": 4,
                "extra_config": {f"model.layers.5.self_attn.{name}_proj": {"bits": 16} for name in "qkv"},
            },
            "int4",
            {5},
        ),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}},
            "mxfp4",
            set(),
        ),
        ({"quant_method": "mxfp8"}, "mxfp8", set()),
        ({"quant_method": "compressed-tensors", "config_groups": TWO_WIDTHS}, "nvfp4", set()),
    ],
)
def test_a_file_of_each_quantiser_says_its_width_and_what_it_leaves_alone(block, dtype, wide):
    spec = read(LLAMA_70B | {"quantization_config": block})
    assert spec.weight_dtype == dtype
    assert dict(spec.left_alone).get("qkv", set()) == wide


def test_two_groups_of_which_one_is_everything_are_two_widths():
    """MLPs in NVFP4, the rest in FP8: 0.5625 bytes and one."""
    spec = read(
        LLAMA_70B | {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": TWO_WIDTHS}}
    )
    narrow, wide = ({t.name: t.size_bytes for t in rank_tensors(one, dtype=width)}
                    for one, width in ((spec, "nvfp4"), (read(LLAMA_70B), "bf16")))  # fmt: skip
    assert narrow["qkv"] == wide["qkv"] / 2
    assert narrow["mlp in"] == wide["mlp in"] * 9 / 32


def test_mxfp4_of_a_quantiser_holds_what_it_does_not_leave_alone():
    """AMD's files: shared experts in four bits too, attention in 16; gpt-oss's own leaves all but experts alone."""
    block = {
        "quant_method": "quark",
        "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}},
        "exclude": ["re:.*linear_attn.*", "re:.*self_attn.*", "lm_head"],
    }
    narrow, wide = ({t.name: t.size_bytes for t in rank_tensors(one, dtype=width)}
                    for one, width in ((read(QWEN35_MOE | {"quantization_config": block}), "mxfp4"),
                                       (read(QWEN35_MOE), "bf16")))  # fmt: skip
    for name in ("experts in", "shared expert in"):
        assert narrow[name] == wide[name] * 17 / 64
    for name in ("qkv", "linear in", "linear out", "router"):
        assert narrow[name] == wide[name]


def test_a_width_of_no_whole_groups_was_not_quantised_and_binds_no_group():
    """GLM-4.5-Air's dense layer is 10,944 wide, 85.5 groups of 128; at TP=4 its experts are 2.75 groups wide."""
    found = named_checkpoint("QuantTrio/GLM-4.5-Air-AWQ")
    assert check_tp_size(found, 1).broken == ()
    assert check_tp_size(found, 4).broken == ("moe_intermediate_size: 1408 / 128 = 2 × 4 + 3",)


def test_glm_4_in_eight_bits_has_no_blocks_and_glm_5_has():
    """vLLM's recipe (GLM/GLM.html) serves GLM-4.5-Air-FP8 at TP=8, 176 columns a rank; GLM-5's file has blocks."""
    assert check_tp_size(named_checkpoint("zai-org/GLM-4.6-FP8"), 8).broken == ()
    assert named_checkpoint("zai-org/GLM-5-FP8").weight_block == (128, 128)


def test_layers_share_one_block_where_a_config_counts_none():
    """Zamba2Config's own default of num_mem_blocks."""
    spec = read({name: value for name, value in ZAMBA2.items() if name != "num_mem_blocks"})
    assert {t.name: t.copies for t in rank_tensors(spec)}["qkv"] == 1


NVFP4 = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}


@pytest.mark.parametrize(
    ("fields", "block"),
    [
        # experts stand beside an MLP, which is left alone
        (GEMMA4, NVFP4 | {"ignore": ["model.language_model.layers.*.mlp*", "*.self_attn*"]}),
        # the first layers, which have no experts, are left alone whole
        (GLM52, NVFP4 | {"ignore": [f"model.layers.{layer}.mlp*" for layer in (0, 1, 2)]}),
        # of a hybrid's layers those with experts are named
        (
            NANO,
            {
                "quant_method": "modelopt",
                "quant_algo": "MIXED_PRECISION",
                "quantized_layers": {
                    f"backbone.layers.{layer}.mixer.experts.{expert}.{side}_proj": {"quant_algo": "W4A16_NVFP4"}
                    for layer, letter in enumerate(NANO["hybrid_override_pattern"])
                    for expert in (0, 1)
                    for side in ("up", "down")
                    if letter == "E"
                },
            },
        ),
    ],
)
def test_experts_are_narrow_whatever_is_left_alone_where_there_are_none(fields, block):
    """0.5625 bytes an element and not two: the way NVIDIA's Gemma-4-26B, GLM-5.2 and Nemotron-3.5 name modules."""
    narrow, wide = (
        {t.name: t.copies * t.size_bytes for t in rank_tensors(spec, dtype=spec.weight_dtype)}
        for spec in (read(fields | {"quantization_config": block}), read(fields))
    )
    assert narrow["experts in"] == wide["experts in"] * 9 / 32
    assert narrow["experts down"] == wide["experts down"] * 9 / 32
    assert narrow.get("mlp in") == wide.get("mlp in")
