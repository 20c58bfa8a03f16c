"""Models whose layers are of several kinds, and the mixtures served beside them: a row a shape.

The columns are `row`'s (core.catalog.model_rows). `layered` goes round a cycle of letters: a for the first kind of
layer, b for the second.
"""

from dataclasses import replace
from functools import partial

from core.catalog.model_rows import MLA, latent, layered, row
from core.specs import (
    AttentionSpec,
    CompressedSpec,
    DeltaSpec,
    LayerSpec,
    MambaSpec,
    MlaSpec,
    MlpSpec,
    ModelSpec,
    MoeSpec,
)

_AIC = "config.json kept in ai-dynamo/aiconfigurator; transformers 5.23's class has as many parameters"
_REMEMBERED = "shape of public config.json copies, as remembered; without the MTP module"


def _delta(spec: ModelSpec, keys: int, values: int, state_bytes: int = 4) -> ModelSpec:
    """Qwen3-Next's and Qwen3.5's: three layers of linear attention, one that attends with a gate."""
    inner = spec.moe or MlpSpec(spec.intermediate_size)
    linear = DeltaSpec(keys, values, 128, 128, state_bytes=state_bytes)
    full = replace(spec.attention, gate="row")
    return layered(spec, "aaab", LayerSpec((linear, inner)), LayerSpec((full, inner)))


def _nemotron(spec: ModelSpec, heads: int, letters: str) -> ModelSpec:
    """Nemotron's, one block a layer: M a Mamba 2 mixer, E a mixture, * attention."""
    assert spec.moe is not None
    blocks = MambaSpec(heads, 64, 8, 128), spec.moe, spec.attention
    pattern = letters.translate(str.maketrans("ME*", "abc"))
    return layered(spec, pattern, *(LayerSpec((block,), norms=1) for block in blocks))


_V4_IN_FP8 = (
    *("q down", "q up", "kv down", "o down", "o", "compressor", "index compressor", "index q"),
    *("shared expert in", "shared expert down"),
)
"""Experts are in MXFP4, what else is large in FP8."""


def _compressed(spec: ModelSpec, letters: str, attention: CompressedSpec, mixing: int) -> ModelSpec:
    """DeepSeek-V4's: a window alone, or before what was compressed by 4, with an indexer, or by 128.

    Tables choose the experts of the first three layers; `mixing` is what a layer's hyper-connections have.
    """
    assert spec.moe is not None
    wide = replace(attention, ratio=128)
    narrow = replace(attention, ratio=4, index_heads=64, index_dim=128)
    later = replace(spec.moe, router_bias=True)
    mixers = attention, wide, narrow, wide, narrow
    experts = spec.moe, spec.moe, spec.moe, later, later
    kinds = (LayerSpec(blocks, extra=mixing) for blocks in zip(mixers, experts, strict=True))
    everywhere = frozenset(range(spec.num_hidden_layers))
    widths = tuple((part, everywhere, "fp8") for part in _V4_IN_FP8)
    made = replace(layered(spec, letters, *kinds), own_draft=True)
    return replace(made, weight_dtype="mxfp4", quantisation_group=32, other_widths=widths)


def _gemma4(spec: ModelSpec, kv_heads: int) -> ModelSpec:
    """Five layers that see 1,024 tokens, then one that sees all, with wider heads whose values are their keys."""
    narrow = AttentionSpec(spec.num_attention_heads, kv_heads, 256, window=1024, qk_norm="head")
    wide = replace(spec.attention, one_projection=True)
    inner = (MlpSpec(spec.intermediate_size), *((spec.moe,) if spec.moe else ()))
    norms = 7 if spec.moe else 4
    return layered(spec, "aaaaab", *(LayerSpec((one, *inner), norms, extra=1) for one in (narrow, wide)))


def _llama4(spec: ModelSpec, cycle: str) -> ModelSpec:
    """Three layers that see 8,192 tokens, one that sees all; Maverick's every second is dense."""
    assert spec.moe is not None
    near = replace(spec.attention, window=8192)
    kinds = (near, MlpSpec(spec.intermediate_size)), (near, spec.moe), (spec.attention, spec.moe)
    return layered(spec, cycle, *(LayerSpec(blocks) for blocks in kinds))


def _minimax_m2(key: str, name: str, positions: int, repositories: str, source: str) -> ModelSpec:
    """One shape in four releases; the last may be read further."""
    experts = MoeSpec(256, 8, 1536, router_bias=True)
    plain = row(
        key, name, 62, 3072, 48, 8, 1536, 200064, positions, repositories, source, head_dim=128, moe=experts,
        rotary_dim=64, remote_code=True, weight_dtype="fp8", weight_block=(128, 128),
    )  # fmt: skip
    return layered(plain, "a", LayerSpec((AttentionSpec(48, 8, 128, qk_norm="row"), experts)))


def _kimi_k3(spec: ModelSpec) -> ModelSpec:
    """Three layers with a state, one that attends, and one more at the end; MXFP4 but for what is listed."""
    linear = DeltaSpec(96, 96, 128, 128, decay="channel")
    kinds = (linear, MlpSpec(spec.intermediate_size)), (linear, _K3_EXPERTS), (_K3, _K3_EXPERTS)
    layers = frozenset(range(spec.num_hidden_layers))
    made = layered(spec, "abbc" + "bbbc" * 22 + "c", *(LayerSpec(blocks, extra=28672) for blocks in kinds))
    alone = tuple((part, layers) for part in _K3_ALONE)
    others = tuple((part, layers, "mxfp4-everywhere") for part in _K3_NARROW)
    return replace(made, weight_dtype="mxfp4", quantisation_group=32, left_alone=alone, other_widths=others)


_GLM5 = MlaSpec(512, 64, 192, 256, q_lora_rank=2048, index_heads=32, index_dim=128)
_V32 = MlaSpec(512, 64, 128, 128, q_lora_rank=1536, index_heads=64, index_dim=128)
_V3_EXPERTS = MoeSpec(256, 8, 2048, n_shared_experts=1, first_k_dense_replace=3, router_bias=True)
_KIMI_EXPERTS = MoeSpec(256, 8, 1024, n_shared_experts=1, first_k_dense_replace=1, router_bias=True)
_M3_EXPERTS = MoeSpec(128, 4, 3072, shared_expert_intermediate_size=3072, first_k_dense_replace=3, router_bias=True)
_MIMO_EXPERTS = MoeSpec(256, 8, 2048, router_bias=True)
_MIMO = AttentionSpec(64, 4, 192, value_dim=128)
_K25_ALONE = (
    *("q down", "q up", "kv down", "kv up", "o", "mlp in", "mlp down", "shared expert in", "shared expert down"),
)
_K3 = MlaSpec(512, 64, 128, 128, q_lora_rank=1536, output_gate=True)
_K3_EXPERTS = MoeSpec(
    896, 16, 3072, n_shared_experts=2, first_k_dense_replace=1, router_bias=True, latent_size=3584, latent_norm=True
)
_K3_ALONE = (
    *("qkv", "o", "q", "q down", "q up", "kv down", "kv up", "index q", "index k", "o down", "compressor"),
    *("index compressor", "mlp in", "mlp down", "shared expert in", "shared expert down"),
)
_K3_NARROW = (
    *("linear in", "linear decay", "linear out", "mamba in", "mamba out", "latent in", "latent out"),
    *("experts in", "experts down"),
)
_KDA = DeltaSpec(32, 32, 128, 128, decay="channel", full_gate=False)
_GLM53 = MlaSpec(512, 0, 256, 256, q_lora_rank=1536, index_heads=32, index_dim=128, index_pool=4)
_GLM53_LINEAR = replace(_KDA, key_heads=64, value_heads=64)
_GLM53_EXPERTS = MoeSpec(288, 8, 2048, n_shared_experts=1, first_k_dense_replace=3, router_bias=True)
_GLM53_ALONE = tuple(
    (part, frozenset(range(45)))
    for part in ("linear in", "linear decay", "linear gate down", "linear gate up", "linear out")
)
_GLM53_MIXING = 786486
"""Hyper-connections of four streams, as DeepSeek-V4-Flash has them: two of 24 · 4 · 4096 + 27 a layer."""
_STEP = AttentionSpec(64, 8, 128, qk_norm="head", gate="head")
_STEP_NEAR = replace(_STEP, heads=96, window=512)
_STEP_EXPERTS = replace(_GLM53_EXPERTS, moe_intermediate_size=1280)


def _qwen_experts(experts: int, used: int, width: int) -> MoeSpec:
    return MoeSpec(experts, used, width, shared_expert_intermediate_size=width, shared_expert_gate=True)


_qwen = partial(row, head_dim=256, qk_norm=True, rotary_dim=64)
_qwen35 = partial(_qwen, vision_tower=True, own_draft=True)
_glm45 = partial(row, head_dim=128, qkv_bias=True, rotary_dim=64, own_draft=True)
_hybrid = partial(row, head_dim=128, mlp="plain", norms_per_layer=1, rotary_dim=0)
_gemma = partial(row, head_dim=512, tie_word_embeddings=True, norms_per_layer=4, qk_norm=True, vision_tower=True)

# fmt: off
LAYERED = (
    _llama4(row("llama-4-scout", "Llama 4 Scout 17B-16E", 48, 5120, 40, 8, 16384, 202048, 10485760,
        "meta-llama/Llama-4-Scout-17B-16E-Instruct meta-llama/Llama-4-Scout-17B-16E", _AIC, moe=MoeSpec(16, 1,
        8192, n_shared_experts=1), vision_tower=True), "bbbc"),
    _llama4(row("llama-4-maverick", "Llama 4 Maverick 17B-128E", 48, 5120, 40, 8, 16384, 202048, 1048576,
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct meta-llama/Llama-4-Maverick-17B-128E", _AIC,
        moe=MoeSpec(128, 1, 8192, n_shared_experts=1), vision_tower=True), "abac"),
    _delta(_qwen("qwen3-next-80b-a3b", "Qwen3-Next 80B-A3B", 48, 2048, 16, 2, 5120, 151936, 262144,
        "Qwen/Qwen3-Next-80B-A3B-Instruct Qwen/Qwen3-Next-80B-A3B-Thinking Qwen/Qwen3-Coder-Next",
        "transformers 5.23 models/qwen3_next, whose class's own sizes are this model's; without the MTP module",
        moe=_qwen_experts(512, 10, 512), own_draft=True), 16, 32, 2),
    _delta(_qwen35("qwen3.5-4b", "Qwen3.5 4B", 32, 2560, 16, 4, 9216, 248320, 262144, "Qwen/Qwen3.5-4B",
        "shape of its model card as remembered; without the MTP module", tie_word_embeddings=True), 16, 32),
    _delta(_qwen35("qwen3.5-9b", "Qwen3.5 9B", 32, 4096, 16, 4, 12288, 248320, 262144, "Qwen/Qwen3.5-9B",
        "apxml.com/models/qwen35-9b, seen 2026-11-28; a loader prints 8.95 B: lzwjava.github.io/"
        "qwen3-5-9b-hybrid-review-en; without the MTP module"), 16, 32),
    _delta(_qwen35("qwen3.5-27b", "Qwen3.5 27B", 64, 5120, 24, 4, 17408, 248320, 262144,
        "Qwen/Qwen3.5-27B Qwen/Qwen3.6-27B Qwen/Qwen3.8-27B", f"{_AIC}; NVIDIA's NeMo AutoModel serves Qwen3.8 by "
        "the same class, and public model lists have its 27.78 B with the tower"), 16, 48),
    _delta(_qwen35("qwen3.5-35b-a3b", "Qwen3.5 35B-A3B", 40, 2048, 16, 2, 512, 248320, 262144,
        "Qwen/Qwen3.5-35B-A3B Qwen/Qwen3.6-35B-A3B", _AIC, moe=_qwen_experts(256, 8, 512)), 16, 32),
    _delta(_qwen35("qwen3.5-122b-a10b", "Qwen3.5 122B-A10B", 48, 3072, 32, 2, 1024, 248320, 262144,
        "Qwen/Qwen3.5-122B-A10B", _AIC, moe=_qwen_experts(256, 8, 1024)), 16, 64),
    _delta(_qwen35("qwen3.5-397b-a17b", "Qwen3.5 397B-A17B", 60, 4096, 32, 2, 1024, 248320, 262144,
        "Qwen/Qwen3.5-397B-A17B", _AIC, moe=_qwen_experts(512, 10, 1024)), 16, 64),
    _glm45("glm-4.5", "GLM-4.5 355B-A32B", 92, 5120, 96, 8, 12288, 151552, 131072, "zai-org/GLM-4.5",
        _REMEMBERED, qk_norm=True, moe=MoeSpec(160, 8, 1536, n_shared_experts=1, first_k_dense_replace=3,
        router_bias=True)),
    _glm45("glm-4.6", "GLM-4.6 355B-A32B", 92, 5120, 96, 8, 12288, 151552, 202752,
        "zai-org/GLM-4.6 zai-org/GLM-4.7", _REMEMBERED, qk_norm=True, moe=MoeSpec(160, 8, 1536,
        n_shared_experts=1, first_k_dense_replace=3, router_bias=True)),
    _glm45("glm-4.5-air", "GLM-4.5-Air 106B-A12B", 46, 4096, 96, 8, 10944, 151552, 131072,
        "zai-org/GLM-4.5-Air", _REMEMBERED, moe=MoeSpec(128, 8, 1408, n_shared_experts=1,
        first_k_dense_replace=1, router_bias=True)),
    row("glm-5", "GLM-5 744B-A40B", 78, 6144, 64, 64, 12288, 154880, 202752, "zai-org/GLM-5 zai-org/GLM-5.1",
        _AIC, head_dim=256, moe=_V3_EXPERTS, mla=_GLM5, own_draft=True),
    layered(row("glm-5.2", "GLM-5.2 744B-A40B", 78, 6144, 64, 64, 12288, 154880, 1048576, "zai-org/GLM-5.2",
        _AIC, head_dim=256, moe=_V3_EXPERTS, mla=_GLM5, own_draft=True), "aaa" + "bbbc" * 19, LayerSpec((_GLM5,
        MlpSpec(12288))), LayerSpec((replace(_GLM5, index_heads=0, index_dim=0), _V3_EXPERTS)),
        LayerSpec((_GLM5, _V3_EXPERTS))),
    layered(row("glm-5.3-flash", "GLM-5.3-Flash 320B-A18B", 45, 4096, 64, 64, 12288, 154880, 1048576,
        "zai-org/GLM-5.3-Flash ZhipuAI/GLM-5.3-Flash", "the sizes of vLLM's, TensorRT-LLM's and llama.cpp's public "
        "classes agree, seen 2026-11-28; with its MTP layer and tower the 321.3 B that llama.cpp prints",
        head_dim=256, moe=_GLM53_EXPERTS, mla=_GLM53, rotary_dim=0, weight_dtype="fp8", weight_block=(128, 128),
        left_alone=_GLM53_ALONE, own_draft=True, vision_tower=True),
        "aaab" + "cccb" * 10 + "c", LayerSpec((_GLM53_LINEAR, MlpSpec(12288)), extra=_GLM53_MIXING),
        LayerSpec((_GLM53, _GLM53_EXPERTS), extra=_GLM53_MIXING),
        LayerSpec((_GLM53_LINEAR, _GLM53_EXPERTS), extra=_GLM53_MIXING)),
    latent("deepseek-v3.2", "DeepSeek-V3.2", 61, 7168, 128, 128, 18432, 129280, 163840,
        "deepseek-ai/DeepSeek-V3.2 deepseek-ai/DeepSeek-V3.2-Exp", _AIC, moe=_V3_EXPERTS, mla=_V32,
        weight_dtype="fp8", weight_block=(128, 128), own_draft=True),
    _compressed(row("deepseek-v4-flash", "DeepSeek-V4-Flash", 43, 4096, 64, 64, 2048, 129280, 1048576,
        "deepseek-ai/DeepSeek-V4-Flash", _AIC, head_dim=512, extra_parameters=65541, moe=MoeSpec(256, 6, 2048,
        n_shared_experts=1)), "aac" + "de" * 20, CompressedSpec(64, 512, 1024, 8, 1024, 128), 786486),
    _compressed(row("deepseek-v4-pro", "DeepSeek-V4-Pro", 61, 7168, 128, 128, 3072, 129280, 1048576,
        "deepseek-ai/DeepSeek-V4-Pro", _AIC, head_dim=512, extra_parameters=114693, moe=MoeSpec(384, 6, 3072,
        n_shared_experts=1)), "bbc" + "de" * 29, CompressedSpec(128, 512, 1536, 16, 1024, 128), 1376310),
    layered(latent("kimi-linear-48b-a3b", "Kimi Linear 48B-A3B", 27, 2304, 32, 32, 9216, 163840, 1048576,
        "moonshotai/Kimi-Linear-48B-A3B-Instruct moonshotai/Kimi-Linear-48B-A3B-Base", _REMEMBERED,
        moe=_KIMI_EXPERTS, mla=MlaSpec(512, 64, 128, 128), rotary_dim=0, remote_code=True), "abbc" + "bbbc" *
        5 + "bbc", LayerSpec((_KDA, MlpSpec(9216))), LayerSpec((_KDA, _KIMI_EXPERTS)), LayerSpec((MlaSpec(512,
        64, 128, 128), _KIMI_EXPERTS))),
    _kimi_k3(latent("kimi-k3", "Kimi K3 2.8T", 93, 7168, 96, 96, 33792, 163840, 1048576, "moonshotai/Kimi-K3",
        "config.json kept in ai-dynamo/aiconfigurator model_configs, seen 2026-11-28", moe=_K3_EXPERTS, mla=_K3,
        rotary_dim=0, remote_code=True, vision_tower=True, extra_parameters=14336)),
    _minimax_m2("minimax-m2", "MiniMax-M2 230B-A10B", 196608,
        "MiniMaxAI/MiniMax-M2 MiniMaxAI/MiniMax-M2.1 MiniMaxAI/MiniMax-M2.5",
        "config.json of M2.5 kept in ai-dynamo/aiconfigurator model_configs; llama.cpp prints its "
        "228,689,764,864 parameters"),
    _minimax_m2("minimax-m2.7", "MiniMax-M2.7 230B-A10B", 204800, "MiniMaxAI/MiniMax-M2.7",
        "config.json kept in ai-dynamo/aiconfigurator model_configs: MiniMax-M2 with 204,800 positions; "
        "NVIDIA's NVFP4 of it has 196,608"),
    layered(row("minimax-m3", "MiniMax-M3 426B-A26B", 60, 6144, 64, 4, 12288, 200064, 1048576,
        "MiniMaxAI/MiniMax-M3", _AIC, head_dim=128, qk_norm=True, moe=_M3_EXPERTS, rotary_dim=64,
        remote_code=True, vision_tower=True), "aaa" + "b" * 57, LayerSpec((AttentionSpec(64, 4, 128,
        qk_norm="head"), MlpSpec(12288))), LayerSpec((AttentionSpec(64, 4, 128, qk_norm="head", index_heads=4,
        index_dim=128), _M3_EXPERTS))),
    _nemotron(_hybrid("nemotron-3-nano-30b-a3b", "Nemotron 3 Nano 30B-A3B", 52, 2688, 32, 2, 1856, 131072,
        262144, "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B",
        "config.json kept in ai-dynamo/aiconfigurator model_configs; llama.cpp prints its 31,577,940,288 "
        "parameters", moe=MoeSpec(128, 6, 1856, shared_expert_intermediate_size=3712, router_bias=True)), 64,
        "MEMEM*" + "EMEMEM*" * 4 + "EMEMEMEM*EMEMEMEME"),
    _nemotron(_hybrid("nemotron-3-super-120b-a12b", "Nemotron 3 Super 120B-A12B", 88, 4096, 32, 2, 2688,
        131072, 262144,
        "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16 nvidia/NVIDIA-Nemotron-3-Super-120B-A12B", _AIC,
        moe=MoeSpec(512, 22, 2688, shared_expert_intermediate_size=5376, router_bias=True, latent_size=1024),
        own_draft=True),
        128, "MEMEMEM*" + "EMEMEMEM*" * 2 + "EMEMEMEMEM*" * 4 + "EMEMEMEM*" + "EMEMEMEME"),
    _nemotron(_hybrid("nemotron-3-ultra-550b-a55b", "Nemotron 3 Ultra 550B-A55B", 108, 8192, 64, 2, 5120,
        131072, 262144,
        "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16 nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B", _AIC,
        moe=MoeSpec(512, 22, 5120, shared_expert_intermediate_size=10240, router_bias=True,
        latent_size=2048), own_draft=True), 256, "MEMEMEM*" + "EMEMEM*" + ("EMEMEMEM*" * 2 + "EMEMEM*") * 3 +
        "EMEMEMEM*EMEMEMEME"),
    _gemma4(_gemma("gemma-4-26b-a4b", "Gemma 4 26B-A4B", 30, 2816, 16, 2, 2112, 262144, 262144,
        "google/gemma-4-26B-A4B google/gemma-4-26B-A4B-it", _AIC, moe=MoeSpec(128, 8, 704,
        router_scales=True)), 8),
    _gemma4(_gemma("gemma-4-31b", "Gemma 4 31B", 60, 5376, 32, 4, 21504, 262144, 262144,
        "google/gemma-4-31B google/gemma-4-31B-it", _AIC), 16),
    latent("kimi-k2.5", "Kimi K2.5", 61, 7168, 64, 64, 18432, 163840, 262144,
        "moonshotai/Kimi-K2.5 moonshotai/Kimi-K2.6 moonshotai/Kimi-K2-Thinking",
        "config.json kept in ai-dynamo/aiconfigurator model_configs; its text part is Kimi K2's",
        moe=replace(_KIMI_EXPERTS, num_experts=384, moe_intermediate_size=2048), mla=MLA, weight_dtype="int4",
        quantisation_group=32, left_alone=tuple((part, frozenset(range(61))) for part in _K25_ALONE),
        remote_code=True, vision_tower=True),
    layered(row("mimo-v2-flash", "MiMo-V2-Flash 309B-A15B", 48, 4096, 64, 4, 16384, 152576, 262144,
        "XiaomiMiMo/MiMo-V2-Flash", _AIC, head_dim=192, moe=_MIMO_EXPERTS, rotary_dim=64, weight_dtype="fp8",
        weight_block=(128, 128), own_draft=True), "abbbbc" + "bbbbbc" * 7, LayerSpec((_MIMO, MlpSpec(16384))),
        LayerSpec((replace(_MIMO, kv_heads=8, window=128, sinks=True), _MIMO_EXPERTS)), LayerSpec((_MIMO,
        _MIMO_EXPERTS))),
    layered(row("step-3.5-flash", "Step-3.5-Flash 196B-A11B", 45, 4096, 64, 8, 11264, 128896, 262144,
        "stepfun-ai/Step-3.5-Flash", "config.json of Step-3.7-Flash kept in ai-dynamo/aiconfigurator, seen "
        "2026-11-28, has its text part; 262,144 positions and the other heads of public listings of its own",
        head_dim=128, qk_norm=True, moe=_STEP_EXPERTS, remote_code=True, own_draft=True), "abbc" + "dccc" * 10
        + "d", LayerSpec((_STEP, MlpSpec(11264))), LayerSpec((_STEP_NEAR, MlpSpec(11264))),
        LayerSpec((_STEP_NEAR, _STEP_EXPERTS)), LayerSpec((_STEP, _STEP_EXPERTS))),
)
# fmt: on
"""Hybrids of attention and states, windows and indexers, and mixtures of today."""
