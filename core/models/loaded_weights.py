"""What a rank's weights weigh once an engine has loaded them, to the fourth decimal of its log.

A parameter count is not enough: k and v heads are repeated where ranks outnumber them, the vocabulary is padded,
the rotary table is on the GPU too and is not sharded, and the allocator hands out whole blocks. A layer's tensors
are its parts (core.models.parts).

Left out: LoRA, a vision tower, a draft model, copies a kernel makes of quantised weights.
Source: vllm/model_executor/layers/{linear,vocab_parallel_embedding,rotary_embedding}.py, fused_moe/layer.py;
startup logs of eight bf16 models agree to 0.004 % where they are dense, to 0.04 % where they are mixtures.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Literal

from core.errors import OutOfRangeError, require_divides, require_positive
from core.models.cuts import Group, Part
from core.models.parameters import padded_vocab_size
from core.models.parts import VECTORS_A_NORM, layer_parts
from core.models.weight_formats import WeightFormat, weight_format
from core.specs import LayerSpec, ModelSpec
from core.units import MIB

_ROUND = 512
_SMALL = MIB
OWN_SEGMENT = 10 * MIB
SEGMENT_ROUND = 2 * MIB
_SHARED_SEGMENT = 20 * MIB
UNSPLIT = MIB

Widths = tuple[tuple[str, float], ...]
"""Bytes an element of the parts of a layer that have a width of their own."""
Sizes = defaultdict[Group | Literal["table"], int]
"""Bytes by what tensors are for."""


@dataclass(frozen=True)
class StoredTensor:
    """`copies` tensors of `size_bytes` each, alike but for their layer; `group` is what they are for."""

    name: str
    copies: int
    size_bytes: int
    group: Group | Literal["table"] = "table"


@dataclass(frozen=True)
class Stage:
    """The layers a pipeline rank holds: `layers` from number `first_layer` on, of `of_layers` in all.

    `whole_ends` where an engine makes the embedding and the head on every stage, and uses them on two;
    `tables_per_layer` where every layer has a rotary table of its own.
    """

    first_layer: int
    layers: int
    of_layers: int
    whole_ends: bool = False
    tables_per_layer: bool = False

    @property
    def ends(self) -> tuple[bool, bool, int]:
        """Whether it has the embedding, and the head; how many rotary tables."""
        has_embedding = self.whole_ends or self.first_layer == 0
        has_head = self.whole_ends or self.first_layer + self.layers == self.of_layers
        return has_embedding, has_head, self.layers if self.tables_per_layer else 1


def stages(model: ModelSpec, pp_size: int, partition: Sequence[int] = ()) -> tuple[Stage, ...]:
    """How layers are distributed: alike, and of r left over, one more to each of the r stages before the last.

    `partition` is the layers of each stage where a log or a user says so.
    Raises OutOfRangeError where there are more stages than layers, or the partition does not add up.
    Source: vllm/distributed/utils.py, get_pp_indices; logs print [31, 30] for 61 layers, [22, 21] for 43.
    """
    require_positive(pp_size=pp_size)
    total = model.num_hidden_layers
    if pp_size > total:
        raise OutOfRangeError("pp_size", pp_size, "more_than_layers", layers=total)
    even, left = divmod(total, pp_size)
    counts = list(partition) or [even + (pp_size - 1 - left <= rank < pp_size - 1) for rank in range(pp_size)]
    if len(counts) != pp_size or sum(counts) != total:
        raise OutOfRangeError("partition", counts, "numbers_that_sum", stages=pp_size, layers=total)
    return tuple(Stage(sum(counts[:rank]), count, total) for rank, count in enumerate(counts))


def allocated_bytes(size_bytes: int) -> int:
    """What the caching allocator counts as allocated for a tensor.

    Multiples of 512 bytes. From 10 MiB on a tensor has a segment of its own in whole 2 MiB, and what is left of
    it is not split off up to 1 MiB: it counts as the tensor's.
    Source: pytorch c10/cuda/CUDACachingAllocator.cpp, round_size, get_allocation_size, should_split.
    """
    rounded = _up(size_bytes, _ROUND)
    if rounded < OWN_SEGMENT:
        return rounded
    segment = _up(rounded, SEGMENT_ROUND)
    return segment if segment - rounded <= UNSPLIT else rounded


def reserved_bytes(tensors: Sequence[StoredTensor]) -> int:
    """What the device has less of: whole segments, 2 MiB of small tensors and 20 MiB of middling ones to each.

    Source: as `allocated_bytes`. An engine that prints the fall in free memory prints this, and whatever else
    took memory meanwhile.
    """
    small = sum(t.copies * _up(t.size_bytes, _ROUND) for t in tensors if t.size_bytes <= _SMALL)
    middling = sum(t.copies * _up(t.size_bytes, _ROUND) for t in tensors if _SMALL < t.size_bytes < OWN_SEGMENT)
    large = sum(t.copies * _up(t.size_bytes, SEGMENT_ROUND) for t in tensors if t.size_bytes >= OWN_SEGMENT)
    return _up(small, SEGMENT_ROUND) + _up(middling, _SHARED_SEGMENT) + large


def loaded_weight_bytes(model: ModelSpec, tp_size: int = 1, stage: Stage | None = None, dtype: str = "bf16") -> int:
    """Bytes the allocator counts for one rank's weights: what "Model loading took" prints.

    Raises as `rank_tensors` does.
    """
    return sum(t.copies * allocated_bytes(t.size_bytes) for t in rank_tensors(model, tp_size, stage, dtype))


def attention_weight_bytes(model: ModelSpec, tp_size: int = 1, dtype: str = "bf16") -> int:
    """Bytes of one rank's attention over all layers: its share of what is cut, and what is copied on every rank.

    Raises IndivisibleError where heads do not divide over the ranks.
    """
    tensors = rank_tensors(model, tp_size, dtype=dtype)
    return sum(tensor.copies * tensor.size_bytes for tensor in tensors if tensor.group == "attention")


def rank_tensors(
    model: ModelSpec, tp_size: int = 1, stage: Stage | None = None, dtype: str = "bf16", rope_bytes: int = 0
) -> tuple[StoredTensor, ...]:
    """Every tensor of one rank of a stage (all layers, without one), with its size in bytes.

    `rope_bytes` is the width of the rotary table; that of the activations, at 0.
    Raises IndivisibleError where heads, widths or the padded vocabulary do not divide over the ranks,
    UnknownNameError for a format that is not in FORMATS.
    """
    stage = stage or Stage(0, model.num_hidden_layers, model.num_hidden_layers)
    rank = _rank(model, tp_size, dtype, rope_bytes)
    parts: dict[tuple[str, Group | Literal["table"], int], int] = {}
    for tensor in rank.ends(*stage.ends):
        _add(parts, tensor, 1)
    for layer, layers, widths in _kinds(model, stage, rank.kind):
        for tensor in _layer_tensors(rank, layer, widths):
            _add(parts, tensor, layers)
    return tuple(StoredTensor(name, copies, size, group) for (name, group, size), copies in parts.items())


def allocated_by_group(model: ModelSpec, tp_size: int, stage: Stage, dtype: str = "bf16") -> Sizes:
    """Bytes the allocator counts for one rank's weights of a stage, by what they are for; 0 of what is not there.

    Raises as `rank_tensors` does.
    """
    rank = _rank(model, tp_size, dtype)
    sizes = _end_bytes(rank, *stage.ends).copy()
    for layer, layers, widths in _kinds(model, stage, rank.kind):
        for group, size in _layer_bytes(rank, layer, widths).items():
            sizes[group] += layers * size
    return sizes


def _kinds(model: ModelSpec, stage: Stage, kind: WeightFormat) -> Iterator[tuple[LayerSpec, int, Widths]]:
    """Each kind of layer of a stage, how many, and the bytes an element of its parts in another width than most."""
    others = [(part, layers, float(kind.other_bytes)) for part, layers in model.left_alone]
    others += [(part, layers, weight_format(width).linear_bytes) for part, layers, width in model.other_widths]
    if not others or kind.key.partition("-")[0] != model.weight_dtype:
        yield from ((layer, layers, ()) for layer, layers in model.kinds_of(stage.first_layer, stage.layers))
        return
    alike: Counter[tuple[LayerSpec, Widths]] = Counter()
    for index in range(stage.first_layer, stage.first_layer + stage.layers):
        ((layer, _),) = model.kinds_of(index, 1)
        alike[layer, tuple((part, width) for part, where, width in others if index in where)] += 1
    yield from ((layer, layers, widths) for (layer, widths), layers in alike.items())


def _add(parts: dict[tuple[str, Group | Literal["table"], int], int], tensor: StoredTensor, times: int) -> None:
    if tensor.size_bytes:
        key = tensor.name, tensor.group, tensor.size_bytes
        parts[key] = parts.get(key, 0) + times * tensor.copies


@dataclass(frozen=True, eq=False)
class _Rank:
    """One tensor-parallel rank: what it makes of each part of a layer. There is one of each: see `_rank`."""

    model: ModelSpec
    tp_size: int
    kind: WeightFormat
    rope_bytes: int

    def ends(self, has_embedding: bool, has_head: bool, rotary_tables: int) -> list[StoredTensor]:
        """Embedding, head, final norm, learned positions and rotary tables, where a stage has them."""
        model, width = self.model, self.model.hidden_size
        rows = require_divides("padded_vocab_size", padded_vocab_size(model.vocab_size), "tp_size", self.tp_size)
        parts = [self._other("positions", model.learned_positions * width)] if has_embedding else []
        if has_embedding or (has_head and model.tie_word_embeddings):
            parts += [
                self._other("embedding", rows * width),
                self._other("tables", model.extra_tables // self.tp_size),
            ]
        if has_head:
            parts.append(StoredTensor("final norm", VECTORS_A_NORM[model.norm], width * self.kind.other_bytes))
            parts += [] if model.tie_word_embeddings else [self._other("head", rows * width)]
            parts.append(self._other("head bias", rows * model.head_bias))
            parts.append(self._other("extra", model.extra_parameters))
        if not model.learned_positions:
            rotary_width = model.mla.qk_rope_head_dim if model.mla else model.head_dim
            rotary_width = rotary_width if model.rotary_dim is None else model.rotary_dim
            size = model.max_position_embeddings * rotary_width * self.rope_bytes
            parts.append(StoredTensor("rotary table", rotary_tables, size))
        return parts

    def stored(self, part: Part, width: float | None) -> StoredTensor:
        """One part as this rank keeps it, of a `width` of its own where it has one, in bytes an element.

        A kernel's padding of experts goes on what is cut and on what is not.
        """
        kind = self.kind
        if part.derived and kind.linear_bytes >= kind.other_bytes:
            return StoredTensor(part.name, 1, 0, part.group)
        elements = part.elements(self.tp_size)
        if part.group == "experts":
            inner = sum(cut.on(self.tp_size) for cut in part.cuts)
            padded = _up(inner, kind.inner_multiple) if inner > 1 else inner
            elements = part.times * padded * (_up(part.by, kind.outer_multiple) if part.by > 1 else part.by)
        each = {"linear": kind.linear_bytes, "expert": kind.expert_bytes, "other": kind.other_bytes}
        return StoredTensor(part.name, 1, ceil(elements * (width or each[part.width])), part.group)

    def _other(self, name: str, elements: int) -> StoredTensor:
        return StoredTensor(name, 1, elements * self.kind.other_bytes)


@lru_cache(maxsize=1024)
def _rank(model: ModelSpec, tp_size: int, dtype: str, rope_bytes: int = 0) -> _Rank:
    kind = weight_format(dtype, model)
    return _Rank(model, tp_size, kind, rope_bytes or kind.other_bytes)


@lru_cache(maxsize=1024)
def _layer_tensors(rank: _Rank, layer: LayerSpec, widths: Widths) -> tuple[StoredTensor, ...]:
    """One layer as a rank keeps it: the same in every stage."""
    own = dict(widths)
    return tuple(rank.stored(part, own.get(part.name)) for part in layer_parts(rank.model, layer))


@lru_cache(maxsize=1024)
def _layer_bytes(rank: _Rank, layer: LayerSpec, widths: Widths) -> Sizes:
    """What the allocator counts for one layer's tensors."""
    return _allocated(_layer_tensors(rank, layer, widths))


@lru_cache(maxsize=1024)
def _end_bytes(rank: _Rank, has_embedding: bool, has_head: bool, rotary_tables: int) -> Sizes:
    """What it counts for the tensors that are of no layer."""
    return _allocated(rank.ends(has_embedding, has_head, rotary_tables))


def _allocated(tensors: Iterable[StoredTensor]) -> Sizes:
    sizes: Sizes = defaultdict(int)
    for tensor in tensors:
        sizes[tensor.group] += tensor.copies * allocated_bytes(tensor.size_bytes)
    return sizes


def _up(value: int, step: int) -> int:
    return -(-value // step) * step
