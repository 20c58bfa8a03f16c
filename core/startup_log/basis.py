"""What a prediction is, what it is made from, and what may excuse a miss.

A prediction is a value and the interval that rounding leaves: a memory printed as 6.51 GiB is anything from 6.505
to 6.515. A doubt is a cause that the log leaves open, and the values it could account for: a figure that misses
its prediction inside a doubt is unexplained, not off.
"""

from dataclasses import dataclass, field, replace
from math import inf

from core.errors import ShardlabError
from core.models.kv_cache import BLOCK_TOKENS
from core.models.loaded_weights import Stage, rank_tensors, stages
from core.specs import ModelSpec
from core.startup_log.records import Settings
from core.startup_log.resolve import Sizes

_ACCELERATOR_BLOCK = 128
_LATENT_BLOCKS = (64, 128)
"""FlashMLA's and CUTLASS's. Source: vllm/platforms/cuda.py, check_and_update_config. Releases 0.7.3 to 0.8.1 also
pad a latent row to 256 bytes: VLLM_MLA_CUDA_MEM_ALIGN_KV_CACHE."""
TOLERANCE = 0.005
"""What a size may miss by: half a percent."""


@dataclass(frozen=True)
class Doubt:
    """Something the log leaves open, and the logged values from `low` to `high` that it would account for."""

    reason: str
    low: float = -inf
    high: float = inf


@dataclass(frozen=True)
class Prediction:
    """What a figure should be, from `low` to `high` as rounding leaves it, in words, and in doubt of what."""

    value: float
    formula: str
    low: float
    high: float
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Silence:
    """Why nothing is predicted."""

    reason: str


@dataclass(frozen=True)
class Basis:
    """What predictions are made from. `near`: only the end of the log's name is the model's."""

    model: ModelSpec | None
    settings: Settings
    sizes: Sizes
    weight_format: str | None = None
    near: bool = False
    format_given: bool = False
    doubts: tuple[Doubt, ...] = field(default=())

    @property
    def stages(self) -> tuple[Stage, ...]:
        if self.model is None:
            return ()
        partition = self.settings.partition if len(self.settings.partition) == self.sizes.pp_size else ()
        return stages(self.model, self.sizes.pp_size, partition)

    @property
    def block_tokens(self) -> int:
        """Tokens a block: as stated, 128 on an NPU or an HPU, 16 elsewhere."""
        usual = _ACCELERATOR_BLOCK if self.settings.device in ("npu", "hpu") else BLOCK_TOKENS
        return self.settings.block_size or usual

    @property
    def spanned_tokens(self) -> int:
        """Tokens that a block of each rank holds together, where the ranks of a context share out its tokens."""
        return self.block_tokens * (self.settings.dcp_size or 1)

    @property
    def layouts(self) -> tuple[tuple[str, Settings], ...]:
        """How else a latent cache may be kept, where the log does not say: in a kernel's blocks, in padded rows."""
        said = self.settings
        if said.engine != "vllm" or self.model is None or not self.model.mla:
            return ()
        blocks = (said.block_size,) if said.block_size else (None, *_LATENT_BLOCKS)
        rows = (False,) if said.v1 else (False, True)
        return tuple(
            (_layout(size, padded), replace(said, block_size=size, padded_rows=padded))
            for size in blocks
            for padded in rows
            if padded or size != said.block_size
        )


def _layout(block_size: int | None, padded_rows: bool) -> str:
    blocks = f"blocks of {block_size} tokens" if block_size else ""
    return " and ".join(part for part in (blocks, "rows padded to 256 bytes" if padded_rows else "") if part)


UNNAMED = Silence("the log names no model that the catalog knows; give one")


def candidate_stages(basis: Basis, stage: int | None) -> tuple[Stage, ...]:
    """The stage a line is of; all of them, where the log does not say."""
    return basis.stages if stage is None else basis.stages[stage : stage + 1] or basis.stages


def same_count(value: int, formula: str) -> Prediction:
    """A count the engine prints twice, or another count of its own times a whole number."""
    return Prediction(value, formula, value, value)


def windowed(spec: ModelSpec) -> bool:
    """Whether some layers see only a window: gpt-oss with its sinks, Gemma 2 and 3."""
    return spec.attention_sinks or four_normed_gemma(spec)


def four_normed_gemma(spec: ModelSpec) -> bool:
    """Whether a shape is Gemma 2's or 3's: four norms a layer, and unlike GLM-4's a head that is the embedding."""
    return spec.norms_per_layer == 4 and spec.tie_word_embeddings


def within(value: float, step: float) -> tuple[float, float]:
    """Half a percent either way of what was meant, and half of the last digit of what was printed for it."""
    slack = TOLERANCE * abs(value) + step / 2 * (1 + 1e-9)
    return value - slack, value + slack


def refusal(basis: Basis) -> Silence | None:
    """Why the sizes do not suit the model, if they do not: heads that do not divide, more stages than layers."""
    if basis.model is None:
        return None
    try:
        rank_tensors(basis.model, basis.sizes.tp_size, basis.stages[0], basis.weight_format or "bf16")
    except ShardlabError as error:
        return Silence(str(error))
    return None
