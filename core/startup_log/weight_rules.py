"""How near the arithmetic of weights comes to what engines logged, rule after rule, and each tensor of a rank."""

from dataclasses import dataclass
from functools import lru_cache

from core.catalog import model
from core.models.loaded_weights import StoredTensor, allocated_bytes, loaded_weight_bytes, rank_tensors
from core.models.parameters import count_parameters
from core.specs import ModelSpec
from core.units import GIB, MIB


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


@lru_cache(maxsize=1)
def steps() -> tuple[Step, ...]:
    """The residual of each logged figure after each rule."""
    return tuple(step for key, tp_size, logged, _ in LOGGED_WEIGHTS for step in _steps(model(key), tp_size, logged))


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
