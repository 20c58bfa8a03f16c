"""What is passed from one part of the reader to the next, all frozen."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from core.errors import Remark
from core.specs import ModelSpec

Engine = Literal["vllm", "sglang", "tensorrt-llm"]
Quantity = Literal[
    "weights_gib",
    "kv_tokens",
    "gpu_blocks",
    "cpu_blocks",
    "max_concurrency",
    "kv_size_gib",
    "bytes_per_token",
    "state_gib",
]
Verdict = Literal["ok", "off", "unexplained"]

UNITS: dict[Quantity, str] = {
    "weights_gib": "GiB",
    "kv_tokens": "tokens",
    "gpu_blocks": "blocks",
    "cpu_blocks": "blocks",
    "max_concurrency": "requests",
    "kv_size_gib": "GiB",
    "bytes_per_token": "bytes",
    "state_gib": "GiB",
}


@dataclass(frozen=True)
class LogLine:
    """A line without its decoration. `speaker` is the process that printed it, as the log tags it.

    `service` is the container, the pod or the unit that whoever collected the log put before it.
    `number` counts lines of the text from one; of a wrapped line it is the first's.
    """

    number: int
    text: str
    speaker: str = ""
    tp_rank: int | None = None
    pp_rank: int | None = None
    rank: int | None = None
    service: str = ""


@dataclass(frozen=True)
class Settings:
    """What the engine was asked for, as far as the log says.

    `unknown` are arguments that are on, and of which no prediction knows what they do to weights or a cache.
    `stated` where it lists its arguments, `resolved` where it prints the configuration they came to.
    """

    engine: Engine | None = None
    version: str | None = None
    v1: bool | None = None
    model_path: str | None = None
    served_name: str | None = None
    dtype: str | None = None
    quantization: str | None = None
    kv_dtype: str | None = None
    tp_size: int | None = None
    pp_size: int | None = None
    dp_size: int | None = None
    dcp_size: int | None = None
    max_model_len: int | None = None
    block_size: int | None = None
    page_size: int | None = None
    swap_gib: float | None = None
    host_cache_gib: float | None = None
    blocks_asked: int | None = None
    batched_tokens: int | None = None
    device: str | None = None
    architecture: str | None = None
    partition: tuple[int, ...] = ()
    draft: bool = False
    draft_tokens: int | None = None
    draft_method: str | None = None
    adapters: bool = False
    offload: bool = False
    dp_attention: bool = False
    dp_head: bool = False
    dense_ranks: int | None = None
    deepep: bool = False
    redundant_experts: int | None = None
    padded_rows: bool = False
    padded_layers: bool = False
    marlin: bool = False
    rocm: bool = False
    nnodes: int | None = None
    unknown: tuple[str, ...] = ()
    stated: bool = False
    resolved: bool = False


FigureKind = Literal[
    "allocated", "profiled", "free_memory", "engine_file", "tokens", "blocks", "initialised", "cpu", "concurrency",
    "k", "v", "kv", "pool", "pool_bytes", "states",
]  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A number the log prints and a config may predict. `step` is one unit of its last printed digit.

    `kind` says how the engine came by it; `tokens` is a count printed with it (the length a concurrency is for,
    the tokens a cache holds), `device` whose memory is counted, in the engine's words.
    """

    quantity: Quantity
    kind: FigureKind
    value: float
    step: float
    line: LogLine
    engine: Engine
    tokens: int | None = None
    dtype: str | None = None
    device: str = ""


@dataclass(frozen=True)
class Memory:
    """Memory a rank had left for its cache, as printed: what counts of tokens and blocks are predicted from."""

    size_gib: float
    step: float
    line: LogLine


@dataclass(frozen=True)
class Given:
    """What a reader adds to the log: it stands where both speak."""

    model: ModelSpec | None = None
    tp_size: int | None = None
    pp_size: int | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class Doubt:
    """Something the log leaves open, and the logged values from `low` to `high` that it would account for."""

    reason: Remark
    low: float = -inf
    high: float = inf


@dataclass(frozen=True)
class Prediction:
    """What a figure should be, from `low` to `high` as rounding leaves it, by what rule, and in doubt of what."""

    value: float
    formula: Remark
    low: float
    high: float
    doubts: tuple[Doubt, ...] = ()


class UnpredictedError(Exception):
    """Why a figure has no prediction."""

    def __init__(self, reason: Remark) -> None:
        self.reason = reason


Outcome = Prediction | Remark
"""A prediction, or the reason why there is none."""


@dataclass(frozen=True)
class Check:
    """One logged figure beside its prediction. `predicted` is None where nothing explains the figure.

    `formula` says where the prediction comes from, or why there is none; `text` is the line, masked; `service` who
    printed it, where the text says.
    """

    quantity: Quantity
    rank: int | None
    logged: float
    predicted: float | None
    residual_fraction: float | None
    verdict: Verdict
    line: int
    formula: Remark
    text: str
    service: str = ""

    @property
    def unit(self) -> str:
        return UNITS[self.quantity]


@dataclass(frozen=True)
class Report:
    """A log, read: what it is about, every figure's check, what else it says, and the crash that it ends in."""

    engine: Engine | None
    version: str | None
    model: ModelSpec | None
    tp_size: int | None
    pp_size: int | None
    checks: tuple[Check, ...]
    remarks: tuple[Remark, ...]
    crash: Remark | None = None

    def count(self, verdict: Verdict) -> int:
        """How many checks ended in `verdict`."""
        return sum(check.verdict == verdict for check in self.checks)
