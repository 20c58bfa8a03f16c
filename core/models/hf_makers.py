"""What families of architectures share, each kind once: the parts of the table of families."""

from collections.abc import Mapping
from dataclasses import replace

from core.models.hf_derived import other_heads
from core.models.hf_family import Family
from core.models.hf_values import Values


def sizes(hidden: int, inner: int, layers: int, heads: int, vocabulary: int, positions: int) -> Mapping[str, int]:
    """A class's own model, under the names of its fields."""
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
    }


AS_WIDE = {"intermediate_size": "moe_intermediate_size"}
"""The file's `intermediate_size` is an expert's."""
LLAMA = Family(biases="as_configured", sizes=sizes(4096, 11008, 32, 32, 32000, 2048))
MISTRAL = Family(defaults={"num_key_value_heads": 8}, sizes=sizes(4096, 14336, 32, 32, 32000, 131072))
QWEN2 = Family(biases="qkv", defaults={"num_key_value_heads": 32}, sizes=sizes(4096, 22016, 32, 32, 151936, 32768))
QWEN2_VL = Family(
    biases="qkv", defaults={"num_key_value_heads": 8}, sizes=sizes(8192, 29568, 80, 64, 152064, 32768)
)
QWEN3 = Family(
    biases="as_configured",
    qk_norm="head",
    defaults={"head_dim": 128, "num_key_value_heads": 32},
    sizes=sizes(4096, 22016, 32, 32, 151936, 32768),
)
QWEN3_MOE = Family(
    biases="as_configured", qk_norm="head", experts="num_experts", defaults={"num_key_value_heads": 4}
)
GEMMA3 = Family(
    biases="as_configured",
    tied=True,
    window_pattern=6,
    norms_per_layer=4,
    qk_norm="head",
    defaults={
        "head_dim": 256,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
    },
    sizes=sizes(2304, 9216, 26, 8, 262208, 131072),
)
PHI3 = Family(sizes=sizes(3072, 8192, 32, 32, 32064, 4096))
LATENT = {
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
}
DEEPSEEK_V3 = Family(
    experts="n_routed_experts",
    fixed={"attention_bias": False},
    defaults={**LATENT, "first_k_dense_replace": 3, "n_shared_experts": 1, "topk_method": "noaux_tc"},
)
GLM_MOE_DEFAULTS: Mapping[str, int | str] = {
    "attention_bias": False,
    "num_key_value_heads": 8,
    "first_k_dense_replace": 1,
    "n_shared_experts": 1,
    "topk_method": "noaux_tc",
}
DSA = replace(DEEPSEEK_V3, defaults={**DEEPSEEK_V3.defaults, "index_n_heads": 64, "index_head_dim": 128})
GLM_DSA = replace(
    DSA,
    defaults={
        **DSA.defaults,
        "q_lora_rank": 2048,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "index_n_heads": 32,
    },
)
DELTA = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "full_attention_interval": 4,
    "head_dim": 256,
}
QWEN3_NEXT = Family(
    biases="as_configured",
    qk_norm="head",
    gate="row",
    otherwise="linear",
    experts="num_experts",
    shared_gate=True,
    defaults={**DELTA, "num_key_value_heads": 2},
)
QWEN35 = replace(QWEN3_NEXT, experts="", defaults={**DELTA, "num_key_value_heads": 4})


def hyper_connections(values: Values) -> int:
    """DeepSeek-V4's: before attention and MLP, the streams are weighed by one product, and mixed."""
    streams = values.whole("hc_mult", 4)
    weights = (2 + streams) * streams
    return 2 * (weights * (streams * values.whole("hidden_size") + 1) + 3)


def residuals(values: Values) -> int:
    """Kimi K3's: a norm and a row of weights for what attention reads of earlier layers, and for the MLP."""
    return 4 * values.whole("hidden_size") if values.get("attn_res_block_size") is not None else 0


def per_layer_inputs(values: Values) -> int:
    """Gemma 4's scalar of a layer; of inputs for each layer, where it has them, the gate, the way up and a norm."""
    narrow, hidden = values.count("hidden_size_per_layer_input"), values.whole("hidden_size")
    return 1 + (2 * hidden * narrow + hidden if narrow else 0)


def per_activation(values: Values) -> int:
    """Apertus': the two slopes that each layer learns for its activation."""
    return 2


def two_biases(values: Values) -> int:
    """TeleChat 2's: of what attention and the MLP give, and of no other matrix."""
    return 2 * values.whole("hidden_size")


def second_norm(values: Values) -> int:
    """Falcon's newer decoder has a norm before attention and one before the MLP; the older has one for both."""
    newer = values.flag("new_decoder_architecture", False)
    two = newer and values.count("num_ln_in_parallel_attn", 2) == 2
    return 2 * values.whole("hidden_size") if two else 0


DEEPSEEK_V4 = Family(
    experts="n_routed_experts",
    router_bias=True,
    extra=hyper_connections,
    defaults={"n_shared_experts": 1, "sliding_window": 128, "index_n_heads": 64, "index_head_dim": 128},
)
KIMI_LINEAR = Family(
    experts="num_experts",
    otherwise="linear",
    router_bias=True,
    extra=residuals,
    fixed={"attention_bias": False},
)
MINIMAX_M3 = Family(
    qk_norm="head",
    experts="num_local_experts",
    router_bias=True,
    fixed={"attention_output_gate": False},
    defaults={"head_dim": 128, "num_key_value_heads": 4},
    renamed={**AS_WIDE, "dense_intermediate_size": "intermediate_size"},
)
GEMMA4 = Family(
    biases="as_configured",
    tied=True,
    window_pattern=6,
    norms_per_layer=4,
    norms_of_experts=3,
    qk_norm="head",
    both_inner=True,
    extra=per_layer_inputs,
    defaults={"head_dim": 256, "num_key_value_heads": 4, "global_head_dim": 512, "router_scales": True},
    full_names={"head_dim": "global_head_dim", "num_key_value_heads": "num_global_key_value_heads"},
)
STEP = Family(
    qk_norm="head",
    gate="head",
    gate_switch="use_head_wise_attn_gate",
    experts="num_experts",
    defaults={"head_dim": 128, "num_key_value_heads": 8},
    window_names={
        "num_attention_heads": "swa_num_attention_heads",
        "num_key_value_heads": "swa_num_key_value_heads",
        "head_dim": "swa_head_dim",
    },
    derived=other_heads,
)
MAMBA = {"mamba_n_groups": 1, "ssm_state_size": 128, "conv_kernel": 4, "mamba_head_dim": 64}
NEMOTRON_H = Family(
    biases="as_configured",
    otherwise="mamba",
    mlp="plain",
    norms_per_layer=1,
    one_block=True,
    no_rotary=True,
    router_bias=True,
    defaults={**MAMBA, "mamba_n_groups": 8, "mamba_num_heads": 128, "head_dim": 128, "num_key_value_heads": 8},
)
GRANITE_HYBRID = Family(
    biases="as_configured",
    otherwise="mamba",
    defaults={**MAMBA, "mamba_num_heads": 128, "num_key_value_heads": 8},
    renamed=AS_WIDE,
)
OLMO2 = Family(biases="as_configured", qk_norm="row", fixed={"mlp_bias": False})
ERNIE = Family(
    biases="all",
    bias_switch="use_bias",
    tied=True,
    defaults={"use_bias": False, "num_key_value_heads": 2, "head_dim": 128},
)
ERNIE_MOE = replace(
    ERNIE,
    router_bias=True,
    experts="moe_num_experts",
    defaults={"use_bias": False, "num_key_value_heads": 4},
    renamed={"moe_layer_start_index": "first_k_dense_replace"},
)
GLM = Family(biases="qkv", bias_switch="attention_bias", defaults={"head_dim": 128, "num_key_value_heads": 2})
COHERE = Family(
    biases="as_configured", tied=True, norms_per_layer=1, side_by_side=True, fixed={"use_qk_norm": False}
)
GRANITE_MOE = Family(biases="as_configured", experts="num_local_experts", renamed=AS_WIDE)
GPT2_NAMES = {
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
}
GPT2 = Family(biases="all", tied=True, mlp="plain", norm="layernorm", extra_positions=0, renamed=GPT2_NAMES)
