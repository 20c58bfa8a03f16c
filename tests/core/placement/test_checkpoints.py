"""Checkpoints as they are published: what their names and configs say of their weights, and what follows."""

import json
from dataclasses import replace

import pytest

from core.catalog import gpu, model
from core.errors import OutOfRangeError
from core.models.checkpoint import as_served, checkpoint_width, named_checkpoint
from core.models.hf_config import model_from_config
from core.models.kv_cache import kv_bytes_per_token_per_rank
from core.models.loaded_weights import loaded_weight_bytes
from core.placement.asked import Machine, question_of, usual_cache
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.planner import Placement, place
from core.placement.rank_memory import Budget, measured_budget
from core.placement.serve_flags import serve_command
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import ModelSpec
from core.strategy.picker import Question as StrategyQuestion
from core.units import GB, GIB
from runtime.prose import worded
from tests.each import each

QWEN3_CODER = {
    "model_type": "qwen3_moe",
    "hidden_size": 6144,
    "intermediate_size": 8192,
    "moe_intermediate_size": 2560,
    "num_experts": 160,
    "num_experts_per_tok": 8,
    "num_attention_heads": 96,
    "num_hidden_layers": 62,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 262144,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
"""Its FP8 checkpoint: experts 2,560 wide, of which a rank of eight would hold two and a half blocks."""


def placed(spec: ModelSpec, gpu_key: str, gpus: int = 8, **demand: object) -> Placement:
    asked = Demand(dtype=checkpoint_width(spec), **demand)
    return place(Question(spec, usual_cluster(gpu(gpu_key), gpus), measured_budget(gpu(gpu_key)), asked))


def names(placement: Placement) -> dict[str, bool]:
    """Which plans split, by name."""
    return {plan.layout.name: plan.splits for plan in placement.plans}


@pytest.mark.parametrize("spec", [model_from_config(json.dumps(QWEN3_CODER)), model("qwen3-235b-a22b-fp8")])
def test_fp8_blocks_are_not_cut(spec):
    """vLLM: "320 is not divisible by weight quantization block_n = 128"; 1536 / 8 = 192 neither."""
    found = placed(spec, "h200-sxm")
    assert not names(found)["TP=8"]
    assert names(found)["TP=4 ×2"]
    refused = next(plan for plan in found.plans if plan.layout.name == "TP=8")
    assert "moe_intermediate_size" in worded(refused.reason)
    assert "/ 128" in worded(refused.reason)


def test_experts_that_stay_whole_keep_their_blocks():
    """With expert parallelism no expert is cut, so 192 columns never come about."""
    spec = model("qwen3-235b-a22b-fp8")
    assert check_tp_size(spec, 8).broken
    assert not check_tp_size(spec, 8, experts_whole=True).broken


@pytest.mark.parametrize(
    "quantised",
    [
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "awq", "bits": 4, "group_size": 128},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"g": {"weights": {"num_bits": 4, "group_size": 128}}},
        },
    ],
)
def test_groups_are_not_cut_in_the_plan_either(quantised):
    """29,568 inputs in groups of 128 are 231, which eight do not share: what `tp_sizes` knew and `plan` did not."""
    qwen = {
        "model_type": "qwen2",
        "hidden_size": 8192,
        "intermediate_size": 29568,
        "num_attention_heads": 64,
        "num_hidden_layers": 80,
        "num_key_value_heads": 8,
        "vocab_size": 152064,
        "quantization_config": quantised,
    }
    found = placed(model_from_config(json.dumps(qwen)), "h100-sxm")
    assert not names(found)["TP=8"]
    assert not names(found)["TP=2 ×4"]


def test_layers_left_alone_are_as_wide_as_they_are():
    """Llama 3.1 405B FP8 keeps attention, and the MLPs of its first and last layer, in bf16: 57.75 GiB a rank."""
    kept = [f"model.layers.{n}.self_attn.{part}_proj" for n in range(126) for part in "qkvo"]
    kept += [f"model.layers.{n}.mlp.{part}_proj" for n in (0, 125) for part in ("gate", "up", "down")]
    config = {
        "model_type": "llama",
        "hidden_size": 16384,
        "intermediate_size": 53248,
        "num_attention_heads": 128,
        "num_hidden_layers": 126,
        "num_key_value_heads": 16,
        "vocab_size": 128256,
        "max_position_embeddings": 131072,
        "quantization_config": {"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head", *kept]},
    }
    spec = model_from_config(json.dumps(config))
    assert loaded_weight_bytes(spec, 8, dtype="fp8") / GIB == pytest.approx(57.75, abs=0.02)
    as_now = model_from_config(json.dumps(config | {"num_key_value_heads": 8}))
    named = named_checkpoint("meta-llama/Llama-3.1-405B-Instruct-FP8")
    assert loaded_weight_bytes(named, 8, dtype="fp8") == loaded_weight_bytes(as_now, 8, dtype="fp8")


@pytest.mark.parametrize(
    "pattern",
    ["re:.*self_attn.*", "model.layers.*.self_attn*", "self_attn", "re:model\\.layers\\.\\d+\\.self_attn.*"],
)
def test_one_rule_in_every_dialect(pattern):
    config = {**QWEN3_CODER, "quantization_config": {"quant_method": "fp8", "ignore": ["lm_head", pattern]}}
    alone = dict(model_from_config(json.dumps(config)).left_alone)
    assert {"qkv", "o"} <= set(alone)
    assert all(len(layers) == 62 for layers in alone.values())
    assert not any(part.startswith(("mlp", "experts")) for part in alone)


def test_a_pattern_that_is_no_wildcard_is_refused_and_never_run():
    config = {**QWEN3_CODER, "quantization_config": {"quant_method": "fp8", "ignore": ["re:(a+)+b{2,}$"]}}
    with pytest.raises(ValueError, match="not read here"):
        model_from_config(json.dumps(config))


@pytest.mark.parametrize(
    ("name", "dtype", "key"),
    [
        ("Qwen/Qwen3-32B-AWQ", "int4-g128", "qwen3-32b"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "int4-g128", "qwen2.5-72b"),
        ("RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16", "int4-g128", "llama-3.3-70b"),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "fp8", "llama-3.1-70b"),
        ("nvidia/Llama-3.3-70B-Instruct-NVFP4", "nvfp4", "llama-3.3-70b"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "bf16", "llama-3.3-70b"),
    ],
)
def test_the_name_given_is_the_name_served_and_its_ending_the_width(name, dtype, key):
    spec = named_checkpoint(name)
    assert (checkpoint_width(spec), spec.key) == (dtype, key)
    found = placed(spec, "h100-sxm")
    command = serve_command(found.question, found.plans[found.recommended])
    assert command.startswith(f"vllm serve {name} ")
    assert "--quantization" not in command


MODELOPT = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16}}
LLAMA = {name: value for name, value in QWEN3_CODER.items() if name != "quantization_config"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(LLAMA) + "\n" + json.dumps(MODELOPT),
        json.dumps({**LLAMA, "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}),
        json.dumps({**LLAMA, "quantization_config": MODELOPT}),
    ],
)
def test_modelopt_is_read_wherever_it_is_written(text):
    spec = model_from_config(text)
    assert (spec.weight_dtype, spec.quantisation_group) == ("nvfp4", 16)


@pytest.mark.parametrize(
    ("name", "gpu_key", "gpus"), [("deepseek-v3", "h200-sxm", 8), ("gpt-oss-120b", "h100-sxm", 1)]
)
def test_a_strategy_serves_the_checkpoints_own_width(name, gpu_key, gpus):
    """In bf16 neither fits; as they are published both do."""
    question = StrategyQuestion(
        model(name), usual_cluster(gpu(gpu_key), gpus), "serve", sequences=8, sequence_tokens=2048
    )
    assert place(question.serving).fitting


def test_layers_with_a_window_keep_no_more_than_it_and_a_step():
    """Gemma 3 27B: 52 of 62 layers see 1,024 tokens, so of 32,768 the cache holds a fifth and a little more."""
    gemma = model("gemma-3-27b")
    asked = Demand(concurrency=1, prompt_tokens=32_000, output_tokens=768)
    question = Question(gemma, usual_cluster(gpu("h100-sxm"), 1), Budget(85 * GB), asked)
    [plan] = place(question).plans
    rank = plan.ranks[0]
    share = rank.sequence_bytes(32_768) / (32_768 * rank.kv_bytes_per_token)
    seen = 1023 + gpu("h100-sxm").vllm_batched_tokens
    assert share == pytest.approx((10 + 52 * seen / 32_768) / 62)
    assert plan.max_concurrency >= 2 * int(rank.kv_bytes / (32_768 * rank.kv_bytes_per_token))


@pytest.mark.parametrize("concurrency", [1, 16, 64])
@pytest.mark.parametrize(
    ("name", "gpu_key"), [("llama-3.1-405b", "h200-sxm"), ("llama-3-70b", "h100-sxm"), ("mixtral-8x7b", "l40s")]
)
def test_no_plan_that_is_taken_is_beaten_on_every_axis_that_is_shown(name, gpu_key, concurrency):
    """Within the error the simplest is taken, but never off the page's own front."""
    spec = model(name)
    cluster = usual_cluster(gpu(gpu_key), 8)
    found = place(Question(spec, cluster, measured_budget(gpu(gpu_key)), Demand(concurrency, dtype="fp8")))
    taken, timing = found.plans[found.recommended], found.timing(found.recommended)
    for index in found.fitting:
        plan, other = found.plans[index], found.timing(index)
        assert not (
            other.itl_s < timing.itl_s
            and other.ttft_s < timing.ttft_s
            and other.sustained_tokens_per_s > timing.sustained_tokens_per_s
            and plan.max_concurrency > taken.max_concurrency
            and plan.layout.gpus <= taken.layout.gpus
        )


@each(
    ("name", "key", "width"),
    [
        ("neuralmagic/Meta-Llama-3-8B-Instruct-FP8-KV", "llama-3-8b", "fp8"),
        ("nvidia/DeepSeek-R1-NVFP4-v2", "deepseek-r1", "nvfp4"),
        ("amd/DeepSeek-R1-MXFP4-Preview", "deepseek-r1", "mxfp4"),
        ("ISTA-DASLab/gemma-3-27b-it-GPTQ-4b-128g", "gemma-3-27b", "int4-g128"),
        ("Intel/Qwen3-30B-A3B-Instruct-2507-int4-AutoRound", "qwen3-30b-a3b-2507", "int4-g128"),
        ("cyankiwi/Qwen3-Coder-30B-A3B-Instruct-AWQ-8bit", "qwen3-30b-a3b-2507", "int8"),
        ("lmstudio-community/Qwen3-32B-MLX-4bit", "qwen3-32b", "int4-g128"),
        ("Llama-3-70B-Instruct-W4A16-G128", "llama-3-70b", "int4-g128"),
        ("meta-llama/Llama-3.1-70B-Instruct-HQQ-4bit", "llama-3.1-70b", "int4-g128"),
        ("meta-llama/Llama-3.1-8B-Instruct-QLORA_INT4_EO8", "llama-3.1-8b", "int4-g128"),
        ("google/gemma-3-12b-it-qat-q4_0-gguf", "gemma-3-12b", "int4-g32"),
        ("qwen3.6-27b-autoround-int4", "qwen3.5-27b", "int4-g128"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8", "qwen2.5-72b", "int8"),
    ],
)
def test_a_width_is_read_through_whatever_stands_around_it(name, key, width):
    spec = named_checkpoint(name)
    assert (spec.key, checkpoint_width(spec), spec.aliases[0]) == (key, width, name)


def test_a_gguf_that_says_no_width_is_not_taken_for_sixteen_bits():
    with pytest.raises(OutOfRangeError, match="must say its width"):
        named_checkpoint("bartowski/Llama-3.3-70B-Instruct-GGUF")


FP8_CACHE = {"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": False}


@pytest.mark.parametrize(
    ("block", "width"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_scheme": FP8_CACHE}, "fp8"),
        ({"quant_method": "compressed-tensors", "format": "float-quantized", "kv_cache_scheme": FP8_CACHE,
          "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}, "fp8"),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": None}, "bf16"),
        # AutoFP8's word, which no engine takes
        ({"quant_method": "fp8", "activation_scheme": "static", "kv_cache_scheme": "static"}, "bf16"),
    ],
)  # fmt: skip
def test_a_cache_is_kept_as_the_checkpoint_asks_and_the_command_makes_it_so(block, width):
    """As `--kv-cache-dtype auto` resolves it; a command that counts on it says it, so that every engine does."""
    spec = model_from_config(json.dumps({**LLAMA, "quantization_config": block}))
    asked = question_of(spec, Machine(gpu("h100"), 8), Demand(dtype="fp8", kv_dtype=usual_cache(spec, gpu("h100"))))
    plan = place(asked).plans[0]
    half = kv_bytes_per_token_per_rank(spec, plan.layout.tp_size, "bf16") / 2
    assert asked.demand.kv_dtype == width
    assert plan.ranks[0].kv_bytes_per_token == (half if width == "fp8" else 2 * half)
    told = {engine: serve_command(asked, plan, engine) for engine in ("vllm", "sglang")}
    assert ("--kv-cache-dtype fp8" in told["vllm"]) == ("--kv-cache-dtype fp8_e4m3" in told["sglang"])
    assert ("--kv-cache-dtype" in told["vllm"]) == (width == "fp8")
    whole = replace(asked, demand=replace(asked.demand, kv_dtype="bf16"))
    assert ("--kv-cache-dtype bfloat16" in serve_command(whole, plan)) == (width == "fp8")


def test_a_gpu_without_fp8_keeps_its_cache_in_16_bits_whatever_the_checkpoint_asks():
    """vLLM takes the checkpoint's word on an A100 too, and Triton has no such type there: the command says bf16."""
    spec, old = named_checkpoint("nvidia/Llama-3.1-70B-Instruct-FP8"), gpu("a100")
    asked = question_of(spec, Machine(old, 8), Demand(dtype="fp8", kv_dtype=usual_cache(spec, old)))
    assert asked.demand.kv_dtype == "bf16"
    assert "--kv-cache-dtype bfloat16" in serve_command(asked, place(asked).plans[0])
    assert "--kv-cache-dtype bf16" in serve_command(asked, place(asked).plans[0], "sglang")


def test_a_name_says_how_a_cache_is_kept():
    """NVIDIA's modelopt calibrates one of 8 bits unless told otherwise; `-KV` says it of others."""
    kept = {name: named_checkpoint(name).cache_dtype for name in (
        "nvidia/Llama-3.1-70B-Instruct-FP8", "amd/Llama-3.1-70B-Instruct-FP8-KV", "RedHatAI/Qwen3-32B-FP8-dynamic"
    )}  # fmt: skip
    assert list(kept.values()) == ["fp8", "fp8", "bf16"]


@pytest.mark.parametrize(
    ("name", "inner", "splits"),
    [
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", 29696, True),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", 29696, True),
        ("unsloth/Qwen2.5-72B-Instruct-AWQ", 29568, False),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", 18944, False),
    ],
)
def test_qwen_s_own_integers_are_padded_to_eight_ranks_where_their_groups_are_odd(name, inner, splits):
    """The 72B of 4 bits was told not to split, and to take pipelines; its makers publish it for eight ranks."""
    row = named_checkpoint(name)
    assert row.intermediate_size == inner
    assert (not check_tp_size(row, 8).broken) == splits


def test_a_checkpoint_is_served_as_it_is_in_its_own_width_alone():
    """DeepSeek-V3 keeps its blocks in FP8 and loses them in bf16; Llama in FP8 has none; groups are of int4."""
    deepseek, llama = model("deepseek-v3"), model("llama-3-8b")
    assert as_served(deepseek, "fp8") is deepseek
    assert as_served(llama, "bf16") is llama
    other = as_served(deepseek, "bf16")
    assert (other.weight_dtype, other.weight_block, other.left_alone) == ("bf16", None, ())
    served = [as_served(llama, dtype) for dtype in ("fp8", "int4", "int4-g32")]
    assert [(one.weight_dtype, one.quantisation_group) for one in served] == [
        ("fp8", None),
        ("int4", 128),
        ("int4", 32),
    ]
