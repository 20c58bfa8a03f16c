"""Which rank a figure is of, and how many ranks there are."""

import pytest

from core.catalog import model
from core.startup_log.lines import read_lines
from core.startup_log.reader import read_log
from core.startup_log.records import Given
from core.startup_log.resolve import find_ranks
from tests.core.startup_log.printed_logs import CONFIG, DEEPSEEK, formula, told, verdicts


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
    assert "14 of 16 ranks" in formula(blocks)
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


def test_a_start_that_shares_no_context_beside_one_that_does_is_not_called_off():
    """Both of vLLM's recipe for Kimi K2 Thinking, one after the other: 715,072 tokens, and eight times as many."""
    left = "INFO [gpu_worker.py:349] Available KV cache memory: 46.80 GiB"
    counts = "INFO [kv_cache_utils.py:1229] GPU KV cache size: {} tokens"
    shares = "INFO [kv_cache_utils.py:1224] Multiplying the GPU KV cache size by the dcp_world_size 8."
    text = "\n".join(
        ["vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8", left, counts, left, shares, counts]
    )
    for first, verdict in (("715,072", "unexplained"), ("655,072", "off")):
        found = read_log(text.replace("{}", first, 1).format("5,721,088"))
        assert [check.verdict for check in found.checks] == [verdict, "ok"]


def test_a_count_may_be_of_a_rank_with_more_than_the_one_seen():
    """One of four ranks prints 10.65 GiB, 237,600 tokens; the count that is left of four is 238,208."""
    text = (
        "vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 --tensor-parallel-size 4\n"
        "(Worker_TP3_EP3 pid=2081) INFO [gpu_worker.py:298] Available KV cache memory: 10.65 GiB\n"
        "(EngineCore_DP0 pid=1944) INFO [kv_cache_utils.py:864] GPU KV cache size: {} tokens"
    )
    found = [verdicts(text.format(count))["kv_tokens"] for count in ("237,600", "238,208", "258,208")]
    assert found == [{"ok"}, {"unexplained"}, {"off"}]


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


def test_a_lone_rank_of_number_zero_says_nothing_of_how_many_there_are():
    """Rank 3 is one of four at least."""
    lone, fourth = (
        find_ranks(read_lines(f"(Worker_TP{rank} pid=1) INFO [gpu_worker.py:298] 1 s")) for rank in (0, 3)
    )
    assert (lone.tp_size, lone.pp_size, fourth.tp_size) == (None, None, 4)
