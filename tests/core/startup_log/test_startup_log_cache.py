"""The KV cache, in blocks, tokens and requests, as each kind of model keeps it."""

from types import SimpleNamespace

import pytest

from core.catalog import model
from core.startup_log import pools
from core.startup_log.reader import read_log
from tests.core.startup_log.printed_logs import CONFIG, formula, told, verdicts


def test_tokens_of_one_group_leave_open_how_many_blocks_the_others_have(monkeypatch):
    """160 tokens are ten blocks of 16; of three groups up to two have one more. A request takes five of them."""
    monkeypatch.setattr(pools, "pools", lambda basis, length: [pools.Pool(6.0, 3, 5)])
    assert pools.requests(SimpleNamespace(spanned_tokens=16), 160, 4096) == pytest.approx([12.0, 6.0, 6.2, 6.4])


def test_blocks_that_an_argument_asks_for_are_counted_from_no_memory():
    """512 blocks of 16 are 8,192 tokens, whatever room is left."""
    text = (
        "vllm serve Qwen/Qwen3-8B --num-gpu-blocks-override 512\n"
        "INFO [gpu_worker.py:298] Available KV cache memory: 10.65 GiB\n"
        "INFO [kv_cache_utils.py:829] Overriding num_gpu_blocks=4846 with num_gpu_blocks_override=512\n"
        "INFO [kv_cache_utils.py:864] GPU KV cache size: {} tokens"
    )
    assert verdicts(text.format("8,192"))["kv_tokens"] == {"ok"}
    assert verdicts(text.format("77,536"))["kv_tokens"] == {"unexplained"}


def test_a_cpus_blocks_are_its_cache_and_not_swapped():
    """40 GiB of host memory by 16 tokens of 131,072 bytes: 20,480 blocks, with 4 GiB of swap space said or not."""
    text = (
        "{}INFO [__init__.py:216] Automatically detected platform cpu.\n"
        "INFO api_server.py:496] args: Namespace(model='meta-llama/Llama-3.1-8B', swap_space=4)\n"
        "INFO cpu_executor.py:214] # CPU blocks: {}"
    )
    said = "VLLM_CPU_KVCACHE_SPACE=40 vllm serve meta-llama/Llama-3.1-8B\n"
    found = [
        verdicts(text.format(*pair))["cpu_blocks"] for pair in (("", 2048), ("", 20480), ("", 20481), (said, 20480))
    ]
    assert found == [{"ok"}, {"unexplained"}, {"off"}, {"ok"}]
    assert verdicts(text.format("", 20480).replace("platform cpu", "platform cuda").replace("cpu_", "gpu_"))[
        "cpu_blocks"
    ] == {"off"}


def test_blocks_are_found_under_each_releases_name():
    """2.36 GiB by 16 tokens of 28,672 bytes are 5,512 to 5,535 blocks; 4 GiB of host memory hold 9,362."""
    text = (
        "INFO model_runner.py:1110] Starting to load model Qwen/Qwen2.5-1.5B-Instruct...\n"
        "INFO worker.py:243] model weights take       2.89GiB\n"
        "INFO worker.py:243] {memory}\n"
        "INFO executor_base.py:110] # {device} blocks: 5519, # CPU blocks: 9362"
    )
    kept = "the rest of the memory reserved for KV Cache is 2.36GiB.", "available_kv_cache_memory       2.36GiB"
    for memory, device in zip(kept * 2, ("CUDA", "cuda", "GPU", "XPU"), strict=True):
        report = read_log(text.format(memory=memory, device=device))
        assert told(report) == [("weights_gib", 2.89, "ok"), ("gpu_blocks", 5519, "ok"), ("cpu_blocks", 9362, "ok")]


def test_blocks_that_a_kernel_forces_leave_a_miss_of_a_latent_cache_unexplained():
    """4,739 blocks of FlashMLA's 64 tokens are 1.851 requests of 163,840; of 16 they would be 0.463."""
    text = (
        "VLLM_USE_V1=0 vllm serve /models/DeepSeek-R1 --tensor-parallel-size 8\n"
        "INFO [executor_base.py:111] # cuda blocks: 4739, # CPU blocks: 954\n"
        "INFO [executor_base.py:116] Maximum concurrency for 163840 tokens per request: {}x"
    )
    found = read_log(text.format("1.85")).checks
    assert [check.verdict for check in found] == ["unexplained"] * 3
    assert "blocks of 64 tokens" in formula(found[2])
    padded = text.format("1.85").replace("CPU blocks: 954", "CPU blocks: 859")
    assert "rows padded to 256 bytes" in formula(read_log(padded).checks[1])
    assert verdicts(text.format("1.85").replace("CPU blocks: 954", "CPU blocks: 900"))["cpu_blocks"] == {"off"}
    assert verdicts(text.format("1.65"))["max_concurrency"] == {"off"}
    forced = "INFO [cuda.py:161] Forcing kv cache block size to 64 for FlashMLA backend.\n"
    said = verdicts(text.format("1.85").replace("INFO [exec", forced + "INFO [exec", 1))
    assert (said["max_concurrency"], said["cpu_blocks"]) == ({"ok"}, {"ok"})


@pytest.mark.parametrize(
    ("path", "blocks", "verdict"),
    [
        ("openai/gpt-oss-20b", 150178, "unexplained"),
        ("openai/gpt-oss-20b", 75089, "ok"),
        ("openai/gpt-oss-20b", 37544, "off"),
        ("someone/a-model-with-windows", 150178, "unexplained"),
        ("Qwen/Qwen3-8B", 150178, "off"),
    ],
)
def test_layers_with_a_window_may_have_blocks_of_their_own(path, blocks, verdict):
    """gpt-oss keeps every second layer in another pool: twice the blocks for the same 1,201,424 tokens."""
    text = (
        f"(APIServer pid=1) INFO [utils.py:233] non-default args: {{'model': '{path}', 'max_model_len': 131072}}\n"
        "(EngineCore_DP0 pid=2) INFO [kv_cache_utils.py:849] GPU KV cache size: 1,201,424 tokens\n"
        f"(APIServer pid=1) INFO [loggers.py:142] cache_config_info after num_gpu_blocks is: {blocks}"
    )
    assert verdicts(text)["gpu_blocks"] == {verdict}


def test_a_request_takes_fewer_blocks_where_every_second_layer_has_a_window():
    """gpt-oss 120B: 1,024 blocks of one pool and 137 of the other for 16,384 tokens in steps of 2,048: 284.25 fit.

    For 2,068 tokens 130 and 131: 114.85 GiB are 6,408.5 requests over eight ranks, and so many tokens are printed.
    """
    config = CONFIG.replace("Qwen/Qwen2-7B-Instruct", "openai/gpt-oss-120b").replace("l_size=2", "l_size=4")
    step = "INFO [scheduler.py:222] Chunked prefill is enabled with max_num_batched_tokens={}.\n"
    counts = (
        "\nINFO GPU KV cache size: 2,640,144 tokens\nINFO Maximum concurrency for 16,384 tokens per request: {}x"
    )
    text = step.format(2048) + config + counts
    assert [verdicts(text.format(times))["max_concurrency"] for times in ("284.25", "161.14", "300.00")] == [
        {"ok"},
        {"ok"},
        {"unexplained"},
    ]
    wide = step.format(8192) + config.replace("l_size=4", "l_size=8").replace("16384", "2068")
    left = "\n(Worker_TP0 pid=1) INFO Available KV cache memory: 114.85 GiB\nINFO GPU KV cache size: {} tokens"
    assert verdicts((wide + left).format("13,252,813"))["kv_tokens"] == {"ok"}


@pytest.mark.parametrize(
    ("left_gib", "tokens", "requests"), [("40.61", "177,440", "35.75"), ("44.03", "192,368", "38.76")]
)
def test_layers_with_narrower_rows_have_more_tokens_in_a_block(left_gib, tokens, requests):
    """Gemma 4 26B-A4B: 25 layers keep 8,192 bytes a token, 5 that see all 4,096, in blocks of as many bytes.

    A block of five layers is 16 tokens of the one kind or 32 of the other: 40.61 GiB are 66,535 blocks, a sixth of
    them 11,089 or 11,090 of 16 tokens. A request takes 5 · 321 and 256. Source: two logs of vLLM 0.20.0 on a GB10.
    """
    text = (
        "INFO [utils.py:233] non-default args: {'model': 'google/gemma-4-26B-A4B-it', 'max_model_len': 8192, "
        "'max_num_batched_tokens': 4096}\n"
        "INFO [core.py:109] Initializing a V1 LLM engine (v0.20.0) with config: "
        "model='google/gemma-4-26B-A4B-it', max_seq_len=8192, dtype=torch.bfloat16, tensor_parallel_size=1\n"
        f"INFO [gpu_worker.py:440] Available KV cache memory: {left_gib} GiB\n"
        f"INFO [kv_cache_utils.py:1711] GPU KV cache size: {tokens} tokens\n"
        f"INFO [kv_cache_utils.py:1716] Maximum concurrency for 8,192 tokens per request: {requests}x"
    )
    assert verdicts(text) == {"kv_tokens": {"ok"}, "max_concurrency": {"ok"}}
    assert verdicts(text.replace(tokens, "150,016"))["kv_tokens"] == {"off"}


@pytest.mark.parametrize(
    ("path", "verdict"),
    [("nvidia/Llama-3.3-70B-Instruct-FP8", "unexplained"), ("meta-llama/Llama-3.3-70B-Instruct", "off")],
)
def test_a_quantised_checkpoint_may_ask_for_a_narrower_cache(path, verdict):
    """40 GiB by 16 tokens of 163,840 bytes on a rank of two: 262,144, and twice as many in eight bits.

    Source: vllm/utils/torch_utils.py, get_kv_cache_quant_algo_string.
    """
    text = (
        f"vllm serve {path} --tensor-parallel-size 2\n"
        "(Worker_TP0 pid=1) INFO Available KV cache memory: 40.00 GiB\n"
        "(Worker_TP1 pid=2) INFO Available KV cache memory: 40.00 GiB\n"
        "INFO GPU KV cache size: {} tokens"
    )
    assert verdicts(text.format("262,144"))["kv_tokens"] == {"ok"}
    assert verdicts(text.format("524,288"))["kv_tokens"] == {verdict}


def test_a_state_is_kept_for_each_token_drafted_ahead():
    """Nemotron 3 Super drafts three: 16 blocks of 8,432 tokens and 5 · 4 states, of some 1,001 blocks: 27.81 fit.

    Source: a log of vLLM 0.19.2 on a GB10.
    """
    path = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"
    text = (
        f"INFO Initializing a V1 LLM engine (v0.19.2) with config: model='{path}', speculative_config="
        f"SpeculativeConfig(method='mtp', model='{path}', num_spec_tokens=3), tensor_parallel_size=1, "
        "max_seq_len=131072, kv_cache_dtype=fp8\n"
        "INFO [interface.py:606] Setting attention block size to 8432 tokens\n"
        "INFO GPU KV cache size: 1,399,712 tokens\n"
        "INFO Maximum concurrency for 131,072 tokens per request: {}x"
    )
    assert verdicts(text.format("27.81"))["max_concurrency"] == {"ok"}
    assert verdicts(text.format("21.00"))["max_concurrency"] == {"off"}
    untold = text.replace("num_spec_tokens=3", "quantization=None")
    assert verdicts(untold.format("27.81"))["max_concurrency"] == {"unexplained"}
    another = text.replace("method='mtp'", "method='dflash'")  # a draft's own layers keep a cache
    assert verdicts(another.format("21.00"))["max_concurrency"] == {"unexplained"}


def test_tokens_that_requests_fill_may_end_at_a_block():
    """Qwen3-8B, 16 GiB for 1,000 tokens in 63 blocks: 7,281 blocks are 115,571 tokens, 8,000 blocks 126,984."""
    text = (
        "vllm serve Qwen/Qwen3-8B --max-model-len 1000\nINFO Available KV cache memory: {} GiB\n"
        "INFO [kv_cache_utils.py:1314] GPU KV cache size: {} tokens"
    )
    found = [("16.00", "115,571"), ("16.00", "116,496"), ("17.5781", "126,984"), ("17.5781", "124,000")]
    assert [verdicts(text.format(*pair))["kv_tokens"] for pair in found] == [{"ok"}, {"ok"}, {"ok"}, {"off"}]


def test_layers_that_are_added_take_room():
    """Gemma 3 12B with a layer more in every group of eight would keep an eighth less."""
    text = (
        "(APIServer pid=8) INFO [utils.py:233] non-default args: {{'model': 'google/gemma-3-12b-it'}}\n"
        "(EngineCore_DP0 pid=2) INFO [gpu_worker.py:276] Available KV cache memory: 109.86 GiB\n"
        "{}(EngineCore_DP0 pid=2) INFO [kv_cache_utils.py:1087] GPU KV cache size: 266,000 tokens"
    )
    added = "(EngineCore_DP0 pid=2) WARNING Add 6 padding layers, may waste at most 12.5% KV cache memory\n"
    assert verdicts(text.format(""))["kv_tokens"] == {"off"}
    assert verdicts(text.format(added))["kv_tokens"] == {"unexplained"}


def test_a_vanished_draft_layer_is_unexplained_not_off():
    """Llama 3.1 8B with EAGLE: 410,128 tokens are 51.63 GiB by 33 layers, to the block (vllm issue 19996)."""
    text = (
        CONFIG.replace("Qwen/Qwen2-7B-Instruct", "meta-llama/Llama-3.1-8B-Instruct")
        .replace("speculative_config=None", "speculative_config=SpeculativeConfig(method='eagle')")
        .replace("tensor_parallel_size=2", "tensor_parallel_size=1")
        + "\nINFO [gpu_worker.py:232] Available KV cache memory: 51.63 GiB"
        + "\nINFO [kv_cache_utils.py:716] GPU KV cache size: 410,128 tokens"
    )
    assert verdicts(text)["kv_tokens"] == {"unexplained"}
    assert verdicts(text.replace("410,128", "450,128"))["kv_tokens"] == {"off"}


def test_windows_are_what_a_models_layers_have():
    """Gemma 2 and gpt-oss have them; GLM-4.5, Llama 3 and a hybrid of states have none."""
    assert model("gemma-2-9b").windowed_layers
    assert model("gpt-oss-120b").windowed_layers
    assert not any(model(key).windowed_layers for key in ("glm-4.5", "llama-3-8b", "qwen3.5-35b-a3b"))


@pytest.mark.parametrize(
    ("memory", "tokens", "requests"), [("5.98", "567,978", "4.33"), ("6.01", "569,878", "4.35")]
)
def test_a_hybrids_tokens_are_the_blocks_that_its_groups_leave_a_request(memory, tokens, requests):
    """Qwen3.6-35B-A3B on one RTX 5090, vLLM 0.24.0, its cache in eight bits (club-3090 issues #612 and #652).

    A state of 32 · 128 · 128 floats and 3 inputs of 8,192 channels has 2,146,304 bytes: 2,096 tokens of 1,024 a
    layer. Ten layers attend, thirty keep a state: four groups of ten. 299 blocks; 63 and twice three a request.
    """
    text = (
        "INFO [api_utils.py:273] non-default args: {'model': '~/qwen3.6-35b-a3b-nvfp4', 'max_model_len': 131072,"
        " 'quantization': 'modelopt', 'kv_cache_dtype': 'fp8', 'max_num_batched_tokens': 8192}\n"
        "INFO [core.py:114] Initializing a V1 LLM engine (v0.24.0) with config: model='~/qwen3.6-35b-a3b-nvfp4',"
        " tensor_parallel_size=1, pipeline_parallel_size=1, kv_cache_dtype=fp8\n"
        f"INFO [gpu_worker.py:508] Available KV cache memory: {memory} GiB\n"
        f"INFO [kv_cache_utils.py:2146] GPU KV cache size: {tokens} tokens\n"
        f"INFO [kv_cache_utils.py:2147] Maximum concurrency for 131,072 tokens per request: {requests}x"
    )
    found = verdicts(text)
    assert (found["kv_tokens"], found["max_concurrency"]) == ({"ok"}, {"ok"})
    fewer = text.replace(tokens, "467,978")
    assert verdicts(fewer)["kv_tokens"] == {"off"}


def test_an_older_release_divides_a_hybrids_blocks_by_its_groups():
    """Qwen3.5-27B over four GPUs, vLLM 0.19.0: 584 blocks for four groups of 16 layers, 584 // 4 · 784 tokens.

    A request of 32,768 tokens takes 42 blocks of the group that attends, and one of each of three with states.
    """
    text = (
        "INFO [core.py:105] Initializing a V1 LLM engine (v0.19.0) with config: model='Qwen/Qwen3.5-27B',"
        " dtype=torch.bfloat16, max_seq_len=32768, tensor_parallel_size=4, pipeline_parallel_size=1\n"
        "INFO [gpu_worker.py:436] Available KV cache memory: 7.0 GiB\n"
        "INFO [kv_cache_utils.py:1319] GPU KV cache size: 114,464 tokens\n"
        "INFO [kv_cache_utils.py:1324] Maximum concurrency for 32,768 tokens per request: 12.98x"
    )
    found = verdicts(text)
    assert (found["kv_tokens"], found["max_concurrency"]) == ({"ok"}, {"ok"})
    for right, wrong in (("114,464", "457,856"), ("12.98", "11.98")):
        assert "off" in set().union(*verdicts(text.replace(right, wrong)).values())
