"""What every chart shares: type, axes and grounds, for a look."""

from typing import Any, TypeAlias

import altair as alt
from altair.utils.schemapi import disable_debug_mode

from ui.theme import SANS, SERIF, Look

disable_debug_mode()
# a chart is held against the schema once, whole, when it is drawn; Altair would do so for each of its parts as well

_NUMBERS = {"decimal": ".", "thousands": "\u202f", "grouping": [3], "currency": ["$", ""]}
"""Thousands as `core.units.grouped` writes them."""

_SIDES = ("left", "top", "right", "bottom")

Chart: TypeAlias = "alt.Chart | alt.LayerChart"


def styled(chart: Chart, look: Look, height: float) -> Chart:
    """A finished chart: our type and lines, no frame, as wide as its place.

    `height` is the plot's, in laptop pixels; axes come on top of it. Marks name themselves to nobody: the figure's
    one alternative is its reading.
    """
    palette = look.palette
    text = {"font": SANS, "color": palette.text, "fontSize": look.px(14.5)}
    axis = {
        "labelFont": SANS,
        "titleFont": SANS,
        "labelFontSize": look.px(13.5),
        "titleFontSize": look.px(13.5),
        "titleFontWeight": "normal",
        "labelColor": palette.muted,
        "titleColor": palette.muted,
        "domainColor": palette.axis,
        "tickColor": palette.axis,
        "gridColor": palette.hairline,
        "labelPadding": look.px(4),
        "titlePadding": look.px(8),
    }
    config = alt.Config(
        locale=alt.Locale(number=alt.NumberLocale(**_NUMBERS)),
        mark=alt.MarkConfig(aria=False),
        view=alt.ViewConfig(stroke=None, continuousWidth=600),
        text=alt.MarkConfig(**text),
        axis=alt.AxisConfig(**axis),
        legend=alt.LegendConfig(disable=True),
    )
    return chart.properties(
        width="container",
        height=look.px(height),
        background="transparent",
        padding=dict.fromkeys(_SIDES, look.px(2)),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        config=config,
    )


def words(look: Look, size: float, **mark: Any) -> dict[str, Any]:
    """Keyword arguments of a text mark at a laptop size, in ink unless a colour is given."""
    return {"fontSize": look.px(size), "color": look.palette.text, "baseline": "middle", **mark}


def serif(look: Look, size: float, **mark: Any) -> dict[str, Any]:
    """As `words`, in the serif that says."""
    return words(look, size, font=SERIF, **mark)


def over_lines(base: alt.Chart, look: Look, **mark: Any) -> alt.LayerChart:
    """Text that a line may pass under: its ground first, a little wider than the letters."""
    ground = {**mark, "stroke": look.palette.ground, "strokeWidth": look.px(5), "strokeJoin": "round"}
    return alt.layer(base.mark_text(**ground), base.mark_text(**mark))
