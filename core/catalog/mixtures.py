"""Mixtures of experts, DeepSeek's with latent attention among them."""

from core.specs import MlaSpec, ModelSpec, MoeSpec

MIXTURES = (
    ModelSpec(
        key="mixtral-8x7b",
        name="Mixtral 8x7B",
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=14336,
        vocab_size=32000,
        max_position_embeddings=32768,
        moe=MoeSpec(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=14336),
        aliases=("mistralai/Mixtral-8x7B-v0.1",),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py"
            " agrees"
        ),
    ),
    ModelSpec(
        key="mixtral-8x22b",
        name="Mixtral 8x22B",
        hidden_size=6144,
        num_hidden_layers=56,
        num_attention_heads=48,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=16384,
        vocab_size=32000,
        max_position_embeddings=65536,
        moe=MoeSpec(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=16384),
        aliases=("mistralai/Mixtral-8x22B-v0.1",),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py"
            " pads its vocabulary to 32,768, as the Instruct model's is"
        ),
    ),
    ModelSpec(
        key="mixtral-8x22b-instruct",
        name="Mixtral 8x22B Instruct",
        hidden_size=6144,
        num_hidden_layers=56,
        num_attention_heads=48,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=16384,
        vocab_size=32768,
        max_position_embeddings=65536,
        moe=MoeSpec(num_experts=8, num_experts_per_tok=2, moe_intermediate_size=16384),
        aliases=("mistralai/Mixtral-8x22B-Instruct-v0.1", "mistralai/Mixtral-8x22B-v0.3"),
        source=(
            "Lightning-AI/litgpt litgpt/config.py: the base model with 768 more tokens; gives the published "
            "140,630,071,296 parameters exactly"
        ),
    ),
    ModelSpec(
        key="deepseek-v2-lite",
        name="DeepSeek-V2-Lite",
        hidden_size=2048,
        num_hidden_layers=27,
        num_attention_heads=16,
        num_key_value_heads=16,
        head_dim=192,
        intermediate_size=10944,
        vocab_size=102400,
        max_position_embeddings=163840,
        moe=MoeSpec(
            num_experts=64,
            num_experts_per_tok=6,
            moe_intermediate_size=1408,
            n_shared_experts=2,
            first_k_dense_replace=1,
        ),
        mla=MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128),
        aliases=("deepseek-ai/DeepSeek-V2-Lite",),
        source=(
            "AMD-AGI/Primus deepseek_v2_lite.yaml but for the vocabulary, 102,400; gives the 15,706,484,224 "
            "parameters that public tables print"
        ),
    ),
    ModelSpec(
        key="deepseek-v2.5",
        name="DeepSeek-V2.5",
        hidden_size=5120,
        num_hidden_layers=60,
        num_attention_heads=128,
        num_key_value_heads=128,
        head_dim=192,
        intermediate_size=12288,
        vocab_size=102400,
        max_position_embeddings=163840,
        moe=MoeSpec(
            num_experts=160,
            num_experts_per_tok=6,
            moe_intermediate_size=1536,
            n_shared_experts=2,
            first_k_dense_replace=1,
        ),
        mla=MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, q_lora_rank=1536),
        aliases=("deepseek-ai/DeepSeek-V2.5", "deepseek-ai/DeepSeek-V2"),
        source=(
            "config.json of DeepSeek-V2 as quoted in public repositories, taken for V2.5 too; gives the "
            "235,741,434,880 parameters of DeepSeek-V2 that a public table prints"
        ),
    ),
    ModelSpec(
        key="deepseek-v3",
        name="DeepSeek-V3",
        hidden_size=7168,
        num_hidden_layers=61,
        num_attention_heads=128,
        num_key_value_heads=128,
        head_dim=192,
        intermediate_size=18432,
        vocab_size=129280,
        max_position_embeddings=163840,
        moe=MoeSpec(
            num_experts=256,
            num_experts_per_tok=8,
            moe_intermediate_size=2048,
            n_shared_experts=1,
            first_k_dense_replace=3,
            router_bias=True,
        ),
        mla=MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, q_lora_rank=1536),
        weight_dtype="fp8",
        aliases=("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3.1"),
        source="config.json kept in ai-dynamo/aiconfigurator model_configs; without the MTP module",
    ),
    ModelSpec(
        key="deepseek-r1",
        name="DeepSeek-R1",
        hidden_size=7168,
        num_hidden_layers=61,
        num_attention_heads=128,
        num_key_value_heads=128,
        head_dim=192,
        intermediate_size=18432,
        vocab_size=129280,
        max_position_embeddings=163840,
        moe=MoeSpec(
            num_experts=256,
            num_experts_per_tok=8,
            moe_intermediate_size=2048,
            n_shared_experts=1,
            first_k_dense_replace=3,
            router_bias=True,
        ),
        mla=MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, q_lora_rank=1536),
        weight_dtype="fp8",
        aliases=("deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-R1-0528"),
        source="config.json kept in ai-dynamo/aiconfigurator model_configs; without the MTP module",
    ),
    ModelSpec(
        key="kimi-k2",
        name="Kimi K2",
        hidden_size=7168,
        num_hidden_layers=61,
        num_attention_heads=64,
        num_key_value_heads=64,
        head_dim=192,
        intermediate_size=18432,
        vocab_size=163840,
        max_position_embeddings=131072,
        moe=MoeSpec(
            num_experts=384,
            num_experts_per_tok=8,
            moe_intermediate_size=2048,
            n_shared_experts=1,
            first_k_dense_replace=1,
            router_bias=True,
        ),
        mla=MlaSpec(kv_lora_rank=512, qk_rope_head_dim=64, qk_nope_head_dim=128, v_head_dim=128, q_lora_rank=1536),
        weight_dtype="fp8",
        aliases=("moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Base"),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; gives the 1,026,408,232,448 "
            "parameters of the published checkpoint"
        ),
    ),
    ModelSpec(
        key="gpt-oss-20b",
        name="gpt-oss 20B",
        hidden_size=2880,
        num_hidden_layers=24,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=64,
        intermediate_size=2880,
        vocab_size=201088,
        max_position_embeddings=131072,
        qkv_bias=True,
        o_bias=True,
        mlp_bias=True,
        attention_sinks=True,
        moe=MoeSpec(num_experts=32, num_experts_per_tok=4, moe_intermediate_size=2880, router_bias=True),
        weight_dtype="mxfp4",
        aliases=("openai/gpt-oss-20b",),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; mxfp4 holds the experts only, the "
            "rest is bf16"
        ),
    ),
    ModelSpec(
        key="gpt-oss-120b",
        name="gpt-oss 120B",
        hidden_size=2880,
        num_hidden_layers=36,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=64,
        intermediate_size=2880,
        vocab_size=201088,
        max_position_embeddings=131072,
        qkv_bias=True,
        o_bias=True,
        mlp_bias=True,
        attention_sinks=True,
        moe=MoeSpec(num_experts=128, num_experts_per_tok=4, moe_intermediate_size=2880, router_bias=True),
        weight_dtype="mxfp4",
        aliases=("openai/gpt-oss-120b",),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; mxfp4 holds the experts only, the "
            "rest is bf16"
        ),
    ),
)
"""An MLP of experts in all layers, or in all but the first few."""
