"""The figures of SGLang and TensorRT-LLM, and of draft models."""

import pytest

from core.catalog import model
from core.startup_log.reader import read_log
from core.startup_log.records import Given
from tests.core.startup_log.printed_logs import notes, told, verdicts


def test_sglang_prints_keys_and_values_apart_and_one_page_more():
    """190,976 tokens and a page of 128, 4 heads whole on a data-parallel rank: 17.13 GiB of keys."""
    text = (
        "[2026-01-04 06:41:00] server_args=ServerArgs(model_path='/m/Qwen3-235B-A22B-W8A8', dtype='bfloat16', "
        "quantization='modelslim', page_size=128, device='npu', tp_size=32, dp_size=32, enable_dp_attention=True)\n"
        "[2026-01-04 06:44:41 DP11 TP11 EP11] Load weight end. type=Qwen3MoeForCausalLM, dtype=torch.bfloat16, "
        "avail mem=45.73 GB, mem usage=15.36 GB.\n[2026-01-04 06:44:41 DP10 TP10 EP10] KV Cache is allocated. "
        "#tokens: 190976, K size: 17.13 GB, V size: 17.13 GB"
    )
    report = read_log(text)
    assert told(report) == [
        ("weights_gib", 15.36, "unexplained"),
        ("kv_size_gib", 17.13, "ok"),
        ("kv_size_gib", 17.13, "ok"),
    ]
    assert [check.rank for check in report.checks] == [11, 10, 10]
    assert verdicts(text.replace("enable_dp_attention=True", "enable_dp_attention=False"))["kv_size_gib"] == {"off"}


def test_a_draft_models_figures_are_its_own():
    text = (
        "server_args=ServerArgs(model_path='Qwen3-32B', tp_size=8, page_size=128, speculative_algorithm='EAGLE3')\n"
        "[2026-01-04 07:46:36 TP5] Load weight end. type=Qwen3ForCausalLM, avail mem=53.11 GB, mem usage=7.88 GB.\n"
        "[2026-01-04 07:46:36 TP5] KV Cache is allocated. #tokens: 1172096, K size: 17.89 GB, V size: 17.89 GB\n"
        "[2026-01-04 07:47:06 TP5] Load weight end. type=LlamaForCausalLMEagle3, mem usage=0.58 GB.\n"
        "[2026-01-04 07:47:06 TP5] KV Cache is allocated. #tokens: 1172096, K size: 0.28 GB, V size: 0.28 GB\n"
        "[2026-01-04 07:47:10 TP0] max_total_num_tokens=1172096, chunked_prefill_size=-1"
    )
    report = read_log(text)
    assert [check.verdict for check in report.checks] == ["ok"] * 3 + ["unexplained"] * 3 + ["ok"]
    assert any("draft model" in note for note in notes(report))


def test_a_ranks_second_cache_of_as_many_tokens_is_the_drafts():
    """A piece of a log without its weights, in lines of noonghunna/club-3090 issue 1261: 16 layers, then 5."""
    text = "\n".join(
        f"[2026-09-12 00:22:48 TP{rank}] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 454112, "
        f"K size: {gib} GB, V size: {gib} GB"
        for rank in (0, 1)
        for gib in ("3.46", "1.08")
    )
    report = read_log(text, Given(model("qwen3.5-27b"), 2))
    assert [check.verdict for check in report.checks] == ["ok", "ok", "unexplained", "unexplained"] * 2


def test_tensorrt_llm_gives_bytes_and_tokens():
    """69,524,783,104 bytes for 132,608 tokens: 524,288 each, Llama 2 7B's in fp16 (TensorRT-LLM issue 1400)."""
    text = (
        "[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache. \n"
        "[TensorRT-LLM][INFO] Using 132608 tokens in paged KV cache."
    )
    report = read_log(text, Given(model("llama-2-7b"), 1))
    assert told(report) == [("bytes_per_token", 524288, "ok"), ("kv_tokens", 132608, "ok")]
    assert verdicts(text)["bytes_per_token"] == {"unexplained"}


def test_tensorrt_llm_names_its_model_by_the_files_it_loads():
    """Its PyTorch engine prints no model: the folder of a Hugging Face cache says which it is."""
    text = (
        "[TensorRT-LLM] TensorRT LLM version: 1.2.0\n[TRT-LLM] [I] Prefetching 14.96GB checkpoint files.\n"
        "[TRT-LLM] [I] Prefetching /root/.cache/huggingface/hub/models--meta-llama--Meta-Llama-3-8B-Instruct/"
        "snapshots/8afb486c1db24fe5011ec46dfbe5b5dccdb575c2/model-00002-of-00004.safetensors to memory...\n"
        "[TRT-LLM] [I] Memory used after loading model weights (inside torch) in memory usage profiling: "
        "15.06 GiB\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 109.96 GiB for max tokens in paged KV cache (900800)."
    )
    report = read_log(text)
    assert (report.model.key, report.version) == ("llama-3-8b", "1.2.0")
    assert told(report) == [("weights_gib", 15.06, "unexplained"), ("kv_size_gib", 109.96, "ok")]
    given = Given(tp_size=1, dtype="bf16")
    assert [verdicts(text.replace("15.06", gib), given)["weights_gib"] for gib in ("14.96", "15.06", "17.06")] == [
        {"ok"},
        {"unexplained"},
        {"off"},
    ]


SNAPSHOT = (
    "/root/.cache/huggingface/hub/models--openai--gpt-oss-120b/snapshots/b5c939de8f754692c1647ca79fbf85e8c1e70f8a"
)
ARGUMENTS = (
    "[TRT-LLM] [RANK 0] [I] LLM Args:\nmodel='openai/gpt-oss-120b' tokenizer=None skip_tokenizer_init=False"
    " tensor_parallel_size=1 dtype='auto'"
)


@pytest.mark.parametrize(
    "said", [SNAPSHOT, ARGUMENTS, f"Starting trtllm-serve for model x on port 8355...\n{SNAPSHOT}"]
)
def test_tensorrt_llm_names_its_model_by_a_folder_or_by_its_arguments(said):
    """A start on a GB10 as posted, 73,728 bytes a token and 5.95 GiB for 86,720; its arguments are printed last."""
    sizes = (
        "available KV cache memory when calculating max tokens: 5.95 GiB, fraction is set 0.9, kv size is 73728."
        " device total memory 119.70 GiB\n"
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 5.95 GiB for max tokens in paged KV cache (86720)."
    )
    head = "[TensorRT-LLM] TensorRT-LLM version: 1.1.0rc3\n"
    text = f"{head}{sizes}\n{said}" if said == ARGUMENTS else f"{head}{said}\n{sizes}"
    report = read_log(text)
    assert report.model is not None
    assert report.model.key == "gpt-oss-120b"
    assert told(report) == [("bytes_per_token", 73728, "ok"), ("kv_size_gib", 5.95, "ok")]


@pytest.mark.parametrize(
    "said",
    ["--kt-weight-path /mnt/experts", "--cpu-offload-gb 40", "server_args=ServerArgs(kt_weight_path='/mnt')"],
)
def test_experts_that_the_host_keeps_are_no_weights_of_a_rank(said):
    """KTransformers' Qwen3.5 on two RTX 4090, its issue 1870: 3.76 GB a rank, the experts beside the processors."""
    text = (
        f"python -m sglang.launch_server --model Qwen/Qwen3.5-397B-A17B --tp 2 {said}\n"
        "[2026-02-27 17:10:27 TP0] Load weight end. elapsed=653.47 s, type=Qwen3_5MoeForConditionalGeneration,"
        " dtype=torch.bfloat16, avail mem=19.08 GB, mem usage=3.76 GB.\n"
        "[2026-02-27 17:10:28 TP0] KV Cache is allocated. #tokens: 580364, K size: 4.15 GB, V size: 4.15 GB"
    )
    assert verdicts(text) == {"weights_gib": {"unexplained"}, "kv_size_gib": {"ok"}}
