"""The two ends of a model, cut by vocabulary: the embedding table and the head.

Letters: V vocabulary, padded so that it divides; T tokens, D hidden.
"""

import numpy as np

from core.ledger import Collective
from core.sharding_math.group import Group
from core.sharding_math.tensors import Array, Partial, ShardedTensor


def pad_rows(table: Array, multiple: int) -> Array:
    """`table` with rows of zeros below, up to a multiple."""
    missing = -table.shape[0] % multiple
    return np.concatenate([table, np.zeros((missing, table.shape[1]), table.dtype)])


def embedding_layer(group: Group, token_ids: Array, table: Array) -> ShardedTensor:
    """Look-ups in a table whose rows are dealt over ranks: one all-reduce.

        E[V_N, D] looked up at the ids a rank has, zeros at the others → X[T, D]{U_N} → all-reduce → X[T, D]

    For each token all terms but one are zero, so the sum is exact in any format.
    """
    ids = group.replicate("token", token_ids[:, np.newaxis])
    shards = group.shard("E", pad_rows(table, group.num_ranks), 0, "vocab_size")
    rows = [_masked_rows(part, token_ids, rank) for rank, part in enumerate(shards.parts)]
    partial = group.claim("own rows", rows, Partial(), (shards.name, ids.name))
    return group.all_reduce("x", partial, layer="embedding", why="one rank has each token's row")


def _masked_rows(part: Array, token_ids: Array, rank: int) -> Array:
    """The rows of the ids this rank holds, and zeros for the others."""
    local = token_ids - rank * part.shape[0]
    mine = (local >= 0) & (local < part.shape[0])
    return np.where(mine[:, np.newaxis], part[np.where(mine, local, 0)], 0)


def head_layer(group: Group, x: ShardedTensor, table: Array) -> Array:
    """Logits by vocabulary slices, gathered on every rank; the padding's are dropped. One all-gather.

    X[T, D] · E[V_N, D]ᵀ → L[T, V_N] → all-gather → L[T, V]
    """
    slices = _logit_slices(group, x, table)
    logits = group.all_gather("logits", slices, layer="LM head", why="each rank has a slice of the vocabulary")
    return logits.full()[:, : table.shape[0]]


def greedy_tokens(group: Group, x: ShardedTensor, table: Array) -> Array:
    """The likeliest token of each row without gathering logits: every rank sends its best, a value and an index.

    The payload is N pairs a token instead of V logits. The lowest index wins a tie, as in a dense argmax.
    """
    slices = _logit_slices(group, x, table)
    share = slices.parts[0].shape[1]
    valid = [part[:, : max(0, table.shape[0] - rank * share)] for rank, part in enumerate(slices.parts)]
    best = np.stack([_best(part) for part in valid])  # (N, T)
    places = np.stack([_argbest(part) + rank * share for rank, part in enumerate(valid)])
    pair_bytes = 8
    payload = group.num_ranks * x.shape[0] * pair_bytes
    group.ledger.record(
        Collective(
            "all_gather", payload, group.num_ranks, "LM head", "each rank's best token, a value and an index"
        )
    )
    winner = np.argmax(best, axis=0)
    return np.asarray(places[winner, np.arange(x.shape[0])])


def _best(logits: Array) -> Array:
    """The largest logit of each row; -∞ for a rank that holds only padding."""
    return logits.max(axis=1) if logits.shape[1] else np.full(logits.shape[0], -np.inf)


def _argbest(logits: Array) -> Array:
    return logits.argmax(axis=1) if logits.shape[1] else np.zeros(logits.shape[0], int)


def _logit_slices(group: Group, x: ShardedTensor, table: Array) -> ShardedTensor:
    return group.linear("logits by slice", x, group.shard("E", pad_rows(table, group.num_ranks), 0, "vocab_size"))
