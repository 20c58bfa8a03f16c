"""What each rank's memory holds, as the engine adds it up.

utilisation · usable - weights - peak activation - non-torch - CUDA graphs = KV cache
"""

from bisect import bisect_right
from dataclasses import astuple, dataclass, replace
from functools import lru_cache

from core.errors import OutOfRangeError, Remark, ShardlabError, remark, require_divides, require_non_negative
from core.models.kv_cache import BLOCK_TOKENS, held_bytes, kv_bytes_per_token_per_rank, sequence_bytes
from core.models.loaded_weights import Stage, allocated_by_group, stages
from core.models.weights import held_weight_bytes
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.specs import GpuSpec, ModelSpec
from core.steps.model import ACTIVATION_BYTES
from core.units import GB, decimal_bytes

MOST_TOKENS = 2**24
MOST_KEPT = 2**48
"""Longer sequences are not looked for."""


@dataclass(frozen=True)
class Overhead:
    """What a rank's memory holds beside weights and KV cache.

    Round numbers for one busy engine: vLLM startup logs that were posted print 0.37 to 1.42 GiB of peak activation,
    0.03 to 0.20 GiB outside of torch before the network has its buffers, and 0.50 to 2.08 GiB of CUDA graphs.
    """

    peak_activation_bytes: float = 1.5 * GB
    non_torch_bytes: float = 0.8 * GB
    cuda_graphs_bytes: float = 1.2 * GB

    def __post_init__(self) -> None:
        require_non_negative(**vars(self))

    @property
    def total_bytes(self) -> float:
        """All three: 3.5 GB unless said otherwise."""
        return self.peak_activation_bytes + self.non_torch_bytes + self.cuda_graphs_bytes

    @classmethod
    def of(cls, total_bytes: float) -> "Overhead":
        """A total that was given, shared out as the usual one is."""
        require_non_negative(overhead_bytes=total_bytes)
        usual = cls()
        share = total_bytes / usual.total_bytes
        return cls(*(share * part for part in astuple(usual)))


@dataclass(frozen=True)
class Budget:
    """The memory an engine may take of each GPU. `source` says where the usable bytes are from."""

    usable_bytes: float
    utilisation: float = 0.9
    overhead: Overhead = Overhead()
    source: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.utilisation <= 1:
            raise OutOfRangeError("utilisation", self.utilisation, "must lie in (0, 1]")
        if not 0 < self.usable_bytes < float("inf"):
            raise OutOfRangeError("usable_bytes", self.usable_bytes, "must be above 0")

    @property
    def granted_bytes(self) -> float:
        """What one rank may fill: utilisation · usable"""
        return self.utilisation * self.usable_bytes


def measured_budget(gpu: GpuSpec, utilisation: float = 0.9, overhead: Overhead | None = None) -> Budget:
    """The budget of a GPU as its driver reports it, not as it is sold."""
    return Budget(gpu.usable_memory_bytes, utilisation, overhead or Overhead(), gpu.source)


@dataclass(frozen=True)
class RankWeights:
    """Bytes of weights on one rank, by what they are for."""

    tables_bytes: float
    attention_bytes: float
    mlp_bytes: float
    experts_bytes: float

    @property
    def total_bytes(self) -> float:
        return self.tables_bytes + self.attention_bytes + self.mlp_bytes + self.experts_bytes


@dataclass(frozen=True)
class RankMemory:
    """The ranks of one stage, all `ranks` alike. `kv_bytes` is below 0 where the rest does not fit.

    `kv_bytes_per_token` is of a token that every layer keeps; layers of a `model` with a window keep fewer.
    """

    stage: int
    layers: int
    ranks: int
    granted_bytes: float
    weights: RankWeights
    overhead: Overhead
    kv_bytes_per_token: float
    model: ModelSpec
    tp_size: int = 1
    dcp_size: int = 1
    kv_dtype: str = "bf16"
    first_layer: int = 0
    step_tokens: int = 0

    @property
    def kv_bytes(self) -> float:
        """The identity, solved for the KV cache."""
        return self.granted_bytes - self.weights.total_bytes - self.overhead.total_bytes

    def sequence_bytes(self, tokens: float) -> float:
        """What one sequence of so many tokens takes of the cache."""
        where = self.first_layer, self.layers
        whole = sequence_bytes(self.model, self.tp_size, tokens, self.kv_dtype, self.step_tokens, *where)
        return whole / self.dcp_size

    def held_bytes(self, tokens: float) -> float:
        """The same of one whose prompt has been read."""
        where = self.first_layer, self.layers
        whole = held_bytes(self.model, self.tp_size, tokens, self.kv_dtype, self.step_tokens, *where)
        return whole / self.dcp_size

    def _in_flight_bytes(self, tokens: float) -> float:
        """What the prompt that is being read holds more: vLLM refuses to start without it."""
        return self.sequence_bytes(tokens) - self.held_bytes(tokens)

    def kv_tokens(self, sequence_tokens: int) -> int:
        """Tokens of KV cache, in whole blocks, of sequences of that length; 0 where there is no room.

        A stage whose layers keep nothing of a sequence sets no bound: MOST_KEPT.
        """
        each = self.held_bytes(sequence_tokens) / sequence_tokens
        if each == 0:
            return MOST_KEPT if self.kv_bytes >= 0 else 0
        free_bytes = self.kv_bytes - self._in_flight_bytes(sequence_tokens)
        return BLOCK_TOKENS * int(max(0.0, free_bytes) / (BLOCK_TOKENS * each))

    def printed_tokens(self, sequence_tokens: int) -> int:
        """What vLLM prints for the size of its cache: requests of that length that it admits, times the length.

        Each counts with its prompt in flight, so of a model that compresses its tokens it is less than `kv_tokens`.
        Source: vllm/v1/core/kv_cache_utils.py, get_max_concurrency_for_kv_cache_config.
        """
        return int(max(0.0, self.kv_bytes) / self.sequence_bytes(sequence_tokens) * sequence_tokens)

    def longest(self) -> int:
        """Tokens of the longest sequence that fits alone, up to MOST_TOKENS."""
        return bisect_right(range(1, MOST_TOKENS + 1), self.kv_bytes, key=self.sequence_bytes)

    def shortage(self, sequences: int, tokens: int) -> Remark | None:
        """The inequality that is broken where so many sequences do not fit; None where they do."""
        cache = sequences * self.held_bytes(tokens) + self._in_flight_bytes(tokens)
        needed = self.weights.total_bytes + self.overhead.total_bytes + cache
        if needed <= self.granted_bytes:
            return None
        alike = decimal_bytes(needed) == decimal_bytes(self.granted_bytes)
        return remark(
            "placement.short_by" if alike else "placement.short",
            over_bytes=needed - self.granted_bytes,
            weights_bytes=self.weights.total_bytes,
            kv_bytes=cache,
            overhead_bytes=self.overhead.total_bytes,
            needed_bytes=needed,
            granted_bytes=self.granted_bytes,
        )


def rank_memories(
    model: ModelSpec,
    layout: Layout,
    budget: Budget,
    dtype: str = "bf16",
    kv_dtype: str = "bf16",
    step_tokens: int = 0,
) -> tuple[RankMemory, ...]:
    """The ranks of one engine, stage by stage. `step_tokens` is the most that a step reads of prompts.

    Raises OutOfRangeError for more stages than layers, IndivisibleError where heads, widths or experts do not
    divide, UnknownNameError for a dtype that no engine loads.
    """
    return tuple(
        RankMemory(
            stage=index,
            layers=stage.layers,
            ranks=layout.tp_size * layout.dp_size,
            granted_bytes=budget.granted_bytes,
            weights=stage_weights(model, layout, stage, dtype),
            overhead=budget.overhead,
            kv_bytes_per_token=kv_bytes_per_token_per_rank(
                model, layout.tp_size, kv_dtype, stage.first_layer, stage.layers
            )
            / layout.dcp_size,
            model=model,
            tp_size=layout.tp_size,
            dcp_size=layout.dcp_size,
            kv_dtype=kv_dtype,
            first_layer=stage.first_layer,
            step_tokens=step_tokens,
        )
        for index, stage in enumerate(stages(model, layout.pp_size))
    )


def min_tp_for_fit(model: ModelSpec, budget: Budget, demand: Demand, step_tokens: int) -> int | None:
    """The fewest ranks, a power of two, that hold the model and all its sequences with PP = 1; None if none do.

        utilisation · usable >= weights/TP + KV(concurrency · (prompt + output)) on a rank + overhead

    Every weight counts at the one width, distributed evenly; nodes do not matter here.
    """
    weights = held_weight_bytes(model, demand.dtype)
    tp_size = 1
    while model.num_attention_heads % tp_size == 0:
        try:
            asked = (model, tp_size, demand.sequence_tokens, demand.kv_dtype, step_tokens)
            first, others = sequence_bytes(*asked), (demand.concurrency - 1) * held_bytes(*asked)
        except ShardlabError:
            return None
        if weights / tp_size + first + others + budget.overhead.total_bytes <= budget.granted_bytes:
            return tp_size
        tp_size *= 2
    return None


def stage_weights(model: ModelSpec, layout: Layout, stage: Stage, dtype: str) -> RankWeights:
    """Bytes of weights on each rank of a stage, as they are loaded.

    A vision tower is kept in 16 bits, split over the ranks of every stage, with the tables.
    Expert parallelism puts whole experts on tp · dp ranks: a dp-th of what tensor parallelism leaves a rank.
    """
    whole = _tensor_parallel_weights(model, layout.tp_size, stage, dtype)
    if layout.ep_size == 1 or model.moe is None:
        return whole
    require_divides("num_experts", model.moe.num_experts, "ep_size", layout.ep_size)
    return replace(whole, experts_bytes=whole.experts_bytes / layout.dp_size)


@lru_cache(maxsize=1024)
def _tensor_parallel_weights(model: ModelSpec, tp_size: int, stage: Stage, dtype: str) -> RankWeights:
    """A stage's weights with nothing distributed: many layouts share them."""
    sizes = allocated_by_group(model, tp_size, stage, dtype)
    return RankWeights(
        tables_bytes=sizes["table"] + sizes["norm"] + ACTIVATION_BYTES * model.vision_parameters / tp_size,
        attention_bytes=sizes["attention"],
        mlp_bytes=sizes["mlp"] + sizes["shared"] + sizes["router"],
        experts_bytes=sizes["experts"],
    )
