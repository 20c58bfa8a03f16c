"""Whose code a checkpoint runs where its `model_type` does not say: by class, by version, or code of its own."""

ARCHITECTURES = {
    "DeepseekV2ForCausalLM": "deepseek_v2",
    "DeepseekV3ForCausalLM": "deepseek_v3",
    "DotsOCRForCausalLM": "qwen2",
    "KeyeForConditionalGeneration": "qwen3",
    "KeyeVL1_5ForConditionalGeneration": "qwen3",
    "MiMoV2ForCausalLM": "mimo_v2_flash",
    "MistralLarge3ForCausalLM": "deepseek_v3",
    "PanguEmbeddedForCausalLM": "PanguEmbedded",
    "PanguUltraMoEForCausalLM": "pangu_ultra_moe",
    "Param2MoEForCausalLM": "param2moe",
    "Plamo3ForCausalLM": "plamo3",
    "SarvamMLAForCausalLM": "sarvam_mla",
    "SarvamMoEForCausalLM": "sarvam_moe",
    "Step1ForCausalLM": "step1",
    "TeleChat2ForCausalLM": "telechat",
    "TeleChat3ForCausalLM": "telechat3",
    "TeleFLMForCausalLM": "TeleFLM",
}
"""Checkpoints with a `model_type` of their own that run another's code."""
OF_VERSION = {"2.0": "minicpm", "2.5": "llama", "2.6": "qwen2", "4.0": "llama", "4.5": "qwen3"}
"""What thinks in MiniCPM-V and -o, by the file's `version`. Source: minicpmv.py of vLLM 0.33."""
OF_ANOTHER_CODE = {("bailing_hybrid", "BailingMoeV2_5ForCausalLM"): "bailing_moe_linear"}
"""A `model_type` that two classes share, by the class."""
REMOTE_CODE = frozenset(
    {
        "nemotron-nas",
        "phi3_v",
        "phi4mm",
        "solar",
        "xverse",
        "aquila",
        "orion",
        "kimi_k25",
        "mimo",
        "step3p5",
        "step3p7",
        "deepseek_ref",
        "minimax_m2",
        "minimax_m3",
        "kimi_k2",
        "chatglm",
        "deepseek",
        "baichuan",
        "qwen",
        "internlm2",
        "exaone",
        "bailing_moe",
        "bailing_moe_v2",
        "bailing_moe_linear",
        "internlm",
        "minicpm",
        "minimax_m1",
        "minimax_text_01",
        "step3_text",
        "AXK1",
        "PanguEmbedded",
        "pangu_ultra_moe",
        "param2moe",
        "plamo3",
        "sarvam_mla",
        "sarvam_moe",
        "step1",
        "telechat",
        "telechat3",
        "TeleFLM",
    }
)
"""Families that transformers has no class of: their files bring it, and an engine must be told to trust it."""
