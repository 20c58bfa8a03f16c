"""Lab 01's functions as they are asked: what no rank holds all of comes whole, a rank's values stay with it."""

import numpy as np

from core.sharding_math import group
from core.sharding_math.watched import watched
from core.sharding_math.whole import Whole
from labs.diagnosis import agree
from labs.spoken import fail, say


def relu(values):
    return np.maximum(values, 0)


def to_cut(name, array, num_ranks, dim, **held):
    """An array that no rank holds all of; of one rank its share of it, which is all."""
    whole = Whole(name, array, num_ranks, dim, **held)
    return whole if num_ranks > 1 else whole[:]


def cut_along(dim, *tensors, finer=False):
    """Fail unless every rank's share of each tensor was taken, a slice along one dim."""
    __tracebackhide__ = True
    for tensor in tensors:
        if isinstance(tensor, Whole) and not tensor.is_cut_along(dim, finer):
            side, pieces = say(("part.outputs", "part.inputs")[dim]), len(set(tensor.shares)) or say("part.no")
            name = f"{tensor.name} {list(tensor.shape)}"
            fail("result.cut_along", tensor=name, side=side, dim=dim, count=pieces)


def column(lab, x, W, num_ranks, ledger=None, bias=None):
    W = to_cut("W", W, num_ranks, 0, side_by_side=True)
    with watched(lab, [group]):
        y = lab.column_parallel(x, W, num_ranks, ledger, bias)
    cut_along(0, W)
    return y


def row(lab, x, W, num_ranks, ledger=None, bias=None, due_terms=()):
    x, W = to_cut("x", x, num_ranks, 1), to_cut("W", W, num_ranks, 1)
    with watched(lab, [group]) as seen:
        y = lab.row_parallel(x, W, num_ranks, ledger, bias)
    cut_along(1, x, W)
    gave(seen, due_terms)
    return y


def mlp(lab, x, W1, W2, num_ranks, ledger=None, activation=None, due_terms=(), stays=False):
    W1, W2 = to_cut("W1", W1, num_ranks, 0), to_cut("W2", W2, num_ranks, 1)
    with watched(lab, [group]) as seen:
        y = lab.mlp_tp(x, W1, W2, num_ranks, ledger, activation=seen.activation(activation or relu))
    if ledger is not None and len(ledger) <= 1:  # more lines say more of what is wrong
        cut_along(0, W1)
        cut_along(1, W2)
    if stays:
        shown_its_slice(seen, x.shape[0], W1.shape[0], num_ranks)
        stayed_apart("h", W2)
    gave(seen, due_terms)
    return y


def gave(seen, due_terms):
    """Fail unless each rank gave its own term to one sum, where terms are due."""
    __tracebackhide__ = True
    if not due_terms:
        return
    given = seen.terms[0] if seen.terms else ()
    if len(seen.terms) != 1 or len(given) != len(due_terms):
        counts = ", ".join(str(len(terms)) for terms in seen.terms)
        fail("result.one_sum", terms=len(due_terms), counts=counts or say("part.none"))
    for rank, (term, due) in enumerate(zip(given, due_terms, strict=True)):
        hint = say("result.own_term", rank=rank)
        agree(term, due, within=1e-12, hint=hint)


def shown_its_slice(seen, tokens, width, num_ranks):
    """Fail unless the activation saw one rank's slice of h at a time."""
    __tracebackhide__ = True
    wide = next((shape for shape in seen.shown if shape[-1:] == (width,)), None)
    if wide:
        fail("result.all_of_h", width=width, ranks=num_ranks, own=width // num_ranks)
    due = [(tokens, width // num_ranks)] * num_ranks
    if seen.shown != due:
        fail("result.slices_of_h", shown=seen.shown, due=due)


def stayed_apart(name, W):
    """Fail where a share of W was multiplied with a part of what no rank holds all of."""
    __tracebackhide__ = True
    if isinstance(W, Whole) and W.met:
        fail("result.put_together", whole=W.name, met=W.met[0], name=name, made=name)


def attention(lab, x, Wq, Wk, Wv, Wo, num_ranks, ledger=None, due_terms=(), stays=False):
    """The block with its weights to be cut; a KV head may be held by several ranks, and is never cut itself."""
    kv_shares = min(num_ranks, Wk.shape[0] // 2)
    if kv_shares > 1:
        Wk, Wv = Whole("Wk", Wk, kv_shares, 0, num_ranks), Whole("Wv", Wv, kv_shares, 0, num_ranks)
    Wq, Wo = (to_cut(name, W, num_ranks, dim) for name, W, dim in (("Wq", Wq, 0), ("Wo", Wo, 1)))
    with watched(lab, [group]) as seen:
        y = lab.attention_tp(x, Wq, Wk, Wv, Wo, 2, num_ranks, ledger)
    cut_along(0, Wq, Wk, Wv, finer=True)
    cut_along(1, Wo, finer=True)
    if stays:
        stayed_apart(say("part.heads_outputs"), Wo)
    gave(seen, due_terms)
    return y
