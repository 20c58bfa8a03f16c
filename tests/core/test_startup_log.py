"""A startup log, read: figures that engines printed, in lines written anew, and the ways a log is mangled.

Where SHARDLAB_CASES names a folder of real logs, all of them are read too.
"""

import os
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from core.catalog import model
from core.errors import OutOfRangeError, UnreadableTextError
from core.startup_log.basis import windowed
from core.startup_log.masking import masked
from core.startup_log.reader import LIMIT_FIGURES, read_log
from core.startup_log.records import Given, Report

CASES = Path(os.environ.get("SHARDLAB_CASES", "")) / "logs"

CONFIG = (
    "INFO 09-03 00:36:27 [core.py:74] Initializing a V1 LLM engine (v0.10.1.1) with config: "
    "model='Qwen/Qwen2-7B-Instruct', speculative_config=None, tokenizer='Qwen/Qwen2-7B-Instruct', "
    "dtype=torch.bfloat16, max_seq_len=16384, tensor_parallel_size=2, pipeline_parallel_size=1, "
    "disable_custom_all_reduce=False, quantization=None, kv_cache_dtype=auto"
)
QWEN2 = "\n".join(
    [
        CONFIG,
        "(VllmWorker TP0 pid=11) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB, 1 s",
        "(VllmWorker TP1 pid=12) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB, 1 s",
        "(VllmWorker TP0 pid=11) INFO 09-03 00:40:53 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB",
        "(VllmWorker TP1 pid=12) INFO 09-03 00:40:55 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB",
        "(EngineCore_0 pid=10) INFO 09-03 00:40:55 [kv_cache_utils.py:849] GPU KV cache size: 450,192 tokens",
        "(EngineCore_0 pid=10) INFO 09-03 00:40:55 [kv_cache_utils.py:853] Maximum concurrency for 16,384 tokens "
        "per request: 27.48x",
        "(APIServer pid=9) INFO 09-03 00:41:00 [loggers.py:142] vllm cache_config_info with initialization after "
        "num_gpu_blocks is: 28137",
    ]
)
"""The figures of dennislee22/vLLM-benchmarking, Qwen2-7B on two A100."""

DEEPSEEK = "\n".join(
    [
        "INFO 04-20 16:47:03 [llm_engine.py:242] Initializing a V0 LLM engine (v0.8.3) with config: "
        "model='deepseek-ai/DeepSeek-V2.5', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=8, "
        "pipeline_parallel_size=2, quantization=None, kv_cache_dtype=auto",
        "INFO 04-20 17:00:56 [worker.py:267] model weights take 27.63GiB; non_torch_memory takes 0.93GiB; PyTorch "
        "activation peak memory takes 1.27GiB; the rest of the memory reserved for KV Cache is 5.71GiB.",
        "(RayWorkerWrapper pid=627, ip=10.1.2.3) INFO 04-20 17:00:56 [worker.py:267] model weights take 28.48GiB; "
        "non_torch_memory takes 2.15GiB; the rest of the memory reserved for KV Cache is 3.58GiB.",
        "INFO 04-20 17:00:56 [executor_base.py:112] # cuda blocks: 5302, # CPU blocks: 7767",
        "INFO 04-20 17:00:56 [executor_base.py:117] Maximum concurrency for 8192 tokens per request: 10.36x",
        "(RayWorkerWrapper pid=661) INFO 04-20 17:00:56 [worker.py:267] Memory profiling takes 8.62 seconds "
        "[repeated 14x across cluster]",
    ]
)
"""DeepSeek-V2.5 over two nodes: TP 8, PP 2, latent attention, in lines of a public log."""


def told(report: Report) -> list[tuple[str, float, str]]:
    """What a report says of each figure."""
    return [(check.quantity, check.logged, check.verdict) for check in report.checks]


def verdicts(text: str, given: Given | None = None) -> dict[str, set[str]]:
    """The verdicts of a log's figures by quantity."""
    found: dict[str, set[str]] = {}
    for check in read_log(text, given).checks:
        found.setdefault(check.quantity, set()).add(check.verdict)
    return found


def test_a_whole_log_reconciles_figure_by_figure():
    """28,137 blocks of 16 are 450,192 tokens, exactly; over 1,024 blocks a request they are 27.478 requests."""
    report = read_log(QWEN2)
    assert (report.engine, report.version, report.model.key) == ("vllm", "0.10.1.1", "qwen2-7b")
    assert (report.tp_size, report.pp_size) == (2, 1)
    assert told(report) == [
        ("weights_gib", 7.1217, "ok"),
        ("weights_gib", 7.1217, "ok"),
        ("kv_tokens", 450192, "ok"),
        ("max_concurrency", 27.48, "ok"),
        ("gpu_blocks", 28137, "ok"),
    ]
    assert [check.rank for check in report.checks[:2]] == [0, 1]
    assert report.checks[-1].predicted == 28137


@pytest.mark.parametrize(
    "decorate",
    [
        pytest.param(lambda line: f"\x1b[1;36m{line}\x1b[0;0m", id="colours"),
        pytest.param(lambda line: f"^[[0;36m{line}^[[0;0m", id="colours in carets"),
        pytest.param(lambda line: f"> {line}", id="quote marks"),
        pytest.param(lambda line: f"vllm-1  | {line}", id="docker compose"),
        pytest.param(lambda line: f"[pod/vllm-0/main] {line}", id="kubectl"),
        pytest.param(lambda line: f"Nov 21 10:00:00 node7 vllm[812]: {line}", id="journald"),
        pytest.param(lambda line: f"2026-11-21T10:00:00.123456Z {line}", id="time stamps"),
        pytest.param(lambda line: f"│ {line:<300} │", id="a frame"),
        pytest.param(lambda line: f"<font color='#2AA1B3'><b>{escape(line)}</b></font>", id="a page's source"),
        pytest.param(lambda line: f"# {line}", id="comments of a script"),
        pytest.param(lambda line: f"{line}\r", id="carriage returns"),
        pytest.param(lambda line: f"Loading: 10%\rLoading: 99%\r{line}", id="a progress bar before"),
        pytest.param(lambda line: f"```\n{line}\n```", id="fences"),
        pytest.param(lambda line: f"{line}\n[... 19 progress-bar repaints elided ...]", id="elided lines"),
    ],
)
def test_what_a_log_passes_through_changes_nothing(decorate):
    assert told(read_log("\n".join(map(decorate, QWEN2.split("\n"))))) == told(read_log(QWEN2))


@pytest.mark.parametrize("width", [72, 80, 100, 120, 132])
def test_a_terminal_that_cuts_lines_anywhere_changes_nothing(width):
    """The cut falls inside words and numbers; glued at the width they are whole again."""
    cut = "\n".join(
        line[start : start + width] for line in QWEN2.split("\n") for start in range(0, len(line), width)
    )
    assert told(read_log(cut)) == told(read_log(QWEN2))


def test_an_editor_that_breaks_lines_at_spaces_changes_nothing():
    broken = QWEN2.replace("Maximum concurrency for", "Maximum concurrency\nfor").replace(", dtype=", ",\n dtype=")
    assert told(read_log(broken)) == told(read_log(QWEN2))


def test_a_command_over_many_lines_names_its_model_and_ranks():
    """With a shell's prompt, backslashes and ModelScope's way to write a dot; 14B over two ranks."""
    text = (
        "(llm) ada@box:~/code$ vllm serve /cache/modelscope/hub/Qwen/Qwen2___5-14B-Instruct \\\n"
        "    --dtype auto \\\n    --tensor-parallel-size 2\n"
        "(VllmWorkerProcess pid=12) INFO 02-11 07:40:45 model_runner.py:1115] Loading model weights took 13.9281 GB"
    )
    report = read_log(text)
    assert (report.model.key, report.tp_size) == ("qwen2.5-14b", 2)
    assert report.checks[0].verdict == "ok"


def test_several_records_run_into_one_line_are_each_read():
    """A paste that lost its newlines: one line with everything."""
    assert {check.quantity for check in read_log(QWEN2.replace("\n", " ")).checks} == {
        check.quantity for check in read_log(QWEN2).checks
    }


@pytest.mark.parametrize(
    ("right", "wrong", "quantity"),
    [
        ("7.1217 GiB", "14.2488 GiB", "weights_gib"),
        ("450,192 tokens", "225,088 tokens", "kv_tokens"),
        ("450,192 tokens", "452,192 tokens", "kv_tokens"),
        ("27.48x", "28.48x", "max_concurrency"),
        ("num_gpu_blocks is: 28137", "num_gpu_blocks is: 28138", "gpu_blocks"),
    ],
)
def test_a_figure_that_was_changed_is_off(right, wrong, quantity):
    """A count made from a count is held to the last block; one from a printed memory to that memory's rounding."""
    assert "off" in verdicts(QWEN2.replace(right, wrong))[quantity]


def test_nothing_is_invented_for_a_model_that_is_not_known():
    report = read_log(QWEN2.replace("Qwen/Qwen2-7B-Instruct", "somebody/Riddle-9B"))
    unexplained = [check for check in report.checks if check.verdict == "unexplained"]
    assert {check.quantity for check in unexplained} == {"weights_gib", "kv_tokens"}
    assert all(check.predicted is None and check.residual_fraction is None for check in unexplained)
    assert all(check.logged is not None for check in report.checks)
    assert any("Riddle-9B" in note for note in report.notes)


def test_what_the_log_does_not_say_can_be_given():
    """Qwen3-14B printed 42,656 tokens from 6.51 GiB: LMCache/LMCache issue 1739."""
    excerpt = (
        "(EngineCore_DP0 pid=1) INFO 10-03 16:22:17 [gpu_worker.py:298] Available KV cache memory: 6.51 GiB\n"
        "(EngineCore_DP0 pid=1) INFO 10-03 16:22:17 [kv_cache_utils.py:864] GPU KV cache size: 42,656 tokens\n"
        "(EngineCore_DP0 pid=1) INFO 10-03 16:22:17 [kv_cache_utils.py:868] Maximum concurrency for 32,768 tokens "
        "per request: 1.30x"
    )
    assert verdicts(excerpt)["kv_tokens"] == {"unexplained"}
    given = Given(model("qwen3-14b"), 1)
    assert verdicts(excerpt, given) == {"kv_tokens": {"ok"}, "max_concurrency": {"ok"}}
    assert read_log(excerpt, given).checks[0].predicted == 42656


def test_ranks_that_nobody_states_leave_a_miss_unexplained():
    """A quarter of the weights is TP 4 where that is said, and no verdict where it is not."""
    line = "INFO 01-31 10:27:34 model_runner.py:1115] Loading model weights took 3.7418 GB"
    spec = model("llama-3-8b")
    assert verdicts(line, Given(spec)) == {"weights_gib": {"unexplained"}}
    assert verdicts(line, Given(spec, 4)) == {"weights_gib": {"ok"}}
    assert verdicts(line, Given(spec, 2)) == {"weights_gib": {"off"}}


def test_the_smallest_rank_decides_and_each_rank_is_held_to_its_own():
    """Qwen3-32B with an 8-bit cache: 55.71 GiB make 3,650,960 tokens, 55.62 make 3,644,816."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-32B").replace("cache_dtype=auto", "cache_dtype=fp8")
    left = {5: 55.62, 1: 55.62, 0: 55.71, 7: 56.08, 4: 55.62, 3: 55.62, 6: 55.62, 2: 55.62}
    memory = [
        f"(VllmWorker rank={rank} pid=1) INFO Available KV cache memory: {gib} GiB" for rank, gib in left.items()
    ]
    tokens = [f"INFO GPU KV cache size: {count:,} tokens" for count in [3650960, *[3644816] * 6, 3675536]]
    blocks = "INFO [loggers.py:141] vllm cache_config_info with initialization after num_gpu_blocks is: 227801"
    text = "\n".join([config.replace("parallel_size=2", "parallel_size=8"), *memory, *tokens, blocks])
    report = read_log(text)
    assert {check.verdict for check in report.checks} == {"ok"}
    assert [check.predicted for check in report.checks if check.quantity == "gpu_blocks"] == [3644816 // 16]


def test_a_rank_that_is_not_seen_may_be_the_smallest():
    """Two of sixteen ranks print their memory, and the engine counts fewer blocks than either would hold."""
    report = read_log(DEEPSEEK)
    blocks = next(check for check in report.checks if check.quantity == "gpu_blocks")
    assert (blocks.verdict, blocks.predicted) == ("unexplained", None)
    assert "14 of 16 ranks" in blocks.formula
    assert verdicts(DEEPSEEK.replace("# cuda blocks: 5302", "# cuda blocks: 9302"))["gpu_blocks"] == {"off"}


def test_a_memory_that_ray_prints_late_is_of_the_counts_before_it():
    """Two stages of Qwen3-30B-A3B, 24 layers each: 76.15 GiB hold 6,654,080 tokens, 70.58 hold 6,167,360."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-30B-A3B-Instruct-2507").replace("size=2", "size=4")
    tokens = [f"INFO GPU KV cache size: {count:,} tokens" for count in [6654432] * 4 + [6167536] * 4]
    text = "\n".join(
        [
            config.replace("pipeline_parallel_size=1", "pipeline_parallel_size=2"),
            "(RayWorkerWrapper pid=1) INFO Available KV cache memory: 76.15 GiB",
            *tokens,
            "(RayWorkerWrapper pid=9) INFO Available KV cache memory: 70.58 GiB [repeated 7x across cluster]",
        ]
    )
    assert verdicts(text)["kv_tokens"] == {"ok"}
    assert [check.predicted for check in read_log(text).checks] == [6654080] * 4 + [6167360] * 4
    assert verdicts(text.replace("6,167,536", "5,167,536"))["kv_tokens"] == {"ok", "unexplained"}
    assert verdicts(text.replace("6,167,536", "17,167,536"))["kv_tokens"] == {"ok", "off"}


def test_a_stage_that_is_not_seen_may_have_any_amount_less():
    """One of two stages prints 76.15 GiB; the engine counts what the other one holds."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-8B").replace("pipeline_parallel_size=1", "pp_size=2")
    text = config.replace("tensor_parallel_size=2", "tensor_parallel_size=1") + (
        "\n(Worker_PP0 pid=1) INFO Available KV cache memory: 16.00 GiB\nINFO GPU KV cache size: {} tokens"
    )
    assert verdicts(text.format("233,008"))["kv_tokens"] == {"ok"}
    assert verdicts(text.format("150,000"))["kv_tokens"] == {"unexplained"}
    assert verdicts(text.format("250,000"))["kv_tokens"] == {"unexplained"}
    assert verdicts(text.format("500,000"))["kv_tokens"] == {"off"}


def test_mixtures_have_an_embedding_and_a_head_on_every_stage_in_vllm():
    """Qwen3-30B-A3B over TP 4, PP 2: 7.180 GiB with one of the two, 7.325 with both; 7.3272 was printed."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-30B-A3B-Instruct-2507").replace("size=2", "size=4")
    text = config.replace("pipeline_parallel_size=1", "pipeline_parallel_size=2") + (
        "\n(Worker_PP1_TP0 pid=1) INFO [gpu_model_runner.py:2007] Model loading took {} GiB and 5 seconds"
    )
    assert "embedding and head" in read_log(text.format("7.3272")).checks[0].formula
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


def test_ranks_that_share_a_context_hold_its_tokens_between_them():
    """53,862 blocks of 16 on each of two ranks that share are 1,723,584 tokens (vllm pull on DCP for GQA)."""
    config = CONFIG.replace("Qwen2-7B-Instruct", "Qwen3-235B-A22B-Instruct-2507").replace("size=2", "size=8")
    lines = (
        "INFO [gpu_worker.py:298] Available KV cache memory: 38.63 GiB",
        "INFO [kv_cache_utils.py:859] Multiplying the GPU KV cache size by the dcp_world_size 2.",
        "INFO [kv_cache_utils.py:864] GPU KV cache size: 1,723,584 tokens",
        "INFO [kv_cache_utils.py:868] Maximum concurrency for 262,144 tokens per request: 6.57x",
        "INFO [loggers.py:142] vllm cache_config_info with initialization after num_gpu_blocks is: 53862",
    )
    assert {check.verdict for check in read_log("\n".join([config, *lines])).checks} == {"ok"}
    assert verdicts("\n".join([config, lines[0], *lines[2:]]))["kv_tokens"] == {"off"}


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


def test_a_count_may_be_of_a_rank_with_more_than_the_one_seen():
    """One of four ranks prints 10.65 GiB, 237,600 tokens; the count that is left of four is 238,208."""
    text = (
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 --tensor-parallel-size 4\n"
        "(Worker_TP3_EP3 pid=2081) INFO [gpu_worker.py:298] Available KV cache memory: 10.65 GiB\n"
        "(EngineCore_DP0 pid=1944) INFO [kv_cache_utils.py:864] GPU KV cache size: {} tokens"
    )
    found = [verdicts(text.format(count))["kv_tokens"] for count in ("237,600", "238,208", "258,208")]
    assert found == [{"ok"}, {"unexplained"}, {"off"}]


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
    assert "blocks of 64 tokens" in found[2].formula
    padded = text.format("1.85").replace("CPU blocks: 954", "CPU blocks: 859")
    assert "rows padded to 256 bytes" in read_log(padded).checks[1].formula
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


def test_a_count_below_the_only_rank_seen_is_anothers():
    """Each of four ranks printed its tokens; one line is left, and the engine starts with another rank's blocks."""
    text = (
        "(VllmWorker rank=3 pid=23) INFO [cuda.py:217] Using Flash Attention backend on V1 engine.\n"
        "INFO [kv_cache_utils.py:637] GPU KV cache size: 431,904 tokens\n"
        "INFO [loggers.py:134] vllm cache_config_info with initialization after num_gpu_blocks is: {}"
    )
    given = Given(model("qwen2.5-32b"), 4)
    assert verdicts(text.format(26615), given)["gpu_blocks"] == {"unexplained"}
    assert verdicts(text.format(26994), given)["gpu_blocks"] == {"ok"}
    assert verdicts(text.format(27615), given)["gpu_blocks"] == {"off"}
    assert verdicts(text.format(26615), Given(model("qwen2.5-32b"), 1))["gpu_blocks"] == {"off"}


@pytest.mark.parametrize(
    ("tags", "sizes"),
    [
        (["VllmWorker TP0 pid=1", "VllmWorker TP1 pid=2"], (2, 1)),
        (["VllmWorker pid=1", "VllmWorker pid=2", "VllmWorker pid=3", "VllmWorker pid=4"], (4, 1)),
        (["Worker_PP0 pid=1", "Worker_PP1 pid=2"], (1, 2)),
        (["Worker_DP0 pid=1", "Worker_DP1 pid=2"], (1, 1)),
    ],
)
def test_workers_that_speak_are_counted_where_nobody_states_the_ranks(tags, sizes):
    lines = [f"({tag}) INFO [gpu_model_runner.py:2007] Model loading took 7.1217 GiB, 1 s" for tag in tags]
    report = read_log("\n".join(lines))
    assert (report.tp_size, report.pp_size) == sizes


def test_a_worker_is_not_the_rank_whose_launcher_passes_it_on():
    """srun prints "0: " before all that its first task prints, the lines of Ray's workers among them."""
    report = read_log("\n".join(f"0: {line}" for line in DEEPSEEK.split("\n")))
    assert told(report) == told(read_log(DEEPSEEK))
    assert [check.rank for check in report.checks] == [0, None, None, None, None]


def test_replicas_in_one_world_are_no_tensor_parallel_ranks():
    """Two replicas of two ranks are a world of four: 7.6393 GiB of Qwen3-8B a rank, not 3.82."""
    pairs = [(replica, part) for replica in (0, 1) for part in (0, 1)]
    seats = [
        f"(Worker_DP{replica}_TP{part} pid=2) INFO [parallel_state.py:1134] rank {2 * replica + part} in world "
        f"size 4 is assigned as DP rank {replica}, PP rank 0, TP rank {part}, EP rank 0"
        for replica, part in pairs
    ]
    sizes = [f"(Worker_DP{replica}_TP{part} pid=2) INFO Model loading took 7.6462 GiB" for replica, part in pairs]
    report = read_log("\n".join([*seats, *sizes]), Given(model("qwen3-8b")))
    assert (report.tp_size, report.pp_size) == (2, 1)
    assert [(check.rank, check.verdict) for check in report.checks] == [(rank, "ok") for rank in range(4)]


def test_stages_of_a_pipeline_and_a_latent_cache_are_told_apart():
    """7,767 blocks of 16 tokens by 30 layers of 576 elements fill 4 GiB of host memory."""
    report = read_log(DEEPSEEK)
    weights = [check for check in report.checks if check.quantity == "weights_gib"]
    assert [check.verdict for check in weights] == ["ok", "ok"]
    assert weights[1].predicted > weights[0].predicted + 0.8
    assert next(check.predicted for check in report.checks if check.quantity == "cpu_blocks") == 7767


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
    assert any("draft model" in note for note in report.notes)


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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this "
         "warning, specify disable_custom_all_reduce=True explicitly.", "more than two PCIe-only GPUs"),
        ("INFO [custom_all_reduce.py:203] Registering 4515 cuda graph addresses", "custom all-reduce is on"),
        ("ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)",
         "28 attention heads do not divide over 8 ranks; a TP size of 1, 2, 4, 7, 14, 28"),
        ("(RayWorkerWrapper pid=3) WARNING [custom_all_reduce.py:85] Custom allreduce is disabled because this "
         "process group spans across nodes. [repeated 3x across cluster]", "spans across nodes; every"),
        ("INFO [utils.py:164] Hidden layers were unevenly partitioned: [22,21].", "22+21 of 43 layers"),
        ("(EngineCore_0 pid=1) INFO [gpu_worker.py:276] Available KV cache memory: -0.53 GiB", "no room"),
        ("ERROR [core.py:935] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. vllm",
         "out of memory, at 2.00 GiB"),
        ("node:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[0] via NET/IB/0/GDRDMA vLLM", "the network: IB"),
    ],
)  # fmt: skip
def test_what_else_a_log_says_becomes_a_note(line, words):
    assert any(words in note for note in read_log(line + "\nINFO [pynccl.py:63] vLLM is using nccl==2.20.5").notes)


def test_a_warning_about_memory_is_no_shortage():
    """vLLM's advice before capturing graphs names the case it is not in."""
    advice = (
        "INFO model_runner.py:1399] If you are running out of memory, consider decreasing `gpu_memory_utilization`"
    )
    assert not any("out of memory" in note for note in read_log(advice).notes)


def test_a_text_that_is_no_log_is_refused():
    with pytest.raises(UnreadableTextError, match="no line of vLLM"):
        read_log("a letter to a friend\nabout nothing")
    with pytest.raises(UnreadableTextError):
        read_log("")


def test_hosts_paths_and_keys_are_covered():
    line = (
        "ip-10-0-1-2:512:533 [0] NCCL INFO model='/home/ada/models/Qwen3-32B' host=node7.lab.example "
        "tcp://192.168.3.4:5000 10.1.2.3:29500 ada@lab.example api_key='s3cret99' hf_abcdefghijkl 00:39:33 [x.py:7]"
        " 'api_key': ['t0ken-abc'] as attention backend./home/eva/sglang/models/qwen3.py:195: Deprecated"
    )
    shown = masked(line)
    for secret in ("10-0-1-2", "ada", "node7", "192.168", "10.1.2", "s3cret99", "abcdefgh", "t0ken", "eva"):
        assert secret not in shown
    assert "Qwen3-32B" in shown
    assert "00:39:33 [x.py:7]" in shown


def test_a_megabyte_is_read_in_pieces_that_do_not_grow():
    """Each start's figures are taken once: a log repeated a hundred times has a hundred times the checks."""
    once = len(read_log(QWEN2).checks)
    assert len(read_log("\n".join([QWEN2] * 100)).checks) == 100 * once


def test_more_figures_than_a_start_prints_are_refused_before_they_are_checked():
    """However they are packed into lines; a thousand ranks that print four each are read."""
    of_a_rank = "(VllmWorker pid={0}) INFO Available KV cache memory: 5 GiB, model loading took {0}.5 GiB"
    many = [of_a_rank.format(rank) for rank in range(LIMIT_FIGURES // 2)]
    report = read_log("\n".join(many))
    assert len(report.checks) == LIMIT_FIGURES // 2
    with pytest.raises(UnreadableTextError, match=r"4,098 figures are more than a startup log has"):
        read_log("\n".join([*many, many[0]]))
    with pytest.raises(UnreadableTextError, match="more than a startup log has"):
        read_log(f"INFO {'GPU KV cache size: 1,000 tokens ' * 5000}\n" * 20)


@pytest.mark.parametrize(
    "nasty",
    [
        "(" * 100_000,
        "[" * 100_000,
        "a:" * 100_000,
        "'" * 100_000,
        "0," * 100_000,
        "</b" * 50_000,
        "Prefetching /a" * 20_000,
    ],
)
def test_a_hostile_line_is_only_a_long_line(nasty):
    text = f"{QWEN2}\nINFO vLLM {nasty} took with config: model={nasty}\n"
    assert told(read_log(text)) == told(read_log(QWEN2))


GIVEN = {
    "i01": ("llama-3-8b", 4), "i04": ("deepseek-coder-6.7b", 2), "i08": ("llama-65b", 2), "i10": ("mistral-7b", 2),
    "i12": ("qwen2.5-1.5b", 1), "i13": ("qwen3-14b", 1), "i21": ("deepseek-r1", 8), "t02": ("llama-2-7b", 1),
}  # fmt: skip
"""What excerpts leave unsaid, from the notes beside them."""


@pytest.mark.skipif(not CASES.is_dir(), reason="SHARDLAB_CASES names no folder of real logs")
@pytest.mark.parametrize("path", sorted(CASES.glob("*/*.txt")), ids=lambda path: path.stem)
def test_no_healthy_log_is_off(path):
    """Every real log is read; each figure is reconciled or said to be unexplained."""
    name, tp_size = GIVEN.get(path.name[:3], (None, None))
    given = Given(model(name) if name else None, tp_size)
    report = read_log(path.read_text(encoding="utf-8"), given)
    assert not [check for check in report.checks if check.verdict == "off"]
    assert all((check.predicted is None) == (check.verdict == "unexplained") for check in report.checks)


@pytest.mark.skipif(not CASES.is_dir(), reason="SHARDLAB_CASES names no folder of real logs")
@pytest.mark.parametrize(
    ("stem", "quantities"),
    [
        ("v02", {"weights_gib", "kv_tokens", "max_concurrency", "gpu_blocks"}),
        ("v03", {"weights_gib", "cpu_blocks", "max_concurrency"}),
        ("v04", {"weights_gib", "kv_tokens", "max_concurrency"}),
        ("v05", {"weights_gib", "kv_tokens", "max_concurrency"}),
        ("v11", {"weights_gib", "kv_tokens", "max_concurrency", "gpu_blocks"}),
        ("s02", {"weights_gib", "kv_size_gib"}),
        ("s07", {"kv_size_gib"}),
        ("i01", {"weights_gib"}),
        ("i08", {"cpu_blocks"}),
        ("t02", {"bytes_per_token", "kv_tokens"}),
    ],
)
def test_real_figures_reconcile(stem, quantities):
    (path,) = CASES.glob(f"*/{stem}_*.txt")
    name, tp_size = GIVEN.get(stem, (None, None))
    report = read_log(path.read_text(encoding="utf-8"), Given(model(name) if name else None, tp_size))
    assert quantities <= {check.quantity for check in report.checks if check.verdict == "ok"}


def test_four_norms_a_layer_are_a_window_only_in_gemma():
    """GLM-4 of 2025 has four norms too, and neither a window nor a head that is the embedding."""
    gemma = model("gemma-2-9b")
    assert windowed(gemma)
    assert windowed(model("gpt-oss-120b"))
    assert not windowed(replace(gemma, tie_word_embeddings=False))
    assert not windowed(model("llama-3-8b"))
