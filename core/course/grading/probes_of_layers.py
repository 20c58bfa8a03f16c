"""What labs 01 and 02 ask of a submission: sharded layers, their ranks' terms, and what each rank held."""

from collections.abc import Iterator, Mapping
from math import erf, sqrt

import numpy as np

from core.course.grading.probe import SINGLE, Json, Probe
from core.sharding_math.lab import attention_tp
from core.text.question import Draw, pick

# Lab 01: x (T, D), W (F, D), N ranks


def _array(values: np.ndarray) -> Json:
    return ["array", values.tolist()]


def _whole(values: np.ndarray, shares: int) -> Json:
    return ["whole", values.tolist(), shares]


def _slices(shape: tuple[int, ...], ranks: int) -> Json:
    entries = np.arange(int(np.prod(shape))).reshape(shape)
    return [part.ravel().tolist() for part in np.split(entries, ranks)]


def _sum_of(y: np.ndarray, ranks: int) -> Json:
    return [["all_reduce", y.nbytes, ranks]]


def of_sharding(rng: Draw) -> Iterator[Probe]:
    ranks, tokens = pick(rng, 2, 4), int(rng.integers(1, 4))
    d, f = ranks * int(rng.integers(2, 5)), ranks * int(rng.integers(2, 5))

    def whole_numbers(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, size=shape).astype(float)

    x, W, bias = whole_numbers(tokens, d), whole_numbers(f, d), whole_numbers(f)
    y = x @ W.T
    given = {"x": _array(x), "W": _whole(W, ranks), "num_ranks": ranks, "ledger": ["ledger"]}
    odd = {**given, "num_ranks": max(d, f) + 1, "W": _array(W)}

    def column(claim: str, expected: Mapping[str, Json], **more: Json) -> Probe:
        return Probe(1, claim, "column_parallel", given | more, expected)

    yield column("the slices of y are the dense product", {"value": y.tolist()})
    yield column("each output gets its own bias", {"value": (y + bias).tolist()}, bias=_array(bias))
    yield column("nothing is sent", {"ledger": []})
    yield column("a rank multiplies its own rows of W", {"shares": _slices(W.shape, ranks)})
    yield column("outputs that do not divide are refused", {"raised": "IndivisibleError"}, **odd)

    parts = [a @ b.T for a, b in zip(np.split(x, ranks, 1), np.split(W, ranks, 1), strict=True)]
    cut_x = {"x": _whole(x, ranks)}
    one = {"num_ranks": 1, "x": _array(x), "W": _array(W)}

    def row(claim: str, expected: Mapping[str, Json], **more: Json) -> Probe:
        return Probe(2, claim, "row_parallel", given | cut_x | more, expected)

    yield row("the sum of the ranks' terms is the dense product", {"value": y.tolist()})
    yield row("one all-reduce of y", {"ledger": _sum_of(y, ranks)})
    yield row("each rank's term is its own columns' product", {"reduced": [[part.tolist() for part in parts]]})
    yield row("the bias is added once", {"value": (y + bias).tolist()}, bias=_array(bias))
    yield row("one rank sends nothing", {"value": y.tolist(), "ledger": []}, **one)
    yield row("inputs that do not divide are refused", {"raised": "IndivisibleError"}, **{**odd, "x": _array(x)})

    W1, W2 = W, whole_numbers(d, f)
    mlp_given = {"x": _array(x), "W1": _whole(W1, ranks), "W2": _whole(W2, ranks)} | {
        "num_ranks": ranks,
        "ledger": ["ledger"],
    }
    hidden = np.maximum(x @ W1.T, 0)
    out = hidden @ W2.T
    terms = [a @ b.T for a, b in zip(np.split(hidden, ranks, 1), np.split(W2, ranks, 1), strict=True)]

    def mlp(claim: str, expected: Mapping[str, Json], **more: Json) -> Probe:
        return Probe(3, claim, "mlp_tp", mlp_given | more, expected)

    yield mlp("the pair is the dense MLP", {"value": out.tolist()})
    squared = (x @ W1.T) ** 2 @ W2.T
    yield mlp(
        "it applies the activation it is given", {"value": squared.tolist()}, activation=["activation", "square"]
    )
    yield mlp("exactly one all-reduce", {"ledger": _sum_of(out, ranks)})
    yield mlp("each rank's term is its own slice's", {"reduced": [[term.tolist() for term in terms]]})
    yield mlp("W1 is cut by outputs", {"shares": _slices(W1.shape, ranks)}, W2=_array(W2))

    yield from _of_attention(rng)


def _of_attention(rng: Draw) -> Iterator[Probe]:
    ranks, head_dim, tokens = 2, pick(rng, 2, 4), int(rng.integers(2, 5))
    kv_heads = pick(rng, 1, 2)
    heads, width = 2 * kv_heads * int(rng.integers(1, 3)), int(rng.integers(4, 9))

    def fractions(*shape: int) -> np.ndarray:
        return rng.integers(-8, 9, size=shape) / 8

    x, Wq = fractions(tokens, width), fractions(heads * head_dim, width)
    Wk, Wv = (fractions(kv_heads * head_dim, width) for _ in range(2))
    Wo = fractions(width, heads * head_dim)
    y = np.asarray(attention_tp(x, Wq, Wk, Wv, Wo, head_dim, 1))
    given: Mapping[str, Json] = {
        **{name: _array(values) for name, values in (("x", x), ("Wk", Wk), ("Wv", Wv))},
        "Wq": _whole(Wq, ranks),
        "Wo": _whole(Wo, ranks),
        "head_dim": head_dim,
        "num_ranks": ranks,
        "ledger": ["ledger"],
    }
    odd = {**given, "num_ranks": heads + 1, "Wq": _array(Wq), "Wo": _array(Wo)}
    close = 1e-9

    def attention(claim: str, expected: Mapping[str, Json], given: Mapping[str, Json] = given) -> Probe:
        return Probe(4, claim, "attention_tp", given, expected, close)

    yield attention("heads over ranks give the dense attention", {"value": y.tolist()})
    yield attention("exactly one all-reduce", {"ledger": _sum_of(y, ranks)})
    yield attention("a rank has the queries of its own heads", {"shares": _slices(Wq.shape, ranks)},
                    {**given, "Wo": _array(Wo)})  # fmt: skip
    yield attention("heads that do not divide are refused", {"raised": "IndivisibleError"}, odd)


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
    yield probe(2, "both ranks have the whole y, the bias added once", "row", {"value": 2 * [y.tolist()]})
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
    yield probe(4, "the pair is the dense MLP", "mlp", {"value": 2 * [out.tolist()]}, **more)
    yield probe(4, "one all-reduce in all", "mlp", {"ledger": 2 * [["all_reduce"]]}, **more)


def _gelu(values: np.ndarray) -> np.ndarray:
    """x · Φ(x), as torch.nn.functional.gelu has it."""
    return np.array([[v * (1 + erf(v / sqrt(2))) / 2 for v in row] for row in values])
