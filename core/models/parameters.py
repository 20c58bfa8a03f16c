"""How many parameters a model has, and how many of them a token uses.

L num_hidden_layers, d hidden_size, f intermediate_size, h heads, k kv heads, hd head_dim, V vocab_size,
E experts, K experts a token.
"""

from dataclasses import dataclass

from core.errors import OutOfRangeError
from core.specs import DTYPE_BYTES, MlaSpec, ModelSpec, MoeSpec

VOCAB_PADDING = 64
"""Engines pad the vocabulary to a multiple of this before they cut it.

Source: vllm vocab_parallel_embedding.py, DEFAULT_VOCAB_PADDING_SIZE.
"""


@dataclass(frozen=True)
class ParameterCount:
    """A model's parameters by where they live, over all layers. `head` is 0 where the embedding is shared."""

    embedding: int
    positions: int
    attention: int
    mlp: int
    router: int
    shared_experts: int
    experts: int
    norms: int
    head: int
    routed_fraction: float = 1.0

    @property
    def layers(self) -> int:
        """Everything but the tables at both ends: the stack of layers and the norms."""
        return self.attention + self.mlp + self.router + self.shared_experts + self.experts + self.norms

    @property
    def total(self) -> int:
        """Every parameter, each counted once."""
        return self.embedding + self.positions + self.layers + self.head

    @property
    def active(self) -> int:
        """Parameters one token uses: of the routed experts, K of E; all of the rest."""
        return self.total - self.experts + round(self.experts * self.routed_fraction)


def count_parameters(model: ModelSpec) -> ParameterCount:
    """A model's parameters, exactly, from its shape.

    Source: the published totals, e.g. 8,030,261,248 for Llama-3-8B, are met to the last parameter.
    """
    moe, layers = model.moe, model.num_hidden_layers
    sparse_layers = layers - moe.first_k_dense_replace if moe else 0
    norm_width = model.hidden_size * (2 if model.norm == "layernorm" else 1)
    table = model.vocab_size * model.hidden_size
    return ParameterCount(
        embedding=table,
        positions=model.learned_positions * model.hidden_size,
        attention=layers * _attention(model),
        mlp=(layers - sparse_layers) * _mlp(model, model.intermediate_size),
        router=sparse_layers * _router(model, moe) if moe else 0,
        shared_experts=sparse_layers * _shared_experts(model, moe) if moe else 0,
        experts=sparse_layers * moe.num_experts * _mlp(model, moe.moe_intermediate_size) if moe else 0,
        norms=(layers * model.norms_per_layer + 1) * norm_width,
        head=(0 if model.tie_word_embeddings else table) + (model.vocab_size if model.head_bias else 0),
        routed_fraction=moe.num_experts_per_tok / moe.num_experts if moe else 1.0,
    )


def total_parameters(model: ModelSpec) -> int:
    """Every parameter of the model, each counted once."""
    return count_parameters(model).total


def active_parameters(model: ModelSpec) -> int:
    """Parameters one token uses; the total, for a dense model."""
    return count_parameters(model).active


def distinct_expert_fraction(model: ModelSpec, batch: float) -> float:
    """The share of experts that at least one of `batch` tokens is routed to, were routing uniform; 1 if dense.

    1 - (1 - K/E)^B
    """
    if model.moe is None:
        return 1.0
    return 1.0 - float((1.0 - model.moe.num_experts_per_tok / model.moe.num_experts) ** batch)


def multiplied_parameters(model: ModelSpec) -> int:
    """Parameters that take part in a token's arithmetic: those it uses, but for tables that are looked up."""
    count = count_parameters(model)
    return count.active - count.positions - (0 if model.tie_word_embeddings else count.embedding)


def padded_vocab_size(vocab_size: int) -> int:
    """The vocabulary rounded up to the padding that engines use."""
    return -(-vocab_size // VOCAB_PADDING) * VOCAB_PADDING


def dtype_bytes(dtype: str) -> float:
    """Bytes an element.

    Raises OutOfRangeError for a width that is not in DTYPE_BYTES.
    """
    if dtype not in DTYPE_BYTES:
        raise OutOfRangeError("dtype", dtype, f"is not one of {', '.join(DTYPE_BYTES)}")
    return DTYPE_BYTES[dtype]


def _attention(model: ModelSpec) -> int:
    """Parameters of one attention block, its own norms, biases and sinks included."""
    if model.mla is not None:
        return _latent_attention(model, model.mla)
    d, query_width = model.hidden_size, model.num_attention_heads * model.head_dim
    kv_width = 2 * model.num_key_value_heads * model.head_dim
    return (
        d * (query_width + kv_width)
        + query_width * d
        + (query_width + kv_width if model.qkv_bias else 0)
        + (d if model.o_bias else 0)
        + (2 * model.head_dim if model.qk_norm else 0)
        + (model.num_attention_heads if model.attention_sinks else 0)
    )


def _latent_attention(model: ModelSpec, mla: MlaSpec) -> int:
    """Parameters of one MLA block: queries and keys-values go down to a latent row, are normed, and up again."""
    d, heads, rank = model.hidden_size, model.num_attention_heads, mla.q_lora_rank
    query_width = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
    query = d * query_width if rank is None else d * rank + rank + rank * query_width
    kv_down = d * (mla.kv_lora_rank + mla.qk_rope_head_dim) + mla.kv_lora_rank
    kv_up = mla.kv_lora_rank * heads * (mla.qk_nope_head_dim + mla.v_head_dim)
    return query + kv_down + kv_up + heads * mla.v_head_dim * d


def _mlp(model: ModelSpec, width: int) -> int:
    """Parameters of one MLP or expert of inner width `width`: three matrices when gated, two when plain."""
    matrices_in = 2 if model.mlp == "gated" else 1
    biases = matrices_in * width + model.hidden_size if model.mlp_bias else 0
    return (matrices_in + 1) * model.hidden_size * width + biases


def _router(model: ModelSpec, moe: MoeSpec) -> int:
    """Parameters that choose experts: one row an expert, its bias, and the gate of a shared expert."""
    rows = moe.num_experts * (model.hidden_size + (1 if moe.router_bias else 0))
    return rows + (model.hidden_size if moe.shared_expert_gate else 0)


def _shared_experts(model: ModelSpec, moe: MoeSpec) -> int:
    """Parameters of the experts every token passes through."""
    width = moe.n_shared_experts * moe.moe_intermediate_size + moe.shared_expert_intermediate_size
    return _mlp(model, width) if width else 0
