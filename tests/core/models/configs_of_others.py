"""Configs of models that keep states, share blocks or are older than today's, and the totals they must come to.

The fields are numbers of each model's public config.json. A total is what its publisher or Hugging Face counts, or
where it says "class" that of its class in transformers 5.23, built without memory, with the biases of routers that
it keeps as buffers. LongCat's class there also makes weights for its 256 idle experts, which the published 560
billion do not have. Falcon's head is the embedding in its class; Hugging Face counts both.
"""

from tests.core.models.configs_of_today import latent, shape

_CODE = {"n_embd": 4096, "n_layer": 28, "n_head": 16, "n_positions": 2048, "rotary_dim": 64, "vocab_size": 50400}
_MAMBA = {"hidden_size": 4096, "num_hidden_layers": 64, "conv_kernel": 4, "use_conv_bias": True, "use_bias": False}
_GLM = {"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_attention_heads": 32,
        "kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2, "add_qkv_bias": True,
        "add_bias_linear": False, "rmsnorm": True, "post_layer_norm": True}  # fmt: skip
_FALCON = {"model_type": "falcon", "vocab_size": 65024, "parallel_attn": True, "alibi": False, "bias": False}
_LING = shape(
    "bailing_moe_v2", 2048, 20, 16, 4, 157184, intermediate_size=5120, moe_intermediate_size=512, num_experts=256,
    num_experts_per_tok=8, num_shared_experts=1, head_dim=128, first_k_dense_replace=1, use_bias=False,
    use_qkv_bias=False, use_qk_norm=True, moe_router_enable_expert_bias=True,
)  # fmt: skip
LING_26 = _LING | {
    "model_type": "bailing_hybrid", "architectures": ["BailingMoeV2_5ForCausalLM"], "hidden_size": 4096,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 9216,
    "moe_intermediate_size": 1024, "layer_group_size": 8, "group_norm_size": 4, **latent(1536),
}  # fmt: skip
MAMBA2 = _MAMBA | {"model_type": "mamba2", "state_size": 128, "vocab_size": 32768, "expand": 2, "num_heads": 128,
                   "head_dim": 64, "n_groups": 8, "tie_word_embeddings": False}  # fmt: skip
LONGCAT = shape(
    "longcat_flash", 6144, 28, 64, 64, 131072, **latent(1536), ffn_hidden_size=12288, moe_topk=12,
    n_routed_experts=512, zero_expert_num=256, expert_ffn_hidden_size=2048,
) | {"num_layers": 28, "num_hidden_layers": None}  # fmt: skip
STEP3 = shape(
    "step3_text", 7168, 61, 64, 1, 128815, intermediate_size=18432, num_attention_groups=1, head_dim=256,
    share_q_dim=2048, moe_intermediate_size=5120, moe_num_experts=48, moe_top_k=3, share_expert_dim=5120,
    moe_layers_enum=",".join(map(str, range(4, 60))), max_position_embedding=65536,
)  # fmt: skip
ZAMBA2 = shape(
    "zamba2", 2560, 54, 32, 32, 32000, mamba_d_state=64, mamba_expand=2, mamba_ngroups=1, n_mamba_heads=8,
    num_mem_blocks=2, use_shared_attention_adapter=True, adapter_rank=128,
    layers_block_type=["hybrid" if one in (6, 12, 18, 24, 30, 36, 42, 47, 51) else "mamba" for one in range(54)],
) | {"tie_word_embeddings": True}  # fmt: skip
GEMMA3N = {
    "model_type": "gemma3n",
    "text_config": {"model_type": "gemma3n_text", "intermediate_size": [16384] * 35, "num_hidden_layers": 35},
}

_MINIMAX = shape(
    "minimax_text_01", 6144, 80, 64, 8, 200064, head_dim=128, intermediate_size=9216, num_local_experts=32,
    num_experts_per_tok=2, attn_type_list=([0] * 7 + [1]) * 10, rotary_dim=64, shared_intermediate_size=0,
)  # fmt: skip
_LING_LITE = shape(
    "bailing_moe", 2048, 28, 16, 4, 126464, intermediate_size=5632, moe_intermediate_size=1408, head_dim=128,
    num_experts=64, num_experts_per_tok=6, num_shared_experts=2, use_bias=False, use_qkv_bias=False,
)  # fmt: skip

ROUNDED = {
    "LongCat-Flash": (LONGCAT, 560, 28),
    "Step 3, text": (STEP3, 316, 39),
    "MiniMax-Text-01": (_MINIMAX, 456, 48),
    "Ling-2.6-flash": (LING_26, 104, 7.4),
    "Ling-mini-2.0": (_LING, 16.26, 1.43),
    "Ling-lite": (_LING_LITE, 16.8, 2.75),
}
"""Billions that publishers give, of all parameters and of those a token uses.

LongCat is published with 27 billion in the mean, Step 3 with 38, MiniMax with 45.9: without what is looked up, the
embedding of 0.8, 0.9 and 1.2 billion, and MiniMax without its head of the same size too.
"""

OTHERS = {
    "Mamba 2.8B": (
        _MAMBA | {"model_type": "mamba", "hidden_size": 2560, "state_size": 16, "vocab_size": 50280, "expand": 2,
                  "intermediate_size": 5120, "time_step_rank": 160},
        2_768_345_600,
    ),
    "Falcon Mamba 7B": (
        _MAMBA | {"model_type": "falcon_mamba", "state_size": 16, "vocab_size": 65024, "expand": 16,
                  "intermediate_size": 8192, "time_step_rank": 256, "tie_word_embeddings": False},
        7_272_665_088,
    ),
    "Mamba-Codestral 7B": (MAMBA2, 7_285_403_648),
    "Zamba 2, class": (ZAMBA2, 2_687_639_056),
    "Gemma 3n E4B, text, class": (GEMMA3N, 6_835_235_568),
    "Ling-3.0-Flash, class": (
        shape("bailing_hybrid", 2560, 42, 32, 32, 157184, **latent(None), intermediate_size=6144, head_dim=128,
              moe_intermediate_size=768, num_local_experts=512, num_experts_per_tok=8, n_shared_experts=1,
              first_k_dense_replace=2, layer_group_size=6, short_conv_kernel_size=4),
        124_414_191_072 + 40 * 512,
    ),
    "OLMo Hybrid, class": (shape("olmo_hybrid", 3840, 32, 30, 30, 100352, intermediate_size=11008), 7_430_870_688),
    "A.X K1, class": (
        shape("AXK1", 7168, 61, 64, 64, 163840, **latent(1536), intermediate_size=18432, moe_intermediate_size=2048,
              n_routed_experts=192, n_shared_experts=1, num_experts_per_tok=8, first_k_dense_replace=1),
        518_983_052_288 + 60 * 192,
    ),
    "OLMo 1B": (
        shape("olmo", 2048, 16, 16, 16, 50304, intermediate_size=8192) | {"tie_word_embeddings": True},
        1_176_764_416,
    ),
    "OLMo 7B": (shape("olmo", 4096, 32, 32, 32, 50304, intermediate_size=11008), 6_888_095_744),
    "Falcon 7B": (
        _FALCON | {"hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32, "multi_query": True,
                   "new_decoder_architecture": False},
        7_217_189_760 - 65_024 * 4544,
    ),
    "Falcon 180B": (
        _FALCON | {"hidden_size": 14848, "num_attention_heads": 232, "num_hidden_layers": 80, "num_kv_heads": 8,
                   "new_decoder_architecture": True},
        179_522_565_120 - 65_024 * 14848,
    ),
    "GPT-J 6B": (_CODE | {"model_type": "gptj", "tie_word_embeddings": False}, 6_050_882_784),
    "BLOOM": (
        {"model_type": "bloom", "hidden_size": 14336, "n_head": 112, "n_layer": 70, "vocab_size": 250880},
        176_247_271_424,
    ),
    "MPT 7B": (
        {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4, "no_bias": True,
         "max_seq_len": 2048, "vocab_size": 50432, "attn_config": {"attn_type": "multihead_attention"}},
        6_649_286_656,
    ),
    "DBRX": (
        {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768,
         "vocab_size": 100352, "attn_config": {"kv_n_heads": 8},
         "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}},
        131_596_523_520,
    ),
    "StarCoder": (
        {"model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48, "n_layer": 40, "n_positions": 8192,
         "n_inner": 24576, "vocab_size": 49152, "multi_query": True},
        15_517_456_384,
    ),
    "GLM-4-9B-Chat": (
        _GLM | {"num_layers": 40, "padded_vocab_size": 151552, "seq_length": 131072}, 9_399_951_360,
    ),
    "ChatGLM3 6B": (_GLM | {"num_layers": 28, "padded_vocab_size": 65024, "seq_length": 8192}, 6_243_584_000),
    "Qwen 7B": (
        {"model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
         "intermediate_size": 22016, "kv_channels": 128, "no_bias": True, "vocab_size": 151936, "seq_length": 8192},
        7_721_324_544,
    ),
    "EXAONE 3.5 7.8B": (
        shape("exaone", 4096, 32, 32, 8, 102400, intermediate_size=14336, head_dim=128), 7_818_448_896,
    ),
    "MiniCPM 2B": (
        shape("minicpm", 2304, 40, 36, 36, 122753, intermediate_size=5760) | {"tie_word_embeddings": True},
        2_724_880_896,
    ),
}  # fmt: skip
