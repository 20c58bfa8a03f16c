"""A model: the shape of a decoder-only transformer, its fields by the names of Hugging Face's config.json."""

from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Literal

from core.errors import OutOfRangeError, require_positive
from core.specs.layers import AttentionSpec, LayerSpec, MlaSpec, MlpSpec, MoeSpec

DTYPE_BYTES = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "mxfp4": 0.53125,
    "int4": 0.5,
}
"""Bytes an element. int4 leaves out its scales: a group of 128 adds two bytes, 3 %. mxfp4 counts its own: one
byte for every 32 elements."""


@dataclass(frozen=True)
class ModelSpec:
    """The shape of a decoder-only transformer, enough to count its parameters exactly.

    `weight_dtype` is the checkpoint's own; of a quantised one, `quantisation_group` inputs share a scale, or
    `weight_block` outputs and inputs, and `left_alone` are the parts that stay in 16 bits, each with its layers
    (core.models.left_alone), and `other_widths` those of a third width; `cache_dtype`
    is how it asks for its keys and values to be kept. A `vision_tower` is in the checkpoint
    besides, of `vision_parameters` where they are known, and so is its `own_draft`: a layer that guesses tokens
    ahead. `remote_code` says that an engine must trust the repository's own.

    Where layers are not alike, `kinds` are the kinds there are, and `pattern` has one letter a layer: a for the
    first kind, b for the second. The fields beside them then speak of the layers that attend to everything, and of
    those with experts. `rotary_dim` is the part of a head that is turned, all of it where it is None.
    Where a layer's blocks stand `side_by_side`, ranks add what they give once, not after each.
    `extra_parameters` are of no layer and no table, `extra_tables` rows beside the embedding's, looked up like
    them.
    """

    key: str
    name: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    tie_word_embeddings: bool = False
    mlp: Literal["gated", "plain"] = "gated"
    norm: Literal["rmsnorm", "layernorm", "bare"] = "rmsnorm"
    norms_per_layer: int = 2
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    qk_norm: bool = False
    learned_positions: int = 0
    attention_sinks: bool = False
    moe: MoeSpec | None = None
    mla: MlaSpec | None = None
    weight_dtype: str = "bf16"
    quantisation_group: int | None = None
    weight_block: tuple[int, int] | None = None
    left_alone: tuple[tuple[str, frozenset[int]], ...] = ()
    other_widths: tuple[tuple[str, frozenset[int], str], ...] = ()
    cache_dtype: str = "bf16"
    kinds: tuple[LayerSpec, ...] = ()
    pattern: str = ""
    rotary_dim: int | None = None
    side_by_side: bool = False
    extra_parameters: int = 0
    extra_tables: int = 0
    remote_code: bool = False
    own_draft: bool = False
    vision_tower: bool = False
    vision_parameters: int = 0
    aliases: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        require_positive(
            hidden_size=self.hidden_size,
            num_hidden_layers=self.num_hidden_layers,
            num_attention_heads=self.num_attention_heads,
            num_key_value_heads=self.num_key_value_heads,
            head_dim=self.head_dim,
            vocab_size=self.vocab_size,
        )
        heads, kv_heads = self.num_attention_heads, self.num_key_value_heads
        if heads % kv_heads:
            raise OutOfRangeError("num_key_value_heads", kv_heads, "divide_heads", heads=heads)
        if self.kinds and len(self.pattern) != self.num_hidden_layers:
            raise OutOfRangeError("layers", len(self.pattern), "be_layers", layers=self.num_hidden_layers)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Of all its fields, worked out once: what is known of a model is kept under it everywhere."""
        return hash(tuple(getattr(self, one.name) for one in fields(self)))

    def __getstate__(self) -> dict[str, object]:
        """What it was made of: another process has hashes of its own."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def kinds_of(self, first: int = 0, layers: int | None = None) -> tuple[tuple[LayerSpec, int], ...]:
        """The kinds of layer among `layers` from number `first` on, each with how many there are; of all layers."""
        return _counted(self, first, self.num_hidden_layers - first if layers is None else layers)

    @cached_property
    def _stack(self) -> tuple[tuple[LayerSpec, ...], str]:
        """The kinds and the pattern; of a model without, its own attention, an MLP or a mixture after it."""
        if self.kinds:
            return self.kinds, self.pattern
        dense = (
            self.num_hidden_layers
            if self.moe is None
            else min(self.moe.first_k_dense_replace, self.num_hidden_layers)
        )
        last: MlpSpec | MoeSpec = self.moe or MlpSpec(self.intermediate_size)
        kinds = tuple(
            LayerSpec((self.mla or self.attention, block), self.norms_per_layer)
            for block in (MlpSpec(self.intermediate_size), last)
        )
        return kinds, "a" * dense + "b" * (self.num_hidden_layers - dense)

    @property
    def attention(self) -> AttentionSpec:
        """The attention that its own fields describe."""
        return AttentionSpec(
            self.num_attention_heads,
            self.num_key_value_heads,
            self.head_dim,
            qkv_bias=self.qkv_bias,
            o_bias=self.o_bias,
            qk_norm="head" if self.qk_norm else "",
            sinks=self.attention_sinks,
        )

    @property
    def mixture(self) -> MoeSpec:
        """Its experts. Raises OutOfRangeError for a dense model."""
        if self.moe is None:
            raise OutOfRangeError("model", self.key, "dense")
        return self.moe

    @cached_property
    def all_reduces(self) -> int:
        """Of a forward pass over tensor-parallel ranks: one a block, or one a layer of blocks side by side."""
        return sum(n if self.side_by_side else n * len(kind.blocks) for kind, n in self.kinds_of())

    @cached_property
    def sparse_layers(self) -> int:
        """How many layers have routed experts, of any kind."""
        return sum(n for kind, n in self.kinds_of() if kind.moe is not None)

    @property
    def sliding_window(self) -> int:
        """Tokens that the layers with a window see; 0 where there are none."""
        return max((getattr(kind.mixer, "window", 0) for kind, _ in self.kinds_of()), default=0)

    @property
    def windowed_layers(self) -> int:
        """Layers that see a window."""
        return sum(n for kind, n in self.kinds_of() if getattr(kind.mixer, "window", 0))


@lru_cache(maxsize=4096)
def _counted(model: ModelSpec, first: int, layers: int) -> tuple[tuple[LayerSpec, int], ...]:
    kinds, pattern = model._stack
    counts = Counter(pattern[first : first + layers])
    return tuple((kinds[ord(letter) - 97], n) for letter, n in counts.items())
