"""What a submission is asked by its judge: calls with inputs drawn from a seed, and what must come back.

A probe is plain JSON both ways. The submission runs elsewhere and sees the inputs alone; what is expected is worked
out here, by the reference, and never leaves. So a submission can only be right by computing.

An input is tagged: `["array", rows]`, `["whole", rows, shares, dim, ranks, side by side]` for a tensor that no rank
may hold all of, `["link", latency_s, bandwidth_bytes_per_s]`, `["model", layers, hidden_size]`, `["actions", …]`,
`["spans", …]`, `["fraction", "1/10"]`, `["activation", name]`, `["ledger"]`; anything else is a JSON value.
`right` is no input: it has `[function, arguments, value]` of earlier tasks, whose faults a task is not judged by.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose
from types import MappingProxyType
from typing import Any

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
    all-reduce), `shares` (entries held together of whole tensors, by name), `gathered` (those whose share met what
    all ranks have), `shown` (shapes that the activation was given), `hops` (messages), `left` (of the input),
    `held` (parameters a rank), `raised` (what an error says, in this order). `slips` are known wrong values,
    by what is to be said of each.
    """

    task: int
    claim: str
    function: str
    given: Mapping[str, Json]
    expected: Mapping[str, Json]
    tolerance: float = WHOLE_NUMBERS
    slips: Mapping[str, Json] = field(default_factory=dict)
    by_rank: bool = False
    """Whether an answer is a list of what each of two real ranks gave."""


def verdict(probe: Probe, answer: object) -> str:
    """What is wrong with an answer; empty when nothing is. No value that is due is told, but of what kind it is."""
    if not isinstance(answer, dict):
        return "There is no answer."
    if "raised" in answer and "raised" not in probe.expected:
        return str(answer["raised"])[:400]
    for name, expected in probe.expected.items():
        given = answer.get(name)
        if name == "shares":
            right = isinstance(given, dict) and all(
                _held_apart(slices, given.get(whole)) for whole, slices in expected.items()
            )
        elif name == "raised":
            right = isinstance(given, str) and re.match(".*".join(map(re.escape, expected)), given) is not None
        else:
            right = _same(expected, given, probe.tolerance)
        if not right:
            return _of_a_value(probe, expected, given) if name == "value" else _WRONG[name] + _found(name, given)
    return ""


_WRONG = MappingProxyType(
    {
        "ledger": "The collectives that were called are not those the task needs",
        "reduced": "What the ranks gave to the all-reduce is not each rank's own term",
        "shares": "A rank was given more, or something else, than its share of a tensor",
        "raised": "What cannot be split was not refused with an IndivisibleError that names width and ranks",
        "gathered": "All ranks' slices were put together and cut again, a gather that no line of the ledger says",
        "shown": "The activation was not given one rank's slice at a time, for each rank",
        "hops": "What was sent is not a chunk at a time to the next rank, 2(N-1) times a rank",
        "left": "What was given was changed",
        "held": "A rank holds another number of parameters than its share",
    }
)


def _found(name: str, given: object) -> str:
    """How the sentence ends: with what was found, where that is short."""
    if name == "ledger" and isinstance(given, list):
        lines = [" ".join(map(_short, line)) if isinstance(line, list) else _short(line) for line in given]
        return f": the ledger has {', '.join(lines) or 'no line'}."
    if name in ("raised", "held", "shown") and given is not None:
        return f": {_short(given)}."
    return "."


def _of_a_value(probe: Probe, expected: Json, given: object) -> str:
    """What was returned for which numbers, and what kind of thing is due; of a known slip, what it is."""
    known = next((words for words, wrong in probe.slips.items() if _same(wrong, given, probe.tolerance)), "")
    if known:
        return f"{known[:1].upper()}{known[1:]}."
    if probe.by_rank and isinstance(given, list) and len(given) == len(expected):
        rank = next(r for r, one in enumerate(given) if not _same(expected[r], one, probe.tolerance))
        return f"On rank {rank}: {_unlike(expected[rank], given[rank], probe.tolerance)}"
    numbers = ", ".join(f"{name}={text}" for name, one in probe.given.items() if (text := _input(one)))
    return _unlike(expected, given, probe.tolerance) + (f" The inputs: {numbers}." if numbers else "")


def _unlike(expected: Json, given: object, tolerance: float) -> str:
    due, kind = _kind(expected), _kind(given)
    if kind != due:
        return f"{kind[:1].upper()}{kind[1:]} was returned, and {due} is due."
    if not isinstance(expected, list) or not isinstance(given, list):
        return f"{_short(given)} was returned, and another value is due."
    mine, theirs = _entries(expected), _entries(given)
    wrong = [index for index in mine if not _same(mine[index], theirs[index], tolerance)]
    first = f"{list(wrong[0])}, is {_short(theirs[wrong[0]])}"
    return f"{len(wrong)} of {len(mine)} entries are wrong; the first of them, {first}."


def _input(value: Json) -> str:
    """A number that a call was given, or a link, a model or a fraction, as it is written; empty for an array."""
    match value:
        case bool() | int() | float():
            return f"{value:.6g}" if isinstance(value, float) else str(value)
        case ["link", latency_s, bandwidth]:
            return f"{1e6 * latency_s:g} µs a hop and {bandwidth / 1e9:g} GB/s"
        case ["model", layers, hidden_size]:
            return f"{layers} layers, {hidden_size} wide"
        case ["fraction", text]:
            return str(text)
    return ""


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a Fraction" if re.fullmatch(r"-?\d+(/\d+)?", value) else "a text"
    if value == []:
        return "an empty list"
    if isinstance(value, list):
        shape = _shape(value)
        if shape is None:
            return f"a list of {len(value)}"
        return f"an array of the shape {tuple(shape)}" if len(shape) > 1 else f"a list of {shape[0]} numbers"
    return f"an answer of the type {type(value).__name__}"


def _shape(value: list[Json]) -> list[int] | None:
    """The shape of lists in lists of numbers; none where they are not even or hold something else."""
    if all(isinstance(entry, int | float) and not isinstance(entry, bool) for entry in value):
        return [len(value)]
    inner = [_shape(entry) if isinstance(entry, list) else None for entry in value]
    if inner[0] is None or any(one != inner[0] for one in inner):
        return None
    return [len(value), *inner[0]]


def _entries(value: list[Json]) -> dict[tuple[int, ...], Json]:
    """Each entry of an array by its index; of any other list, each of its own."""
    if len(_shape(value) or (1,)) == 1:
        return {(n,): one for n, one in enumerate(value)}
    return {(n, *index): one for n, part in enumerate(value) for index, one in _entries(part).items()}


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _same(expected: Json, given: object, tolerance: float) -> bool:
    """Equal as JSON: numbers within the tolerance, lists entry by entry, a truth value as itself."""
    if isinstance(expected, bool) or isinstance(given, bool):
        return expected is given
    if isinstance(expected, int | float):
        return isinstance(given, int | float) and _near(expected, given, tolerance)
    if isinstance(expected, list):
        if not isinstance(given, list) or len(given) != len(expected):
            return False
        return all(_same(mine, theirs, tolerance) for mine, theirs in zip(expected, given, strict=True))
    return type(expected) is type(given) and expected == given


def _near(expected: float, given: float, tolerance: float) -> bool:
    """Whether two numbers are the same within the tolerance; an integer that no float holds is near none."""
    try:
        return isclose(expected, given, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False


def _held_apart(slices: Json, given: object) -> bool:
    """Whether every piece that was held lies in one rank's slice, and all of each slice was held."""
    try:
        pieces = [frozenset(piece) for piece in given]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return False
    own = [frozenset(part) for part in slices]
    return all(any(piece <= part for part in own) for piece in pieces) and frozenset().union(*pieces) == frozenset(
        entry for part in own for entry in part
    )
