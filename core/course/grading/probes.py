"""What a submission is asked by its judge: calls with inputs drawn from a seed, and what must come back.

A probe is plain JSON both ways. The submission runs elsewhere and sees the inputs alone; what is expected is worked
out here, by the reference, and never leaves. So a submission can only be right by computing.

An input is tagged: `["array", rows]`, `["whole", rows, shares]` for a tensor that no rank may hold all of,
`["link", latency_s, bandwidth_bytes_per_s]`, `["model", layers, hidden_size]`, `["actions", …]`, `["spans", …]`,
`["fraction", "1/10"]`, `["activation", name]`, `["ledger"]`; anything else is a JSON value of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import erf, isclose, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from core.comm_cost import bill
from core.course.grading.tasks import Lab
from core.pipeline_bubble import bubble
from core.pipeline_bubble.schedules.actions import Action, Span
from core.sharding_math.lab import attention_tp
from core.specs import LinkSpec, ModelSpec

Draw = np.random.Generator
Json = Any
"""What the json module reads and writes."""

WHOLE_NUMBERS = 1e-12
"""Relative room where inputs are whole numbers: sums are exact in any order, divisions are not."""

SINGLE = 1e-4
"""Absolute room for float32 on ranks, whose entries are of order one to a hundred."""


@dataclass(frozen=True)
class Probe:
    """One call of a submission: the task it speaks for, what it shows, and what must come back.

    `expected` names what is looked at: `value`, `ledger` (op, payload bytes, ranks), `reduced` (the terms of each
    all-reduce), `shares` (entries of a whole tensor held together), `held` (parameters a rank), `raised` (a name).
    """

    task: int
    claim: str
    function: str
    given: Mapping[str, Json]
    expected: Mapping[str, Json]
    tolerance: float = WHOLE_NUMBERS


def probes(lab: Lab, seed: int) -> tuple[Probe, ...]:
    """Every probe of a lab with the inputs of a seed. Their claims are the same for all seeds."""
    return tuple(_PROBES[lab.key](np.random.default_rng(seed)))


def verdict(probe: Probe, answer: object) -> str:
    """What is wrong with an answer; empty when nothing is."""
    if not isinstance(answer, dict):
        return "There is no answer."
    if "raised" in answer and "raised" not in probe.expected:
        return str(answer["raised"])[:400]
    for name, expected in probe.expected.items():
        given = answer.get(name)
        if name == "shares":
            right = _held_apart(expected, given)
        elif name == "raised":
            right = isinstance(given, str) and given.startswith(expected)
        else:
            right = _same(expected, given, probe.tolerance)
        if not right:
            return _WRONG[name]
    return ""


_WRONG = MappingProxyType(
    {
        "value": "The value is wrong.",
        "ledger": "The collectives that were called are not those the task needs.",
        "reduced": "What the ranks gave to the all-reduce is not each rank's own term.",
        "shares": "A rank was given more, or something else, than its share of a tensor.",
        "raised": "What cannot be split was not refused.",
        "held": "A rank holds another number of parameters than its share.",
    }
)


def _same(expected: Json, given: object, tolerance: float) -> bool:
    """Equal as JSON: numbers within the tolerance, lists entry by entry, a truth value as itself."""
    if isinstance(expected, bool) or isinstance(given, bool):
        return expected is given
    if isinstance(expected, int | float):
        return isinstance(given, int | float) and isclose(expected, given, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(expected, list):
        if not isinstance(given, list) or len(given) != len(expected):
            return False
        return all(_same(mine, theirs, tolerance) for mine, theirs in zip(expected, given, strict=True))
    return type(expected) is type(given) and expected == given


def _held_apart(slices: Json, given: object) -> bool:
    """Whether every piece that was held lies in one rank's slice, and all of each slice was held."""
    try:
        pieces = [frozenset(map(int, piece)) for piece in given]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return False
    own = [frozenset(part) for part in slices]
    return all(any(piece <= part for part in own) for piece in pieces) and frozenset().union(*pieces) == frozenset(
        entry for part in own for entry in part
    )


# Lab 01: x (T, D), W (F, D), N ranks


def _array(values: np.ndarray) -> Json:
    return ["array", values.tolist()]


def _whole(values: np.ndarray, shares: int) -> Json:
    return ["whole", values.tolist(), shares]


def _slices(shape: tuple[int, ...], ranks: int, dim: int) -> Json:
    entries = np.arange(int(np.prod(shape))).reshape(shape)
    return [part.ravel().tolist() for part in np.split(entries, ranks, axis=dim)]


def _sum_of(y: np.ndarray, ranks: int) -> Json:
    return [["all_reduce", y.nbytes, ranks]]


def _of_sharding(rng: Draw) -> Iterator[Probe]:
    ranks, tokens = _pick(rng, 2, 4), int(rng.integers(1, 4))
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
    yield column("a rank multiplies its own rows of W", {"shares": _slices(W.shape, ranks, 0)})
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
    yield mlp("W1 is cut by outputs", {"shares": _slices(W1.shape, ranks, 0)}, W2=_array(W2))

    yield from _of_attention(rng)


def _of_attention(rng: Draw) -> Iterator[Probe]:
    ranks, head_dim, tokens = 2, _pick(rng, 2, 4), int(rng.integers(2, 5))
    kv_heads = _pick(rng, 1, 2)
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
    yield attention("a rank has the queries of its own heads", {"shares": _slices(Wq.shape, ranks, 0)},
                    {**given, "Wo": _array(Wo)})  # fmt: skip
    yield attention("heads that do not divide are refused", {"raised": "IndivisibleError"}, odd)


# Lab 02: the same on two real ranks; each rank's answer in a list


def _of_two_ranks(rng: Draw) -> Iterator[Probe]:
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
        return Probe(task, claim, function, {**given, **more}, expected, SINGLE)

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


# Lab 03: numbers in, a number out


def _of_the_bill(rng: Draw) -> Iterator[Probe]:
    def link() -> LinkSpec:
        return LinkSpec("own", "own", int(rng.integers(1, 90)) * 1e-6, int(rng.integers(2, 400)) * 1e9)

    def sent(one: LinkSpec) -> Json:
        return ["link", one.latency_s, one.bandwidth_bytes_per_s]

    tokens, hidden, ranks = int(rng.integers(2, 90)), 64 * int(rng.integers(8, 130)), _pick(rng, 2, 4, 8)
    payload = 1024 * int(rng.integers(1, 9000))
    yield Probe(1, "a row of activations a token", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden}, {"value": 2 * tokens * hidden})  # fmt: skip
    yield Probe(1, "of the width they are kept in", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden, "bytes_per_element": 4},
                {"value": 4 * tokens * hidden})  # fmt: skip
    for claim, over in (("2(N-1)/N of the payload", ranks), ("one rank sends nothing", 1)):
        traffic = bill.ring_allreduce_traffic_per_rank(payload, over)
        yield Probe(2, claim, "ring_allreduce_traffic_per_rank",
                    {"payload_bytes": payload, "ranks": over}, {"value": traffic})  # fmt: skip
    cases = (
        ("every hop waits", 512, ranks),
        ("bytes take their time", 2**26, ranks),
        ("one rank waits for nobody", payload, 1),
    )
    for claim, size, over in cases:
        one = link()
        yield Probe(3, claim, "allreduce_time_s", {"payload_bytes": size, "ranks": over, "link": sent(one)},
                    {"value": bill.allreduce_time_s(size, over, one)}, 1e-9)  # fmt: skip
    for claim, over in (("two all-reduces a layer", ranks), ("one rank pays nothing", 1)):
        one, layers = link(), int(rng.integers(10, 100))
        shape = replace(_SMALL, num_hidden_layers=layers, hidden_size=hidden)
        yield Probe(4, claim, "tp_comm_time_per_step",
                    {"model": ["model", layers, hidden], "tokens": tokens, "tp_size": over, "link": sent(one)},
                    {"value": bill.tp_comm_time_per_step(shape, tokens, over, one)}, 1e-9)  # fmt: skip
    comm_s, step_s = (float(rng.integers(1, 100)) / 1e4 for _ in range(2))
    yield Probe(5, "of the whole wall clock", "comm_fraction", {"comm_s": comm_s, "step_s": step_s},
                {"value": comm_s / (comm_s + step_s)}, 1e-9)  # fmt: skip


_SMALL = ModelSpec("own", "own", 64, 1, 1, 1, 64, 64, 64, 64)


# Lab 04: actions and spans


def _of_the_bubble(rng: Draw) -> Iterator[Probe]:
    stages, microbatches = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    size = {"stages": stages, "microbatches": microbatches}
    order = bubble.fill_drain(stages, microbatches)
    yield Probe(1, "every pair, in order", "fill_drain", size, {"value": _rows(order)})
    by_stage = [[action for action in order if action.stage == stage] for stage in rng.permutation(stages)]
    mixed = [action for part in by_stage for action in part]
    spans = bubble.run_on_ticks(order, stages)
    yield Probe(2, "each starts when its input and its stage are there", "run_on_ticks",
                {"actions": ["actions", _rows(order)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    yield Probe(2, "whatever the order of the stages in the list", "run_on_ticks",
                {"actions": ["actions", _rows(mixed)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    backwards = [Action(stage, "F", number) for stage in range(stages) for number in reversed(range(microbatches))]
    yield Probe(2, "a stage keeps its own order", "run_on_ticks",
                {"actions": ["actions", _rows(backwards)], "stages": stages},
                {"value": _sorted(bubble.run_on_ticks(backwards, stages))})  # fmt: skip
    paused = _paused(spans, rng)
    for claim, run in (("idle cells over all cells", spans), ("of a run that no formula describes", paused)):
        yield Probe(3, claim, "counted_bubble", {"spans": ["spans", _sorted(run)], "stages": stages},
                    {"value": str(bubble.counted_bubble(run, stages))})  # fmt: skip
    large = {"stages": int(rng.integers(3, 60)), "microbatches": int(rng.integers(3, 300))}
    yield Probe(4, "in p and m alone", "bubble_fraction", large, {"value": str(bubble.bubble_fraction(**large))})
    yield Probe(
        5, "idle over working time", "bubble_overhead", large, {"value": str(bubble.bubble_overhead(**large))}
    )
    for claim, under in (("the fewest at the budget", False), ("the fewest under it", True)):
        budget, deep = Fraction(1, int(rng.integers(3, 30))), int(rng.integers(2, 40))
        yield Probe(6, claim, "microbatches_for_budget",
                    {"stages": deep, "budget": ["fraction", str(budget)], "under": under},
                    {"value": bubble.microbatches_for_budget(deep, budget, under=under)})  # fmt: skip
    wrong = int(rng.integers(1, len(spans)))
    early = replace(spans[-1], start=0, end=1)
    for claim, run, right in (
        ("a real run", spans, True),
        ("a run with pauses", paused, True),
        ("an action left out", spans[:wrong] + spans[wrong + 1 :], False),
        ("an action before its input", [*spans[:-1], early], False),
        ("an action twice", [*spans, spans[wrong]], False),
    ):
        yield Probe(7, claim, "is_valid", {"spans": ["spans", _sorted(run)], **size}, {"value": right})


def _rows(actions: list[Action]) -> Json:
    return [[stage, kind, microbatch] for stage, kind, microbatch in actions]


def _sorted(spans: list[Span]) -> Json:
    """Spans as rows, in the one order in which two lists of them can be compared."""
    return sorted([list(span.action), span.rank, span.start, span.end] for span in spans)


def _paused(spans: list[Span], rng: Draw) -> list[Span]:
    """The same run with every rank one pause behind the one before it."""
    pause = int(rng.integers(1, 4))
    return [replace(span, start=span.start + span.rank * pause, end=span.end + span.rank * pause) for span in spans]


def _pick(rng: Draw, *options: int) -> int:
    return options[int(rng.integers(len(options)))]


_PROBES: Mapping[str, Callable[[Draw], Iterator[Probe]]] = MappingProxyType(
    {"lab-01": _of_sharding, "lab-02": _of_two_ranks, "lab-03": _of_the_bill, "lab-04": _of_the_bubble}
)
