"""The collectives of one forward step of a whole model: what the sharding lab counts and the bill prices."""

from core.errors import OutOfRangeError, require_positive
from core.ledger import Collective, Ledger
from core.models.parameters import padded_vocab_size
from core.specs import DTYPE_BYTES, ModelSpec


def activation_bytes(model: ModelSpec, tokens: int, dtype: str = "bf16") -> int:
    """One activation row a token, the payload of a layer's all-reduce.

    T · hidden_size · bytes
    """
    return int(tokens * model.hidden_size * DTYPE_BYTES[dtype])


def layer_collectives(
    model: ModelSpec, tokens: int, tp_size: int, layer: int = 0, dtype: str = "bf16"
) -> tuple[Collective, ...]:
    """The all-reduces of a decoder layer: after the attention's output projection, and after the MLP.

    Blocks that stand side by side (Cohere, Falcon) are added before one all-reduce, and a layer may be one block
    alone (Nemotron-H) or have experts beside its MLP (Gemma 4). None at `tp_size` 1.
    Source: vllm/model_executor/models/commandr.py, falcon.py, nemotron_h.py and gemma4.py; its gpt_j.py sums after
    each block all the same.
    """
    require_positive(tokens=tokens, tp_size=tp_size)
    if tp_size == 1:
        return ()
    payload = activation_bytes(model, tokens, dtype)
    mlp = "adds the experts' outputs" if model.moe is not None else "adds the down projection's terms"
    sums = {
        1: (("block", "adds the terms of attention and MLP" if model.side_by_side else "adds the block's terms"),),
        2: (("attention", "adds the output projection's terms"), ("MLP", mlp)),
        3: (
            ("attention", "adds the output projection's terms"),
            ("MLP", "adds the down projection's terms"),
            ("experts", "adds the experts' outputs"),
        ),
    }[sums_a_layer(model)]
    return tuple(Collective("all_reduce", payload, tp_size, f"layer {layer} {block}", why) for block, why in sums)


def sums_a_layer(model: ModelSpec) -> int:
    """How many sums one layer needs, over all layers alike: one, two or three.

    Raises OutOfRangeError for a model whose layers differ in that.
    """
    sums, rest = divmod(model.all_reduces, model.num_hidden_layers)
    if rest or sums > 3:
        raise OutOfRangeError("model", model.key, "other_layer")
    return sums


def step_ledger(model: ModelSpec, tokens: int, tp_size: int, dtype: str = "bf16") -> Ledger:
    """All decoder layers of one step over `tokens` tokens: mostly two all-reduces a layer.

    The embedding and the head are listed apart, by `ends_ledger`.
    """
    ledger = Ledger()
    for layer in range(model.num_hidden_layers):
        for collective in layer_collectives(model, tokens, tp_size, layer, dtype):
            ledger.record(collective)
    return ledger


def ends_ledger(
    model: ModelSpec, tokens: int, tp_size: int, sequences: int | None = None, dtype: str = "bf16"
) -> Ledger:
    """What a vocabulary cut over the ranks adds: an all-reduce of embeddings, a gather of the padded logits.

    Logits are made for `sequences` rows, by default every token's, as in a decode step; a prefill needs each
    prompt's last. Counted as an all-gather, which leaves the logits on every rank; an engine that samples on one
    rank gathers to that one.
    """
    rows = tokens if sequences is None else sequences
    require_positive(tokens=tokens, sequences=rows, tp_size=tp_size)
    logits_bytes = int(rows * padded_vocab_size(model.vocab_size) * DTYPE_BYTES[dtype])
    ledger = Ledger()
    embedding_bytes = activation_bytes(model, tokens, dtype)
    ledger.record(
        Collective("all_reduce", embedding_bytes, tp_size, "embed_tokens", "one rank has each token's row")
    )
    ledger.record(
        Collective("all_gather", logits_bytes, tp_size, "lm_head", "each rank has a slice of the vocabulary")
    )
    return ledger


def mlp_order_collectives(model: ModelSpec, tokens: int, tp_size: int, order: str) -> tuple[Collective, ...]:
    """What an MLP of a model would send in another order of its two cuts, its result wanted on every rank.

    `column_then_row` is how it is done. The hidden row is `intermediate_size` wide, and wider than the model.
    """
    require_positive(tokens=tokens, tp_size=tp_size)
    if tp_size == 1:
        return ()
    out = activation_bytes(model, tokens)
    hidden = out // model.hidden_size * model.intermediate_size
    first: dict[str, Collective] = {
        "row_then_column": Collective("all_reduce", hidden, tp_size, "MLP, hidden row", "adds the terms of h"),
        "column_then_column": Collective("all_gather", hidden, tp_size, "MLP, hidden row", "W2 meets all of h"),
    }
    if order not in first:
        return (Collective("all_reduce", out, tp_size, "MLP", "adds the terms of y"),)
    return first[order], Collective("all_gather", out, tp_size, "MLP", "y was left in slices")
