"""The grammar of every chart: layers of rows in SI, axes that choose their unit, one look.

    rows = [Row(...), ...]                                     # frozen dataclasses of core's, in SI
    x = linear("time_s", [0, 0.02], SECONDS, title="a step")   # 0 to 20 ms, said in ms
    figure([layer("point", rows, x=x, y=at("line_px"), **dot(look, 7)), ...], look, height=200)

A chart is plain Vega-Lite, written down once: nothing is copied, compiled or held against a schema while a visitor
waits. The tests do that (`tests/ui/figures`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.kept import kept
from ui.figures.axes import (
    BINARY_BYTES,
    BOTTOM,
    BYTES,
    FRACTION,
    MICROSECONDS,
    MILLISECONDS,
    NARROW,
    PERCENT,
    PHONE,
    PLAIN,
    RIGHT,
    SECONDS,
    TIMES,
    Spec,
    Units,
    also,
    at,
    by,
    decades,
    each,
    either,
    linear,
    log,
    narrower,
    own,
    unit_of,
)
from ui.figures.canvas import SIDES, canvas
from ui.figures.frames import Row, as_row, cell, columns_of, head, rows_of
from ui.figures.held import with_span
from ui.figures.parts import FIRST, PART, Figure
from ui.theme import SERIF, Look

__all__ = [
    "BINARY_BYTES",
    "BOTTOM",
    "BYTES",
    "FRACTION",
    "MICROSECONDS",
    "MILLISECONDS",
    "NARROW",
    "PERCENT",
    "PHONE",
    "PLAIN",
    "RIGHT",
    "SECONDS",
    "TIMES",
    "Figure",
    "Layer",
    "Row",
    "Spec",
    "Units",
    "also",
    "as_row",
    "at",
    "by",
    "decades",
    "each",
    "either",
    "figure",
    "kept",
    "layer",
    "linear",
    "log",
    "narrower",
    "over",
    "own",
    "rows_of",
    "serif",
    "unit_of",
    "width_of",
    "words",
]
"""The whole grammar from one place; `axes` and `frames` are parts of it."""

_PLACES = ("x", "y", "x2", "y2")
_LOOKS = ("color", "fill", "stroke", "shape", "strokeDash", "size", "opacity")
_OTHERS = ("xOffset", "text", "detail", "order", "tooltip", "angle")


@dataclass(frozen=True, eq=False)
class Layer:
    """One kind of mark over some rows."""

    rows: Sequence[Row]
    spec: Spec


def layer(
    kind: str,
    rows: Iterable[Row],
    /,
    *,
    where: Any = (),
    shown: Any = "",
    reckoned: Any = (),
    like: Any = (),
    **properties: Any,
) -> Layer:
    """A mark over rows; layers given the same list of rows share its place in the data.

    `reckoned` are fields that the browser reckons first, by their expressions. `where` keeps the rows for which an
    expression holds, or each of several (`datum.latency_s > 0`, `width < 520`); `like` are rows that tell what a
    tooltip's fields are, where there may be none to draw;
    `shown` is the expression whose value a text mark writes. Places (`x`, `y`, `x2`, `y2`) are an axis, a field's
    name or pixels; colours, shapes and dashes a value or a scale (`by`, `either`); all else is the mark's own, and
    may be `{"expr": …}` of a row's `datum`, as a dash may.
    """
    transforms = [{"calculate": how, "as": field} for field, how in dict(reckoned).items()]
    transforms += [{"filter": condition} for condition in ([where] if isinstance(where, str) else where)]
    if shown:
        transforms.append({"calculate": shown, "as": "shown"})
        properties["text"] = "shown"
    rows = rows if isinstance(rows, list | tuple) else list(rows)
    if "tooltip" in properties:
        columns = list(map(columns_of, like or rows))
        told = [_told(field, columns) for field in properties["tooltip"]]
        properties["tooltip"] = [entry for entry, _ in told]
        transforms += [words for _, words in told if words]
    encoding = {
        name: _channel(name, properties.pop(name))
        for name in (*_PLACES, *_LOOKS, *_OTHERS)
        if name in properties and (name not in _LOOKS or _is_channel(properties[name]))
    }
    spec: Spec = {"mark": {"type": kind, **properties}, "encoding": encoding}
    if transforms:
        spec["transform"] = transforms
    return Layer(rows, spec)


def _is_channel(value: Any) -> bool:
    return isinstance(value, dict) and "expr" not in value


def _told(field: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Spec, Spec]:
    """A field of a tooltip as a table names it: its numbers in our own form, or the words of its codes, if any.

    What a number is like is told by the browser: a chart is the same whatever its numbers are.
    """
    entry = {"field": field, "type": "nominal", "title": head(field)}
    if rows and isinstance(rows[0].get(field), int | float):
        number = f"format(datum.{field}, abs(datum.{field}) < 1e4 ? ',.4~r' : ',.1~f')"
        shown, written = f"rounded_{field}", f"isValid(datum.{field}) ? {number} : ''"
    else:
        values = {str(value) for row in rows if (value := row.get(field)) is not None}
        codes = {code: cell(code) for code in sorted(values) if cell(code) != code}
        if not codes:
            return entry, {}
        shown, written = f"told_{field}", f"{json.dumps(codes)}[datum.{field}] || datum.{field}"
    return {**entry, "field": shown}, {"calculate": written, "as": shown}


def _channel(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        # an end shares the scale and axis of its beginning
        return {"field": value["field"]} if name in ("x2", "y2") and "field" in value else dict(value)
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        if name in ("x2", "y2"):
            return {"field": value}
        return {"field": value, "type": "quantitative" if name in ("x", "y", "angle") else "nominal"}
    return {"value": value}


def figure(
    layers: Iterable[Layer],
    look: Look,
    height: float,
    *,
    padding: Mapping[str, float] | None = None,
    apart: str = "",
    live: str | Sequence[str] = (),
) -> Figure:
    """A finished chart: layers from back to front, our type and lines, no frame, as wide as its place.

    `height` is the plot's, in laptop pixels; axes come on top of it. `padding` is a side's own, in laptop
    pixels; along the axis `apart` each layer has a scale of its own. A layer without rows stays one of them, so
    that an answer which has some is the same chart. The browser tells `live`, a parameter or several named
    `live_` and the key of a control in the page, what is asked there, before the server has answered.
    """
    parts: dict[int, tuple[str, Sequence[Row], set[str]]] = {}
    specs = []
    for drawn in layers:
        name, _, fields = parts.setdefault(id(drawn.rows), (_part(len(parts)), drawn.rows, set()))
        fields |= _fields(drawn.spec)
        own = [{"filter": f"!datum.{PART}"}] if name == FIRST else []
        transforms = [*own, *drawn.spec.get("transform", ())]
        specs.append({"data": {"name": name}, **drawn.spec} | ({"transform": transforms} if transforms else {}))
    rows = tuple(
        {PART: name, **{field: _plain(row[field]) for field in named if field in row}}
        for name, rows, fields in parts.values()
        for named in (sorted(fields),)
        for row in map(columns_of, rows)
    )
    spec = {"layer": specs, **canvas(look, height)}
    if apart:
        spec["resolve"] = {"scale": {apart: "independent"}}
    if names := [live] if isinstance(live, str) else live:
        bind = {"input": "hidden", "name": " "}
        spec["params"] = [{"name": name, "value": "", "bind": bind} for name in names]
    if padding:
        spec["padding"] = {side: look.px(padding.get(side, 2)) for side in SIDES}
    return Figure(with_span(spec), rows)


def _part(number: int) -> str:
    return f"part_{number}" if number else FIRST


def _plain(value: Any) -> Any:
    """A value as JSON has it: no NaN, and NumPy's numbers as Python's."""
    if type(value) is not float and hasattr(value, "item"):
        value = value.item()
    return value if value == value else None  # NaN is not itself


_DATUM = re.compile(r"\bdatum\.(\w+)").findall
_NESTED = (dict, list, tuple)
_OF_NO_ROW = {"axis", "scale"}
"""A tick's datum is no row of ours."""


def _fields(spec: Any) -> set[str]:
    """Every field a piece of Vega-Lite names, in a channel or an expression."""
    named: set[str] = set()
    for key, value in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if isinstance(value, str):
            named.update([value] if key == "field" else _DATUM(value) if "datum." in value else ())
        elif isinstance(value, _NESTED) and key not in _OF_NO_ROW:
            named |= _fields(value)
    return named


# Type


def words(look: Look, size: float, **mark: Any) -> dict[str, Any]:
    """Keyword arguments of a text mark at a laptop size, in ink unless a colour is given."""
    return {"fontSize": look.font(size), "color": look.palette.text, "baseline": "middle", **mark}


def serif(look: Look, size: float, **mark: Any) -> dict[str, Any]:
    """As `words`, in the serif that says."""
    return words(look, size, font=SERIF, **mark)


def width_of(text: str, size: float) -> float:
    """About how wide a word is in the sans, in pixels of its size: wide, narrow and other letters."""
    return size * sum(0.86 if letter in "mwMW" else 0.32 if letter in "fijlrt.,' " else 0.55 for letter in text)


def over(look: Look, rows: Sequence[Row], /, **mark: Any) -> list[Layer]:
    """Text that a line may pass under: its ground first, a little wider than the letters. As `layer`'s keywords."""
    ground = {"stroke": look.palette.ground, "strokeWidth": look.px(5), "strokeJoin": "round"}
    return [layer("text", rows, **mark, **ground), layer("text", rows, **mark)]
