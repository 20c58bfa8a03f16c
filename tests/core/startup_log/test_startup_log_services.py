"""Two engines in one text are two, a record is one wherever it begins, and a device's name is a slot."""

import pytest

from core.startup_log.lines import read_lines
from core.startup_log.reader import read_log
from tests.core.startup_log.printed_logs import notes, verdicts

CONFIG = (
    "(EngineCore pid=9) INFO 10-01 10:00:01 [core.py:123] Initializing a V1 LLM engine (v0.33.0) with config:"
    " model='Qwen/{}', dtype=torch.bfloat16, tensor_parallel_size=1"
)
LOADED = (
    "(EngineCore pid=9) INFO 10-01 10:00:20 [gpu_model_runner.py:5089] Model loading took {} GiB memory and 9 s"
)
WEIGHTS = {"Qwen3-8B": "15.27", "Qwen3-4B": "7.56"}
STAMP = "2026-10-01T10:00:01.123456789Z "


@pytest.mark.parametrize(
    "prefix",
    [
        "{}-1  | ",
        "\x1b[36m{}-1  | \x1b[0m",
        "{}_1_long-name   | ",
        f"{{}}-1  | {STAMP}",
        f"{STAMP}{{}}-1  | ",
        "stack_{}.1.k3jx9s@node-1    | ",
        "[pod/{}-7d9f/vllm] ",
        f"[pod/{{}}-7d9f/vllm] {STAMP}",
        "Oct 01 10:00:01 host {}[123]: ",
        "2026-10-01T10:00:01+0000 host {}.service[123]: ",
    ],
)
def test_engines_of_one_text_are_each_held_to_their_own_model(prefix):
    """Qwen3-8B takes 15.27 GiB and the 4B 7.56: merged, one of them would be off by half."""
    pairs = [(prefix.format("ab"[at]), name) for at, name in enumerate(WEIGHTS)]
    lines = [f"{before}{CONFIG.format(name)}" for before, name in pairs]
    lines += [f"{before}{LOADED.format(WEIGHTS[name])}" for before, name in reversed(pairs)]
    report = read_log("\n".join(lines))
    assert [(check.line, check.verdict) for check in report.checks] == [(3, "ok"), (4, "ok")]
    assert sum("Qwen3 8B" in note or "Qwen3 4B" in note for note in notes(report)) == 2
    assert len({check.service for check in report.checks}) == 2


def test_a_service_that_states_nothing_is_of_the_one_that_does():
    """A worker's node prints no configuration, and a proxy prints nothing of an engine."""
    log = f"head-1 | {CONFIG.format('Qwen3-8B')}\nproxy-1 | GET /health\nworker-1 | {LOADED.format('15.27')}"
    assert verdicts(log) == {"weights_gib": {"ok"}}


def test_nodes_of_one_engine_are_one():
    args = "server_args=ServerArgs(model_path='Qwen/Qwen3-32B', tp_size=8, page_size=128, nnodes=2, node_rank={})"
    pool = "KV Cache is allocated. #tokens: 1172096, K size: 17.89 GB, V size: 17.89 GB"
    lines = [f"n{node}-1 | [2026-01-04 07:41:02] {args.format(node)}" for node in (0, 1)]
    lines.append(f"n1-1 | [2026-01-04 07:46:36 TP5] {pool}")
    lines.append("n0-1 | [2026-01-04 07:47:10 TP0] max_total_num_tokens=1172096, chunked_prefill_size=-1")
    assert verdicts("\n".join(lines)) == {"kv_size_gib": {"ok"}, "kv_tokens": {"ok"}}


RECORD = (
    "(Worker_TP3 pid=11) INFO 10-01 10:00:20 [gpu_model_runner.py:5089] Model loading took 7.64 GiB memory and 9 s"
)


@pytest.mark.parametrize(
    "before",
    [
        "...",
        "." * 300,
        ". . . ",
        "█████▌    ",
        "[====>     ]",
        " 50%|█████     | 2/4 [00:01<00:01,  1.53it/s]",
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:01<00:01,  1.53it/s]\n",
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:01<00:01,  1.53it/s]\r",
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:01<00:01,  1.53it/s]",
        "Capturing CUDA graphs: 100%|██████████| 67/67 [00:21<00:00,  3.1it/s]",
        "(Worker_TP0 pid=10) INFO 10-01 10:00:19 [x.py:1] a record without an end of line",
        "\x1b[2K\r...",
        "0%" + "\r10%" * 40 + "\r",
    ],
)
def test_a_record_begins_behind_whatever_progress_stands_before_it(before):
    records = [line for line in read_lines(before + RECORD) if "took" in line.text]
    assert [(line.tp_rank, line.text) for line in records] == [(3, RECORD)]


def test_a_record_before_many_repaints_is_kept():
    text = RECORD + "".join(f"\rshards: {done}%" for done in range(100))
    assert [line.tp_rank for line in read_lines(text) if "took" in line.text] == [3]


def test_sglangs_records_begin_behind_a_bar_too():
    bar = "Multi-thread loading shards:   0% Completed | 0/4 [00:00<?, ?it/s]"
    (line,) = [one for one in read_lines(f"{bar}[2026-06-09 03:35:04 TP1] using gate!") if "gate" in one.text]
    assert line.tp_rank == 1


def test_a_chain_of_tags_is_one_record():
    text = "(EngineCore_0 pid=10) (RayWorkerWrapper pid=627) INFO 04-20 17:00:56 [worker.py:267] weights take 2 GiB"
    assert [line.text for line in read_lines(text)] == [text]


@pytest.mark.parametrize(
    "device", ["GPU", "XPU", "TPU", "NPU", "HPU", "CPU", "ROCm", "Neuron", "Spyre", "GPU + host"]
)
def test_a_device_in_a_caches_wording_is_a_slot(device):
    """18 GiB hold 131,072 tokens of Qwen3-8B at 147,456 bytes each."""
    text = (
        f"{CONFIG.format('Qwen3-8B')}\n"
        "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 18.0 GiB\n"
        f"(EngineCore pid=9) INFO 10-01 10:00:30 [kv_cache_utils.py:1147] {device} KV cache size: 131,072 tokens,"
        " Maximum concurrency for 8,192 tokens per request: 16.00x\n"
    )
    assert verdicts(text) == {"kv_tokens": {"ok"}, "max_concurrency": {"ok"}}


@pytest.mark.parametrize("device", ["GPU", "CUDA", "cuda", "XPU", "TPU", "NPU", "HPU", "rocm"])
def test_a_device_in_a_count_of_blocks_is_a_slot(device):
    text = f"vllm serve Qwen/Qwen3-8B\nINFO 10-01 10:00:30 [x.py:1] # {device} blocks: 8192, # CPU blocks: 1820"
    assert [check.quantity for check in read_log(text).checks] == ["gpu_blocks", "cpu_blocks"]


def test_a_count_with_the_hosts_memory_in_it_is_undecided():
    """The engine says what the GPU has left, and counts tokens that the host holds too."""
    text = (
        f"{CONFIG.format('Qwen3-8B')}\n"
        "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 18.0 GiB\n"
        "(EngineCore pid=9) INFO 10-01 10:00:30 [kv_cache_utils.py:1147] GPU + host KV cache size: 260,000 tokens"
    )
    assert verdicts(text) == {"kv_tokens": {"unexplained"}}
    assert verdicts(text.replace("GPU + host", "GPU")) == {"kv_tokens": {"off"}}
