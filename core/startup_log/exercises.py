"""What a checksum catches: logs with one thing to see in each, and figures that somebody's engine printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from core.catalog import model
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank, kv_tokens
from core.models.loaded_weights import loaded_weight_bytes
from core.models.parameters import count_parameters
from core.units import GIB


@dataclass(frozen=True)
class Exercise:
    """A log with one thing to see in it: its lines, and which of the answers is right.

    The answers are the blocks `exercise.<key>_a`, `_b` and `_c`; `values` are what those name.
    """

    key: str
    log: str
    answer: str
    source: str
    values: Mapping[str, object] = field(default_factory=dict)


@lru_cache(maxsize=1)
def exercises() -> tuple[Exercise, ...]:
    return (_unsharded_heads(), _wrong_dtype(), _second_model(), _heavier_first(), _per_rank())


def _unsharded_heads() -> Exercise:
    spec, ranks = model("qwen3-235b-a22b"), 32
    times = kv_bytes_per_token(spec) / kv_bytes_per_token_per_rank(spec, ranks)
    log = (
        "server_args=ServerArgs(model_path='Qwen3-235B-A22B-W8A8', tp_size=32, dp_size=32, "
        "page_size=128, enable_dp_attention=True)\n[2026-01-04 06:44:41 DP0 TP0 EP0] KV Cache is allocated. "
        "#tokens: 190976, K size: 17.13 GB, V size: 17.13 GB"
    )
    return Exercise("heads", log, "b", "SGLang, Ascend, shun8686/for_debug, Qwen3-235B-A22B", {"times": times})


def _wrong_dtype() -> Exercise:
    log = (
        "INFO llm_engine.py:237] Initializing an LLM engine (v0.6.3.post1) with config: "
        "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=131072, "
        "tensor_parallel_size=1\n"
        "INFO model_runner.py:1067] Loading model weights took 8.4926 GB"
    )
    return Exercise("dtype", log, "c", "vLLM 0.6.3")


def widths_gib() -> tuple[float, float, float]:
    """Llama 3.1 8B in bf16, in one byte a parameter throughout, and as fp8 is kept, GiB."""
    spec = model("llama-3.1-8b")
    bf16, fp8 = (loaded_weight_bytes(spec, dtype=dtype) / GIB for dtype in ("bf16", "fp8"))
    return bf16, count_parameters(spec).total / GIB, fp8


def _second_model() -> Exercise:
    spec = model("llama-3.1-8b")
    log = (
        "INFO core.py:70] Initializing a V1 LLM engine (v0.9.1) with config: "
        "model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=SpeculativeConfig(method='eagle'), "
        "dtype=torch.bfloat16, tensor_parallel_size=1\n"
        "INFO 06-23 14:21:48 [gpu_worker.py:232] Available KV cache memory: 51.63 GiB\n"
        "INFO 06-23 14:21:48 [kv_cache_utils.py:716] GPU KV cache size: 410,128 tokens"
    )
    layers = spec.num_hidden_layers
    values = {"alone": kv_tokens(51.63 * GIB, spec, 1), "layers": layers, "with_draft": layers + 1}
    return Exercise("second", log, "b", "vllm-project/vllm issue 19996, EAGLE", values)


def _heavier_first() -> Exercise:
    log = (
        "(Worker_TP0 pid=92375) INFO 05-08 16:18:24 [gpu_model_runner.py:4960] Model loading took 15.26 GiB memory"
    )
    reserved, others = 3, 7
    values = {"first": 0, "reserved": reserved, "others": others, "everywhere": reserved * others}
    return Exercise("heavier", log, "c", "Sandermage/genesis-vllm-patches issue 24, 8 × RTX 3090", values)


def _per_rank() -> Exercise:
    log = (
        "INFO 02-11 07:40:20 [llm_engine.py:234] Initializing an LLM engine (v0.7.2) with config: "
        "model='deepseek-ai/DeepSeek-R1-Distill-Qwen-14B', dtype=torch.bfloat16, max_seq_len=131072, "
        "tensor_parallel_size=2, quantization=None\n"
        "(VllmWorkerProcess pid=1786) INFO 02-11 07:40:45 model_runner.py:1115] "
        "Loading model weights took 13.9476 GB\n"
        "INFO 02-11 07:40:45 model_runner.py:1115] Loading model weights took 13.9476 GB\n"
        "INFO 02-11 07:40:49 worker.py:267] the rest of the memory reserved for KV Cache is 8.69GiB."
    )
    left, weights, other, gpu = 8.69, 13.9476, 0.25 + 0.19, 23.08
    values = {"left": left, "both": 2 * left, "hoped": 2 * gpu - weights - other}
    return Exercise("per_rank", log, "b", "vllm-project/vllm issue 13061, 2 × RTX 4090", values)
