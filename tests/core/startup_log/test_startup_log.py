"""A startup log, read: each figure with its verdict, and what else it says.

Where SHARDLAB_CASES names a folder of real logs, all of them are read too.
"""

import os
from pathlib import Path

import pytest

from core.catalog import model
from core.errors import UnreadableTextError
from core.startup_log.reader import read_log
from core.startup_log.records import Given
from tests.core.startup_log.printed_logs import QWEN2, notes, told, verdicts
from tests.each import each

CASES = Path(os.environ.get("SHARDLAB_CASES", "")) / "logs"


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


@pytest.mark.parametrize("before", ["--gpu-memory-utilization=0.98", "--trust-remote-code", "--seed 1"])
def test_a_model_behind_all_flags_of_a_command_is_found(before):
    """As in vLLM's issue 13061; a path that a flag takes is none."""
    text = (
        f"vllm serve --tensor_parallel_size 2 {before}  /root/deepseek-ai/DeepSeek-R1-Distill-Qwen-14B\n"
        "INFO 02-11 07:40:45 model_runner.py:1115] Loading model weights took 13.9476 GB"
    )
    assert [check.verdict for check in read_log(text).checks] == ["ok"]
    assert read_log(text.replace(before, "--chat-template")).model is None


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
    assert any("Riddle-9B" in note for note in notes(report))


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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs. To silence this "
         "warning, specify disable_custom_all_reduce=True explicitly.", "more than two PCIe-only GPUs"),
        ("INFO [custom_all_reduce.py:203] Registering 4515 cuda graph addresses", "custom all-reduce is on"),
        ("ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)",
         "28 attention heads do not divide over 8 ranks; a TP size of 1, 2, 4, 7, 14, 28"),
        ("(RayWorkerWrapper pid=3) WARNING [custom_all_reduce.py:85] Custom allreduce is disabled because this "
         "process group spans across nodes. [repeated 3x across cluster]", "spans across nodes; all-reduces use"),
        ("INFO [utils.py:164] Hidden layers were unevenly partitioned: [22,21].", "22+21 of 43 layers"),
        ("(EngineCore_0 pid=1) INFO [gpu_worker.py:276] Available KV cache memory: -0.53 GiB", "no room"),
        ("ERROR [core.py:935] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. vllm",
         "out of memory, at 2.00 GiB"),
        ("node:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[0] via NET/IB/0/GDRDMA vLLM", "the network: IB"),
    ],
)  # fmt: skip
def test_what_else_a_log_says_becomes_a_note(line, words):
    assert any(words in note for note in notes(read_log(line + "\nINFO [pynccl.py:63] vLLM is using nccl==2.20.5")))


def test_a_warning_about_memory_is_no_shortage():
    """vLLM's advice before capturing graphs names the case it is not in."""
    advice = (
        "INFO model_runner.py:1399] If you are running out of memory, consider decreasing `gpu_memory_utilization`"
    )
    assert not any("out of memory" in note for note in notes(read_log(advice)))


def test_a_text_that_is_no_log_is_refused():
    with pytest.raises(UnreadableTextError, match="no line of vLLM"):
        read_log("a letter to a friend\nabout nothing")
    with pytest.raises(UnreadableTextError):
        read_log("")


GIVEN = {
    "i01": ("llama-3-8b", 4), "i04": ("deepseek-coder-6.7b", 2), "i08": ("llama-65b", 2), "i10": ("mistral-7b", 2),
    "i12": ("qwen2.5-1.5b", 1), "i13": ("qwen3-14b", 1), "i21": ("deepseek-r1", 8), "t02": ("llama-2-7b", 1),
}  # fmt: skip
"""What excerpts leave unsaid, from the notes beside them."""


@pytest.mark.skipif(not CASES.is_dir(), reason="SHARDLAB_CASES names no folder of real logs")
@each("path", sorted(CASES.glob("*/*.txt")))
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
