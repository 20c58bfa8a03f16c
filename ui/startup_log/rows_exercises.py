"""What a checksum catches: logs with one thing to see in each, and figures that somebody's engine printed."""

from dataclasses import dataclass

from core.catalog import model
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank, kv_tokens
from core.models.loaded_weights import loaded_weight_bytes
from core.models.parameters import count_parameters
from core.units import GIB
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import grouped, local


@dataclass(frozen=True)
class Exercise:
    """A log with one thing to see in it: its lines, what is asked of them, the answers and which is right."""

    key: str
    title: str
    log: str
    options: tuple[str, ...]
    right: int
    source: str

    @property
    def answers(self) -> dict[str, str]:
        """What may be answered, by the letter that an address holds."""
        return dict(zip("abc", self.options, strict=True))

    @property
    def answer(self) -> str:
        return "abc"[self.right]

    @property
    def solution(self) -> str:
        return self.options[self.right]


@kept
def exercises() -> tuple[Exercise, ...]:
    """What a checksum catches, each with figures that somebody's engine printed."""
    return (_unsharded_heads(), _wrong_dtype(), _second_model(), _heavier_first(), _per_rank())


def _word(name: str, **fields: object) -> str:
    return said("startup_log", f"says.{name}", **fields)


def _unsharded_heads() -> Exercise:
    spec, ranks = model("qwen3-235b-a22b"), 32
    times = kv_bytes_per_token(spec) / kv_bytes_per_token_per_rank(spec, ranks)
    log = (
        "server_args=ServerArgs(model_path='Qwen3-235B-A22B-W8A8', tp_size=32, dp_size=32, "
        "page_size=128, enable_dp_attention=True)\n[2026-01-04 06:44:41 DP0 TP0 EP0] KV Cache is allocated. "
        "#tokens: 190976, K size: 17.13 GB, V size: 17.13 GB"
    )
    options = (
        _word("one_as_every_tp"),
        _word("all_them", times=local(f"{times:.0f}")),
        _word("none_they_are_latent"),
    )
    source = "SGLang, Ascend, shun8686/for_debug, Qwen3-235B-A22B"
    return Exercise("heads", _word("heads_not_sharded"), log, options, 1, source)


def _wrong_dtype() -> Exercise:
    log = (
        "INFO llm_engine.py:237] Initializing an LLM engine (v0.6.3.post1) with config: "
        "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=131072, "
        "tensor_parallel_size=1\n"
        "INFO model_runner.py:1067] Loading model weights took 8.4926 GB"
    )
    options = (
        _word("bf_part_them_host"),
        _word("fp_every_matrix"),
        _word("fp_layers_bf_both"),
    )
    source = _word("notes_of_a_chatbot", release="vLLM 0.6.3")
    return Exercise("dtype", _word("another_width"), log, options, 2, source)


def widths_gib() -> tuple[float, float, float]:
    """Llama 3.1 8B in bf16, in one byte a parameter throughout, and as fp8 is kept, GiB."""
    spec = model("llama-3.1-8b")
    bf16, fp8 = (loaded_weight_bytes(spec, dtype=dtype) / GIB for dtype in ("bf16", "fp8"))
    return bf16, count_parameters(spec).total / GIB, fp8


def _second_model() -> Exercise:
    spec, left = model("llama-3.1-8b"), 51.63 * GIB
    alone = kv_tokens(left, spec, 1)
    layers = spec.num_hidden_layers
    log = (
        "INFO core.py:70] Initializing a V1 LLM engine (v0.9.1) with config: "
        "model='meta-llama/Llama-3.1-8B-Instruct', speculative_config=SpeculativeConfig(method='eagle'), "
        "dtype=torch.bfloat16, tensor_parallel_size=1\n"
        "INFO 06-23 14:21:48 [gpu_worker.py:232] Available KV cache memory: 51.63 GiB\n"
        "INFO 06-23 14:21:48 [kv_cache_utils.py:716] GPU KV cache size: 410,128 tokens"
    )
    options = (
        _word("tokens_would_fit_some", alone=grouped(alone)),
        _word("layers_keep_cache_not", layers=layers + 1, layers_2=layers),
        _word("cache_kept_another_width"),
    )
    return Exercise("second", _word("second_model"), log, options, 1, "vllm-project/vllm issue 19996, EAGLE")


def _heavier_first() -> Exercise:
    reserved, ranks = 3, 8
    log = (
        f"# {_word('noted_beside_it', reserved=reserved, first=0, others=ranks - 1)}\n"
        "(Worker_TP0 pid=92375) INFO 05-08 16:18:24 [gpu_model_runner.py:4960] Model loading took 15.26 GiB memory"
    )
    options = tuple(f"{amount} GB" for amount in (0, reserved, reserved * (ranks - 1)))
    source = "Sandermage/genesis-vllm-patches issue 24, 8 × RTX 3090"
    return Exercise("heavier", _word("heavier_first_gpu"), log, options, 2, source)


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
    hoped = 2 * gpu - weights - other
    options = (
        _word("gib_one_gpu_unused", left=local(f"{left:.2f}")),
        local(f"{2 * left:.2f} GiB"),
        local(f"{hoped:.2f} GiB"),
    )
    source = "vllm-project/vllm issue 13061, 2 × RTX 4090"
    return Exercise("per_rank", _word("per_rank_or_all"), log, options, 1, source)
