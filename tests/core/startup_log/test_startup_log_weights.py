"""Weights a rank holds, as each engine and each release printed them."""

import json

import pytest

from core.catalog import model
from core.errors import OutOfRangeError
from core.models.hf_config import model_from_config
from core.models.loaded_weights import rank_tensors
from core.startup_log.reader import read_log
from core.startup_log.records import Given
from core.startup_log.weight_rules import tensor_rows
from core.units import MIB
from tests.core.startup_log.printed_logs import CONFIG, formula, told, verdicts


def test_mixtures_have_an_embedding_and_a_head_on_every_stage_in_vllm():
    """Qwen3-30B-A3B over TP 4, PP 2: 7.180 GiB with one of the two, 7.325 with both; 7.3272 was printed."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-30B-A3B-Instruct-2507").replace("size=2", "size=4")
    text = config.replace("pipeline_parallel_size=1", "pipeline_parallel_size=2") + (
        "\n(Worker_PP1_TP0 pid=1) INFO [gpu_model_runner.py:2007] Model loading took {} GiB and 5 seconds"
    )
    assert "embedding and head" in formula(read_log(text.format("7.3272")).checks[0])
    assert [verdicts(text.format(gib))["weights_gib"] for gib in ("7.3272", "7.1803", "7.2500")] == [
        {"ok"},
        {"ok"},
        {"off"},
    ]
    dense = text.replace("Qwen3-30B-A3B-Instruct-2507", "Qwen3-8B")
    assert verdicts(dense.format("2.1000"))["weights_gib"] == {"off"}


def test_gemma_2_once_had_a_rotary_table_in_every_layer():
    """9B: 17.218 GiB with one table of 4 MiB; a release of July 2024 printed 17.3781, with 42 of them."""
    config = CONFIG.replace("Qwen/Qwen2-7B-Instruct", "google/gemma-2-9b").replace("l_size=2", "l_size=1")
    text = config + "\nINFO 07-17 00:14:10 model_runner.py:266] Loading model weights took {} GB"
    assert [verdicts(text.format(gib))["weights_gib"] for gib in ("17.2179", "17.3781", "17.6000")] == [
        {"ok"},
        {"ok"},
        {"off"},
    ]


def test_rocm_prints_the_fall_in_free_memory():
    """Qwen2.5-7B: 14.249 GiB are allocated, in segments of 14.303; 14.37 was printed, libraries with it."""
    config = CONFIG.replace("Qwen2-7B", "Qwen2.5-7B").replace("tensor_parallel_size=2", "tensor_parallel_size=1")
    text = config + "\n{}INFO [gpu_model_runner.py:4338] Model loading took {} GiB memory and 132 seconds"
    rocm = "INFO [__init__.py:216] Automatically detected platform rocm.\n"
    assert verdicts(text.format("", "14.37")) == {"weights_gib": {"off"}}
    assert verdicts(text.format(rocm, "14.37")) == {"weights_gib": {"ok"}}
    assert verdicts(text.format(rocm, "14.60")) == {"weights_gib": {"unexplained"}}
    assert verdicts(text.format(rocm, "15.60")) == {"weights_gib": {"off"}}


def test_marlin_pads_experts_where_the_log_says_that_it_runs():
    """gpt-oss 120B over four A100: 17.2217 GiB a rank were printed; unpadded experts would leave 15.25."""
    config = CONFIG.replace("Qwen/Qwen2-7B-Instruct", "openai/gpt-oss-120b").replace("size=2", "size=4")
    text = config + "\n{}INFO [gpu_model_runner.py:2007] Model loading took {} GiB and 1 s"
    marlin = "INFO [mxfp4.py:165] Using Marlin backend\n"
    assert verdicts(text.format(marlin, "17.2217")) == {"weights_gib": {"ok"}}
    assert verdicts(text.format(marlin, "12.2217")) == {"weights_gib": {"off"}}
    assert verdicts(text.format("", "17.2217")) == {"weights_gib": {"unexplained"}}
    assert verdicts(text.format("", "18.9000")) == {"weights_gib": {"off"}}


def test_what_was_rounded_is_held_to_what_it_was_rounded_from():
    """Qwen2.5 0.5B printed 0.9276 and 0.93 GiB; 0.9245 is within half a percent of the first."""
    config = CONFIG.replace("Qwen2-7B", "Qwen2.5-0.5B").replace("l_size=2", "l_size=1")
    text = config + "\nINFO worker.py:241] model weights take {}GiB; non_torch_memory takes 0.11GiB"
    assert [verdicts(text.format(gib))["weights_gib"] for gib in ("0.9276", "0.93", "0.9310", "0.94")] == [
        {"ok"},
        {"ok"},
        {"off"},
        {"off"},
    ]


def test_weights_and_memory_are_found_where_later_releases_print_them():
    """Usage at the end of a start, and a cache whose size an argument gives: 4 GiB by 28,672 bytes a token."""
    text = CONFIG.replace("Qwen2-7B", "Qwen2.5-1.5B").replace("l_size=2", "l_size=1") + (
        "\nINFO [gpu_worker.py:250] Initial free memory 78.9 GiB, reserved 4.0 GiB memory for KV Cache as "
        "specified by kv_cache_memory_bytes config and skipped memory profiling.\n"
        "INFO [kv_cache_utils.py:864] GPU KV cache size: 149,792 tokens\n"
        "INFO [gpu_worker.py:391] Free memory on device (78.9/79.2 GiB) on startup. Desired GPU memory utilization "
        "is (0.9, 71.3 GiB). Actual usage is 2.88 GiB for weight, 1.4 GiB for peak activation."
    )
    assert told(read_log(text)) == [("kv_tokens", 149792, "ok"), ("weights_gib", 2.88, "ok")]


def test_gb_means_gib_and_mb_means_mib():
    """A model of 0.2387 GiB printed 244.61 MB in a release of 2024 (vllm pull 3120)."""
    checks = read_log("INFO model_runner.py:90] Loading model weights took 244.61 MB").checks
    assert checks[0].logged == pytest.approx(0.23888, abs=1e-5)


def test_another_width_is_named_where_the_log_leaves_it_open():
    """DeepSeek-R1 at TP 16 printed 21.21 GiB: fp8 would be 40, awq is what fits, and only a user can say so."""
    line = "(VllmWorkerProcess pid=521) INFO [worker.py:267] model weights take 21.21GiB; non_torch_memory takes"
    spec = model("deepseek-r1")
    assert verdicts(line, Given(spec, 16)) == {"weights_gib": {"unexplained"}}
    assert verdicts(line, Given(spec, 16, dtype="awq")) == {"weights_gib": {"ok"}}
    assert verdicts(line, Given(spec, 16, dtype="fp8")) == {"weights_gib": {"off"}}
    with pytest.raises(OutOfRangeError, match="dtype=fp3"):
        read_log(line, Given(spec, 16, dtype="fp3"))


@pytest.mark.parametrize(("graph", "verdict"), [("npu", "unexplained"), ("cuda", "off")])
def test_what_an_npus_libraries_take_of_free_memory_is_not_known(graph, verdict):
    """GLM-4.7-Flash over two Ascend 910B: 28.79 GiB less were free, 28.08 are its weights."""
    text = (
        "python3 -m sglang.launch_server --model-path zai-org/GLM-4.7-Flash --tp-size 2\n"
        "[2026-03-11 13:53:21 TP0] Load weight end. elapsed=23.18 s, type=Glm4MoeLiteForCausalLM, "
        "avail mem=32.02 GB, mem usage=28.79 GB.\n"
        f"[2026-03-11 13:53:32 TP0] Capture {graph} graph end. Time elapsed: 8.04 s. mem usage=0.80 GB."
    )
    assert verdicts(text)["weights_gib"] == {verdict}


@pytest.mark.parametrize(
    ("path", "gib", "verdict"),
    [
        ("/models/Meta-Llama-3.1-405B-Instruct-FP8", "57.7520", "unexplained"),
        ("meta-llama/Llama-3.1-405B-Instruct-FP8", "57.7520", "unexplained"),
        ("neuralmagic/Meta-Llama-3.1-405B-Instruct-FP8", "57.7520", "off"),
        ("neuralmagic/Meta-Llama-3.1-405B-Instruct-FP8", "47.7773", "ok"),
        ("/models/Meta-Llama-3.1-405B-Instruct-FP8", "70.0000", "off"),
    ],
)
def test_metas_own_fp8_leaves_attention_alone(path, gib, verdict):
    """A rank of eight: 57.75 GiB (vLLM issue 6746), 56.75 counted; 47.78 if all is FP8. A folder tells not."""
    text = (
        f"(VllmWorkerProcess pid=7) INFO 07-24 14:03:36 model_runner.py:680] Starting to load model {path}...\n"
        f"(VllmWorkerProcess pid=7) INFO 07-24 14:07:31 model_runner.py:692] Loading model weights took {gib} GB"
    )
    assert verdicts(text, Given(None, 8, None, None))["weights_gib"] == {verdict}


def test_the_tensors_of_a_rank_come_to_what_it_loads():
    """In MiB, each as often as there are copies of it; an allocator hands out no less."""
    spec = model("llama-3-8b")
    rows = tensor_rows(spec, 4)
    assert sum(row.copies * row.size_mib for row in rows) * MIB == pytest.approx(
        sum(tensor.copies * tensor.size_bytes for tensor in rank_tensors(spec, 4))
    )
    assert all(row.size_mib <= row.allocated_mib for row in rows)


def test_a_config_of_nvfp4_says_what_is_left_alone():
    """Qwen3-8B, attention in two bytes an element and MLPs in 0.5625: 8.02 GiB; 6.01 all narrow, 15.26 in bf16."""
    fields = {
        "model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
        "quantization_config": {
            "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["*self_attn*"]
        },
    }  # fmt: skip
    given = Given(model_from_config(json.dumps(fields)), 1, None, None)
    text = "INFO quantization=modelopt_fp4\nINFO [gpu_model_runner.py:2007] Model loading took {} GiB and 5 seconds"
    assert verdicts(text.format("8.02"), given)["weights_gib"] == {"ok"}
    assert verdicts(text.format("6.01"), given)["weights_gib"] == {"off"}
