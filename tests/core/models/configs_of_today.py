"""Configs of today's models, as the tests of this folder read them, and the totals they must come to.

The fields are numbers of each model's public config.json, as ai-dynamo/aiconfigurator keeps it. Totals are of the
class of Hugging Face transformers 5.23, built without memory (`torch.device("meta")`), with the biases of routers
that it keeps as buffers; llama.cpp, which counts the tensors of a file, also prints 31,577,940,288 for Nemotron 3
Nano and 228,689,764,864 for MiniMax-M2.7.
"""


def shape(kind: str, d: int, layers: int, heads: int, kv_heads: int, vocabulary: int, **more: object):
    """A config.json's common fields, and more of it."""
    return {
        "model_type": kind,
        "hidden_size": d,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocabulary,
        "tie_word_embeddings": False,
        **more,
    }


def latent(q_rank: int | None, kv_rank: int = 512, nope: int = 128, rope: int = 64, value: int = 128):
    return {
        "q_lora_rank": q_rank,
        "kv_lora_rank": kv_rank,
        "qk_nope_head_dim": nope,
        "qk_rope_head_dim": rope,
        "v_head_dim": value,
    }


def delta(keys: int, values: int):
    return {
        "linear_num_key_heads": keys,
        "linear_num_value_heads": values,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "full_attention_interval": 4,
        "head_dim": 256,
        "attn_output_gate": True,
    }


QWEN35_MOE = shape(
    "qwen3_5_moe_text", 3072, 48, 32, 2, 248320, **delta(16, 64),
    num_experts=256, num_experts_per_tok=8, moe_intermediate_size=1024, shared_expert_intermediate_size=1024,
    mamba_ssm_dtype="float32",
)  # fmt: skip
NANO = shape(
    "nemotron_h", 2688, 52, 32, 2, 131072,
    hybrid_override_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    head_dim=128, intermediate_size=1856, mamba_head_dim=64, mamba_num_heads=64, n_groups=8, ssm_state_size=128,
    mamba_ssm_cache_dtype="float32", moe_intermediate_size=1856, moe_shared_expert_intermediate_size=3712,
    n_routed_experts=128, n_shared_experts=1, num_experts_per_tok=6,
)  # fmt: skip
MINIMAX = shape(
    "minimax_m2", 3072, 62, 48, 8, 200064, head_dim=128, intermediate_size=1536, num_local_experts=256,
    num_experts_per_tok=8, use_qk_norm=True, use_routing_bias=True, shared_intermediate_size=0,
)  # fmt: skip
V32 = shape(
    "deepseek_v32", 7168, 61, 128, 128, 129280, **latent(1536), intermediate_size=18432, moe_intermediate_size=2048,
    n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=3, index_head_dim=128,
    index_n_heads=64, index_topk=2048, topk_method="noaux_tc",
)  # fmt: skip
V4_FLASH = shape(
    "deepseek_v4", 4096, 43, 64, 1, 129280, head_dim=512, q_lora_rank=1024, o_groups=8, o_lora_rank=1024,
    qk_rope_head_dim=64, index_head_dim=128, index_n_heads=64, index_topk=512, moe_intermediate_size=2048,
    n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=6, num_hash_layers=3, hc_mult=4,
    sliding_window=128,
    compress_ratios=[0, 0, *([4, 128] * 20), 4, 0], expert_dtype="fp4",
    quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]},
)  # fmt: skip
GEMMA4 = shape(
    "gemma4_text", 2816, 30, 16, 8, 262144, attention_k_eq_v=True, enable_moe_block=True, global_head_dim=512,
    head_dim=256, intermediate_size=2112, layer_types=(["sliding_attention"] * 5 + ["full_attention"]) * 5,
    moe_intermediate_size=704, num_experts=128, num_global_key_value_heads=2, sliding_window=1024, top_k_experts=8,
    hidden_size_per_layer_input=0,
) | {"tie_word_embeddings": True}  # fmt: skip
E4B = shape(
    "gemma4_text", 2560, 42, 8, 2, 262144, head_dim=256, global_head_dim=512, intermediate_size=10240,
    num_kv_shared_layers=18, hidden_size_per_layer_input=256, vocab_size_per_layer_input=262144, sliding_window=512,
) | {"tie_word_embeddings": True}  # fmt: skip
JAMBA = shape(
    "jamba", 4096, 32, 32, 8, 65536, intermediate_size=14336, num_experts=16, num_experts_per_tok=2,
    mamba_d_state=16, mamba_d_conv=4, mamba_expand=2, mamba_dt_rank="auto",
)  # fmt: skip
LFM2 = shape(
    "lfm2", 2048, 6, 32, 8, 65536, intermediate_size=12288,
    layer_types=["conv", "conv", "full_attention", "conv", "conv", "full_attention"],
) | {"tie_word_embeddings": True}  # fmt: skip
MAVERICK = shape(
    "llama4_text", 5120, 48, 40, 8, 202048, head_dim=128, interleave_moe_layer_step=2, intermediate_size=8192,
    intermediate_size_mlp=16384, num_local_experts=128, num_experts_per_tok=1, attention_chunk_size=8192,
)  # fmt: skip
MIMO = shape(
    "mimo_v2_flash", 4096, 48, 64, 4, 152576, head_dim=192, v_head_dim=128, intermediate_size=16384,
    sliding_window=128, swa_num_attention_heads=64, swa_num_key_value_heads=8, swa_head_dim=192, swa_v_head_dim=128,
    hybrid_layer_pattern=[0, *([1] * 4), 0, *([*([1] * 5), 0] * 7)], moe_layer_freq=[0, *([1] * 47)],
    moe_intermediate_size=2048, n_routed_experts=256, num_experts_per_tok=8, topk_method="noaux_tc",
    attention_bias=False, add_swa_attention_sink_bias=True, add_full_attention_sink_bias=False,
)  # fmt: skip
GLM52 = shape(
    "glm_moe_dsa", 6144, 78, 64, 64, 154880, **latent(2048, nope=192, value=256), intermediate_size=12288,
    moe_intermediate_size=2048, n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8,
    first_k_dense_replace=3, index_head_dim=128, index_n_heads=32, topk_method="noaux_tc",
    indexer_types=["full", "full", *(["full", "shared", "shared", "shared"] * 19)],
)  # fmt: skip
KIMI_LINEAR = shape(
    "kimi_linear", 2304, 27, 32, 32, 163840, **latent(None), intermediate_size=9216, moe_intermediate_size=1024,
    num_experts=256, num_experts_per_token=8, num_shared_experts=1, first_k_dense_replace=1, mla_use_nope=True,
    linear_attn_config={"head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4,
                        "kda_layers": [one for one in range(1, 27) if one % 4]},
)  # fmt: skip
M3 = shape(
    "minimax_m3_vl_text", 6144, 60, 64, 4, 200064, head_dim=128, intermediate_size=3072,
    dense_intermediate_size=12288, shared_intermediate_size=3072,
    num_local_experts=128, num_experts_per_tok=4, n_shared_experts=1,
    use_routing_bias=True, moe_layer_freq=[0] * 3 + [1] * 57,
    sparse_attention_config={"sparse_index_dim": 128, "sparse_num_index_heads": 4,
                             "sparse_attention_freq": [0] * 3 + [1] * 57},
)  # fmt: skip
SUPER_120B = NANO | {
    "hidden_size": 4096, "num_hidden_layers": 88, "mamba_num_heads": 128, "moe_intermediate_size": 2688,
    "moe_latent_size": 1024, "moe_shared_expert_intermediate_size": 5376, "n_routed_experts": 512,
    "num_experts_per_tok": 22, "intermediate_size": 2688,
    "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*"
    "EMEMEMEME",
}  # fmt: skip
GRANITE4 = shape(
    "granitemoehybrid", 4096, 4, 32, 8, 100352, intermediate_size=768, num_local_experts=72, num_experts_per_tok=10,
    shared_intermediate_size=1536, layer_types=["mamba", "attention", "mamba", "mamba"], mamba_n_heads=128,
    mamba_d_head=64, mamba_n_groups=1, mamba_d_state=128, mamba_d_conv=4,
) | {"tie_word_embeddings": True}  # fmt: skip
OLMO2 = shape("olmo2", 4096, 32, 32, 32, 50304, intermediate_size=11008)
COHERE2 = shape(
    "cohere2", 8192, 40, 64, 64, 256000, intermediate_size=22528, sliding_window=4096, layer_types=None
) | {"tie_word_embeddings": True}  # fmt: skip

PUBLISHED = {
    "Qwen3.5-122B-A10B": (QWEN35_MOE, 122_111_526_912),
    "Nemotron-3-Nano-30B-A3B": (NANO, 31_577_940_288),
    "Nemotron-3-Super-120B-A12B": (SUPER_120B, 120_668_707_840),
    "MiniMax-M2.7": (MINIMAX, 228_689_764_864),
    "MiniMax-M3, text": (M3, 424_945_379_712 + 200_064 * 6_144),
    "DeepSeek-V3.2": (V32, 671_877_944_064),
    "DeepSeek-V4-Flash": (V4_FLASH, 284_332_240_471),
    "Gemma 4 26B-A4B, text": (GEMMA4, 25_233_141_790),
    "Llama 4 Maverick, text": (MAVERICK, 400_711_848_960),
    "MiMo-V2-Flash": (MIMO, 308_778_780_864),
    "GLM-5.2": (GLM52, 743_377_019_904),
    "Kimi-Linear-48B-A3B": (KIMI_LINEAR, 49_122_681_728),
    "Kimi-Linear-48B-A3B, as transformers 5 writes it": (
        {name: value for name, value in KIMI_LINEAR.items() if name != "linear_attn_config"}
        | {
            "linear_num_heads": 32,
            "linear_head_dim": 128,
            "layer_types": [
                "full_attention" if one % 4 == 3 or one == 26 else "linear_attention" for one in range(27)
            ],
            "mlp_layer_types": ["dense"] + ["sparse"] * 26,
        },
        49_122_681_728,
    ),
    "DeepSeek-V4-Flash, as transformers 5 writes it": (
        {name: value for name, value in V4_FLASH.items() if name not in ("compress_ratios", "num_hash_layers")}
        | {
            "layer_types": ["heavily_compressed_attention"]
            + ["heavily_compressed_attention", "compressed_sparse_attention"] * 20
            + ["heavily_compressed_attention"] * 2,
            "mlp_layer_types": ["hash_moe"] * 3 + ["moe"] * 40,
        },
        284_325_879_255,
    ),
    "DeepSeek-V4-Flash, its layers left to its class": (
        {name: value for name, value in V4_FLASH.items() if name != "compress_ratios"},
        284_325_879_255,
    ),
    "Gemma 4 E4B, text": (E4B, 7_463_013_418),
    "Gemma 4 E2B, text": (
        E4B
        | {
            "num_hidden_layers": 35,
            "num_kv_shared_layers": 20,
            "hidden_size": 1536,
            "intermediate_size": 6144,
            "num_key_value_heads": 1,
            "use_double_wide_mlp": True,
            "layer_types": [
                "full_attention" if one % 6 == 5 or one == 34 else "sliding_attention" for one in range(35)
            ],
        },
        4_621_490_979,
    ),
    "Jamba": (JAMBA, 51_570_323_328),
    "Bamba 9B": (
        shape(
            "bamba",
            4096,
            32,
            32,
            8,
            128000,
            intermediate_size=14336,
            mamba_n_heads=128,
            mamba_d_head="auto",
            mamba_d_state=256,
            mamba_n_groups=1,
            attn_layer_indices=[9, 18, 27],
        ),
        9_808_584_064,
    ),
    "Falcon-H1, four layers": (
        shape(
            "falcon_h1",
            5120,
            4,
            32,
            8,
            128000,
            intermediate_size=14336,
            mamba_d_ssm=4096,
            mamba_n_heads=32,
            mamba_d_head=128,
            mamba_n_groups=2,
            mamba_d_state=256,
            mamba_rms_norm=True,
        ),
        2_727_118_208,
    ),
    "LFM2, six layers": (LFM2, 524_339_456),
    "LFM2-MoE, four layers": (
        shape(
            "lfm2_moe",
            2048,
            4,
            32,
            8,
            65536,
            intermediate_size=7168,
            moe_intermediate_size=1792,
            num_experts=32,
            num_experts_per_tok=4,
            layer_types=["conv", "conv", "full_attention", "conv"],
        )
        | {"tie_word_embeddings": True},
        987_926_720,
    ),
    "Apertus 8B, all heads": (shape("apertus", 4096, 32, 32, 32, 131072, intermediate_size=14336), 6_979_596_352),
    "Hunyuan-A13B, by layer": (
        shape(
            "hunyuan_v1_moe",
            4096,
            32,
            32,
            8,
            128167,
            head_dim=128,
            intermediate_size=3072,
            num_experts=64,
            moe_topk=[8] * 32,
            num_shared_expert=[1] * 32,
            moe_intermediate_size=[3072] * 32,
        ),
        80_918_155_264,
    ),
    "dots.llm1, four layers": (
        shape(
            "dots1",
            4096,
            4,
            32,
            32,
            152064,
            head_dim=128,
            intermediate_size=10944,
            moe_intermediate_size=1408,
            n_routed_experts=128,
            n_shared_experts=2,
            num_experts_per_tok=6,
            first_k_dense_replace=1,
        ),
        8_397_821_312,
    ),
    "Granite 4, four layers": (GRANITE4, 3_554_468_736),
    "OLMo 2 7B": (OLMO2, 6_888_624_128),
    "Command, 40 layers": (COHERE2, 34_980_831_232),
}


IN_THE_CATALOG = {
    "qwen3.5-122b-a10b": QWEN35_MOE,
    "nemotron-3-nano-30b-a3b": NANO,
    "nemotron-3-super-120b-a12b": SUPER_120B,
    "minimax-m2": MINIMAX,
    "minimax-m3": M3,
    "deepseek-v3.2": V32,
    "deepseek-v4-flash": V4_FLASH,
    "gemma-4-26b-a4b": GEMMA4,
    "llama-4-maverick": MAVERICK,
    "mimo-v2-flash": MIMO,
    "glm-5.2": GLM52,
    "kimi-linear-48b-a3b": KIMI_LINEAR,
}
