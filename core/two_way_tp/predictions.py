"""What a rank of a dense decoder holds, and what one decode step makes it send.

L layers, d hidden_size, V vocab_size, N tp_size, b bytes an element. Bytes and counts are met exactly or the
program is wrong; a time is put together from other times of the same machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.comm_cost.bill import allreduce_payload_bytes
from core.errors import UnknownNameError, require_divides, require_positive
from core.models.kv_cache import heads_on_rank
from core.models.parameters import count_parameters, dtype_bytes, padded_vocab_size
from core.sharding_math.step_ledger import ends_ledger, step_ledger
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


def _random_gpt(
    key: str, name: str, hidden_size: int, layers: int, vocab_size: int, head_dim: int = 64
) -> ModelSpec:
    return replace(
        MINI_GPT,
        key=key,
        name=name,
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=hidden_size // head_dim,
        num_key_value_heads=hidden_size // head_dim,
        head_dim=head_dim,
        intermediate_size=4 * hidden_size,
        vocab_size=vocab_size,
        max_position_embeddings=256,
        learned_positions=256,
        source="distributed/job.py",
    )


GPTS: Mapping[str, ModelSpec] = MappingProxyType(
    {
        spec.key: spec
        for spec in (
            MINI_GPT,
            _random_gpt("gpt-30m", "a GPT of 30M", 512, 8, 8_192),
            _random_gpt("gpt-110m", "a GPT of 110M", 768, 12, 32_000),
            _random_gpt("gpt-220m", "a GPT of 220M", 1024, 14, 43_000),
        )
    }
)
"""What a run can decode: the trained model, and three of random weights for scale."""


def width_gpt(hidden_size: int) -> ModelSpec:
    """A GPT of two layers and a small vocabulary: almost all of a step is layers, 24·d² parameters of them."""
    return _random_gpt(
        f"width-{hidden_size}", f"two layers of {hidden_size}", hidden_size, 2, 512, min(64, hidden_size // 2)
    )


WIDTHS: Mapping[int, ModelSpec] = MappingProxyType({width: width_gpt(width) for width in (64, 256, 1024, 4096)})
"""The widths at which TP=1 and TP=N are set beside each other."""

SHAPE_FIELDS = (
    "key",
    "name",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "tie_word_embeddings",
    "qkv_bias",
    "o_bias",
    "mlp_bias",
    "qk_norm",
    "weight_dtype",
)
"""What a run says of a model that is not one of these: enough to predict its bytes and its sums."""


def gpt(key: str) -> ModelSpec:
    """The model of a key.

    Raises UnknownNameError for another.
    """
    known = {**GPTS, **{spec.key: spec for spec in WIDTHS.values()}}
    if key not in known:
        raise UnknownNameError("model_of_lab", key, known, lab="02")
    return known[key]


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


def weights_per_rank(model: ModelSpec, tp_size: int) -> RankWeights:
    """What one rank of a dense decoder holds: GPT-2's shape, Llama's or Qwen's.

        cut:   q, o and the MLP's matrices, the biases of q, k, v and of the MLP's first matrices, ⌈V/N⌉ rows of
               each table; k and v by heads, of which each rank has one at least
        whole: norms, positions, the biases of o and of the MLP's last matrix, which are added after the sum

    Raises IndivisibleError when the heads or the intermediate size do not divide.
    """
    kv_heads = heads_on_rank(model.num_key_value_heads, tp_size)
    require_divides("num_attention_heads", model.num_attention_heads, "tp_size", tp_size)
    require_divides("intermediate_size", model.intermediate_size, "tp_size", tp_size)
    count, layers, d = count_parameters(model), model.num_hidden_layers, model.hidden_size
    head_norms = 2 * model.head_dim * model.qk_norm
    whole = count.norms + count.positions + layers * (d * (model.o_bias + model.mlp_bias) + head_norms)
    tables = 1 if model.tie_word_embeddings else 2
    padding = tables * (padded_vocab_size(model.vocab_size, tp_size) - model.vocab_size) * d
    one_kv_head = 2 * layers * model.head_dim * (d + model.qkv_bias)
    divided = count.total - whole + padding - model.num_key_value_heads * one_kv_head
    sharded = divided // tp_size + kv_heads * one_kv_head
    return RankWeights(sharded, whole, dtype_bytes(model.weight_dtype))


def all_reduces_per_token(model: ModelSpec, tp_size: int) -> int:
    """All-reduces of one decode step: lab 03's ledger of the layers, and one for the sharded embedding.

    2L + 1; none on one rank
    """
    layers = step_ledger(model, 1, tp_size, model.weight_dtype)
    edges = ends_ledger(model, 1, tp_size, dtype=model.weight_dtype)
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


def all_gather_payload_bytes(model: ModelSpec, tp_size: int) -> int:
    """What the head gathers in a decode step: a score for every row of the padded vocabulary.

    ⌈V/N⌉ · N · b
    """
    return round(padded_vocab_size(model.vocab_size, tp_size) * dtype_bytes(model.weight_dtype))


def token_time_s(
    single_s: float, tp_size: int, all_reduces: int, all_reduce_s: float, all_gather_s: float = 0.0
) -> float:
    """A decode step, were its compute divided by N and its collectives one after another.

    t(1)/N + (2L + 1) · t_ar + t_ag
    """
    require_positive(tp_size=tp_size)
    return single_s / tp_size + all_reduces * all_reduce_s + all_gather_s
