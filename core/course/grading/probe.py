"""What a submission is asked by its judge: calls with inputs drawn from a seed, and what must come back.

A probe is plain JSON both ways. The submission runs elsewhere and sees the inputs alone; what is expected is worked
out here, by the reference, and never leaves. So a submission can only be right by computing.

An input is tagged: `["array", rows]`, `["whole", rows, shares]` for a tensor that no rank may hold all of,
`["link", latency_s, bandwidth_bytes_per_s]`, `["model", layers, hidden_size]`, `["actions", …]`, `["spans", …]`,
`["fraction", "1/10"]`, `["activation", name]`, `["ledger"]`; anything else is a JSON value of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from types import MappingProxyType
from typing import Any

import numpy as np

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


def pick(rng: Draw, *options: int) -> int:
    return options[int(rng.integers(len(options)))]
