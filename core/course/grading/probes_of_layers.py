"""What labs 01 and 02 ask of a submission: sharded layers, their ranks' terms, and what each rank held."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import erf, sqrt

import numpy as np

from core.course.grading.probe import SINGLE, Json, Probe
from core.course.grading.remarks import say
from core.sharding_math.lab import attention_tp
from core.text.question import Draw, pick

# Lab 01: x (T, D), W (F, D), N ranks


def _array(values: np.ndarray) -> Json:
    return ["array", values.tolist()]


def _whole(values: np.ndarray, shares: int, dim: int, ranks: int = 0, side_by_side: bool = False) -> Json:
    """A tensor to be cut; one share is an array."""
    return ["whole", values.tolist(), shares, dim, ranks, side_by_side] if shares > 1 else _array(values)


def _slices(shape: tuple[int, ...], ranks: int, dim: int = 0) -> Json:
    entries = np.arange(int(np.prod(shape))).reshape(shape)
    return [part.ravel().tolist() for part in np.split(entries, ranks, dim)]


def _sum_of(y: np.ndarray, ranks: int) -> Json:
    return [["all_reduce", y.nbytes, ranks]]


def _refusal(width: int, ranks: int) -> Json:
    return ["IndivisibleError: ", f"{width} does not divide over ", f"={ranks}"]


def _terms(x: np.ndarray, W: np.ndarray, ranks: int) -> list[np.ndarray]:
    return [a @ b.T for a, b in zip(np.split(x, ranks, 1), np.split(W, ranks, 1), strict=True)]


def of_sharding(rng: Draw) -> Iterator[Probe]:
    ranks, tokens = pick(rng, 2, 4), int(rng.integers(2, 5))
    d, f = ranks * int(rng.integers(2, 5)), ranks * int(rng.integers(2, 5))
    given = {"num_ranks": ranks, "ledger": ["ledger"]}

    def whole_numbers(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, size=shape).astype(float)

    x, W, bias = whole_numbers(tokens, d), whole_numbers(f, d), whole_numbers(f) + 5  # no entry of it is zero
    W2 = whole_numbers(d, f)
    yield from _of_columns(given, x, W, bias)
    yield from _of_rows(given, x, W, bias)
    yield from _of_the_pair(given, x, W, W2)
    for kv_heads, kv_ranks in ((2 * pick(rng, 1, 2), 2), (pick(rng, 1, 2), 4)):
        yield from _of_attention(rng, kv_heads, kv_ranks)


def _of_columns(more: Mapping[str, Json], x: np.ndarray, W: np.ndarray, bias: np.ndarray) -> Iterator[Probe]:
    ranks, y = more["num_ranks"], x @ W.T
    given = {"x": _array(x), "W": _whole(W, ranks, 0, side_by_side=True), **more}
    biased = given | {"bias": _array(bias)}
    slips = {
        say("slip.no_bias"): y.tolist(),
        say("slip.bias_all", times=ranks - 1, ranks=ranks): (y + ranks * bias).tolist(),
    }

    def column(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(1, claim, "column_parallel", given, expected)

    yield column("slices_are_dense", {"value": y.tolist()})
    yield replace(column("own_bias", {"value": (y + bias).tolist()}, biased), slips=slips)
    yield column("nothing_is_sent", {"ledger": []})
    yield column("own_rows_of_w", {"shares": {"W": _slices(W.shape, ranks)}})
    odd = 2 * ranks + 1
    width = ranks * (odd - 1) if ranks * (odd - 1) % odd else ranks
    narrow = np.resize(W, (width, W.shape[1]))
    yield column("uneven_outputs_refused", {"raised": _refusal(width, odd)},
                 {**given, "num_ranks": odd, "W": _whole(narrow, odd, 0, side_by_side=True)})  # fmt: skip


def _of_rows(more: Mapping[str, Json], x: np.ndarray, W: np.ndarray, bias: np.ndarray) -> Iterator[Probe]:
    ranks, y = more["num_ranks"], x @ W.T
    given = {"x": _whole(x, ranks, 1), "W": _whole(W, ranks, 1), **more}
    slips = {
        say("slip.no_bias"): y.tolist(),
        say("slip.bias_before", times=ranks - 1, ranks=ranks): (y + ranks * bias).tolist(),
    }

    def row(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(2, claim, "row_parallel", given, expected)

    yield row("sum_of_terms_is_dense", {"value": y.tolist()})
    yield row("one_all_reduce_of_y", {"ledger": _sum_of(y, ranks)})
    terms = [term.tolist() for term in _terms(x, W, ranks)]
    yield row("term_of_own_columns", {"reduced": [terms]})
    cut = {"x": _slices(x.shape, ranks, 1), "W": _slices(W.shape, ranks, 1)}
    yield row("cut_alike", {"shares": cut})
    yield replace(
        row("bias_once", {"value": (y + bias).tolist()}, given | {"bias": _array(bias)}),
        slips=slips,
    )
    yield row("one_rank_sends_nothing", {"value": y.tolist(), "ledger": []},
              {**given, "num_ranks": 1, "x": _array(x), "W": _array(W)})  # fmt: skip
    odd = W.shape[1] + 1
    yield row("uneven_inputs_refused", {"raised": _refusal(W.shape[1], odd)},
              {**given, "num_ranks": odd, "x": _whole(x, odd, 1), "W": _whole(W, odd, 1)})  # fmt: skip


def _of_the_pair(more: Mapping[str, Json], x: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> Iterator[Probe]:
    ranks = more["num_ranks"]
    given = {"x": _array(x), "W1": _whole(W1, ranks, 0), "W2": _whole(W2, ranks, 1), **more}
    hidden = np.maximum(x @ W1.T, 0)
    y, terms = hidden @ W2.T, _terms(hidden, W2, ranks)

    def mlp(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(3, claim, "mlp_tp", given, expected)

    yield mlp("pair_is_dense", {"value": y.tolist()})
    squared = (x @ W1.T) ** 2 @ W2.T
    yield mlp("applies_the_activation", {"value": squared.tolist()},
              {**given, "activation": ["activation", "square"]})  # fmt: skip
    yield mlp("exactly_one_all_reduce", {"ledger": _sum_of(y, ranks)})
    yield mlp("term_of_own_slice", {"reduced": [[term.tolist() for term in terms]]})
    cut = {"W1": _slices(W1.shape, ranks), "W2": _slices(W2.shape, ranks, 1)}
    yield mlp("w1_outputs_w2_inputs", {"shares": cut})
    width = W1.shape[0]
    yield mlp("slice_of_h_stays",
              {"shown": ranks * [[len(x), width // ranks]], "gathered": []},
              {**given, "activation": ["activation", "relu"]})  # fmt: skip
    yield mlp("one_rank_sends_nothing", {"value": y.tolist(), "ledger": []},
              {**given, "num_ranks": 1, "W1": _array(W1), "W2": _array(W2)})  # fmt: skip
    odd = width + 1
    yield mlp("uneven_width_refused", {"raised": _refusal(width, odd)},
              {**given, "num_ranks": odd, "W1": _whole(W1, odd, 0), "W2": _whole(W2, odd, 1)})  # fmt: skip


def _of_attention(rng: Draw, kv_heads: int, ranks: int) -> Iterator[Probe]:
    head_dim, tokens = pick(rng, 2, 4), int(rng.integers(2, 5))
    heads, width = max(ranks, kv_heads) * int(rng.integers(1, 3)), int(rng.integers(4, 9))
    kv_shares = min(kv_heads, ranks)

    def fractions(*shape: int) -> np.ndarray:
        return rng.integers(-8, 9, size=shape) / 8

    x, Wq = fractions(tokens, width), fractions(heads * head_dim, width)
    Wk, Wv = (fractions(kv_heads * head_dim, width) for _ in range(2))
    Wo = fractions(width, heads * head_dim)
    y = np.asarray(attention_tp(x, Wq, Wk, Wv, Wo, head_dim, 1))
    given: Mapping[str, Json] = {
        "x": _array(x),
        **{name: _whole(W, kv_shares, 0, ranks) for name, W in (("Wk", Wk), ("Wv", Wv))},
        "Wq": _whole(Wq, ranks, 0),
        "Wo": _whole(Wo, ranks, 1),
        "head_dim": head_dim,
        "num_ranks": ranks,
        "ledger": ["ledger"],
    }
    close = 1e-9
    share = {"share": say("part.shared" if kv_heads < ranks else "part.cut")}

    def attention(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(4, claim, "attention_tp", given, expected, close, values=share)

    yield attention("heads_give_dense", {"value": y.tolist()})
    yield attention("heads_one_all_reduce", {"ledger": _sum_of(y, ranks)})
    own = np.arange(heads * head_dim) // (heads * head_dim // ranks)
    terms = [attention_tp(x, Wq, Wk, Wv, Wo * (own == rank), head_dim, 1) for rank in range(ranks)]
    yield attention("term_of_own_heads",
                    {"reduced": [[np.asarray(term).tolist() for term in terms]], "gathered": []})  # fmt: skip
    cut = {"Wq": _slices(Wq.shape, ranks), "Wo": _slices(Wo.shape, ranks, 1)}
    if kv_shares > 1:
        cut |= {name: _slices(Wk.shape, kv_shares) for name in ("Wk", "Wv")}
    yield attention("weights_of_own_heads", {"shares": cut})
    odd = heads + 1
    yield attention("uneven_heads_refused", {"raised": _refusal(heads, odd)},
                    {**given, "num_ranks": odd, "Wq": _whole(Wq, odd, 0), "Wo": _whole(Wo, odd, 1)})  # fmt: skip


# Lab 02: the same on two real ranks; each rank's answer in a list


def of_two_ranks(rng: Draw) -> Iterator[Probe]:
    tokens, d, f, vocab = (
        3,
        2 * int(rng.integers(2, 6)),
        2 * int(rng.integers(2, 6)),
        2 * int(rng.integers(3, 8)) - 1,
    )

    def whole_numbers(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, size=shape).astype(float)

    x, W, bias = whole_numbers(tokens, d), whole_numbers(f, d), whole_numbers(f)
    y = x @ W.T + bias
    given = {"x": x.tolist(), "weight": W.tolist(), "bias": bias.tolist()}

    def probe(task: int, claim: str, function: str, expected: Mapping[str, Json], **more: Json) -> Probe:
        return Probe(task, claim, function, {**given, **more}, expected, SINGLE, by_rank=True)

    halves = [half.tolist() for half in np.split(y, 2, 1)]
    yield probe(1, "half_of_y", "column", {"value": halves})
    yield probe(1, "nothing_is_sent", "column", {"ledger": [[], []]})
    yield probe(1, "half_of_w_and_b", "column", {"held": 2 * [(d + 1) * f // 2]})
    yield replace(
        probe(2, "whole_y_bias_once", "row", {"value": 2 * [y.tolist()]}),
        slips={
            say("slip.bias_before", times="1", ranks="2"): 2 * [(y + bias).tolist()],
            say("slip.no_bias"): 2 * [(y - bias).tolist()],
            say("slip.half_bias"): 2 * [(y - bias / 2).tolist()],
        },
    )
    yield probe(2, "one_all_reduce", "row", {"ledger": 2 * [["all_reduce"]]})
    yield probe(2, "half_of_w_whole_b", "row", {"held": 2 * [d * f // 2 + f]})
    table, ids = whole_numbers(vocab, d), rng.integers(0, vocab, size=4)
    asked = {"weight": table.tolist(), "tokens": ids.tolist()}
    yield probe(3, "every_token_row", "look_up", {"value": 2 * [table[ids].tolist()]}, **asked)
    yield probe(3, "adds_what_one_has", "look_up", {"ledger": 2 * [["all_reduce"]]}, **asked)
    yield probe(3, "scores_of_tokens", "score", {"value": 2 * [(x @ table.T).tolist()]}, **asked)
    down, out_bias = whole_numbers(d, f) / 8, whole_numbers(d)
    more = {"down": down.tolist(), "down_bias": out_bias.tolist()}
    out = _gelu(y) @ down.T + out_bias
    twice = {say("slip.down_bias", times="1", ranks="2"): 2 * [(out + out_bias).tolist()]}
    yield replace(probe(4, "pair_is_dense", "mlp", {"value": 2 * [out.tolist()]}, **more), slips=twice)
    yield probe(4, "one_all_reduce_in_all", "mlp", {"ledger": 2 * [["all_reduce"]]}, **more)


def _gelu(values: np.ndarray) -> np.ndarray:
    """x · Φ(x), as torch.nn.functional.gelu has it."""
    return np.array([[v * (1 + erf(v / sqrt(2))) / 2 for v in row] for row in values])
