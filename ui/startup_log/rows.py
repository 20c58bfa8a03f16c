"""The log reader's rows: a report's lines with ranks that agree folded, residuals, and what the exercises ask."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.catalog import model
from core.models.kv_cache import BLOCK_TOKENS, kv_bytes_per_token, kv_bytes_per_token_per_rank, kv_tokens
from core.models.loaded_weights import StoredTensor, allocated_bytes, loaded_weight_bytes, rank_tensors
from core.models.parameters import count_parameters
from core.specs import ModelSpec
from core.startup_log.reader import read_log
from core.startup_log.records import Check, Given, Report, Verdict
from core.units import GIB, MIB, grouped, percent
from ui.two_way_tp.rows import LogRow

SHOWN = 60
"""Lines a page's table has room for; the CSV has all."""

EXAMPLE = """\
INFO 09-03 00:35:55 [api_server.py:1805] vLLM API server version 0.10.1.1
INFO 09-03 00:36:27 [core.py:74] Initializing a V1 LLM engine (v0.10.1.1) with config: \
model='Qwen/Qwen2-7B-Instruct', speculative_config=None, dtype=torch.bfloat16, max_seq_len=16384, \
tensor_parallel_size=2, pipeline_parallel_size=1, \
disable_custom_all_reduce=False, quantization=None, kv_cache_dtype=auto
(VllmWorker TP0 pid=1430) INFO 09-03 00:36:44 [pynccl.py:70] vLLM is using nccl==2.26.2
(VllmWorker TP0 pid=1430) WARNING 09-03 00:36:44 [custom_all_reduce.py:147] Custom allreduce is disabled because \
your platform lacks GPU P2P capability or P2P test failed.
(VllmWorker TP0 pid=1430) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB and 168 s
(VllmWorker TP1 pid=1431) INFO 09-03 00:39:33 [gpu_model_runner.py:2007] Model loading took 7.1217 GiB and 168 s
(VllmWorker TP0 pid=1430) INFO 09-03 00:40:53 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB
(VllmWorker TP1 pid=1431) INFO 09-03 00:40:55 [gpu_worker.py:276] Available KV cache memory: 12.02 GiB
(EngineCore_0 pid=1358) INFO 09-03 00:40:55 [kv_cache_utils.py:849] GPU KV cache size: 450,192 tokens
(EngineCore_0 pid=1358) INFO 09-03 00:40:55 [kv_cache_utils.py:853] Maximum concurrency for 16,384 tokens per \
request: 27.48x
"""
"""Written in the engine's format from the figures of dennislee22/vLLM-benchmarking: Qwen2-7B on two A100."""

_NAMES: dict[str, str] = {
    "weights_gib": "weights",
    "kv_tokens": "tokens of cache",
    "gpu_blocks": "blocks on the GPU",
    "cpu_blocks": "blocks on the host",
    "max_concurrency": "full requests",
    "kv_size_gib": "size of the cache",
    "bytes_per_token": "bytes a token",
}
QUANTITY_NAMES = tuple(_NAMES.values())
"""What each quantity is called on the page, in the order of the schema."""


@dataclass(frozen=True)
class CheckRow:
    """A check as the table and its CSV show it; `ranks` where several printed the same."""

    line: int
    ranks: str
    quantity: str
    logged: float
    predicted: float | None
    unit: str
    residual_percent: float | None
    verdict: Verdict
    formula: str
    text: str


@dataclass(frozen=True)
class Residual:
    """A predicted figure by how far the log is from it, and the words at its mark."""

    quantity: str
    residual_percent: float
    verdict: Verdict
    words: str


def check_rows(report: Report) -> list[CheckRow]:
    """The checks, those of ranks that printed the same thing as one row."""
    folded: dict[tuple[object, ...], list[Check]] = {}
    for check in report.checks:
        folded.setdefault((check.quantity, check.logged, check.predicted, check.formula), []).append(check)
    return [_row(group) for group in folded.values()]


def _row(group: Sequence[Check]) -> CheckRow:
    first = group[0]
    return CheckRow(
        first.line,
        _ranks(group),
        _NAMES[first.quantity],
        first.logged,
        first.predicted,
        first.unit,
        None if first.residual_fraction is None else 100 * first.residual_fraction,
        first.verdict,
        first.formula,
        first.text,
    )


def _ranks(group: Sequence[Check]) -> str:
    known = sorted({check.rank for check in group if check.rank is not None})
    if len(group) == 1:
        return "" if not known else f"rank {known[0]}"
    run = known and known == list(range(known[0], known[-1] + 1)) and len(known) == len(group)
    return f"ranks {known[0]}–{known[-1]}" if run else f"{len(group)} lines alike"


def log_rows(rows: Sequence[CheckRow]) -> list[LogRow]:
    """The rows as the table of a run shows them: the figure in its line picked out."""
    return [_log_row(row) for row in rows[:SHOWN]]


def _log_row(row: CheckRow) -> LogRow:
    before, field, after = _picked(row)
    return LogRow(
        row.line,
        before,
        field,
        after,
        row.quantity,
        f"{row.ranks}: {row.formula}" if row.ranks else row.formula,
        "–" if row.predicted is None else amount(row.predicted, row.unit),
        amount(row.logged, row.unit),
        row.verdict,
        "" if row.residual_percent is None else percent(row.residual_percent / 100, 3),
    )


def _picked(row: CheckRow) -> tuple[str, str, str]:
    """The line around the figure, as the engine wrote it; cut to what a table has room for."""
    text = row.text if len(row.text) <= 220 else f"…{row.text[-219:]}"
    value = row.logged
    for form in (f"{value:,}", f"{value:.4f}", f"{value:.2f}", f"{value:g}", f"{value:.0f}"):
        before, found, after = text.rpartition(form)
        if found:
            return before, found, after
    return text, "", ""


def amount(value: float, unit: str) -> str:
    """A figure with its unit, four decimals of a size as the engines print it."""
    number = grouped(round(value)) if float(value).is_integer() else f"{value:.4f}".rstrip("0")
    return f"{number} {unit}"


def residuals(report: Report) -> list[Residual]:
    """Each figure that has a prediction, once, by its residual."""
    return [
        Residual(row.quantity, row.residual_percent, row.verdict, amount(row.logged, row.unit))
        for row in check_rows(report)
        if row.residual_percent is not None
    ]


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
    def answer(self) -> str:
        return self.options[self.right]


def exercises() -> tuple[Exercise, ...]:
    """What a checksum catches, each with figures that somebody's engine printed."""
    return (_unsharded_heads(), _wrong_dtype(), _second_model(), _heavier_first(), _per_rank())


def _unsharded_heads() -> Exercise:
    spec, ranks = model("qwen3-235b-a22b"), 32
    times = kv_bytes_per_token(spec) / kv_bytes_per_token_per_rank(spec, ranks)
    log = (
        "server_args=ServerArgs(model_path='Qwen3-235B-A22B-W8A8', tp_size=32, dp_size=32, "
        "page_size=128, enable_dp_attention=True)\n[2026-01-04 06:44:41 DP0 TP0 EP0] KV Cache is allocated. "
        "#tokens: 190976, K size: 17.13 GB, V size: 17.13 GB"
    )
    options = ("one, as on every TP=32", f"{times:.0f}, all of them", "none, they are latent")
    source = "SGLang on Ascend, shun8686/for_debug, Qwen3-235B-A22B over two nodes"
    return Exercise("heads", "Heads not sharded", log, options, 1, source)


def _wrong_dtype() -> Exercise:
    log = (
        "INFO llm_engine.py:237] Initializing an LLM engine (v0.6.3.post1) with config: "
        "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=131072, "
        "tensor_parallel_size=1\n"
        "INFO model_runner.py:1067] Loading model weights took 8.4926 GB"
    )
    options = ("bf16, part of them on the host", "fp8 in every matrix", "fp8 in the layers, bf16 at both ends")
    return Exercise("dtype", "Another width", log, options, 2, "vLLM 0.6.3, a chatbot project's deployment notes")


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
        f"{grouped(alone)} tokens would fit: some are lost to rounding",
        f"{layers + 1} layers keep a cache, not {layers}",
        "the cache is kept in another width",
    )
    return Exercise("second", "A second model", log, options, 1, "vllm-project/vllm issue 19996, with EAGLE")


def _heavier_first() -> Exercise:
    log = (
        "# noted beside it: 3 GB more in use on GPU 0 than on the seven others\n"
        "(Worker_TP0 pid=92375) INFO 05-08 16:18:24 [gpu_model_runner.py:4960] Model loading took 15.26 GiB memory"
    )
    reserved, ranks = 3, 8
    options = tuple(f"{amount} GB" for amount in (0, reserved, reserved * (ranks - 1)))
    source = "Sandermage/genesis-vllm-patches issue 24, eight RTX 3090"
    return Exercise("heavier", "A heavier first GPU", log, options, 2, source)


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
    options = (f"{left:.2f} GiB: one GPU is unused", f"{2 * left:.2f} GiB", f"{hoped:.2f} GiB")
    return Exercise(
        "per_rank", "Per rank, or in all", log, options, 1, "vllm-project/vllm issue 13061, two RTX 4090"
    )


def exercise_report(exercise: Exercise) -> Report:
    """The exercise's log, read as any other."""
    return read_log(exercise.log, Given())


@dataclass(frozen=True)
class Step:
    """How far a log's weights are from the arithmetic once another rule is in it."""

    log: str
    number: int
    rule: str
    residual_percent: float
    predicted_gib: float
    logged_gib: float


LOGGED_WEIGHTS = (
    ("llama-3.1-8b", 1, 14.9888, "vllm-project/vllm issue 10517"),
    ("llama-3-8b", 4, 3.7418, "genlm/genlm-backend issue 10"),
    ("qwen2-7b", 2, 7.1217, "dennislee22/vLLM-benchmarking"),
    ("qwen2.5-32b", 4, 15.3916, "leadawon/structrag"),
    ("qwen3-32b", 8, 7.6871, "DaisukeTakai/eval_dataset"),
    ("llama-3.1-405b", 32, 24.4023, "vllm-project/vllm issue 6689"),
)
"""Weights as logs printed them, GiB a rank: the model, TP, the figure, where it was posted."""

RULES = ("P · b / TP", "+ heads", "+ rotary", "+ rounding")


def steps() -> list[Step]:
    """The residual of each logged figure after each rule."""
    return [step for key, tp_size, logged, _ in LOGGED_WEIGHTS for step in _steps(model(key), tp_size, logged)]


def _steps(spec: ModelSpec, tp_size: int, logged_gib: float) -> list[Step]:
    tensors = rank_tensors(spec, tp_size)
    held = sum(t.copies * t.size_bytes for t in tensors)
    rotary = sum(t.copies * t.size_bytes for t in tensors if t.name == "rotary table")
    naive = 2 * count_parameters(spec).total / tp_size
    values = (naive, held - rotary, held, loaded_weight_bytes(spec, tp_size))
    name = f"{spec.name}, TP={tp_size}"
    return [
        Step(name, number, rule, 100 * abs(logged_gib * GIB / value - 1), value / GIB, logged_gib)
        for number, (rule, value) in enumerate(zip(RULES, values, strict=True), start=1)
    ]


@dataclass(frozen=True)
class TensorRow:
    """One kind of tensor on a rank: how many, how large, and what the allocator makes of one."""

    tensor: str
    copies: int
    size_mib: float
    allocated_mib: float
    whole_on_every_rank: bool


def tensor_rows(spec: ModelSpec, tp_size: int) -> list[TensorRow]:
    """The tensors of one rank, largest first. Raises as `rank_tensors` does."""
    alone = {tensor.name: tensor.size_bytes for tensor in rank_tensors(spec, 1)}
    rows = [_tensor(tensor, alone[tensor.name] == tensor.size_bytes) for tensor in rank_tensors(spec, tp_size)]
    return sorted(rows, key=lambda row: -row.copies * row.allocated_mib)


def _tensor(tensor: StoredTensor, whole: bool) -> TensorRow:
    allocated = allocated_bytes(tensor.size_bytes) / MIB
    return TensorRow(tensor.name, tensor.copies, tensor.size_bytes / MIB, allocated, whole)


def block_bytes(spec: ModelSpec, tp_size: int) -> float:
    """A block of sixteen tokens on one rank. Raises IndivisibleError."""
    return BLOCK_TOKENS * kv_bytes_per_token_per_rank(spec, tp_size)
