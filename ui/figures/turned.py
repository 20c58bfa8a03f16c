"""One chart that is any of several: the browser turns from one to another before the server has answered."""

import json
from collections.abc import Sequence
from typing import Any

from runtime.kept import kept
from ui.figures.axes import Spec
from ui.figures.style import Figure

_OF, _SHOWN, _TURN = "_of", "_shown", "turn"


class _ApartError(ValueError):
    """Two charts differ in what no expression can say."""


@kept
def turned(figures: Sequence[Figure], shown: int, live: str) -> Figure:
    """The figures as one, of which the one is seen that a control of the page has open, by its place among them.

    Until the browser has told `live`, which is `live_` and the control's key, that is `shown`: it goes along with
    the rows, so that an answer with another one has the same specification and the chart need not be made anew.
    Figures that differ in more than numbers and expressions (one has a mark more, or is higher) cannot be one:
    then it is the one shown, and the server turns.
    """
    try:
        spec = _either([figure.spec for figure in figures], ())
    except _ApartError:
        return figures[shown]
    which = f"{live} === '' ? (data('rows')[0] || {{}}).{_SHOWN} : toNumber({live})"
    params = [
        {"name": live, "value": "", "bind": {"input": "hidden", "name": " "}},
        {"name": _TURN, "expr": which},
        *spec["params"],
    ]
    keep = {"filter": f"datum.{_OF} === {_TURN}"}
    layers = [{**layer, "transform": [keep, *layer["transform"]]} for layer in spec["layer"]]
    rows = ({_OF: number, _SHOWN: shown, **row} for number, figure in enumerate(figures) for row in figure.rows)
    return Figure({**spec, "params": params, "layer": layers}, tuple(rows))


def _either(parts: Sequence[Any], path: tuple[str, ...]) -> Any:
    """What all have in common, and where they differ an expression of the turn. Raises _ApartError."""
    first = parts[0]
    if all(part == first for part in parts):
        return first
    if all(isinstance(part, dict) and part.keys() == first.keys() for part in parts):
        merged = {name: _either([part[name] for part in parts], (*path, name)) for name in first}
        return _said(merged) if path[-1:] == ("params",) else merged
    if all(isinstance(part, list) and len(part) == len(first) for part in parts):
        return [_either(some, path) for some in zip(*parts, strict=True)]
    if path[-1] in ("labelExpr", "filter", "calculate"):
        return _choice([f"({part})" for part in parts])
    if path[-1] == "domain" or path[-2:] == ("params", "value"):
        return {"expr": _choice([json.dumps(part) for part in parts])}
    raise _ApartError


def _choice(expressions: Sequence[str]) -> str:
    *others, last = expressions
    return "".join(f"{_TURN} === {number} ? {one} : " for number, one in enumerate(others)) + last


def _said(param: Spec) -> Spec:
    """A parameter whose value is an expression."""
    return {"name": param["name"], "expr": param["value"]["expr"]}
