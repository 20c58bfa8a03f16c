"""Llama, and the models that have its shape."""

from core.specs import ModelSpec

LLAMA = (
    ModelSpec(
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
        aliases=("meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-7b"),
        source=(
            "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py, microsoft/vidur "
            "model_config.py agree"
        ),
    ),
    ModelSpec(
        key="llama-2-13b",
        name="Llama 2 13B",
        hidden_size=5120,
        num_hidden_layers=40,
        num_attention_heads=40,
        num_key_value_heads=40,
        head_dim=128,
        intermediate_size=13824,
        vocab_size=32000,
        max_position_embeddings=4096,
        aliases=("meta-llama/Llama-2-13b-hf", "meta-llama/Llama-2-13b"),
        source="Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py agree",
    ),
    ModelSpec(
        key="llama-2-70b",
        name="Llama 2 70B",
        hidden_size=8192,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=28672,
        vocab_size=32000,
        max_position_embeddings=4096,
        aliases=("meta-llama/Llama-2-70b-hf", "meta-llama/Llama-2-70b"),
        source=(
            "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py, microsoft/vidur "
            "model_config.py agree"
        ),
    ),
    ModelSpec(
        key="llama-65b",
        name="LLaMA 65B",
        hidden_size=8192,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=64,
        head_dim=128,
        intermediate_size=22016,
        vocab_size=32000,
        max_position_embeddings=2048,
        aliases=("huggyllama/llama-65b", "h2oai/h2ogpt-research-oasst1-llama-65b"),
        source=(
            "shape as two public conversion scripts of the LLaMA weights list it; a public loading log prints"
            " its 65,285,660,672 parameters; the CPU blocks of a vLLM startup log agree"
        ),
    ),
    ModelSpec(
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
        source=(
            "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py, microsoft/vidur "
            "model_config.py agree"
        ),
    ),
    ModelSpec(
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
        source=(
            "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py, microsoft/vidur "
            "model_config.py agree"
        ),
    ),
    ModelSpec(
        key="llama-3.1-8b",
        name="Llama 3.1 8B",
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=14336,
        vocab_size=128256,
        max_position_embeddings=131072,
        aliases=(
            "meta-llama/Meta-Llama-3.1-8B",
            "meta-llama/Llama-3.1-8B",
            "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
        ),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py"
            " agrees"
        ),
    ),
    ModelSpec(
        key="llama-3.1-70b",
        name="Llama 3.1 70B",
        hidden_size=8192,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=28672,
        vocab_size=128256,
        max_position_embeddings=131072,
        aliases=("meta-llama/Meta-Llama-3.1-70B", "meta-llama/Llama-3.1-70B"),
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py"
            " agrees"
        ),
    ),
    ModelSpec(
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
        source=(
            "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py"
            " agrees"
        ),
    ),
    ModelSpec(
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
        source=(
            "config.json kept in kevinstephano/thunder_model_blocks hf_llama; Lightning-AI/litgpt "
            "litgpt/config.py agrees"
        ),
    ),
    ModelSpec(
        key="llama-3.2-3b",
        name="Llama 3.2 3B",
        hidden_size=3072,
        num_hidden_layers=28,
        num_attention_heads=24,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=8192,
        vocab_size=128256,
        max_position_embeddings=131072,
        tie_word_embeddings=True,
        aliases=("meta-llama/Llama-3.2-3B",),
        source="Lightning-AI/litgpt litgpt/config.py; gives the published 3,212,749,824 parameters exactly",
    ),
    ModelSpec(
        key="llama-3.3-70b",
        name="Llama 3.3 70B",
        hidden_size=8192,
        num_hidden_layers=80,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=28672,
        vocab_size=128256,
        max_position_embeddings=131072,
        aliases=("meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B"),
        source="Lightning-AI/litgpt litgpt/config.py: the shape of Llama 3.1 70B",
    ),
    ModelSpec(
        key="codellama-13b",
        name="Code Llama 13B",
        hidden_size=5120,
        num_hidden_layers=40,
        num_attention_heads=40,
        num_key_value_heads=40,
        head_dim=128,
        intermediate_size=13824,
        vocab_size=32016,
        max_position_embeddings=16384,
        aliases=("codellama/CodeLlama-13b-hf", "codellama/CodeLlama-13b-Python-hf"),
        source="Lightning-AI/litgpt litgpt/config.py; its 13,016,028,160 parameters stand in public model lists",
    ),
    ModelSpec(
        key="tinyllama-1.1b",
        name="TinyLlama 1.1B",
        hidden_size=2048,
        num_hidden_layers=22,
        num_attention_heads=32,
        num_key_value_heads=4,
        head_dim=64,
        intermediate_size=5632,
        vocab_size=32000,
        max_position_embeddings=2048,
        aliases=("TinyLlama/TinyLlama-1.1B-Chat-v1.0",),
        source="Lightning-AI/litgpt litgpt/config.py; gives the published 1,100,048,384 parameters exactly",
    ),
    ModelSpec(
        key="deepseek-coder-6.7b",
        name="DeepSeek Coder 6.7B",
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=32,
        head_dim=128,
        intermediate_size=11008,
        vocab_size=32256,
        max_position_embeddings=16384,
        aliases=("deepseek-ai/deepseek-coder-6.7b-base", "deepseek-ai/deepseek-coder-6.7b-instruct"),
        source=(
            "shape unconfirmed here: no copy of its config was found; it gives the 6,740,512,768 parameters "
            "that public model cards print, and the CPU blocks of a vLLM startup log agree"
        ),
    ),
)
"""Gated MLP, RMSNorm, no biases."""
