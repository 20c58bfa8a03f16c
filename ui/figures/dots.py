"""Points: how a measured one looks, and rules across a plot."""

from collections.abc import Sequence
from typing import Any

from ui.figures.style import Layer, Row, Spec, at, layer, own, words
from ui.theme import Look


def dot(look: Look, size: float, *, filled: bool = False, width: float = 1.6, **mark: Any) -> dict[str, Any]:
    """Keyword arguments of a circle `size` laptop pixels across: open as what was measured, or filled with ink."""
    palette = look.palette
    fill = palette.text if filled else palette.ground
    return {
        "size": look.px(size) ** 2,
        "filled": True,
        "fill": fill,
        "stroke": palette.text,
        "strokeWidth": look.px(width),
        "opacity": 1,
        **mark,
    }


def dashed(look: Look, dash: Sequence[float] = (6, 4), **mark: Any) -> dict[str, Any]:
    """Keyword arguments of a dashed rule, grey unless a colour is given."""
    return {"strokeDash": list(dash), "strokeWidth": look.px(1.5), "color": look.palette.muted, **mark}


def rules(look: Look, axis: str, scale: Spec, values: Sequence[float], **mark: Any) -> Layer:
    """Lines across the plot at some values of the `x` or the `y` axis, thin and in ink unless told otherwise."""
    rows = [{scale["field"]: value} for value in values]
    return layer("rule", rows, **{axis: scale}, **{"strokeWidth": look.px(1.5), "color": look.palette.text, **mark})


def label(look: Look, text: str, size: float = 14, *, row: Row | None = None, **mark: Any) -> Layer:
    """One piece of text at a place: `x` and `y` in pixels, or axes whose fields `row` has, as `shown` has."""
    return layer("text", [{"said": text, **(row or {})}], **{"text": "said", **words(look, size, **mark)})


def key(look: Look, entries: Sequence[tuple[str, str]], left: float = 14, top: float = 14) -> list[Layer]:
    """What circles of each fill are, one under the other from a corner: pairs of a name and a fill."""
    rows: list[Row] = [
        {"name": name, "fill": fill, "y": look.px(top + 20 * index)} for index, (name, fill) in enumerate(entries)
    ]
    return [
        layer("point", rows, x=look.px(left), y=at("y"), **{**dot(look, 7, width=1.3), "fill": own("fill")}),
        layer("text", rows, x=look.px(left + 10), y=at("y"), text="name", **words(look, 14, align="left")),
    ]
