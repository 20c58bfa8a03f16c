"""The clinic's cases as figures: bars of terms, lines over something counted, histograms of times."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from ui.figures.style import Chart, over_lines, styled, words
from ui.theme import Look, Palette

_KEY = 26
_KEY_WORDS = {
    "weights": "weights",
    "compute": "compute",
    "waiting": "waiting",
    "latency": "latency",
    "bandwidth": "bytes",
    "activations": "peak",
    "outside": "context",
    "kv": "KV cache",
}
_MANY = 6
"""More bars than this stand in a row each: their names beside them, not over them."""


@dataclass(frozen=True)
class _Rows:
    """Where bars stand, in laptop pixels: a row's height, the room over a bar, and beside it on either side."""

    row: float
    over: float
    left: float
    right: float

    @property
    def words_over(self) -> bool:
        """Whether a bar's words stand over it, and not beside."""
        return self.left == 0


def _rows(bars: int, look: Look) -> _Rows:
    """Words over few bars, beside many; on a projector the rows stand closer."""
    if bars > _MANY:
        return _Rows(row=24 if look.present else 27, over=3, left=84, right=72)
    return _Rows(row=43 if look.present else 52, over=20 if look.present else 22, left=0, right=0)


def term_bars(parts: pd.DataFrame, ends: pd.DataFrame, unit: str, look: Look) -> Chart:
    """One bar a row from zero, its name and its whole over it or beside it, its terms in it where they fit.

    `parts` has bar, place, term, start, end, said; `ends` bar, place, end, said. A term that is only waiting is a
    dashed outline.
    """
    last = 1.02 * float(ends.end.max())
    rows = _rows(len(ends), look)
    terms = [term for term in _KEY_WORDS if term in set(parts.term)]
    head = _KEY if len(terms) > 1 else 0
    parts, ends = _placed(parts, rows, head, look), _placed(ends, rows, head, look)
    axis = alt.Axis(grid=False, title=None, labelExpr=f"datum.label + ' {unit}'", tickCount=5, domain=False)
    ends_at = [look.px(rows.left), alt.ExprRef(f"width - {look.px(rows.right)}")]
    start = alt.X("start:Q", scale=alt.Scale(domain=[0, last], nice=False, range=ends_at), axis=axis)
    words_at = "over" if rows.words_over else "middle"
    name = alt.Chart(ends).mark_text(
        **words(look, 14.5, align="left", fontWeight=600, limit=alt.ExprRef(f"width - {look.px(70)}"))
    )
    whole = alt.Chart(ends).mark_text(**words(look, 14.5, align="right", fontWeight=600))
    layers = [
        *(_key(terms, look) if head else []),
        *_fills(parts, start, look),
        _said(parts, start, last, rows, look),
        name.encode(x=alt.XValue(0), y=_y(words_at), text=alt.Text("bar:N")),
        whole.encode(x=alt.XValue("width"), y=_y(words_at), text=alt.Text("said:N")),
    ]
    return styled(alt.layer(*layers), look, head + rows.row * len(ends))


def _placed(bars: pd.DataFrame, rows: _Rows, head: float, look: Look) -> pd.DataFrame:
    """The bars with their pixels below `head`: the words' middle over them, their own edges and middle."""
    top = head + rows.row * bars.place + rows.over
    bottom = head + rows.row * (bars.place + 1) - (6 if rows.words_over else 3)
    return bars.assign(
        over=look.px(1) * (head + rows.row * bars.place + rows.over / 2),
        top=look.px(1) * top,
        bottom=look.px(1) * bottom,
        middle=look.px(1) * (top + bottom) / 2,
    )


def _key(terms: Sequence[str], look: Look) -> list[alt.Chart]:
    """What each fill is, in words, over the first bar."""
    layers, left = [], 0.0
    for term in terms:
        fill, edge = _fill_of(term, look.palette)[0], look.palette.axis
        one = alt.Chart(pd.DataFrame({"name": [_KEY_WORDS[term]]}))
        sign = one.mark_square(size=look.px(13) ** 2, color=fill, stroke=edge, strokeWidth=look.px(1), opacity=1)
        word = one.mark_text(**words(look, 14, align="left"))
        y = alt.YValue(look.px(9))
        layers += [
            sign.encode(x=alt.XValue(look.px(left + 7)), y=y),
            word.encode(x=alt.XValue(look.px(left + 20)), y=y, text=alt.Text("name:N")),
        ]
        left += 42 + 7 * len(_KEY_WORDS[term])
    return layers


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _fill_of(term: str, palette: Palette) -> tuple[str, str]:
    """The fill of a term and the ink that is read on it."""
    return {
        "latency": (palette.latency, palette.on_latency),
        "bandwidth": (palette.bandwidth, palette.text),
        "waiting": (palette.hatch_ground, palette.text),
        "whole": (palette.primary, palette.on_primary),
        "kv": (palette.primary, palette.on_primary),
        "activations": (palette.second_ground, palette.text),
        "outside": (palette.ground, palette.text),
    }.get(term, (palette.compute, palette.text))


def _fills(parts: pd.DataFrame, start: alt.X, look: Look) -> list[alt.Chart]:
    layers = []
    for term in dict.fromkeys(parts.term):
        dash = {"strokeDash": [look.px(4), look.px(3)]} if term == "waiting" else {}
        edge = look.palette.hatch if term == "waiting" else look.palette.axis
        mark = alt.Chart(parts[parts.term == term]).mark_rect(
            color=_fill_of(term, look.palette)[0], stroke=edge, strokeWidth=look.px(1), **dash
        )
        layers.append(mark.encode(x=start, x2=alt.X2("end"), y=_y("top"), y2=alt.Y2("bottom")))
    return layers


def _said(parts: pd.DataFrame, start: alt.X, last: float, rows: _Rows, look: Look) -> alt.Chart:
    """A term's words inside it, where they fit; their ink goes by the fill."""
    shown = parts.assign(ink=[_fill_of(term, look.palette)[1] for term in parts.term], size=parts.said.str.len())
    width = f"(width - {look.px(rows.left + rows.right)})"
    room = f"(datum.end - datum.start) / {last} * {width} > datum.size * {look.px(7.4)} + {look.px(14)}"
    return (
        alt.Chart(shown)
        .transform_filter(f"datum.size && {room}")
        .mark_text(**words(look, 13.5, align="left", dx=look.px(7)))
        .encode(x=start, y=_y("middle"), text=alt.Text("said:N"), color=alt.Color("ink:N", scale=None))
    )


def series_lines(points: pd.DataFrame, x: str, y: str, look: Look, height: float = 250) -> Chart:
    """A line a series over `x`, its name where it begins. Columns: series, x, y_ms."""
    return styled(alt.layer(*named_lines(points, "y_ms", x, f"{y}, ms", look, at_end=False)), look, height)


def named_lines(
    points: pd.DataFrame, column: str, x_title: str, y_title: str, look: Look, at_end: bool = True
) -> list[alt.Chart]:
    """A line a series, told apart by its dashes, named beyond its end or over its start.

    Columns: series, x, `column`.
    """
    far, narrow = float(points.x.max()), f"width < {look.px(520)}"
    beyond = alt.ExprRef(f"{narrow} ? {far} : {1.2 * far}") if at_end else far
    ticks = {"values": [far * fifth / 5 for fifth in range(6)]} if at_end else {"tickCount": 6}
    x = alt.X(
        "x:Q",
        axis=alt.Axis(grid=False, title=x_title, **ticks),
        scale=alt.Scale(nice=False, domainMax=beyond),
    )
    y = alt.Y(f"{column}:Q", axis=alt.Axis(title=y_title, tickCount=4, domain=False, tickSize=0))
    dashes = alt.StrokeDash("series:N", scale=alt.Scale(range=[[1, 0], [7, 4], [2, 3], [9, 3, 2, 3]]), sort=None)
    by_series = points.groupby("series", sort=False).x
    ends = _spread(points.loc[by_series.idxmax() if at_end else by_series.idxmin()], column)
    label = alt.Y("label:Q")
    side = {"align": "left", "dx": look.px(6), "dy": look.px(-12)}
    if at_end:
        over = {"align": "'right'", "dx": look.px(-4), "dy": look.px(-12)}
        beside = {"align": "'left'", "dx": look.px(8), "dy": 0}
        side = {name: alt.ExprRef(f"{narrow} ? {over[name]} : {beside[name]}") for name in over}
    line = alt.Chart(points).mark_line(strokeWidth=look.px(3), color=look.palette.text)
    return [
        line.encode(x=x, y=y, strokeDash=dashes, detail=alt.Detail("series:N")),
        over_lines(
            alt.Chart(ends).encode(x=x, y=label, text=alt.Text("series:N")),
            look,
            **words(look, 14, fontWeight=600, **side),
        ),
    ]


def _spread(ends: pd.DataFrame, column: str) -> pd.DataFrame:
    """The ends of the lines with a place for each name: at the end, or below the name above it."""
    ends = ends.sort_values(column, ascending=False)
    least = 0.11 * float(ends[column].max() or 1)
    places: list[float] = []
    for height in ends[column]:
        places.append(min(float(height), places[-1] - least) if places else float(height))
    return ends.assign(label=places)


def time_histogram(steps: pd.DataFrame, look: Look) -> Chart:
    """The share of steps in each bin over a logarithmic axis of time; of two series the second is an outline.

    Columns: series, low_ms, high_ms, percent. The scale of shares is a square root, so that one in a hundred shows.
    """
    palette, height = look.palette, look.px(190)
    x = alt.X(
        "low_ms:Q",
        scale=alt.Scale(type="log", domain=[6, 600], nice=False),
        axis=alt.Axis(values=[10, 20, 50, 100, 200, 500], grid=False, title="time of a step, ms", format="d"),
    )
    scale = alt.Scale(type="sqrt", domain=[0, float(steps.percent.max())], nice=False)
    y = alt.Y("percent:Q", scale=scale, axis=alt.Axis(title="% of steps, root scale", values=[1, 10, 30, 60]))
    layers = []
    for order, name in enumerate(dict.fromkeys(steps.series)):
        fill = {"color": palette.compute} if order == 0 else {"fill": None}
        bars = alt.Chart(steps[steps.series == name]).mark_rect(
            stroke=palette.text, strokeWidth=look.px(1 + order), **fill
        )
        which = f", {'outlined' if order else 'filled'}" if steps.series.nunique() > 1 else ""
        said = pd.DataFrame({"said": [name + which]})
        place = alt.YValue(look.px(8 + 20 * order))
        layers += [
            bars.encode(x=x, x2=alt.X2("high_ms"), y=y, y2=alt.Y2Value(height)),
            alt.Chart(said)
            .mark_text(**words(look, 14.5, align="right", fontWeight=600))
            .encode(x=alt.XValue("width"), y=place, text=alt.Text("said:N")),
        ]
    return styled(alt.layer(*layers), look, 190)
