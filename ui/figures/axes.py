"""Axes that say SI in a unit one reads, and scales of what is not a length: colours, shapes, pixels."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ui.theme import Look

Spec: TypeAlias = dict[str, Any]
"""A piece of Vega-Lite."""

Units: TypeAlias = Sequence[tuple[str, float]]
"""Names of units and their sizes in the field's own, largest first."""

SECONDS: Units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
MILLISECONDS: Units = (("ms", 1.0),)
MICROSECONDS: Units = (("ms", 1e3), ("µs", 1.0))
BYTES: Units = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
BINARY_BYTES: Units = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0))
FRACTION: Units = (("%", 0.01),)
PERCENT: Units = (("%", 1.0),)
PLAIN: Units = (("", 1.0),)
TIMES: Units = (("×", 1.0),)

NARROW = 520
"""Below so many laptop pixels a figure has no room beside its bars: captions move or shorten."""

PHONE = 420
"""Below so many only the shortest words stand."""


def linear(
    field: str,
    ends: Sequence[float],
    units: Units,
    *,
    title: str | None = None,
    ticks: int | Sequence[float] = 6,
    nice: bool = False,
    grid: bool = False,
    line: bool = True,
    **axis: Any,
) -> Spec:
    """A field from one end to the other, said in the largest of `units` that the farther end reaches.

    A title has the unit where it says `{unit}`, else after a comma; without a title it stands beside each number.
    `ticks` is about how many, or where; a `nice` axis ends at one.
    """
    unit, size = unit_of(units, max(map(abs, ends)))
    label = _number(size) if title and unit else f"{_number(size)}{_said(unit)}"
    if title and unit:
        title = title.format(unit=unit) if "{unit}" in title else f"{title}, {unit}"
    return _axis(field, {"domain": list(ends), "nice": nice}, label, title, ticks, grid, line, axis)


def log(
    field: str,
    ends: Sequence[float],
    units: Units,
    *,
    title: str | None = None,
    ticks: Sequence[float] = (),
    base: int = 10,
    said: str = "",
    grid: bool = False,
    line: bool = True,
    **axis: Any,
) -> Spec:
    """As `linear` over a logarithmic scale: each number in its own unit, by default at the powers of ten.

    `said` is an expression for a number's words where no unit will do.
    """
    ticks = ticks or decades(1)
    label = f"{_number(units[-1][1])}{_said(units[-1][0])}"
    for unit, size in reversed(units[:-1]):
        label = f"datum.value >= {0.9999 * size!r} ? {_number(size)}{_said(unit)} : {label}"
    scale = {"type": "log", "base": base, "domain": list(ends), "nice": False}
    inside = [tick for tick in ticks if ends[0] <= tick <= ends[1]]
    return _axis(field, scale, said or label, title, inside, grid, line, axis)


def decades(*steps: float) -> list[float]:
    """Ticks of a logarithmic axis: such multiples of every power of ten."""
    return [step * 10.0**power for power in range(-9, 16) for step in steps]


def _axis(
    field: str,
    scale: Spec,
    label: str,
    title: str | None,
    ticks: int | Sequence[float],
    grid: bool,
    line: bool,
    more: Mapping[str, Any],
) -> Spec:
    axis: Spec = {"title": title, "grid": grid, "labelExpr": label, **more}
    axis |= {"tickCount": ticks} if isinstance(ticks, int) else {"values": list(ticks)}
    if not line:
        axis |= {"domain": False, "tickSize": 0}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def unit_of(units: Units, value: float) -> tuple[str, float]:
    """The largest unit that a value reaches, and its size; the smallest below that."""
    return next(((name, size) for name, size in units if value >= 0.9999 * size), units[-1])


def _number(size: float) -> str:
    return f"format(datum.value / {size!r}, ',~r')"


def _said(unit: str) -> str:
    return f" + ' {unit}'" if unit else ""


def also(axis: Spec, field: str) -> Spec:
    """The same axis for another field."""
    return {**axis, "field": field}


def at(field: str) -> Spec:
    """A field that holds pixels from the top or the left."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def by(field: str, values: Mapping[str, Any]) -> Spec:
    """A colour, shape or dash for each value of a field."""
    scale = {"domain": list(values), "range": list(values.values())}
    return {"field": field, "type": "nominal", "scale": scale, "legend": None}


def own(field: str) -> Spec:
    """A field that holds colours."""
    return {"field": field, "type": "nominal", "scale": None}


def each(*properties: str) -> Spec:
    """Properties of a mark that each row has its own of, in fields of their names."""
    return {name: {"expr": f"datum.{name}"} for name in properties}


def either(test: str, then: Any, otherwise: Any) -> Spec:
    """One value where an expression holds, another elsewhere."""
    return {"condition": {"test": test, "value": then}, "value": otherwise}


def narrower(look: Look, px: float = NARROW) -> str:
    """The expression that holds where the plot is narrower than so many laptop pixels."""
    return f"width < {look.letters(px)}"


RIGHT: Spec = {"value": "width"}
BOTTOM: Spec = {"value": "height"}
"""The plot's edges, as places."""
