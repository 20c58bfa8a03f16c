"""Mixtures of experts, DeepSeek's with latent attention among them: a row a shape.

The columns are `row`'s (core.catalog.model_rows); a mixture's are experts, experts a token, and an expert's width.
"""

from core.catalog.model_rows import CONFIG_LITGPT, MLA, MLA_LITE, gpt_oss, latent, llama, qwen3
from core.specs import MlaSpec, MoeSpec

_ALONE = tuple((part, frozenset(range(61))) for part in ("q down", "kv down"))
"""What Mistral's own FP8 keeps in 16 bits beside the tables."""
_KIMI_EXPERTS = MoeSpec(384, 8, 2048, n_shared_experts=1, first_k_dense_replace=1, router_bias=True)

# fmt: off
QWEN3_MIXTURES = (
    qwen3("qwen3-30b-a3b", "Qwen3 30B-A3B", 48, 2048, 32, 4, 6144, 151936, 40960,
          "Qwen/Qwen3-30B-A3B", CONFIG_LITGPT, head_dim=128, moe=MoeSpec(128, 8, 768)),
    qwen3("qwen3-235b-a22b", "Qwen3 235B-A22B", 94, 4096, 64, 4, 12288, 151936, 40960,
          "Qwen/Qwen3-235B-A22B", CONFIG_LITGPT, head_dim=128, moe=MoeSpec(128, 8, 1536)),
    qwen3("qwen3-235b-a22b-fp8", "Qwen3 235B-A22B FP8", 94, 4096, 64, 4, 12288, 151936, 40960,
          "Qwen/Qwen3-235B-A22B-FP8",
          "config.json kept in ai-dynamo/aiconfigurator model_configs",
          head_dim=128, weight_dtype="fp8", weight_block=(128, 128), moe=MoeSpec(128, 8, 1536)),
    qwen3("qwen3-30b-a3b-2507", "Qwen3 30B-A3B 2507", 48, 2048, 32, 4, 6144, 151936, 262144,
          "Qwen/Qwen3-30B-A3B-Instruct-2507 Qwen/Qwen3-30B-A3B-Thinking-2507 Qwen/Qwen3-Coder-30B-A3B-Instruct"
          " Qwen/Qwen3-Coder-30B-A3B",
          "Lightning-AI/litgpt litgpt/config.py: the shape of Qwen3 30B-A3B, with 262,144 positions",
          head_dim=128, moe=MoeSpec(128, 8, 768)),
    qwen3("qwen3-235b-a22b-2507", "Qwen3 235B-A22B 2507", 94, 4096, 64, 4, 12288, 151936, 262144,
          "Qwen/Qwen3-235B-A22B-Instruct-2507 Qwen/Qwen3-235B-A22B-Thinking-2507",
          "Lightning-AI/litgpt litgpt/config.py: the shape of Qwen3 235B-A22B, with 262,144 positions",
          head_dim=128, moe=MoeSpec(128, 8, 1536)),
    qwen3("qwen3-coder-480b-a35b", "Qwen3 Coder 480B-A35B", 62, 6144, 96, 8, 8192, 151936, 262144,
          "Qwen/Qwen3-Coder-480B-A35B-Instruct",
          "config.json kept in ai-dynamo/aiconfigurator model_configs; its 480,154,875,392 parameters stand in"
          " public notes of the checkpoint",
          head_dim=128, moe=MoeSpec(160, 8, 2560)),
)
"""Qwen3 with experts in every layer."""

MIXTURES = (
    llama("mixtral-8x7b", "Mixtral 8x7B", 32, 4096, 32, 8, 14336, 32000, 32768,
          "mistralai/Mixtral-8x7B-v0.1", CONFIG_LITGPT, moe=MoeSpec(8, 2, 14336)),
    llama("mixtral-8x22b", "Mixtral 8x22B", 56, 6144, 48, 8, 16384, 32000, 65536,
          "mistralai/Mixtral-8x22B-v0.1",
          "config.json kept in ai-dynamo/aiconfigurator model_configs; Lightning-AI/litgpt litgpt/config.py "
          "pads its vocabulary to 32,768, as the Instruct model's is",
          moe=MoeSpec(8, 2, 16384)),
    llama("mixtral-8x22b-instruct", "Mixtral 8x22B Instruct", 56, 6144, 48, 8, 16384, 32768, 65536,
          "mistralai/Mixtral-8x22B-Instruct-v0.1 mistralai/Mixtral-8x22B-v0.3",
          "Lightning-AI/litgpt litgpt/config.py: the base model with 768 more tokens; gives the published "
          "140,630,071,296 parameters exactly",
          moe=MoeSpec(8, 2, 16384)),
    latent("deepseek-v2-lite", "DeepSeek-V2-Lite", 27, 2048, 16, 16, 10944, 102400, 163840,
           "deepseek-ai/DeepSeek-V2-Lite",
           "AMD-AGI/Primus deepseek_v2_lite.yaml but for the vocabulary, 102,400; gives the 15,706,484,224 "
           "parameters that public tables print",
           moe=MoeSpec(64, 6, 1408, n_shared_experts=2, first_k_dense_replace=1), mla=MLA_LITE),
    latent("deepseek-v2.5", "DeepSeek-V2.5", 60, 5120, 128, 128, 12288, 102400, 163840,
           "deepseek-ai/DeepSeek-V2.5 deepseek-ai/DeepSeek-V2",
           "config.json of DeepSeek-V2 as quoted in public repositories, taken for V2.5 too; gives the "
           "235,741,434,880 parameters of DeepSeek-V2 that a public table prints",
           moe=MoeSpec(160, 6, 1536, n_shared_experts=2, first_k_dense_replace=1), mla=MLA),
    latent("deepseek-v3", "DeepSeek-V3", 61, 7168, 128, 128, 18432, 129280, 163840,
           "deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-V3-0324 deepseek-ai/DeepSeek-V3.1"
           " deepseek-ai/DeepSeek-V3.1-Terminus",
           "config.json kept in ai-dynamo/aiconfigurator model_configs; without the MTP module",
           weight_dtype="fp8", weight_block=(128, 128),
           moe=MoeSpec(256, 8, 2048, n_shared_experts=1, first_k_dense_replace=3, router_bias=True), mla=MLA,
           own_draft=True),
    latent("deepseek-r1", "DeepSeek-R1", 61, 7168, 128, 128, 18432, 129280, 163840,
           "deepseek-ai/DeepSeek-R1 deepseek-ai/DeepSeek-R1-0528",
           "config.json kept in ai-dynamo/aiconfigurator model_configs; without the MTP module",
           weight_dtype="fp8", weight_block=(128, 128),
           moe=MoeSpec(256, 8, 2048, n_shared_experts=1, first_k_dense_replace=3, router_bias=True), mla=MLA,
           own_draft=True),
    latent("kimi-k2", "Kimi K2", 61, 7168, 64, 64, 18432, 163840, 131072,
           "moonshotai/Kimi-K2-Instruct moonshotai/Kimi-K2-Base",
           "config.json kept in ai-dynamo/aiconfigurator model_configs; gives the 1,026,408,232,448 parameters"
           " of the published checkpoint",
           weight_dtype="fp8", weight_block=(128, 128),
           moe=_KIMI_EXPERTS, mla=MLA, remote_code=True),
    latent("kimi-k2-0905", "Kimi K2 0905", 61, 7168, 64, 64, 18432, 163840, 262144,
           "moonshotai/Kimi-K2-Instruct-0905", "the shape of Kimi K2, with the 262,144 positions of its page",
           weight_dtype="fp8", weight_block=(128, 128), moe=_KIMI_EXPERTS, mla=MLA, remote_code=True),
    latent("mistral-large-3", "Mistral Large 3 675B-A41B, text", 61, 7168, 128, 128, 16384, 131072, 262144,
           "mistralai/Mistral-Large-3-675B-Instruct-2512 mistralai/Mistral-Large-3-675B-Base-2512",
           "its params.json as tests of TensorRT-LLM and of a public converter quote it, seen 2026-11-28; the "
           "vision tower is not counted",
           weight_dtype="fp8", weight_block=(128, 128), left_alone=_ALONE, vision_tower=True,
           moe=MoeSpec(128, 4, 4096, n_shared_experts=1, first_k_dense_replace=3), mla=MLA),
    latent("glm-4.7-flash", "GLM-4.7-Flash 30B-A3B", 47, 2048, 20, 20, 10240, 154880, 202752,
           "zai-org/GLM-4.7-Flash",
           "vllm-project/vllm tests of glm4_moe_lite quote its config; gives 29,943,393,920 parameters",
           moe=MoeSpec(64, 4, 1536, n_shared_experts=1, first_k_dense_replace=1, router_bias=True),
           mla=MlaSpec(512, 64, 192, 256, q_lora_rank=768)),
    llama("ernie-4.5-21b-a3b", "ERNIE 4.5 21B-A3B", 28, 2560, 20, 4, 12288, 103424, 131072,
          "baidu/ERNIE-4.5-21B-A3B-PT baidu/ERNIE-4.5-21B-A3B-Base-PT baidu/ERNIE-4.5-21B-A3B-Thinking",
          "config.json as public tests of MLX and of KV planners quote it; gives 21,825,437,888 parameters",
          head_dim=128, tie_word_embeddings=True, moe=MoeSpec(64, 6, 1536, n_shared_experts=2,
          first_k_dense_replace=1, router_bias=True)),
    gpt_oss("gpt-oss-20b", "gpt-oss 20B", 24, 2880, 64, 8, 2880, 201088, 131072,
            "openai/gpt-oss-20b",
            "config.json kept in ai-dynamo/aiconfigurator model_configs; mxfp4 holds the experts only, the "
            "rest is bf16",
            moe=MoeSpec(32, 4, 2880, router_bias=True), window=128, cycle="ab"),
    gpt_oss("gpt-oss-120b", "gpt-oss 120B", 36, 2880, 64, 8, 2880, 201088, 131072,
            "openai/gpt-oss-120b",
            "config.json kept in ai-dynamo/aiconfigurator model_configs; mxfp4 holds the experts only, the "
            "rest is bf16",
            moe=MoeSpec(128, 4, 2880, router_bias=True), window=128, cycle="ab"),
)
"""An MLP of experts in all layers, or in all but the first few."""
# fmt: on
