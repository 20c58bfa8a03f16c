"""What the project's own run on a GPU measures, what was foretold of it, and both read from their files.

A figure is named by its key, `layer llama-3-70b tp=4 b=16 graph bf16` or `gemv 4096x14336 b=1 graph bf16`, in the
file of a part and in the ledger alike. The ledger is only appended to: each line has a digest of the one before.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.catalog import gpu as find_gpu
from core.catalog import model as find_model
from core.errors import UnreadableTextError
from core.evidence.calibration import calibration_of
from core.evidence.foretold import digest
from core.models.parameters import distinct_expert_fraction
from core.specs import GpuSpec, ModelSpec

BATCHES = (1, 4, 16, 64, 256)
CONTEXT = 1024
"""Tokens of cache that a layer's attention reads for each sequence."""
GEMV_SHAPES = ((4096, 4096), (4096, 14336), (14336, 4096), (8192, 8192), (8192, 57344), (1024, 8192))
"""(out, in) of matrices that a vector meets: from Llama-3-8B's, from 70B's, and a rank's share at TP=8."""
CACHES = (1024, 8192, 32768)
SMALL_SUM_BYTES = 8192
FORETOLD_GPUS = ("h100-sxm", "h200-sxm")

_EAGER_OPERATION_S = 7e-6
"""Assumed before any run of ours: host time of one PyTorch operation on a GPU, of which a layer has so many."""
_GRAPH_OPERATION_S = 2e-6
"""Assumed likewise: from one kernel of a CUDA graph to the next."""
_OPERATIONS_A_LAYER, _OPERATIONS_AN_EXPERT = 24, 7
_COPY_FRACTION, _SMALL_READ_S = 0.88, 4e-6


@dataclass(frozen=True)
class LayerShape:
    """A decoder layer as one of `tp_size` ranks has it."""

    model_key: str
    tp_size: int = 1

    @property
    def model(self) -> ModelSpec:
        return find_model(self.model_key)

    @property
    def name(self) -> str:
        return f"layer {self.model_key} tp={self.tp_size}"

    @property
    def attention_weights(self) -> int:
        """q, k, v and o of this rank."""
        row = self.model
        heads = 2 * row.num_attention_heads + 2 * max(row.num_key_value_heads, self.tp_size)
        return heads * row.head_dim * row.hidden_size // self.tp_size

    def mlp_weights(self, batch: int) -> float:
        """Gate, up and down of this rank; of experts, those that a batch's tokens meet when all are as likely."""
        row = self.model
        if row.moe is None:
            return 3 * row.hidden_size * row.intermediate_size / self.tp_size
        each = 3 * row.hidden_size * row.moe.moe_intermediate_size
        return row.moe.num_experts * distinct_expert_fraction(row, batch) * each / self.tp_size

    def read_bytes(self, batch: int, weight_bytes: float) -> float:
        """What a step of the layer reads: its weights, and its share of the cache."""
        row = self.model
        kv_heads = max(row.num_key_value_heads, self.tp_size) // self.tp_size
        cache = 2 * 2 * batch * CONTEXT * kv_heads * row.head_dim
        return weight_bytes * self.mlp_weights(batch) + weight_bytes * self.attention_weights + cache


LAYERS = (
    LayerShape("llama-3-8b"),
    *(LayerShape("llama-3-70b", tp_size) for tp_size in (1, 2, 4, 8)),
    LayerShape("gpt-oss-120b"),
    LayerShape("qwen3-30b-a3b"),
)


@dataclass(frozen=True)
class Told:
    """A figure told before it was measured, in the unit of its key: seconds, or bytes a second."""

    gpu: str
    key: str
    predicted: float
    unit: str
    made: str


@dataclass(frozen=True)
class OwnFigure:
    """One figure that our own run measured: median, least and most of its repeats; on what, when, which commit."""

    key: str
    value: float
    low: float
    high: float
    unit: str
    repeats: int
    device: Mapping[str, str]
    date: str
    commit: str
    told: Told | None = None

    @property
    def ratio(self) -> float | None:
        """predicted / measured; None where nothing was told before the run."""
        return None if self.told is None else self.told.predicted / self.value


def layer_key(shape: LayerShape, batch: int, way: str, dtype: str) -> str:
    return f"{shape.name} b={batch} {way} {dtype}"


def predictions(gpu_key: str, made: str) -> Iterator[Told]:
    """Every figure of the run on a GPU, by the constants that ship and the assumptions above."""
    row = find_gpu(gpu_key)
    for shape in LAYERS:
        for batch in BATCHES:
            for way, dtype in _ways(shape):
                predicted = _layer_s(shape, row, batch, way, dtype)
                yield Told(gpu_key, layer_key(shape, batch, way, dtype), predicted, "s", made)
    efficiency = calibration_of(row, find_model("llama-3-8b")).efficiency
    for outputs, inputs in GEMV_SHAPES:
        size = 2 * outputs * inputs
        reading_s = size / (efficiency.reached_fraction * row.memory_bytes_per_s) + _SMALL_READ_S
        yield Told(gpu_key, f"gemv {outputs}x{inputs} b=1 graph bf16", size / reading_s, "bytes_per_s", made)
    yield Told(gpu_key, "copy", _COPY_FRACTION * row.memory_bytes_per_s, "bytes_per_s", made)
    for tokens in CACHES:
        size = 2 * 2 * tokens * 8 * 128
        reading_s = size / (efficiency.reached_fraction * row.memory_bytes_per_s) + 3 * _SMALL_READ_S
        yield Told(gpu_key, f"attention {tokens} tokens b=1 graph bf16", reading_s, "s", made)
    yield Told(gpu_key, f"sum {SMALL_SUM_BYTES} bytes eager", _EAGER_OPERATION_S, "s", made)
    yield Told(gpu_key, f"sum {SMALL_SUM_BYTES} bytes graph", _GRAPH_OPERATION_S, "s", made)


def _ways(shape: LayerShape) -> Sequence[tuple[str, str]]:
    if shape.model.moe is not None:
        return (("eager", "bf16"), ("graph", "bf16"), ("grouped", "bf16"))
    return (("eager", "bf16"), ("graph", "bf16"), ("graph", "fp8"))


def _layer_s(shape: LayerShape, row: GpuSpec, batch: int, way: str, dtype: str) -> float:
    """The planner's layer, or what its operations take to be started where that is longer."""
    efficiency = calibration_of(row, shape.model).efficiency
    weight_bytes = 1 if dtype == "fp8" else 2
    moe = shape.model.moe
    met_fraction = distinct_expert_fraction(shape.model, batch)
    active = 1.0 if moe is None else moe.num_experts_per_tok / (moe.num_experts * met_fraction)
    flops = 2 * batch * (shape.attention_weights + active * shape.mlp_weights(batch))
    reading_s = shape.read_bytes(batch, weight_bytes) / row.memory_bytes_per_s
    work_s = max(reading_s, flops * weight_bytes / 2 / row.bf16_flops)
    experts = 0.0 if moe is None or way == "grouped" else moe.num_experts * met_fraction
    operations = _OPERATIONS_A_LAYER + _OPERATIONS_AN_EXPERT * experts
    planned_s = work_s / efficiency.reached_fraction + efficiency.layer_floor_s
    if way == "eager":
        return max(planned_s, operations * _EAGER_OPERATION_S)
    return max(
        planned_s, work_s / efficiency.reached_fraction + experts * _OPERATIONS_AN_EXPERT * _GRAPH_OPERATION_S
    )


def told_line(before: str, told: Told) -> str:
    """The line of a prediction, behind the line before it."""
    return json.dumps({**asdict(told), "after": digest(before)}, ensure_ascii=False)


def read_told(lines: Sequence[str]) -> tuple[Told, ...]:
    """Every prediction of the ledger.

    Raises UnreadableTextError for a line that is none, says one twice or does not follow the one before it.
    """
    found: dict[tuple[str, str], Told] = {}
    before = ""
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            after = entry.pop("after")
            told = Told(**entry)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UnreadableTextError("prediction_none", line=number) from error
        if after != digest(before) or (told.gpu, told.key) in found:
            raise UnreadableTextError("prediction_out_of_order", line=number)
        found[told.gpu, told.key] = told
        before = line
    return tuple(found.values())


def read_part(text: str, told: Sequence[Told] = ()) -> tuple[OwnFigure, ...]:
    """The figures of a part's file that were measured on a GPU, each beside what was told of it before.

    Raises UnreadableTextError for a text that is no such file.
    """
    try:
        part: dict[str, Any] = json.loads(text)
        gpu_key = gpu_of(part["device"]["name"])
        before = {one.key: one for one in told if one.gpu == gpu_key and one.made < part["date"]}
        return tuple(
            OwnFigure(
                row["key"], float(row["value"]), float(row["low"]), float(row["high"]), row["unit"],
                int(row["repeats"]), {**part["device"], **row["device"]}, part["date"], part["commit"],
                before.get(row["key"]),
            )
            for row in part["rows"]
            if not part["cpu_only"]
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UnreadableTextError("no_part", kind=type(error).__name__, error=error) from error


def gpu_of(name: str) -> str:
    """The catalog's key of a GPU by the name that its driver has for it; empty for one that is not known.

    >>> gpu_of("NVIDIA H200"), gpu_of("NVIDIA H100 80GB HBM3"), gpu_of("NVIDIA H100 PCIe")
    ('h200-sxm', 'h100-sxm', '')
    """
    if "PCIe" in name or "NVL" in name:
        return ""
    return next((f"{kind.lower()}-sxm" for kind in ("H200", "H100") if kind in name), "")
