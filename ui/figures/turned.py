"""One chart that is any of several: the browser turns from one to another before the server has answered."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from runtime.kept import kept
from ui.figures.lifted import HEAD, read
from ui.figures.parts import PART, Figure
from ui.figures.style import Row

_OF, _SHOWN, _TURN = "_of", "_shown", "turn"
_ALL = -1
"""Whose rows are of every figure."""


class _ApartError(ValueError):
    """Two charts differ in what no expression can say."""


@kept
def turned(figures: Sequence[Figure], shown: int, live: str, first: int = 0) -> Figure:
    """The figures as one, of which the one is seen that a control of the page has open, by its place among them.

    A control that counts them says `first` of the first one, and may go on beyond the last. Until the browser has
    told `live`, which is `live_` and the control's key, that is `shown`: it goes along with the rows, so that an
    answer with another one has the same specification and the chart need not be made anew.
    Figures that differ in more than numbers and expressions (one has a mark more, or a title) cannot be one:
    then it is the one shown, and the server turns.
    """
    try:
        spec = _either([figure.lifted.spec for figure in figures], ())
    except _ApartError:
        return figures[shown]
    told = f"clamp(toNumber({live}) - {first}, 0, {len(figures) - 1})"
    which = f"{live} === '' ? (data('rows')[0] || {{}}).{_SHOWN} : {told}"
    params = [
        {"name": live, "value": "", "bind": {"input": "hidden", "name": " "}},
        {"name": _TURN, "expr": which},
        {"name": HEAD, "expr": read(PART, _TURN)},
        *(param for param in spec["params"] if param["name"] != HEAD),
    ]
    keep = {"filter": f"datum.{_OF} === {_TURN} || datum.{_OF} === {_ALL}"}
    layers = [{**layer, "transform": [keep, *layer.get("transform", ())]} for layer in spec["layer"]]
    first_head, *heads = (figure.lifted.rows[0] for figure in figures)
    rows = {_SHOWN: shown, **first_head}, *heads, *_rows(figures)
    return Figure({**spec, "params": params, "layer": layers}, rows)


def _rows(figures: Sequence[Figure]) -> list[Row]:
    """The rows of all, each with whose it is; what is the same part of all is there once."""
    parts = [{part: list(rows) for part, rows in groupby(one.rows, lambda row: row[PART])} for one in figures]
    common = {part for part, rows in parts[0].items() if all(other.get(part) == rows for other in parts)}
    once = [{_OF: _ALL, **row} for part in sorted(common) for row in parts[0][part]]
    return once + [
        {_OF: number, **row} for number, one in enumerate(figures) for row in one.rows if row[PART] not in common
    ]


def _either(parts: Sequence[Any], path: tuple[str, ...]) -> Any:
    """What all have in common, and where they differ an expression of the turn. Raises _ApartError."""
    first = parts[0]
    if all(part == first for part in parts):
        return first
    if all(isinstance(part, dict) and part.keys() == first.keys() for part in parts):
        return {name: _either([part[name] for part in parts], (*path, name)) for name in first}
    if all(isinstance(part, list) and len(part) == len(first) for part in parts):
        return [_either(some, path) for some in zip(*parts, strict=True)]
    if path[-1] not in ("labelExpr", "filter", "calculate"):
        raise _ApartError
    *others, last = (f"({part})" for part in parts)
    return "".join(f"{_TURN} === {number} ? {one} : " for number, one in enumerate(others)) + last
