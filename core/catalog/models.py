"""Decoder-only transformers by the shapes in their published config.json."""

from collections.abc import Mapping
from dataclasses import replace

from core.catalog.lookup import by_key, find
from core.specs import MlaSpec, ModelSpec, MoeSpec

_LLAMA_2_7B = ModelSpec(
    key="llama-2-7b",
    name="Llama 2 7B",
    hidden_size=4096,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=32,
    head_dim=128,
    intermediate_size=11008,
    vocab_size=32000,
    max_position_embeddings=4096,
    aliases=("meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-7b-chat-hf"),
    source="config.json; meta-pytorch/gpt-fast model.py, microsoft/vidur model_config.py",
)
_LLAMA_3_8B = ModelSpec(
    key="llama-3-8b",
    name="Llama 3 8B",
    hidden_size=4096,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=14336,
    vocab_size=128256,
    max_position_embeddings=8192,
    aliases=("meta-llama/Meta-Llama-3-8B", "meta-llama/Llama-3-8B"),
    source="config.json; meta-pytorch/gpt-fast model.py, microsoft/vidur model_config.py",
)
_LLAMA_3_70B = ModelSpec(
    key="llama-3-70b",
    name="Llama 3 70B",
    hidden_size=8192,
    num_hidden_layers=80,
    num_attention_heads=64,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=28672,
    vocab_size=128256,
    max_position_embeddings=8192,
    aliases=("meta-llama/Meta-Llama-3-70B", "meta-llama/Llama-3-70B"),
    source="config.json; meta-pytorch/gpt-fast model.py, microsoft/vidur model_config.py",
)
_LLAMA_31_405B = ModelSpec(
    key="llama-3.1-405b",
    name="Llama 3.1 405B",
    hidden_size=16384,
    num_hidden_layers=126,
    num_attention_heads=128,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=53248,
    vocab_size=128256,
    max_position_embeddings=131072,
    aliases=("meta-llama/Meta-Llama-3.1-405B", "meta-llama/Llama-3.1-405B"),
    source="config.json, as kept in ai-dynamo/aiconfigurator model_configs",
)
_LLAMA_32_1B = ModelSpec(
    key="llama-3.2-1b",
    name="Llama 3.2 1B",
    hidden_size=2048,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=64,
    intermediate_size=8192,
    vocab_size=128256,
    max_position_embeddings=131072,
    tie_word_embeddings=True,
    aliases=("meta-llama/Llama-3.2-1B",),
    source="the published shape; it gives Meta's 1,235,814,400 parameters exactly",
)
_MIXTRAL_8X7B = ModelSpec(
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
    aliases=("mistralai/Mixtral-8x7B-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1"),
    source="config.json, as kept in ai-dynamo/aiconfigurator model_configs",
)
_QWEN_25_14B = ModelSpec(
    key="qwen2.5-14b",
    name="Qwen2.5 14B",
    hidden_size=5120,
    num_hidden_layers=48,
    num_attention_heads=40,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=13824,
    vocab_size=152064,
    max_position_embeddings=32768,
    qkv_bias=True,
    aliases=("Qwen/Qwen2.5-14B-Instruct",),
    source="config.json of Qwen2.5-14B-Instruct; the weights and blocks of vLLM startup logs agree",
)
_DEEPSEEK_V3 = ModelSpec(
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
    aliases=("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324"),
    source=(
        "config.json (DeepSeek-R1's, the same shape, in ai-dynamo/aiconfigurator model_configs); without "
        "the MTP module"
    ),
)

MODELS: Mapping[str, ModelSpec] = by_key(
    (
        _LLAMA_2_7B,
        _LLAMA_32_1B,
        _LLAMA_3_8B,
        _LLAMA_3_70B,
        replace(
            _LLAMA_3_8B,
            key="llama-3.1-8b",
            name="Llama 3.1 8B",
            max_position_embeddings=131072,
            aliases=("meta-llama/Meta-Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
            source="config.json, as kept in ai-dynamo/aiconfigurator model_configs",
        ),
        replace(
            _LLAMA_3_70B,
            key="llama-3.1-70b",
            name="Llama 3.1 70B",
            max_position_embeddings=131072,
            aliases=("meta-llama/Meta-Llama-3.1-70B", "meta-llama/Llama-3.1-70B"),
            source="config.json, as kept in ai-dynamo/aiconfigurator model_configs",
        ),
        _LLAMA_31_405B,
        _QWEN_25_14B,
        _MIXTRAL_8X7B,
        _DEEPSEEK_V3,
    )
)
"""Every model, under its key."""


def model(name: str) -> ModelSpec:
    """The model that `name` means: a key, a Hugging Face repository, a local path's last part.

    Raises UnknownNameError.
    """
    return find("model", MODELS, name)
