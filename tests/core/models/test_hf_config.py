"""config.json files as their publishers write them, read back to the published parameters.

The field names and values are those of the public config.json of each model, as transformers reads them, written
from memory; totals are the published ones of test_parameters.py and, for models that are not in the catalog, those
that their checkpoints' metadata print.
"""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import MODELS, model
from core.catalog.models_layered import LAYERED
from core.errors import OutOfRangeError, ShardlabError, UnreadableTextError
from core.models.checkpoint import checkpoint_width
from core.models.hf_config import model_from_config
from core.models.hf_families import FAMILIES
from core.models.kv_cache import kv_bytes_per_token
from core.models.loaded_weights import rank_tensors
from core.models.parameters import active_parameters, total_parameters
from tests.each import each

LLAMA_8B = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
DEEPSEEK_V3 = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "attention_bias": False,
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "quantization_config": {"fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]},
    "tie_word_embeddings": False,
    "topk_method": "noaux_tc",
    "torch_dtype": "bfloat16",
    "v_head_dim": 128,
    "vocab_size": 129280,
}
GEMMA_3_12B = {
    "architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3",
    "text_config": {
        "hidden_size": 3840,
        "intermediate_size": 15360,
        "model_type": "gemma3_text",
        "num_attention_heads": 16,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "sliding_window": 1024,
    },
    "torch_dtype": "bfloat16",
    "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27},
}
GPT_OSS_20B = {
    "model_type": "gpt_oss",
    "attention_bias": True,
    "head_dim": 64,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "max_position_embeddings": 131072,
    "num_attention_heads": 64,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
    "tie_word_embeddings": False,
    "vocab_size": 201088,
}


def read(fields: dict[str, object], **changed: object):
    """The model of a config with some fields changed."""
    return model_from_config(json.dumps({**fields, **changed}))


@pytest.mark.parametrize(
    ("fields", "parameters"),
    [
        (LLAMA_8B, 8_030_261_248),
        (DEEPSEEK_V3, 671_026_419_200),
        (GPT_OSS_20B, 20_914_757_184),
        (
            {
                "model_type": "phi",
                "hidden_size": 2560,
                "intermediate_size": 10240,
                "max_position_embeddings": 2048,
                "num_attention_heads": 32,
                "num_hidden_layers": 32,
                "num_key_value_heads": None,
                "vocab_size": 51200,
            },
            2_779_683_840,
        ),
        (
            {
                "model_type": "gpt2",
                "n_embd": 768,
                "n_layer": 12,
                "n_head": 12,
                "n_positions": 1024,
                "vocab_size": 50257,
            },
            124_439_808,
        ),
        (
            {
                "model_type": "phi3",
                "hidden_size": 3072,
                "intermediate_size": 8192,
                "max_position_embeddings": 4096,
                "num_attention_heads": 32,
                "num_hidden_layers": 32,
                "num_key_value_heads": 32,
                "vocab_size": 32064,
            },
            3_821_079_552,
        ),
        (
            {
                "model_type": "qwen2_moe",
                "decoder_sparse_step": 1,
                "hidden_size": 2048,
                "intermediate_size": 5632,
                "max_position_embeddings": 8192,
                "moe_intermediate_size": 1408,
                "num_attention_heads": 16,
                "num_experts": 60,
                "num_experts_per_tok": 4,
                "num_hidden_layers": 24,
                "num_key_value_heads": 16,
                "shared_expert_intermediate_size": 5632,
                "vocab_size": 151936,
            },
            14_315_784_192,
        ),
    ],
    ids=["llama", "deepseek-v3", "gpt-oss", "phi-2", "gpt2", "phi-3-mini", "qwen1.5-moe"],
)
def test_a_published_config_gives_the_published_parameters(fields, parameters):
    assert total_parameters(read(fields)) == parameters


SMALL = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "max_position_embeddings": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "vocab_size": 128,
}
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 32}
TABLES, NORM = 2 * 128 * 64, 64
QKV, OUT = 64 * (64 + 2 * 32), 64 * 64


def test_class_sizes_stand_where_a_nested_file_leaves_them_out():
    """A text part repeats no value of its class: `llama` alone is Llama-2-7B, with a vocabulary of its own here.

    The file of a whole model writes all its sizes, so there a missing one is missing.
    """
    part = {"model_type": "llama", "vocab_size": 32064}
    found = read({"model_type": "llava", "text_config": part})
    assert total_parameters(found) == 6_738_415_616 + 2 * 64 * 4096
    with pytest.raises(OutOfRangeError, match="needs hidden_size, num_hidden_layers, num_attention_heads"):
        read(part)


@pytest.mark.parametrize(
    ("kind", "heads"), [("llama", 32), ("mistral", 8), ("qwen2_vl", 8), ("gemma", 16), ("starcoder2", 2)]
)
def test_kv_heads_that_are_left_out_are_the_classs_own_and_a_null_is_one_a_query_head(kind, heads):
    fields = {**LLAMA_8B, "model_type": kind}
    del fields["num_key_value_heads"]
    assert read(fields).num_key_value_heads == heads
    assert read(fields, num_key_value_heads=None).num_key_value_heads == 32


def test_a_null_query_rank_is_none_and_a_missing_one_is_the_classs_own():
    """DeepSeek-V2-Lite writes null for queries that are not compressed; the class has 1536."""
    assert read(DEEPSEEK_V3, q_lora_rank=None).mla.q_lora_rank is None
    fields = {name: value for name, value in DEEPSEEK_V3.items() if name != "q_lora_rank"}
    assert read(fields).mla.q_lora_rank == 1536


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("mixtral", "num_local_experts"),
        ("gpt_oss", "num_local_experts"),
        ("qwen3_moe", "num_experts"),
        ("deepseek_v3", "n_routed_experts"),
        ("glm4_moe", "n_routed_experts"),
    ],
)
def test_a_mixture_without_its_number_of_experts_is_not_taken_for_a_dense_model(kind, name):
    with pytest.raises(OutOfRangeError, match=f"needs {name}"):
        read({**SMALL, "model_type": kind, **EXPERTS})


@pytest.mark.parametrize(
    ("kind", "changed", "layer"),
    [
        ("glm", {"attention_bias": True, "head_dim": 16}, QKV + 128 + OUT + 3 * 64 * 96 + 2 * NORM),
        ("glm4", {"attention_bias": False, "head_dim": 16}, QKV + OUT + 3 * 64 * 96 + 4 * NORM),
        ("internlm2", {}, QKV + OUT + 3 * 64 * 96 + 2 * NORM),
        ("ministral3", {}, QKV + OUT + 3 * 64 * 96 + 2 * NORM),
        ("stablelm", {"use_qkv_bias": True}, QKV + 128 + OUT + 3 * 64 * 96 + 2 * 2 * NORM),
        ("cohere", {"tie_word_embeddings": False}, QKV + OUT + 3 * 64 * 96 + NORM),
        ("ernie4_5", {"tie_word_embeddings": False, "head_dim": 16}, QKV + OUT + 3 * 64 * 96 + 2 * NORM),
        ("granitemoe", {"num_local_experts": 4}, QKV + OUT + 4 * (3 * 64 * 96 + 64) + 2 * NORM),
        (
            "llama4_text",
            {"num_local_experts": 4, "interleave_moe_layer_step": 1, "use_qk_norm": True, "head_dim": 16},
            QKV + OUT + 4 * (3 * 64 * 96 + 64) + 3 * 64 * 96 + 2 * NORM,
        ),
        (
            "glm4_moe",
            {
                "attention_bias": True,
                "first_k_dense_replace": 0,
                "head_dim": 16,
                "n_routed_experts": 4,
                "use_qk_norm": True,
            },
            QKV + 128 + OUT + 2 * 16 + 4 * (3 * 64 * 32 + 64 + 1) + 3 * 64 * 32 + 2 * NORM,
        ),
    ],
)
def test_a_layer_of_each_further_family_by_hand(kind, changed, layer):
    """Tables, three layers and a last norm; LayerNorm has a bias, and GLM a bias on q, k and v alone."""
    last_norm = 2 * NORM if kind == "stablelm" else NORM
    found = read({**SMALL, **EXPERTS, "model_type": kind, **changed})
    assert total_parameters(found) == TABLES + 3 * layer + last_norm


FAMILY_OF = {
    "llama": "llama",
    "codellama": "llama",
    "yi": "llama",
    "phi-4": "llama",
    "smollm3": "llama",
    "solar": "llama",
    "tinyllama": "llama",
    "deepseek-coder": "llama",
    "mistral": "mistral",
    "mixtral": "mixtral",
    "qwen2": "qwen2",
    "deepseek-r1-distill-qwen": "qwen2",
    "qwen3": "qwen3",
    "gemma-2": "gemma2",
    "gemma-3": "gemma3_text",
    "opt": "opt",
    "gpt-oss": "gpt_oss",
    "deepseek-v2": "deepseek_v2",
    "deepseek-v3": "deepseek_v3",
    "deepseek-r1": "deepseek_v3",
    "kimi": "kimi_k2",
    "ministral": "ministral3",
    "glm-4.7-flash": "glm4_moe_lite",
    "ernie": "ernie4_5_moe",
}


def as_published(row) -> dict[str, object]:
    """A catalog row under the names its publisher's config.json uses; biases and norms are not among them."""
    family = FAMILY_OF[max((name for name in FAMILY_OF if row.key.startswith(name)), key=len)]
    fields: dict[str, object] = {
        "model_type": family,
        "hidden_size": row.hidden_size,
        "num_hidden_layers": row.num_hidden_layers,
        "num_attention_heads": row.num_attention_heads,
        "num_key_value_heads": row.num_key_value_heads,
        "vocab_size": row.vocab_size,
        "max_position_embeddings": row.max_position_embeddings,
        "tie_word_embeddings": row.tie_word_embeddings,
        "ffn_dim" if family == "opt" else "intermediate_size": row.intermediate_size,
    }
    if row.head_dim * row.num_attention_heads != row.hidden_size:
        fields["head_dim"] = row.head_dim
    if family == "gpt_oss":
        fields["attention_bias"] = True
    if row.moe is not None:
        experts = {"mixtral": "num_local_experts", "gpt_oss": "num_local_experts", "qwen3": "num_experts"}
        experts["ernie4_5_moe"] = "moe_num_experts"
        fields[experts.get(family, "n_routed_experts")] = row.moe.num_experts
        fields["num_experts_per_tok"] = row.moe.num_experts_per_tok
    if row.moe is not None and family not in ("mixtral", "gpt_oss"):
        fields["model_type"] = "qwen3_moe" if family == "qwen3" else family
        fields["moe_intermediate_size"] = row.moe.moe_intermediate_size
        fields["n_shared_experts"] = row.moe.n_shared_experts or None
        fields["first_k_dense_replace"] = row.moe.first_k_dense_replace
        fields["topk_method"] = "noaux_tc" if row.moe.router_bias else "greedy"
    if row.mla is not None:
        names = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "q_lora_rank")
        fields |= {name: getattr(row.mla, name) for name in names}
    return fields


def test_every_catalog_model_is_read_back_from_its_config():
    for row in MODELS.values():
        if row in LAYERED:  # test_models_of_today reads these
            continue
        found = read(as_published(row))
        assert total_parameters(found) == total_parameters(row), row.key
        assert active_parameters(found) == active_parameters(row), row.key
        assert kv_bytes_per_token(found) == kv_bytes_per_token(row), row.key
        assert (found.head_dim, found.qk_norm, found.qkv_bias) == (row.head_dim, row.qk_norm, row.qkv_bias)


def test_the_text_part_of_a_multimodal_model_is_read_with_its_class_defaults():
    """Gemma 3's file leaves out head_dim 256, the tied table and 262,208 tokens: the class has them."""
    found = read(GEMMA_3_12B)
    assert total_parameters(found) == total_parameters(model("gemma-3-12b"))
    assert found.name == "config, text"


@each(
    ("block", "dtype", "group"),
    [
        (None, "bf16", None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", None),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4", 128),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True}, "int4", 32),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "int8", None),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", 64),
        ({"quant_method": "bitsandbytes", "load_in_4bit": False, "load_in_8bit": True}, "int8", None),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8", None),
        ({"quant_method": "modelopt", "quant_algo": "W8A8_SQ_PER_CHANNEL"}, "int8", None),
        ({"quant_method": "torchao", "quant_type": "int8_weight_only"}, "int8", None),
        (
            {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int4WeightOnlyConfig", "_data": {}}}},
            "int4",
            128,
        ),
        (
            {
                "quant_method": "torchao",
                "quant_type": {"default": {"_type": "Float8DynamicActivationFloat8WeightConfig", "_data": {}}},
            },
            "fp8",
            None,
        ),
        (
            {
                "quant_method": "torchao",
                "quant_type": {
                    "default": {
                        "_type": "IntxWeightOnlyConfig",
                        "_data": {"weight_granularity": {"_type": "PerGroup", "_data": {"group_size": 32}}},
                    }
                },
            },
            "int4",
            32,
        ),
        (
            {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}},
            "int4",
            64,
        ),
        ({"quant_method": "ptpc_fp8"}, "fp8", None),
        ({"quant_method": "eetq", "weights": "int8"}, "int8", None),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}}, "fp8", None),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "uint4", "group_size": 128}}},
            "int4",
            128,
        ),
        ({"bits": 4, "group_size": 64, "model.layers.0.mlp.gate": {"bits": 8, "group_size": 64}}, "int4", 64),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128, "strategy": "group"}}
                },
            },
            "int4",
            128,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "group_size": None}}},
            },
            "fp8",
            None,
        ),
    ],
)
def test_quantised_weights_are_understood(block, dtype, group):
    found = read(LLAMA_8B, quantization_config=block)
    assert (found.weight_dtype, found.quantisation_group) == (dtype, group)


def test_ten_million_positions_are_a_models_and_not_a_slip():
    """Llama 4 Scout's own."""
    assert read(LLAMA_8B, max_position_embeddings=10_485_760).max_position_embeddings == 10_485_760


def test_a_file_that_mlx_wrote_says_its_width_under_a_name_of_its_own():
    found = read(LLAMA_8B, quantization={"bits": 4, "group_size": 64})
    assert (found.weight_dtype, found.quantisation_group) == ("int4", 64)


@each(
    ("changed", "said"),
    [
        ({"model_type": "rwkv"}, "rwkv"),
        ({"model_type": None}, "is missing"),
        ({"vocab_size": None, "num_hidden_layers": None}, "num_hidden_layers, vocab_size"),
        ({"hidden_size": "4096"}, "hidden_size=4096"),
        ({"hidden_size": 4097}, "does not divide"),
        ({"num_attention_heads": True}, "num_attention_heads=True"),
        ({"num_key_value_heads": 5}, "must divide"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"full_attention_interval": 4}, "full_attention_interval"),
        ({"model_type": "phi", "qk_layernorm": True}, "qk_layernorm"),
        ({"model_type": "opt", "layer_norm_elementwise_affine": False}, "layer_norm_elementwise_affine"),
        ({"model_type": "opt", "do_layer_norm_before": False}, "do_layer_norm_before"),
        ({"model_type": "gpt_neox", "attention_bias": False}, "attention_bias"),
        ({"model_type": "deepseek_v3", "attention_bias": True}, "attention_bias"),
        ({"model_type": "cohere", "use_qk_norm": True}, "use_qk_norm"),
        ({"model_type": "stablelm", "use_parallel_residual": True}, "use_parallel_residual"),
        ({"model_type": "seed_oss", "attention_out_bias": True}, "attention_out_bias"),
        ({"quantization_config": {"quant_method": "hqq"}}, "hqq bits"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 3}}, "bits"),
        ({"quantization": {"bits": 6, "group_size": 64}}, "bits"),
        ({"quantization": {"bits": 4, "group_size": 32, "mode": "mxfp4"}}, "quant_method"),
        ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A8_MXFP4_FP8"}}, "quant_algo"),
        ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": False}}, "load_in_8bit"),
        ({"quantization_config": {"quant_method": "quark", "global_quant_config": {}}}, "global_quant_config"),
        ({"quantization_config": "fp8"}, "quantization_config"),
        ({"torch_dtype": "complex64"}, "torch_dtype"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_name(changed, said):
    fields = {name: value for name, value in {**LLAMA_8B, **changed}.items() if value is not None}
    with pytest.raises(OutOfRangeError, match=said):
        model_from_config(json.dumps(fields))


def test_an_unknown_architecture_names_the_known_and_what_is_missing():
    with pytest.raises(OutOfRangeError) as refusal:
        model_from_config(
            '{"model_type": "flint", "hidden_size": 768, "num_hidden_layers": 24, "vocab_size": 50280}'
        )
    assert "num_attention_heads" in str(refusal.value)
    assert all(family in str(refusal.value) for family in FAMILIES)


@pytest.mark.parametrize("text", ["", "no json", "{", "[1, 2]", '{"a": }', '{"a":' * 100_000 + "}", "{}" * 600_000])
def test_a_text_that_is_no_config_is_refused_at_once(text):
    """Empty objects are objects, and lack what a config says; anything else is no JSON of one."""
    began = time.process_time()
    with pytest.raises(OutOfRangeError if text.startswith("{}") else UnreadableTextError):
        model_from_config(text)
    assert time.process_time() - began < 1


def test_fences_and_words_around_a_config_do_not_hurt():
    text = f"Here it is:\n```json\n{json.dumps(LLAMA_8B, indent=2)}\n```\nthanks"
    assert total_parameters(model_from_config(text)) == 8_030_261_248


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.just(10**400) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from(sorted(DEEPSEEK_V3)), JSON, min_size=1, max_size=3))
def test_no_value_of_any_field_ends_in_anything_but_a_model_or_a_refusal(changed):
    with suppress(ShardlabError):
        assert total_parameters(read(DEEPSEEK_V3, **changed)) > 0


def test_each_field_s_own_bad_values_are_refused_or_read():
    for name in DEEPSEEK_V3:
        for value in (None, [], {}, "x", -1, 0, 1.5, 10**400, True):
            with suppress(ShardlabError):
                assert total_parameters(read(DEEPSEEK_V3, **{name: value})) > 0


@pytest.mark.parametrize(
    "named",
    [
        {"quant_method": "gptq", "dynamic": {r"+:.*\.down_proj.*": {"bits": 8, "group_size": 32}}},
        {
            "quant_method": "auto-round",
            "extra_config": {f"model.layers.{layer}.mlp.down_proj": {"bits": 8} for layer in range(32)},
        },
    ],
)
def test_modules_of_another_width_weigh_what_they_weigh(named):
    """Every way down of Llama-3-8B in eight bits among four: 32 · 4096 · 14336 weights at twice the size."""
    mixed = read(LLAMA_8B, quantization_config={"bits": 4, "group_size": 128, **named})
    plain = read(LLAMA_8B, quantization_config={"bits": 4, "group_size": 128, "quant_method": "gptq"})
    sizes = [
        {t.name: t.size_bytes for t in rank_tensors(one, dtype=checkpoint_width(one))} for one in (mixed, plain)
    ]
    assert sizes[0]["mlp down"] == 4096 * 14336
    assert {name for name in sizes[1] if sizes[0][name] != sizes[1][name]} == {"mlp down"}


def test_a_block_is_written_in_two_ways():
    weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": "128x128"}
    block = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}}
    assert read(LLAMA_8B, quantization_config=block).weight_block == (128, 128)
