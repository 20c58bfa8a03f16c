"""A chart's own numbers as data: where an axis ends, where its ticks stand, how high it is.

A browser makes a chart anew where its specification is another, and only draws its rows where those are. So what
differs from answer to answer is no part of the specification: it is in the first row, which is no mark's.
"""

from collections.abc import Sequence
from typing import Any

from ui.figures.axes import Spec

HEAD = "head"
"""What the browser calls the numbers, in the order in which they were taken."""
_BETWEEN = "\t"
_TICKS = 16
"""An axis has room for so many, or for so many more: how many there are is a number, too."""
_ANY_HEIGHT = 200


def lifted(spec: Spec, part: str) -> tuple[Spec, str]:
    """The chart without its numbers, and those as the text that its first row has in the column `part`."""
    taken: list[float] = []
    known: dict[tuple[str, tuple[float, ...]], str] = {}

    def number(value: float) -> str:
        taken.append(value)
        return f"+{HEAD}[{len(taken)}]"

    def several(place: str, values: Sequence[float]) -> Spec:
        """One of each for all layers that share it: a scale or an axis is one where its parts are the same."""
        key = place, tuple(values)
        if key not in known:
            room = -len(values) % _TICKS if place.endswith("values") else 0
            ends = number(len(values)) if place.endswith("values") else ""
            said = f"[{', '.join(map(number, (*values, *[0] * room)))}]"
            known[key] = f"slice({said}, 0, {ends})" if ends else said
        return {"expr": known[key]}

    def channel(name: str, drawn: Any) -> Any:
        if name not in ("x", "y") or not isinstance(drawn, dict):
            return drawn
        for owner, part in (("scale", "domain"), ("axis", "values")):
            held = drawn.get(owner) or {}
            if are_numbers(held.get(part)):
                drawn = {**drawn, owner: {**held, part: several(f"{name} {part}", held[part])}}
        return drawn

    layers = [
        {**layer, "encoding": {name: channel(name, drawn) for name, drawn in layer["encoding"].items()}}
        for layer in spec["layer"]
    ]
    params = [
        {"name": param["name"], "expr": number(param["value"])} if are_numbers([param.get("value")]) else param
        for param in (*spec.get("params", ()), {"name": "height", "value": spec["height"]})
    ]
    head = {"name": HEAD, "expr": read(part, "0")}
    row = _BETWEEN.join(map(str, ("", *taken)))
    return {**spec, "height": _ANY_HEIGHT, "params": [head, *params], "layer": layers}, row


def read(part: str, row: str) -> str:
    """The expression of a row's numbers."""
    return f"split((data('rows')[{row}] || {{}}).{part} || '', '{_BETWEEN}')"


def is_lifted(spec: Spec) -> bool:
    """Whether a chart's numbers are in its rows."""
    return any(param["name"] == HEAD for param in spec.get("params", ()))


def are_numbers(values: Any) -> bool:
    """Whether it is a list of some numbers and of nothing else."""
    return isinstance(values, list | tuple) and bool(values) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
