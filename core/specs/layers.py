"""The kinds of block that a decoder layer is made of, as data: what mixes tokens, and what each token goes through.

Widths are in elements. A layer is its blocks in their order; each ends in a sum over the ranks that share it.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AttentionSpec:
    """Grouped-query attention. `window` tokens of a sequence are seen, all of them at 0.

    `value_dim` is a value's width where it is not a key's, `gate` what scales the output: as wide as the queries,
    or one number a head. `qk_norm` norms each head or the whole row. Where `one_projection` is set, values are the
    keys before their norm. `index_heads` of `index_dim` choose the blocks that are looked at. Without
    `kv_heads` those of an earlier layer are looked at. Queries come up from a row of `query_rank`, which is whole
    on every rank with the keys, where that is given. It reads rows of `reads`, of the hidden size at 0, and has the
    weights of an earlier layer where it `borrows` them.
    """

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int = 0
    window: int = 0
    qkv_bias: bool = False
    o_bias: bool = False
    qk_norm: Literal["", "head", "row"] = ""
    sinks: bool = False
    gate: Literal["", "row", "head"] = ""
    one_projection: bool = False
    index_heads: int = 0
    index_dim: int = 0
    query_rank: int = 0
    reads: int = 0
    borrows: bool = False

    @property
    def out_dim(self) -> int:
        """The width of one head's output."""
        return self.value_dim or self.head_dim


@dataclass(frozen=True)
class MlaSpec:
    """Multi-head latent attention: keys and values are kept as one latent row a token, whole on every rank.

    With `index_heads` an indexer with a key of `index_dim` chooses what is looked at: a key a token, or one that is
    made of `index_pool` tokens. The output may be gated by a number an element, or one a head.
    """

    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None
    index_heads: int = 0
    index_dim: int = 0
    index_pool: int = 1
    output_gate: bool = False
    head_gate: bool = False


@dataclass(frozen=True)
class CompressedSpec:
    """DeepSeek-V4's attention: one key, its own value, seen whole in a window and beyond it `ratio` tokens in one.

    Outputs go down in `o_groups` groups to `o_lora_rank` each. With `index_heads` an indexer chooses among what was
    compressed. A `ratio` of 0 sees the window alone.
    """

    heads: int
    head_dim: int
    q_lora_rank: int
    o_groups: int
    o_lora_rank: int
    window: int
    ratio: int = 0
    index_heads: int = 0
    index_dim: int = 0


@dataclass(frozen=True)
class DeltaSpec:
    """Linear attention by the gated delta rule: a state of key_dim × value_dim a value head, whatever the context.

    `decay` is one number a head (Gated DeltaNet, whose output gate is as wide as its values) or one a channel (Kimi
    Delta Attention, with gates of low rank, or an output gate of full rank, or a decay of full rank too).
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv_kernel: int = 4
    decay: Literal["head", "channel"] = "head"
    full_gate: bool = True
    full_decay: bool = False
    state_bytes: int = 4


@dataclass(frozen=True)
class LightningSpec:
    """Linear attention of a fixed decay: a state of head_dim × head_dim a head, a norm of the row, and a gate.

    The row is normed in `norm_groups`, which no cut goes through; each head by itself at 0.
    """

    heads: int
    head_dim: int
    qk_norm: bool = False
    norm_groups: int = 0
    state_bytes: int = 2


@dataclass(frozen=True)
class MambaSpec:
    """A Mamba 2 mixer: a state of head_dim × state_size a head, and a short convolution before it."""

    heads: int
    head_dim: int
    groups: int
    state_size: int
    conv_kernel: int = 4
    conv_bias: bool = True
    projection_bias: bool = False
    gated_norm: bool = True
    state_bytes: int = 4


@dataclass(frozen=True)
class SelectiveSpec:
    """A Mamba 1 mixer: a state of `state_size` for each of `channels`, a step of rank `step_rank`.

    `norms` are Jamba's, of what a step comes from.
    """

    channels: int
    state_size: int
    step_rank: int
    conv_kernel: int = 4
    conv_bias: bool = True
    projection_bias: bool = False
    norms: bool = True
    state_bytes: int = 4


@dataclass(frozen=True)
class ConvSpec:
    """LFM2's short convolution over gated channels, as wide as the hidden state."""

    kernel: int
    bias: bool = False


@dataclass(frozen=True)
class MlpSpec:
    """A dense MLP of one inner width."""

    width: int


@dataclass(frozen=True)
class MoeSpec:
    """A mixture of experts in place of the MLP, in every layer from `first_k_dense_replace` on.

    Routed experts read rows of `latent_size` where that is given, and `latent_norm` norms what they give back.
    `router_scales` are Gemma 4's: one a channel and one an expert. The router also chooses among `idle_experts`,
    which give a token back as it is.
    """

    num_experts: int
    num_experts_per_tok: int
    moe_intermediate_size: int
    n_shared_experts: int = 0
    shared_expert_intermediate_size: int = 0
    first_k_dense_replace: int = 0
    shared_expert_gate: bool = False
    router_bias: bool = False
    latent_size: int = 0
    latent_norm: bool = False
    router_scales: bool = False
    idle_experts: int = 0

    @property
    def chosen_fraction(self) -> float:
        """The share of experts that a token is routed to."""
        return self.num_experts_per_tok / (self.num_experts + self.idle_experts)

    @property
    def shared_width(self) -> int:
        """The inner width that every token passes through besides."""
        return self.n_shared_experts * self.moe_intermediate_size + self.shared_expert_intermediate_size


StateSpec = DeltaSpec | LightningSpec | MambaSpec | SelectiveSpec | ConvSpec
"""Mixers that keep a state, and no row a token."""
Mixer = AttentionSpec | MlaSpec | CompressedSpec | StateSpec
Block = Mixer | MlpSpec | MoeSpec


@dataclass(frozen=True)
class LayerSpec:
    """One kind of layer: its blocks in their order, its norms of the hidden size, `extra` parameters of no block.

    Every rank has the norms and the extra ones whole.
    """

    blocks: tuple[Block, ...]
    norms: int = 2
    extra: int = 0

    @property
    def mixer(self) -> Mixer | None:
        """What mixes its tokens; the first where there are two, None where there is none."""
        return next((block for block in self.blocks if not isinstance(block, MlpSpec | MoeSpec)), None)

    @property
    def moe(self) -> MoeSpec | None:
        """Its mixture, where it has one."""
        return next((block for block in self.blocks if isinstance(block, MoeSpec)), None)
