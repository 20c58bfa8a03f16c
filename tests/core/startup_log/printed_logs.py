"""Lines of startup logs as engines printed them, written anew, and what a test asks of a report."""

from core.startup_log.reader import read_log
from core.startup_log.records import Check, Given, Report
from runtime.prose import worded

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


def notes(report: Report) -> list[str]:
    """What a report says beside its figures, in words."""
    return [worded(remark) for remark in report.remarks]


def formula(check: Check) -> str:
    """Where a prediction comes from, or why there is none, in words."""
    return worded(check.formula)
