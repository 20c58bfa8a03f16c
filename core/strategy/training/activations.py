"""What a forward pass leaves in memory for the backward, in bytes a token, under TP, SP and recomputation.

s tokens of a sequence, b sequences of a microbatch, h hidden_size, a heads, t tp_size, v vocab_size. Two bytes an
element, one for a dropout mask. Written for any shape of layer; for a GPT layer (as many KV heads as heads, a plain
MLP of width 4h, dropout) it is the table of Korthikanti et al. 2022, arXiv 2205.05198:

    none       s·b·h·(34 + 5·a·s/h)
    TP         s·b·h·(10 + 24/t + 5·a·s/(h·t))     + SP         s·b·h·(34/t + 5·a·s/(h·t))
    selective  s·b·h·(10 + 24/t)                   + SP         s·b·h·34/t
    full       s·b·h·2                             + SP         s·b·h·2/t

Kernels such as FlashAttention keep no scores: with them, nothing recomputed looks as selective does here.
Ignored: the layer that is being recomputed, temporary buffers, and fragmentation. All make it larger.
"""

from dataclasses import dataclass

from core.errors import require_positive
from core.specs import ModelSpec
from core.strategy.training.layout import Strategy

BYTES = 2


@dataclass(frozen=True)
class LayerActivations:
    """Bytes a token leaves in one layer: `repeated` on every tensor-parallel rank unless the sequence is cut too,
    `divided` by t always, `scores` (t too) of the attention of one token to all, and the layer's `input`.
    """

    repeated: float
    divided: float
    scores: float
    input: float

    def on_rank(self, strategy: Strategy) -> float:
        t = strategy.tp_size
        along_sequence = t if strategy.sequence_parallel else 1
        if strategy.recompute == "full":
            return self.input / along_sequence
        scores = self.scores if strategy.recompute == "none" else 0
        return self.repeated / along_sequence + (self.divided + scores) / t


def layer_activations(model: ModelSpec, sequence_tokens: int, *, dropout: bool = False) -> LayerActivations:
    """One layer's, averaged over the model's layers where some of them have experts.

    Repeated: what the two norms, the query-key-value product and the MLP read, and two masks. Divided: Q, K, V and
    what the output product reads; in the MLP each matrix's output, and the product of gate and up (fused kernels
    keep no more; eager PyTorch keeps SiLU's output too). Scores: the softmax; with dropout its mask and output too.
    """
    require_positive(sequence_tokens=sequence_tokens)
    h, copies = model.hidden_size, _mlp_inputs(model)
    inner = 3 if model.mlp == "gated" else 2
    return LayerActivations(
        repeated=BYTES * h * (3 + copies) + (2 * h if dropout else 0),
        divided=BYTES * (_attention_width(model) + inner * _mlp_width(model)),
        scores=model.num_attention_heads * sequence_tokens * (5 if dropout else BYTES),
        input=BYTES * h,
    )


def end_activations(model: ModelSpec, strategy: Strategy, *, dropout: bool = False) -> tuple[float, float]:
    """Bytes a token leaves before the first layer, a mask, and behind the last: norm, head's input, fp32 logits.

    h/t,  4·h·(1 + v/h)/t
    """
    t = strategy.tp_size
    return (model.hidden_size / t if dropout else 0.0), 4 * (model.hidden_size + model.vocab_size) / t


def microbatches_in_flight(strategy: Strategy, microbatches: int, stage: int = 0) -> int:
    """Microbatches whose activations a stage of 1F1B holds at most: the first stage holds the most.

    min(m, p - stage)
    """
    require_positive(microbatches=microbatches)
    return min(microbatches, strategy.pp_size - stage)


def _attention_width(model: ModelSpec) -> int:
    """Q, K, V and what the output product reads, in elements a token."""
    heads = model.num_attention_heads
    if model.mla is not None:
        keyed = heads * (model.mla.qk_nope_head_dim + model.mla.qk_rope_head_dim)
        return 2 * keyed + 2 * heads * model.mla.v_head_dim
    return 2 * (heads + model.num_key_value_heads) * model.head_dim


def _mlp_width(model: ModelSpec) -> float:
    """The inner width a token passes through, averaged over layers; K experts and the shared ones in a mixture."""
    moe = model.moe
    if moe is None:
        return model.intermediate_size
    sparse = moe.num_experts_per_tok * moe.moe_intermediate_size + moe.shared_width
    dense_layers = model.num_hidden_layers - model.sparse_layers
    return (
        dense_layers * model.intermediate_size + (model.num_hidden_layers - dense_layers) * sparse
    ) / model.num_hidden_layers


def _mlp_inputs(model: ModelSpec) -> float:
    """Copies of a token's row that MLPs read, averaged over layers: one for each of its experts."""
    if model.moe is None:
        return 1
    sparse = model.sparse_layers / model.num_hidden_layers
    return 1 + sparse * (model.moe.num_experts_per_tok - 1)
