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
from typing import Any

from core.course.grading.remarks import remark_of, say
from core.errors import Remark

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
    name: str
    function: str
    given: Mapping[str, Json]
    expected: Mapping[str, Json]
    tolerance: float = WHOLE_NUMBERS
    slips: Mapping[Remark, Json] = field(default_factory=dict)
    by_rank: bool = False
    """Whether an answer is a list of what each of two real ranks gave."""
    values: Mapping[str, Remark] = field(default_factory=dict)

    @property
    def claim(self) -> Remark:
        """What the call shows: the block of labs.md that is named, with its values."""
        return say(f"claim.{self.name}", **self.values)


def verdict(probe: Probe, answer: object) -> Remark | None:
    """What is wrong with an answer; None when nothing is. No value that is due is told, but of what kind it is."""
    if not isinstance(answer, dict):
        return say("judge.no_answer")
    if "raised" in answer and "raised" not in probe.expected:
        return remark_of(answer["raised"])
    for name, expected in probe.expected.items():
        given = answer.get(name)
        if name == "shares":
            right = isinstance(given, dict) and all(
                _held_apart(slices, given.get(whole)) for whole, slices in expected.items()
            )
        elif name == "raised":
            given = None if given is None else remark_of(given)
            right = given is not None and re.match(".*".join(map(re.escape, expected)), str(given)) is not None
        else:
            right = _same(expected, given, probe.tolerance)
        if not right:
            return _of_a_value(probe, expected, given) if name == "value" else _of_a_part(name, given)
    return None


def _of_a_part(name: str, given: object) -> Remark:
    """What is wrong with another part of an answer than its value, with what was found where that is short."""
    if name == "ledger" and isinstance(given, list):
        lines = [" ".join(map(_short, line)) if isinstance(line, list) else _short(line) for line in given]
        return say("judge.ledger", lines=", ".join(lines) or say("part.no_line"))
    if name == "raised":
        return say("judge.raised", error=given) if isinstance(given, Remark) else say("judge.raised_bare")
    if name in ("held", "shown") and given is not None:
        return say(f"judge.{name}", **{name: _short(given)})
    if name == "hops":
        return say("judge.hops", turns="2(N-1)")
    return say(f"judge.{name}_bare" if name in ("ledger", "held", "shown") else f"judge.{name}")


def _of_a_value(probe: Probe, expected: Json, given: object) -> Remark:
    """What was returned for which numbers, and what kind of thing is due; of a known slip, what it is."""
    known = next((slip for slip, wrong in probe.slips.items() if _same(wrong, given, probe.tolerance)), None)
    if known:
        return known
    if probe.by_rank and isinstance(given, list) and len(given) == len(expected):
        rank = next(r for r, one in enumerate(given) if not _same(expected[r], one, probe.tolerance))
        return say("judge.on_rank", rank=rank, why=_unlike(expected[rank], given[rank], probe.tolerance))
    numbers = tuple(
        say("part.input", name=name, value=text) for name, one in probe.given.items() if (text := _input(one))
    )
    return _unlike(expected, given, probe.tolerance, numbers)


def _unlike(expected: Json, given: object, tolerance: float, inputs: tuple[Remark, ...] = ()) -> Remark:
    due, kind, for_inputs = _kind(expected), _kind(given), "_for" if inputs else ""
    if kind != due:
        nothing = given is None
        values = {"kind": due} if nothing else {"found": kind, "due": due}
        return say(f"judge.{'nothing' if nothing else 'other'}{for_inputs}", **values, inputs=inputs)
    if not isinstance(expected, list) or not isinstance(given, list):
        return say(f"judge.another{for_inputs}", found=_short(given), inputs=inputs)
    mine, theirs = _entries(expected), _entries(given)
    wrong = [index for index in mine if not _same(mine[index], theirs[index], tolerance)]
    entry, found = list(wrong[0]), _short(theirs[wrong[0]])
    return say(
        f"judge.entries{for_inputs}", wrong=len(wrong), size=len(mine), entry=entry, found=found, inputs=inputs
    )


def _input(value: Json) -> str | Remark:
    """A number that a call was given, or a link, a model or a fraction, as it is written; empty for an array."""
    match value:
        case bool() | int() | float():
            return f"{value:.6g}" if isinstance(value, float) else str(value)
        case ["link", latency_s, bandwidth]:
            return say("part.a_link", latency=f"{1e6 * latency_s:g}", bandwidth=f"{bandwidth / 1e9:g}")
        case ["model", layers, hidden_size]:
            return say("part.a_model", layers=layers, width=hidden_size)
        case ["fraction", text]:
            return str(text)
    return ""


def _kind(value: object) -> Remark:
    if value is None:
        return say("part.nothing")
    if isinstance(value, bool):
        return say("part.a_truth_value")
    if isinstance(value, int | float):
        return say("part.a_number")
    if isinstance(value, str):
        return say("part.a_fraction" if re.fullmatch(r"-?\d+(/\d+)?", value) else "part.a_text")
    if value == []:
        return say("part.an_empty_list")
    if isinstance(value, list):
        shape = _shape(value)
        if shape is None:
            return say("part.a_list", count=len(value))
        if len(shape) > 1:
            return say("part.an_array", shape=str(tuple(shape)))
        return say("part.a_list_of_numbers", count=shape[0])
    return say("part.an_answer", kind=type(value).__name__)


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
