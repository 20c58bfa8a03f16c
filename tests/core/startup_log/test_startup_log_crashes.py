"""A log that ends in a crash says so, whatever the crash says; what an engine outlives is none.

The lines are written anew in the form in which vLLM, SGLang, TensorRT-LLM, torch, NCCL, Ray, the C++ runtime, the
kernel and launchers print them: their sources, and issues of vllm-project/vllm, sgl-project/sglang and
pytorch/pytorch.
"""

import json

import pytest

from core.startup_log.reader import read_log
from tests.core.startup_log.printed_logs import notes

VLLM = (
    "(EngineCore pid=9) INFO 10-01 10:00:01 [core.py:123] Initializing a V1 LLM engine (v0.33.0) with config:"
    " model='Qwen/Qwen3-8B', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1\n"
)
SGLANG = (
    "[2026-07-09 00:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tp_size=1, dtype='auto')\n"
    "[2026-07-09 00:00:05 TP0] Load weight begin. avail mem=78.50 GB\n"
)
TRT = "[TensorRT-LLM] TensorRT-LLM version: 1.2.0\n"
SERVES = (
    "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 9.0 GiB\n"
    "(EngineCore pid=9) INFO 10-01 10:00:30 [kv_cache_utils.py:1147] GPU KV cache size: 65,536 tokens\n"
    "(APIServer pid=1) INFO:     Application startup complete.\n"
)
REQUEST = "ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n"
ERROR = "(EngineCore pid=9) ERROR 10-01 10:00:03 [core.py:1165] "


@pytest.mark.parametrize(
    ("before", "ends", "line", "quoted"),
    [
        (VLLM, f"{ERROR}ValueError: Free memory on device cuda:0 (1/2 GiB)", 2, "ValueError: Free memory"),
        (VLLM, "(Worker_TP0 pid=3) ERROR 10-01 10:00:03 [mp.py:1] torch.OutOfMemoryError: CUDA out of memory.", 2,
         "torch.OutOfMemoryError"),
        (VLLM, "[rank1]: torch.distributed.DistBackendError: NCCL error in: a.cpp:268, unhandled system error", 2,
         "torch.distributed.DistBackendError"),
        (VLLM,
         "(Worker_TP1 pid=12) ERROR 10-01 10:00:03 [multiproc_executor.py:700] WorkerProc failed to start.", 2,
         "WorkerProc failed"),
        (VLLM, f"{ERROR}a sentence that no rule knows", 2, "a sentence that no rule knows"),
        (SGLANG, "[2026-07-09 00:00:09 TP0] Scheduler hit an exception: Traceback (most recent call last):", 3,
         "Scheduler hit an exception"),
        (SGLANG,
         "[2026-07-09 00:00:09] Received sigquit from a child process. It usually means the child failed.", 3,
         "Received sigquit"),
        (TRT,
         "[TensorRT-LLM][ERROR] Assertion failed: mNextBlocks.empty() (a.cpp:212)\n1    0x7f2 tensorrt_llm::x", 2,
         "Assertion failed: mNextBlocks.empty()"),
        (TRT, "[10/01/2026-10:00:00] [TRT-LLM] [E] Failed to initialize executor on rank 0",
         2, "Failed to initialize"),
        (TRT, "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD", 2, "MPI_ABORT"),
        (VLLM, "[rank3]:[E1001 10:00:00.123 ProcessGroupNCCL.cpp:629] [Rank 3] Watchdog caught collective operation"
         " timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600010 milliseconds", 2,
         "[E1001"),
        (VLLM,
         "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 2] gone", 3,
         "what():"),
        (VLLM, "n1:12:34 [0] alloc.h:187 NCCL WARN Cuda failure 'out of memory'", 2, "<host>:12:34 [0] alloc.h"),
        (VLLM, "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.", 2,
         "ray.exceptions.RayActorError"),
        (VLLM, "(raylet) A worker died or was killed while executing a task by an unexpected system error.", 2,
         "A worker died"),
        (VLLM, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n=====",
         2, "torch.distributed."),
        (VLLM, "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.", 2, "jax."),
        (VLLM, "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB", 2, "RuntimeError: NPU"),
        (VLLM, "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f.", 2, "Memory access fault"),
        (VLLM, "!!!!!!! Segfault encountered !!!!!!!\n  File \"<unknown>\", line 0, in f", 2, "!!!!!!! Segfault"),
        (VLLM, "Fatal Python error: Segmentation fault", 2, "Fatal Python error"),
        (VLLM, "Killed", 2, "Killed"),
        (VLLM, "/entrypoint.sh: line 12:   345 Killed      vllm serve Qwen/Qwen3-8B", 2, "/entrypoint.sh"),
        (VLLM, "[1]+  Killed                  python -m vllm.entrypoints.openai.api_server", 2, "[1]+  Killed"),
        (VLLM, "zsh: killed     vllm serve Qwen/Qwen3-8B", 2, "zsh: killed"),
        (VLLM + SERVES, "ERROR:    [Errno 98] error while attempting to bind: address already in use", 5,
         "[Errno 98]"),
        (VLLM + SERVES, f"{REQUEST}ValueError: x\nKilled", 8, "Killed"),
        (VLLM + SERVES, f"{REQUEST}vllm.v1.engine.exceptions.EngineDeadError: EngineCore is gone", 7,
         "vllm.v1.engine.exceptions.EngineDeadError"),
        (VLLM, "command terminated with exit code 137", 2, "command terminated"),
        (VLLM, "srun: error: node1: task 3: Exited with exit code 1", 2, "srun: error"),
        (VLLM, "AssertionError", 2, "AssertionError"),
        ("vllm serve Qwen/Qwen3-8B --foo\n", "vllm: error: unrecognized arguments: --foo", 2, "vllm: error"),
        (VLLM + SERVES, f"{ERROR}torch.AcceleratorError: CUDA error: unspecified launch failure\n"
         "(APIServer pid=1) INFO:     Shutting down", 5, "torch.AcceleratorError"),
        (f"a-1  | {VLLM}", "a-1 exited with code 137", 2, "a-1 exited"),
        ("", "[rank0]: Traceback (most recent call last):\n[rank0]: torch.OutOfMemoryError: CUDA out of memory.", 2,
         "torch.OutOfMemoryError"),
    ],
)  # fmt: skip
def test_the_last_fatal_line_is_quoted_with_its_number(before, ends, line, quoted):
    crash = read_log(f"{before}{ends}\n").crash
    assert crash is not None
    assert (crash.line, str(crash.values["text"])[: len(quoted)]) == (line, quoted)


@pytest.mark.parametrize(
    "after",
    [
        "(APIServer pid=1) WARNING 10-01 10:00:01 [x.py:1] Failed to import: ImportError: No module named x",
        "/usr/lib/python3/x.py:12: FutureWarning: The pynvml package is deprecated. Error: x",
        "h:1:2 [0] NCCL WARN NET/Plugin: Could not find: libnccl-net.so",
        "h:1:2 [0] NCCL INFO Call to bind failed: Error",
        "h:1:2 [0] init.cc:12 NCCL ATTN CUDA error ignored: not supported here",
        "h:1 NCCL DIAG [INFO] p2p: check returned nothing, Error: skipped",
        "Exception ignored in: <function X.__del__>",
        'Traceback (most recent call last):\n  File "x"\nKeyboardInterrupt',
        "[rank0]:[W1001 10:00:00 ProcessGroupNCCL.cpp:1479] Warning: destroy_process_group() was not called",
        '(APIServer pid=1) INFO:     10.0.0.1:333 - "POST /v1/x HTTP/1.1" 404 Not Found',
        f"{ERROR}Error in preprocessing prompt inputs\nValueError: too long\n"
        "(APIServer pid=1) INFO 10-01 10:10:10 [loggers.py:1] Engine 000: Avg prompt throughput: 10.0 tokens/s",
        f"Killed\n{VLLM}{SERVES}",
        f'{REQUEST}  File "x.py", line 3, in f\njinja2.exceptions.TemplateError: roles must alternate\n\n'
        "During handling of the above exception, another exception occurred:\n\nValueError: roles",
        f'{ERROR}Error in preprocessing\n{ERROR}ValueError: too long\nINFO:  1.2.3.4 - "POST /v1 HTTP/1.1" 400 Bad',
    ],
)
def test_what_an_engine_outlives_is_no_crash(after):
    assert read_log(f"{VLLM}{SERVES}{after}\n").crash is None


def test_an_error_before_the_cache_is_counted_is_no_crash():
    """vLLM inspects a model's class in a process of its own, and goes on where that fails."""
    before = f"{ERROR}Error in inspecting model architecture\nTraceback (most recent call last):\nValueError: x\n"
    assert read_log(VLLM + before + SERVES).crash is None


def test_a_record_of_an_error_that_a_rank_outlives_is_no_crash():
    loaded = "(Worker_TP0 pid=3) INFO 10-01 10:00:20 [gpu_model_runner.py:1] Model loading took 15.27 GiB, 9 s\n"
    record = f"{ERROR}Cannot use FA version 3 is not supported\n"
    assert read_log(VLLM + record + loaded).crash is None
    assert read_log(VLLM + f"{ERROR}ValueError: x\n" + loaded).crash is not None


def test_the_line_that_a_crash_began_with_is_said_as_well():
    """Processes fall one after another: the last says that others are gone, the first says why."""
    text = (
        f"{VLLM}{ERROR}EngineCore failed to start.\n{ERROR}Traceback (most recent call last):\n"
        f'{ERROR}  File "x.py", line 3, in run\n{ERROR}ValueError: No available memory for the cache blocks.\n'
        "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.\n"
    )
    report = read_log(text)
    assert report.crash.line == 6
    assert notes(report)[:2] == [
        'the log ends in a crash, line 6: "RuntimeError: Engine core initialization failed. See root cause above."',
        'that crash began at line 5: "ValueError: No available memory for the cache blocks."',
    ]


def test_a_service_that_crashed_is_not_hidden_by_one_that_serves():
    lines = [f"a-1  | {line}" for line in (VLLM + SERVES).splitlines()]
    lines[1:1] = [f"b-1  | {VLLM.replace('8B', '4B').strip()}", f"b-1  | {ERROR}RuntimeError: NCCL error: gone"]
    assert read_log("\n".join(lines)).crash.line == 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ValueError: Free memory on device cuda:0 (11.07/23.99 GiB) on startup is less than desired GPU memory"
         " utilization (0.9, 21.59 GiB).",
         "the GPU had 11.07 GiB free of 23.99 GiB, and the engine asks for 0.9 of it, 21.59 GiB."),
        ("RuntimeError: NCCL error: unhandled system error", "an NCCL call failed"),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
         "after the weights nothing"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "a kernel accessed memory"),
        ("OSError: [Errno 98] Address already in use", "the port is already in use"),
        ("ValueError: User-specified max_model_len (40000) is greater than the derived max_model_len"
         " (max_position_embeddings=32768)",
         "the command asks for 40000 tokens of context, and the model's config allows 32768"),
    ],
)  # fmt: skip
def test_a_rule_explains_a_crash_that_it_knows(line, said):
    assert any(note.startswith(said) for note in notes(read_log(f"{VLLM}{ERROR}{line}\n")))


def test_what_a_record_of_docker_says_is_read_and_quoted():
    said = [VLLM.strip(), f"{ERROR}RuntimeError: CUDA error: uncorrectable ECC error encountered"]
    records = "\n".join(json.dumps({"log": f"{one}\n", "stream": "stderr", "time": "t"}) for one in said)
    crash = read_log(f"{records}\n").crash
    assert crash is not None
    assert crash.values["text"] == "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    assert read_log(f'{VLLM}{{"stream": 1, "log": 2}}\n{{"stream": not JSON\n').crash is None


def test_tensorrt_llm_that_finds_no_room_ran_out_of_memory():
    line = "[TRT-LLM] [RANK 1] [E] Failed: Executor creation failed due to insufficient GPU memory."
    assert "out of memory" in notes(read_log(f"{TRT}{line}\n"))
