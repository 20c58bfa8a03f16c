"""What a rank of a GPT-2-shaped model holds, and what one decode step makes it send.

L layers, d hidden_size, V vocab_size, N tp_size, b bytes an element. Bytes and counts are met exactly or the
program is wrong; a time is put together from other times of the same machine.
"""

from dataclasses import dataclass

from core.comm_cost import allreduce_payload_bytes, edge_ledger, step_ledger
from core.errors import require_divides, require_positive
from core.parameters import count_parameters, dtype_bytes, kv_heads_per_rank
from core.specs import ModelSpec

MINI_GPT = ModelSpec(
    key="minigpt-grammar",
    name="MiniGPT-grammar",
    hidden_size=96,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=4,
    head_dim=24,
    intermediate_size=384,
    vocab_size=31,
    max_position_embeddings=96,
    tie_word_embeddings=True,
    mlp="plain",
    norm="layernorm",
    qkv_bias=True,
    o_bias=True,
    mlp_bias=True,
    learned_positions=96,
    weight_dtype="fp32",
    source="distributed/train_grammar.py",
)


@dataclass(frozen=True)
class RankWeights:
    """One rank's parameters: its share of what is cut, and the whole of what is not."""

    sharded: int
    whole: int
    bytes_per_element: float

    @property
    def bytes(self) -> int:
        """(sharded + whole) · b"""
        return round((self.sharded + self.whole) * self.bytes_per_element)


def padded_vocab_size(vocab_size: int, tp_size: int) -> int:
    """The vocabulary with rows added until it divides.

    ⌈V/N⌉ · N
    """
    require_positive(vocab_size=vocab_size, tp_size=tp_size)
    return -(-vocab_size // tp_size) * tp_size


def weights_per_rank(model: ModelSpec, tp_size: int) -> RankWeights:
    """What one rank of a GPT-2-shaped model with a tied head holds.

        cut:   q, k, v, o, both matrices of the MLP, the biases of q, k, v and of the first matrix, ⌈V/N⌉ rows
        whole: norms, positions, the biases of o and of the second matrix, which are added after the sum

    Raises IndivisibleError when the heads or the intermediate size do not divide.
    """
    kv_heads_per_rank(model, tp_size)
    require_divides("intermediate_size", model.intermediate_size, "tp_size", tp_size)
    count = count_parameters(model)
    biases_after_sum = model.num_hidden_layers * model.hidden_size * (model.o_bias + model.mlp_bias)
    padding = (padded_vocab_size(model.vocab_size, tp_size) - model.vocab_size) * model.hidden_size
    whole = count.norms + count.positions + biases_after_sum
    return RankWeights((count.total - whole + padding) // tp_size, whole, dtype_bytes(model.weight_dtype))


def all_reduces_per_token(model: ModelSpec, tp_size: int) -> int:
    """All-reduces of one decode step: lab 03's ledger of the layers, and one for the sharded embedding.

    2L + 1; none on one rank
    """
    layers = step_ledger(model, 1, tp_size, model.weight_dtype)
    edges = edge_ledger(model, 1, tp_size, activation_dtype=model.weight_dtype)
    return layers.count("all_reduce") + edges.count("all_reduce")


def all_reduce_payload_bytes(model: ModelSpec) -> int:
    """What one all-reduce of a decode step carries: a row of activations.

    d · b
    """
    return round(allreduce_payload_bytes(1, model.hidden_size, dtype_bytes(model.weight_dtype)))


def all_reduce_bytes_per_token(model: ModelSpec, tp_size: int) -> int:
    """Payload of a decode step's all-reduces together.

    (2L + 1) · d · b
    """
    return all_reduces_per_token(model, tp_size) * all_reduce_payload_bytes(model)


def token_time_s(single_s: float, tp_size: int, all_reduces: int, all_reduce_s: float) -> float:
    """A decode step, were its compute divided by N and its sums one after another.

    t(1)/N + (2L + 1) · t_ar
    """
    require_positive(tp_size=tp_size)
    return single_s / tp_size + all_reduces * all_reduce_s
