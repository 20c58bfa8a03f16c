"""The frame of every chart: its type, colours, axes and padding, and how its numbers are written."""

from functools import lru_cache

from runtime.quantities import Style, style
from ui.figures.axes import Spec
from ui.theme import SANS, Look

SIDES = ("left", "top", "right", "bottom")


@lru_cache(maxsize=256)
def _frame_of(look: Look, height: float, numbers: Style) -> Spec:
    palette = look.palette
    text = {"font": SANS, "color": palette.text, "fontSize": look.font(14.5)}
    axis = {
        "labelFont": SANS,
        "titleFont": SANS,
        "labelFontSize": look.font(13.5),
        "titleFontSize": look.font(13.5),
        "titleFontWeight": "normal",
        "labelColor": palette.muted,
        "titleColor": palette.muted,
        "domainColor": palette.axis,
        "tickColor": palette.axis,
        "gridColor": palette.hairline,
        "aria": False,
        "labelPadding": look.px(4),
        "labelSeparation": look.px(5),
        "titlePadding": look.px(8),
    }
    config = {
        "locale": {
            "number": {
                "decimal": numbers.decimal,
                "thousands": numbers.groups,
                "grouping": [3],
                "currency": ["$", ""],
            }
        },
        # marks and axes name themselves to nobody: the figure's one alternative is its reading
        "mark": {"aria": False},
        "view": {"stroke": None, "continuousWidth": 600},
        "text": text,
        "axis": axis,
        "legend": {"disable": True},
    }
    return {
        "width": "container",
        "height": look.px(height),
        "background": "transparent",
        "padding": dict.fromkeys(SIDES, look.px(2)),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": config,
    }


def canvas(look: Look, height: float) -> Spec:
    """A Vega-Lite specification without its layers, numbers in the style of the visit."""
    return dict(_frame_of(look, height, style()))
