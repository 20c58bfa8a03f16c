"""What predictions are made from: one run of an engine, the model it loads, its sizes, and who speaks.

A prediction is a value and the interval that rounding leaves: a memory printed as 6.51 GiB is anything from 6.505
to 6.515. A doubt is a cause that the log leaves open, and the values it could account for: a figure that misses
its prediction inside a doubt is unexplained, not off.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.errors import OutOfRangeError, Remark, ShardlabError, remark
from core.models.kv_cache import BLOCK_TOKENS, hybrid_block_tokens, state_bytes_per_sequence
from core.models.loaded_weights import Stage, rank_tensors, stages
from core.specs import CompressedSpec, ModelSpec
from core.startup_log.one_run import Run
from core.startup_log.records import (
    Doubt,
    Engine,
    Given,
    LogLine,
    Prediction,
    Settings,
    UnpredictedError,
)
from core.startup_log.resolve import (
    Ranks,
    Sizes,
    find_format,
    find_model,
    find_ranks,
    find_sizes,
    rank_of,
    repository,
)
from core.startup_log.settings import merged

_ACCELERATOR_BLOCK = 128
_DEVICES = ("npu", "hpu", "xpu", "tpu", "cpu", "neuron", "spyre")
_DEVICE_BLOCKS = (16, 32, 64, 128, 256)
"""What other devices' builds make a block. Source: check_and_update_config of vllm/platforms/."""
_LATENT_BLOCKS = (64, 128)
"""FlashMLA's and CUTLASS's. Source: vllm/platforms/cuda.py, check_and_update_config. Releases 0.7.3 to 0.8.1 also
pad a latent row to 256 bytes: VLLM_MLA_CUDA_MEM_ALIGN_KV_CACHE."""
ROW_BYTES = 256
TOLERANCE = 0.005
"""What a size may miss by: half a percent."""

_MOST_NAMED = 4

UNNAMED = remark("startup_log.unnamed_model")


@dataclass(frozen=True)
class Basis:
    """A run with all that its figures are predicted from.

    `near`: only the end of the log's name is the model's. `driver`: the run's driver prints without a tag.
    """

    run: Run
    settings: Settings
    model: ModelSpec | None
    sizes: Sizes
    ranks: Ranks
    weight_format: str | None
    near: bool
    format_given: bool
    driver: bool
    doubts: tuple[Doubt, ...]
    remarks: tuple[Remark, ...]

    @property
    def known_model(self) -> ModelSpec:
        """The model. Raises UnpredictedError where the log names none that is known."""
        if self.model is None:
            raise UnpredictedError(UNNAMED)
        return self.model

    @property
    def world_size(self) -> int:
        return self.sizes.tp_size * self.sizes.pp_size

    @property
    def attention_ranks(self) -> int:
        """Ranks that a layer's attention is over: a replica's, where attention is data-parallel."""
        ranks, replicas = self.sizes.tp_size, self.settings.dp_size
        if not self.settings.dp_attention:
            return ranks
        if replicas is None and self.settings.engine == "tensorrt-llm":  # there each rank is a replica
            return 1
        return max(1, ranks // (replicas or 1))

    @property
    def expert_ranks(self) -> int:
        """Ranks that a mixture's experts are over: those of all replicas, whole experts to each or parts."""
        replicas = 1 if self.settings.dp_attention else self.settings.dp_size or 1
        return self.sizes.tp_size * replicas

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        if self.model is None:
            return ()
        partition = self.settings.partition if len(self.settings.partition) == self.sizes.pp_size else ()
        return stages(self.model, self.sizes.pp_size, partition)

    @property
    def largest_stage(self) -> Stage:
        return max(self.stages, key=lambda one: one.layers)

    @property
    def block_tokens(self) -> int:
        """Tokens a block: as large as a state where layers keep one; as stated, 128 on an NPU or an HPU, or 16."""
        usual = _ACCELERATOR_BLOCK if self.settings.device in ("npu", "hpu") else BLOCK_TOKENS
        return self._state_block or self.settings.block_size or usual

    @cached_property
    def _state_block(self) -> int | None:
        """What vLLM raises a block to, so that one holds a layer's state; None where it has no need to."""
        if self.model is None or self.settings.engine != "vllm" or not self.keeps_states:
            return None
        try:
            needed = hybrid_block_tokens(self.model, self.sizes.tp_size, "fp8" if self.eight_bit_cache else "bf16")
        except ShardlabError:
            return None
        return max(needed, self.settings.block_size or 0) if needed else None

    @property
    def keeps_states(self) -> bool:
        """Whether some layers keep a state: linear attention's, Mamba's."""
        return self.model is not None and state_bytes_per_sequence(self.model) > 0

    @property
    def quantised(self) -> bool:
        """Whether the weights are of fewer bits than they were trained in, as far as the log says."""
        return self.weight_format not in (None, "bf16", "fp16", "fp32")

    @property
    def eight_bit_cache(self) -> bool:
        """Whether the cache was asked for in eight bits."""
        return (self.settings.kv_dtype or "").startswith(("fp8", "float8", "int8"))

    @property
    def spanned_tokens(self) -> int:
        """Tokens that a block of each rank holds together, where the ranks of a context share out its tokens."""
        return self.block_tokens * (self.settings.dcp_size or 1)

    @property
    def windowed(self) -> bool:
        """Whether some layers see only a window, or may: gpt-oss with its sinks, Gemma 2 and 3."""
        return self.model is None or self.model.windowed_layers > 0

    @property
    def compressed(self) -> bool:
        """Whether layers keep rows of several kinds, some for several tokens at once: DeepSeek-V4's."""
        kinds = () if self.model is None else self.model.kinds_of()
        return any(isinstance(kind.mixer, CompressedSpec) for kind, _ in kinds)

    @property
    def layouts(self) -> tuple[tuple[Remark, Settings], ...]:
        """How else a cache may be kept where a log does not say: a device's or a kernel's blocks, padded rows."""
        settings = self.settings
        if settings.engine != "vllm" or self.model is None:
            return ()
        if not self.model.mla:
            sizes = _DEVICE_BLOCKS if settings.device in _DEVICES and not settings.block_size else ()
            others = [size for size in sizes if size != self.block_tokens]
            return tuple((_layout(size, False), replace(settings, block_size=size)) for size in others)
        blocks = (settings.block_size,) if settings.block_size else (None, *_LATENT_BLOCKS)
        rows = (False,) if settings.v1 else (False, True)
        return tuple(
            (_layout(size, padded), replace(settings, block_size=size, padded_rows=padded))
            for size in blocks
            for padded in rows
            if padded or size != settings.block_size
        )

    def rank_of(self, line: LogLine) -> tuple[int | None, int | None]:
        """The rank and the pipeline stage a line is of, where known."""
        return rank_of(line, self.ranks, self.sizes, self.driver)

    def candidate_stages(self, stage: int | None) -> tuple[Stage, ...]:
        """The stage a line is of; all of them, where the log does not say."""
        return self.stages if stage is None else self.stages[stage : stage + 1] or self.stages

    def refusal(self) -> Remark | None:
        """Why the sizes do not suit the model, if they do not: heads do not divide, or stages outnumber layers."""
        if self.model is None:
            return None
        try:
            rank_tensors(self.model, self.attention_ranks, self.stages[0], self.weight_format or "bf16")
        except ShardlabError as error:
            return remark("startup_log.refusal", reason=error.remark)
        return None


def _layout(block_size: int | None, padded_rows: bool) -> Remark:
    code = (
        "layout_blocks_and_rows" if block_size and padded_rows else "layout_blocks" if block_size else "layout_rows"
    )
    return remark(f"startup_log.{code}", block=block_size, row_bytes=ROW_BYTES)


def basis_of(run: Run, others: Sequence[Run], given: Given) -> Basis:
    """A run with its basis. Where it names no model, what other runs of its engine say holds for it too.

    Raises OutOfRangeError for a weight format that is unknown.
    """
    settings, remarks = _completed(run, others), []
    ranks = find_ranks(run.lines)
    sizes = find_sizes(settings, ranks, given.tp_size, given.pp_size)
    spec, near = find_model(settings.model_path)
    if spec is None and settings.served_name:  # a path such as /models/base, served under the model's own name
        spec = find_model(settings.served_name)[0]
        near = spec is not None
    line = run.lines[0].number if run.lines else 1
    if given.model is not None:
        if spec is not None and spec.key != given.model.key:
            remarks.append(remark("startup_log.given_model", line, named=spec.name, given=given.model.name))
        spec, near = given.model, False
    form = None if spec is None else find_format(settings, spec, given.dtype)
    if spec is not None and given.dtype is not None and form is None:
        raise OutOfRangeError(
            "dtype", given.dtype, "none_of", known="bf16, fp16, fp32, fp8, int8, int4, awq, mxfp4, nvfp4"
        )
    unstated = () if sizes.stated else (Doubt(remark("startup_log.ranks_assumed", tp=sizes.tp_size)),)
    names = ", ".join(settings.unknown[:_MOST_NAMED])
    switched = (Doubt(remark("startup_log.switched_on", names=names)),) if names else ()
    doubts = (*unstated, *((Doubt(remark("startup_log.near_name")),) if near else ()), *switched)
    driver = any("Worker" in speaker.speaker for speaker in run.lines)
    basis = Basis(run, settings, spec, sizes, ranks, form, near, given.dtype is not None, driver, doubts, ())
    return replace(basis, remarks=(*remarks, *_assumed(basis, line)))


def main_basis(bases: Sequence[Basis], engine: Engine) -> Basis:
    """The run a report's head speaks of: the engine's first that has figures, else its first."""
    ours = [one for one in bases if one.run.settings.engine in (engine, None)] or list(bases)
    return next((one for one in ours if one.run.figures), ours[0])


def _completed(run: Run, others: Sequence[Run]) -> Settings:
    settings = run.settings
    for other in others:
        same = other.settings.engine in (settings.engine, None)
        if same and other is not run and settings.model_path is None:
            settings = merged(settings, replace(other.settings, version=None))
    return settings


def _assumed(basis: Basis, line: int) -> list[Remark]:
    """What the checks rest on that the log does not say, and sizes that the model cannot have."""
    refused = basis.refusal()
    remarks = [] if refused is None else [remark("startup_log.refused", line, reason=refused.values["reason"])]
    if not basis.run.figures:
        return remarks
    if basis.model is None:
        name = repository(basis.settings.model_path or "").rstrip("/").split("/")[-1]
        code = "model_unset" if name.startswith("$") else "model_unknown" if name else "model_unnamed"
        remarks.append(remark(f"startup_log.{code}", line, name=name or None))
    elif basis.near:
        remarks.append(remark("startup_log.model_assumed", line, name=basis.model.name))
    if not basis.sizes.stated:
        remarks.append(remark("startup_log.ranks_assumed", line, tp=basis.sizes.tp_size))
    return remarks


def same_count(value: int, formula: Remark) -> Prediction:
    """A count the engine prints twice, or another count of its own times a whole number."""
    return Prediction(value, formula, value, value)


def within(value: float, step: float) -> tuple[float, float]:
    """Half a percent either way of what was meant, and half of the last digit of what was printed for it."""
    slack = TOLERANCE * abs(value) + step / 2 * (1 + 1e-9)
    return value - slack, value + slack
