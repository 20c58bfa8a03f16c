"""What labs 01 and 02 ask of a submission: sharded layers, their ranks' terms, and what each rank held."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import erf, sqrt

import numpy as np

from core.course.grading.probe import SINGLE, Json, Probe
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
        "the bias is missing": y.tolist(),
        f"every entry is too large by {ranks - 1} · bias: each of {ranks} ranks added all of it": (
            y + ranks * bias
        ).tolist(),
    }

    def column(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(1, claim, "column_parallel", given, expected)

    yield column("the slices of y are the dense product", {"value": y.tolist()})
    yield replace(column("each output gets its own bias", {"value": (y + bias).tolist()}, biased), slips=slips)
    yield column("nothing is sent", {"ledger": []})
    yield column("a rank multiplies its own rows of W", {"shares": {"W": _slices(W.shape, ranks)}})
    odd = 2 * ranks + 1
    width = ranks * (odd - 1) if ranks * (odd - 1) % odd else ranks
    narrow = np.resize(W, (width, W.shape[1]))
    yield column("outputs that do not divide are refused", {"raised": _refusal(width, odd)},
                 {**given, "num_ranks": odd, "W": _whole(narrow, odd, 0, side_by_side=True)})  # fmt: skip


def _of_rows(more: Mapping[str, Json], x: np.ndarray, W: np.ndarray, bias: np.ndarray) -> Iterator[Probe]:
    ranks, y = more["num_ranks"], x @ W.T
    given = {"x": _whole(x, ranks, 1), "W": _whole(W, ranks, 1), **more}
    slips = {
        "the bias is missing": y.tolist(),
        f"every entry is too large by {ranks - 1} · bias: each of {ranks} ranks added it before the sum, and it is"
        " due once, after it": (y + ranks * bias).tolist(),
    }

    def row(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(2, claim, "row_parallel", given, expected)

    yield row("the sum of the ranks' terms is the dense product", {"value": y.tolist()})
    yield row("one all-reduce of y", {"ledger": _sum_of(y, ranks)})
    terms = [term.tolist() for term in _terms(x, W, ranks)]
    yield row("each rank's term is its own columns' product", {"reduced": [terms]})
    cut = {"x": _slices(x.shape, ranks, 1), "W": _slices(W.shape, ranks, 1)}
    yield row("x and W are cut alike, by inputs", {"shares": cut})
    yield replace(
        row("the bias is added once", {"value": (y + bias).tolist()}, given | {"bias": _array(bias)}), slips=slips
    )
    yield row("one rank sends nothing", {"value": y.tolist(), "ledger": []},
              {**given, "num_ranks": 1, "x": _array(x), "W": _array(W)})  # fmt: skip
    odd = W.shape[1] + 1
    yield row("inputs that do not divide are refused", {"raised": _refusal(W.shape[1], odd)},
              {**given, "num_ranks": odd, "x": _whole(x, odd, 1), "W": _whole(W, odd, 1)})  # fmt: skip


def _of_the_pair(more: Mapping[str, Json], x: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> Iterator[Probe]:
    ranks = more["num_ranks"]
    given = {"x": _array(x), "W1": _whole(W1, ranks, 0), "W2": _whole(W2, ranks, 1), **more}
    hidden = np.maximum(x @ W1.T, 0)
    y, terms = hidden @ W2.T, _terms(hidden, W2, ranks)

    def mlp(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(3, claim, "mlp_tp", given, expected)

    yield mlp("the pair is the dense MLP", {"value": y.tolist()})
    squared = (x @ W1.T) ** 2 @ W2.T
    yield mlp("it applies the activation it is given", {"value": squared.tolist()},
              {**given, "activation": ["activation", "square"]})  # fmt: skip
    yield mlp("exactly one all-reduce", {"ledger": _sum_of(y, ranks)})
    yield mlp("each rank's term is its own slice's", {"reduced": [[term.tolist() for term in terms]]})
    cut = {"W1": _slices(W1.shape, ranks), "W2": _slices(W2.shape, ranks, 1)}
    yield mlp("W1 is cut by outputs, W2 by inputs", {"shares": cut})
    width = W1.shape[0]
    yield mlp("a rank's slice of h stays on the rank",
              {"shown": ranks * [[len(x), width // ranks]], "gathered": []},
              {**given, "activation": ["activation", "relu"]})  # fmt: skip
    yield mlp("one rank sends nothing", {"value": y.tolist(), "ledger": []},
              {**given, "num_ranks": 1, "W1": _array(W1), "W2": _array(W2)})  # fmt: skip
    odd = width + 1
    yield mlp("a width that does not divide is refused", {"raised": _refusal(width, odd)},
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
    share = "shared" if kv_heads < ranks else "cut"

    def attention(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(4, f"{claim}, KV heads {share}", "attention_tp", given, expected, close)

    yield attention("heads over ranks give the dense attention", {"value": y.tolist()})
    yield attention("exactly one all-reduce", {"ledger": _sum_of(y, ranks)})
    own = np.arange(heads * head_dim) // (heads * head_dim // ranks)
    terms = [attention_tp(x, Wq, Wk, Wv, Wo * (own == rank), head_dim, 1) for rank in range(ranks)]
    yield attention("each rank's term is its own heads'",
                    {"reduced": [[np.asarray(term).tolist() for term in terms]], "gathered": []})  # fmt: skip
    cut = {"Wq": _slices(Wq.shape, ranks), "Wo": _slices(Wo.shape, ranks, 1)}
    if kv_shares > 1:
        cut |= {name: _slices(Wk.shape, kv_shares) for name in ("Wk", "Wv")}
    yield attention("a rank has the weights of its own heads", {"shares": cut})
    odd = heads + 1
    yield attention("heads that do not divide are refused", {"raised": _refusal(heads, odd)},
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
    yield probe(1, "each rank makes its half of y", "column", {"value": halves})
    yield probe(1, "nothing is sent", "column", {"ledger": [[], []]})
    yield probe(1, "each rank holds half of W and of b", "column", {"held": 2 * [(d + 1) * f // 2]})
    yield replace(
        probe(2, "both ranks have the whole y, the bias added once", "row", {"value": 2 * [y.tolist()]}),
        slips={
            "every entry is too large by 1 · bias: each of 2 ranks added it before the sum, and it is due once,"
            " after it": 2 * [(y + bias).tolist()],
            "the bias is missing": 2 * [(y - bias).tolist()],
            "half of the bias arrived: the rank that adds it adds all of it": 2 * [(y - bias / 2).tolist()],
        },
    )
    yield probe(2, "one all-reduce", "row", {"ledger": 2 * [["all_reduce"]]})
    yield probe(2, "each rank holds half of W and the whole of b", "row", {"held": 2 * [d * f // 2 + f]})
    table, ids = whole_numbers(vocab, d), rng.integers(0, vocab, size=4)
    asked = {"weight": table.tolist(), "tokens": ids.tolist()}
    yield probe(3, "every rank has each token's row", "look_up", {"value": 2 * [table[ids].tolist()]}, **asked)
    yield probe(3, "an all-reduce adds what one rank has", "look_up", {"ledger": 2 * [["all_reduce"]]}, **asked)
    yield probe(3, "the scores of the tokens there are", "score", {"value": 2 * [(x @ table.T).tolist()]}, **asked)
    down, out_bias = whole_numbers(d, f) / 8, whole_numbers(d)
    more = {"down": down.tolist(), "down_bias": out_bias.tolist()}
    out = _gelu(y) @ down.T + out_bias
    twice = {
        "every entry is too large by 1 · down_bias: each of 2 ranks added it before the sum": 2
        * [(out + out_bias).tolist()]
    }
    yield replace(probe(4, "the pair is the dense MLP", "mlp", {"value": 2 * [out.tolist()]}, **more), slips=twice)
    yield probe(4, "one all-reduce in all", "mlp", {"ledger": 2 * [["all_reduce"]]}, **more)


def _gelu(values: np.ndarray) -> np.ndarray:
    """x · Φ(x), as torch.nn.functional.gelu has it."""
    return np.array([[v * (1 + erf(v / sqrt(2))) / 2 for v in row] for row in values])
