"""Dense models: a row a shape, in tables by family. The columns are `row`'s (core.catalog.model_rows)."""

from core.catalog.model_rows import CONFIG_LITGPT, THREE_AGREE, gemma, llama, opt, qwen2, qwen3

# fmt: off
LLAMA = (
    llama("llama-2-7b", "Llama 2 7B", 32, 4096, 32, 32, 11008, 32000, 4096,
          "meta-llama/Llama-2-7b-hf meta-llama/Llama-2-7b", THREE_AGREE),
    llama("llama-2-13b", "Llama 2 13B", 40, 5120, 40, 40, 13824, 32000, 4096,
          "meta-llama/Llama-2-13b-hf meta-llama/Llama-2-13b",
          "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py agree"),
    llama("llama-2-70b", "Llama 2 70B", 80, 8192, 64, 8, 28672, 32000, 4096,
          "meta-llama/Llama-2-70b-hf meta-llama/Llama-2-70b", THREE_AGREE),
    llama("llama-65b", "LLaMA 65B", 80, 8192, 64, 64, 22016, 32000, 2048,
          "huggyllama/llama-65b h2oai/h2ogpt-research-oasst1-llama-65b",
          "shape as two public conversion scripts of the LLaMA weights list it; a public loading log prints "
          "its 65,285,660,672 parameters; the CPU blocks of a vLLM startup log agree"),
    llama("llama-3-8b", "Llama 3 8B", 32, 4096, 32, 8, 14336, 128256, 8192,
          "meta-llama/Meta-Llama-3-8B meta-llama/Llama-3-8B", THREE_AGREE),
    llama("llama-3-70b", "Llama 3 70B", 80, 8192, 64, 8, 28672, 128256, 8192,
          "meta-llama/Meta-Llama-3-70B meta-llama/Llama-3-70B", THREE_AGREE),
    llama("llama-3.1-8b", "Llama 3.1 8B", 32, 4096, 32, 8, 14336, 128256, 131072,
          "meta-llama/Meta-Llama-3.1-8B meta-llama/Llama-3.1-8B deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
          CONFIG_LITGPT),
    llama("llama-3.1-70b", "Llama 3.1 70B", 80, 8192, 64, 8, 28672, 128256, 131072,
          "meta-llama/Meta-Llama-3.1-70B meta-llama/Llama-3.1-70B", CONFIG_LITGPT),
    llama("llama-3.1-405b", "Llama 3.1 405B", 126, 16384, 128, 8, 53248, 128256, 131072,
          "meta-llama/Meta-Llama-3.1-405B meta-llama/Llama-3.1-405B", CONFIG_LITGPT),
    llama("llama-3.2-1b", "Llama 3.2 1B", 16, 2048, 32, 8, 8192, 128256, 131072,
          "meta-llama/Llama-3.2-1B",
          "config.json kept in kevinstephano/thunder_model_blocks hf_llama; Lightning-AI/litgpt "
          "litgpt/config.py agrees",
          tie_word_embeddings=True),
    llama("llama-3.2-3b", "Llama 3.2 3B", 28, 3072, 24, 8, 8192, 128256, 131072,
          "meta-llama/Llama-3.2-3B",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 3,212,749,824 parameters exactly",
          tie_word_embeddings=True),
    llama("llama-3.3-70b", "Llama 3.3 70B", 80, 8192, 64, 8, 28672, 128256, 131072,
          "meta-llama/Llama-3.3-70B-Instruct deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
          "Lightning-AI/litgpt litgpt/config.py: the shape of Llama 3.1 70B"),
    llama("codellama-13b", "Code Llama 13B", 40, 5120, 40, 40, 13824, 32016, 16384,
          "codellama/CodeLlama-13b-hf codellama/CodeLlama-13b-Instruct-hf",
          "Lightning-AI/litgpt litgpt/config.py; its 13,016,028,160 parameters stand in public model lists"),
    llama("codellama-13b-python", "Code Llama 13B Python", 40, 5120, 40, 40, 13824, 32000, 16384,
          "codellama/CodeLlama-13b-Python-hf",
          "Lightning-AI/litgpt litgpt/config.py: without the infilling tokens, 32,000 in all"),
    llama("codellama-34b", "Code Llama 34B", 48, 8192, 64, 8, 22016, 32000, 16384,
          "codellama/CodeLlama-34b-hf codellama/CodeLlama-34b-Instruct-hf",
          "the numbers of its public config.json; they give the published 33,743,970,304 parameters exactly"),
    llama("yi-34b", "Yi 34B", 60, 7168, 56, 8, 20480, 64000, 4096,
          "01-ai/Yi-34B 01-ai/Yi-34B-Chat 01-ai/Yi-1.5-34B-Chat",
          "the numbers of its public config.json; they give the published 34,388,917,248 parameters exactly"),
    llama("phi-4", "Phi 4", 40, 5120, 40, 10, 17920, 100352, 16384,
          "microsoft/phi-4",
          "the numbers of its public config.json; they give the published 14,659,507,200 parameters exactly"),
    llama("phi-4-mini", "Phi 4 mini", 32, 3072, 24, 8, 8192, 200064, 131072,
          "microsoft/Phi-4-mini-instruct",
          "the numbers of its public config.json; they give the published 3,836,021,760 parameters exactly",
          tie_word_embeddings=True, rotary_dim=96),
    llama("smollm3-3b", "SmolLM3 3B", 36, 2048, 16, 4, 11008, 128256, 65536,
          "HuggingFaceTB/SmolLM3-3B",
          "the numbers of its public config.json; they give the published 3,075,098,624 parameters exactly",
          tie_word_embeddings=True),
    llama("solar-10.7b", "SOLAR 10.7B", 48, 4096, 32, 8, 14336, 32000, 4096,
          "upstage/SOLAR-10.7B-v1.0 upstage/SOLAR-10.7B-Instruct-v1.0",
          "the numbers of its public config.json; they give the published 10,731,524,096 parameters exactly"),
    llama("tinyllama-1.1b", "TinyLlama 1.1B", 22, 2048, 32, 4, 5632, 32000, 2048,
          "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 1,100,048,384 parameters exactly"),
    llama("deepseek-coder-6.7b", "DeepSeek Coder 6.7B", 32, 4096, 32, 32, 11008, 32256, 16384,
          "deepseek-ai/deepseek-coder-6.7b-base deepseek-ai/deepseek-coder-6.7b-instruct",
          "shape unconfirmed here: no copy of its config was found; it gives the 6,740,512,768 parameters that"
          " public model cards print, and the CPU blocks of a vLLM startup log agree"),
)
"""Gated MLP, RMSNorm, no biases: Llama, and the models that have its shape."""

QWEN2 = (
    qwen2("qwen2-7b", "Qwen2 7B", 28, 3584, 28, 4, 18944, 152064, 32768,
          "Qwen/Qwen2-7B Qwen/Qwen2-7B-Instruct",
          "config.json of Qwen2-7B-Instruct, as quoted in public repositories"),
    qwen2("qwen2.5-0.5b", "Qwen2.5 0.5B", 24, 896, 14, 2, 4864, 151936, 32768,
          "Qwen/Qwen2.5-0.5B",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 494,032,768 parameters exactly",
          tie_word_embeddings=True),
    qwen2("qwen2.5-1.5b", "Qwen2.5 1.5B", 28, 1536, 12, 2, 8960, 151936, 32768,
          "Qwen/Qwen2.5-1.5B",
          "Lightning-AI/litgpt litgpt/config.py for the shape, the positions of the Instruct model (the base "
          "keeps 131,072); weights and CPU blocks of a vLLM startup log agree",
          tie_word_embeddings=True),
    qwen2("qwen2.5-3b", "Qwen2.5 3B", 36, 2048, 16, 2, 11008, 151936, 32768,
          "Qwen/Qwen2.5-3B",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 3,085,938,688 parameters exactly",
          tie_word_embeddings=True),
    qwen2("qwen2.5-7b", "Qwen2.5 7B", 28, 3584, 28, 4, 18944, 152064, 32768,
          "Qwen/Qwen2.5-7B",
          "Lightning-AI/litgpt litgpt/config.py for the shape, the positions of the Instruct model (the base "
          "keeps 131,072)"),
    qwen2("qwen2.5-14b", "Qwen2.5 14B", 48, 5120, 40, 8, 13824, 152064, 32768,
          "Qwen/Qwen2.5-14B",
          "Lightning-AI/litgpt litgpt/config.py for the shape, the positions of the Instruct model (the base "
          "keeps 131,072); weights and blocks of vLLM startup logs agree"),
    qwen2("qwen2.5-32b", "Qwen2.5 32B", 64, 5120, 40, 8, 27648, 152064, 32768,
          "Qwen/Qwen2.5-32B Qwen/Qwen2.5-Coder-32B",
          "Lightning-AI/litgpt litgpt/config.py for the shape, the positions of the Instruct model (the base "
          "keeps 131,072); vLLM startup logs agree to 0.01 %"),
    qwen2("qwen2.5-72b", "Qwen2.5 72B", 80, 8192, 64, 8, 29568, 152064, 32768,
          "Qwen/Qwen2.5-72B",
          "config.json of Qwen2.5-72B-Instruct, quoted in vllm-project/vllm issue 8691 (the base keeps 131,072"
          " positions)"),
    qwen2("deepseek-r1-distill-qwen-14b", "DeepSeek-R1-Distill-Qwen 14B", 48, 5120, 40, 8, 13824, 152064, 131072,
          "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
          "the shape of Qwen2.5 14B; the positions from a vLLM startup log"),
    qwen2("deepseek-r1-distill-qwen-32b", "DeepSeek-R1-Distill-Qwen 32B", 64, 5120, 40, 8, 27648, 152064, 131072,
          "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
          "the shape of Qwen2.5 32B; 131,072 positions taken over from the 14B distillation, unconfirmed here"),
)
"""Biases on queries, keys and values; the models distilled into them too."""

QWEN3 = (
    qwen3("qwen3-0.6b", "Qwen3 0.6B", 28, 1024, 16, 8, 3072, 151936, 40960,
          "Qwen/Qwen3-0.6B", CONFIG_LITGPT, head_dim=128, tie_word_embeddings=True),
    qwen3("qwen3-1.7b", "Qwen3 1.7B", 28, 2048, 16, 8, 6144, 151936, 40960,
          "Qwen/Qwen3-1.7B", CONFIG_LITGPT, tie_word_embeddings=True),
    qwen3("qwen3-4b", "Qwen3 4B", 36, 2560, 32, 8, 9728, 151936, 40960,
          "Qwen/Qwen3-4B",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 4,022,468,096 parameters exactly",
          head_dim=128, tie_word_embeddings=True),
    qwen3("qwen3-8b", "Qwen3 8B", 36, 4096, 32, 8, 12288, 151936, 40960,
          "Qwen/Qwen3-8B", CONFIG_LITGPT),
    qwen3("qwen3-14b", "Qwen3 14B", 40, 5120, 40, 8, 17408, 151936, 40960,
          "Qwen/Qwen3-14B",
          "Lightning-AI/litgpt litgpt/config.py; the KV tokens of a vLLM startup log agree"),
    qwen3("qwen3-32b", "Qwen3 32B", 64, 5120, 64, 8, 25600, 151936, 40960,
          "Qwen/Qwen3-32B", CONFIG_LITGPT, head_dim=128),
)
"""Norms on queries and keys in place of Qwen2's biases."""

OTHERS = (
    llama("mistral-7b", "Mistral 7B", 32, 4096, 32, 8, 14336, 32000, 32768,
          "mistralai/Mistral-7B-v0.1 mistralai/Mistral-7B-Instruct-v0.1 mistralai/Mistral-7B-Instruct-v0.2",
          "Lightning-AI/litgpt litgpt/config.py, meta-pytorch/gpt-fast model.py agree; 32,768 positions as "
          "Hugging Face's config has them (litgpt keeps the window, 4,096)"),
    llama("mistral-7b-v0.3", "Mistral 7B v0.3", 32, 4096, 32, 8, 14336, 32768, 32768,
          "mistralai/Mistral-7B-v0.3 mistralai/Mistral-7B-Instruct-v0.3",
          "Lightning-AI/litgpt litgpt/config.py: version 0.1 with 768 more tokens"),
    llama("mistral-nemo-12b", "Mistral Nemo 12B", 40, 5120, 32, 8, 14336, 131072, 131072,
          "mistralai/Mistral-Nemo-Base-2407 mistralai/Mistral-Nemo-Instruct-2407",
          "config.json kept in kevinstephano/thunder_model_blocks mistral, which says 128,000 positions; "
          "NVIDIA-NeMo says 1,024,000; 131,072 here is Mistral's 128k and unconfirmed",
          head_dim=128),
    llama("mistral-small-24b", "Mistral Small 24B", 40, 5120, 32, 8, 32768, 131072, 32768,
          "mistralai/Mistral-Small-24B-Base-2501 mistralai/Mistral-Small-24B-Instruct-2501",
          "config.json quoted as a test fixture in public repositories; gives the 23,572,403,200 parameters "
          "that checkpoints' metadata print",
          head_dim=128),
    llama("ministral-3-14b", "Ministral 3 14B, text", 40, 5120, 32, 8, 16384, 131072, 262144,
          "mistralai/Ministral-3-14B-Instruct-2512 mistralai/Ministral-3-14B-Reasoning-2512",
          "config.json as remembered; gives the 13.5 B that public guides print of its language model; the vision "
          "tower is not counted", head_dim=128, weight_dtype="fp8", vision_tower=True),
    gemma("gemma-2-2b", "Gemma 2 2B", 26, 2304, 8, 4, 9216, 256000, 8192,
          "google/gemma-2-2b",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 2,614,341,888 parameters exactly",
          head_dim=256, window=4096, cycle="ab"),
    gemma("gemma-2-9b", "Gemma 2 9B", 42, 3584, 16, 8, 14336, 256000, 8192,
          "google/gemma-2-9b",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 9,241,705,984 parameters exactly",
          head_dim=256, window=4096, cycle="ab"),
    gemma("gemma-2-27b", "Gemma 2 27B", 46, 4608, 32, 16, 36864, 256000, 8192,
          "google/gemma-2-27b",
          "Lightning-AI/litgpt litgpt/config.py; gives the published 27,227,128,320 parameters exactly",
          head_dim=128, window=4096, cycle="ab"),
    gemma("gemma-3-12b", "Gemma 3 12B, text", 48, 3840, 16, 8, 15360, 262208, 131072,
          "google/gemma-3-12b-it google/gemma-3-12b-pt",
          "the text part of config.json as quoted in public repositories, 262,208 tokens; Lightning-AI/litgpt "
          "litgpt/config.py agrees but for 262,144 tokens; the vision tower is not counted",
          head_dim=256, qk_norm=True, vision_tower=True, window=1024, cycle="aaaaab"),
    gemma("gemma-3-27b", "Gemma 3 27B, text", 62, 5376, 32, 16, 21504, 262208, 131072,
          "google/gemma-3-27b-it google/gemma-3-27b-pt",
          "widths and heads: NVIDIA/TensorRT-LLM's unit test of Gemma 3; 62 layers as remembered, and a public"
          " vLLM log fills them up to 70 and has the tokens that these leave; 262,208 tokens as the 12B; the "
          "vision tower is not counted",
          head_dim=128, qk_norm=True, vision_tower=True, window=1024, cycle="aaaaab"),
    opt("opt-1.3b", "OPT 1.3B", 24, 2048, 32, 32, 8192, 50272, 2048,
        "facebook/opt-1.3b",
        "FMInference/FlexiGen flexgen/opt_config.py (layers, heads, widths); biases and positions as Hugging "
        "Face's OPT has them; a public fine-tuning script prints its 1,315,758,080 parameters"),
    opt("opt-6.7b", "OPT 6.7B", 32, 4096, 32, 32, 16384, 50272, 2048,
        "facebook/opt-6.7b",
        "FMInference/FlexiGen flexgen/opt_config.py (layers, heads, widths); biases and positions as Hugging "
        "Face's OPT has them"),
    opt("opt-13b", "OPT 13B", 40, 5120, 40, 40, 20480, 50272, 2048,
        "facebook/opt-13b",
        "FMInference/FlexiGen flexgen/opt_config.py (layers, heads, widths); biases and positions as Hugging "
        "Face's OPT has them; the CPU blocks of vLLM startup logs agree"),
    opt("opt-30b", "OPT 30B", 48, 7168, 56, 56, 28672, 50272, 2048,
        "facebook/opt-30b",
        "FMInference/FlexiGen flexgen/opt_config.py (layers, heads, widths); biases and positions as Hugging "
        "Face's OPT has them"),
)
"""Gemma norms before and after each block; OPT has plain MLPs, biases and learned positions."""
# fmt: on
