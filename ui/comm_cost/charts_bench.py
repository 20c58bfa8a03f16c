"""Lab 03's bench: shares over GPUs and sizes, TP across the node boundary, and links as sold and as measured."""

from typing import Any

import altair as alt
import pandas as pd

from ui.comm_cost.charts import term_bars
from ui.figures.style import Chart, over_lines, styled, words
from ui.theme import Look

_DOT = 9


def share_dots(dots: pd.DataFrame, thresholds: tuple[float, float], look: Look) -> Chart:
    """Two shares a GPU, one over each link; a dot is filled where its verdict is another than the scenario's.

    Columns: gpu, step, role ("link" or "network"), link, share_percent, share, flips.
    """
    row = 23 if look.present else 30
    gpus = list(dict.fromkeys(dots.gpu))
    placed = dots.assign(
        y=[look.px(34 + row * gpus.index(name)) for name in dots.gpu], shown=dots.share.where(dots.flips, "")
    )
    names = placed.drop_duplicates("gpu").assign(said=lambda t: t.gpu + ", " + t.step)
    heads = placed.sort_values("share_percent").drop_duplicates("role", keep="last")
    x = _percent_axis()
    y = alt.Y("y:Q", scale=None, axis=None)
    shapes = alt.Scale(domain=["link", "network"], range=["circle", "square"])
    base = alt.Chart(placed)
    mark = {
        "size": look.px(_DOT) ** 2,
        "filled": True,
        "stroke": look.palette.text,
        "strokeWidth": look.px(1.6),
        "opacity": 1,
    }
    fill = alt.condition("datum.flips", alt.value(look.palette.text), alt.value(look.palette.ground))
    layers = [
        _thresholds(thresholds, x, look),
        alt.Chart(names).mark_rule(color=look.palette.hairline, strokeWidth=look.px(1)).encode(y=y),
        base.mark_point(**mark).encode(
            x=x,
            y=y,
            shape=alt.Shape("role:N", scale=shapes, legend=None),
            fill=fill,
            tooltip=[alt.Tooltip("gpu:N"), alt.Tooltip("link:N"), alt.Tooltip("share:N")],
        ),
        base.mark_text(**words(look, 14, align="left", dx=look.px(10), fontWeight=600)).encode(
            x=x, y=y, text=alt.Text("shown:N")
        ),
        # beside its row; on a phone, where the dots need the width, between the rows
        _named(names, f"width < {look.px(520)} ? '' : datum.said")
        .mark_text(**words(look, 13.5, align="right"))
        .encode(x=alt.XValue("width"), y=y, text=alt.Text("shown:N")),
        _named(names, f"width < {look.px(520)} ? datum.said : ''")
        .mark_text(**words(look, 13, align="right", dy=look.px(-12), color=look.palette.muted))
        .encode(x=alt.XValue("width"), y=y, text=alt.Text("shown:N")),
        alt.Chart(heads)
        .mark_text(**words(look, 14, fontWeight=600))
        .encode(x=x, y=alt.YValue(look.px(10)), text=alt.Text("link:N")),
    ]
    return styled(alt.layer(*layers), look, 44 + row * len(gpus))


def _named(names: pd.DataFrame, shown: str) -> alt.Chart:
    """Names with the text that an expression gives them."""
    return alt.Chart(names).transform_calculate(shown=shown)


def _percent_axis() -> alt.X:
    axis = alt.Axis(title=None, labelExpr="datum.value + ' %'", grid=False, values=[0, 10, 40, 70, 100])
    return alt.X("share_percent:Q", scale=alt.Scale(domain=[0, 100]), axis=axis)


def _thresholds(values: tuple[float, float], axis: alt.X | alt.Y, look: Look) -> alt.Chart:
    """Where the labs' verdicts change: noise below the first, fatal above the second."""
    rules = alt.Chart(pd.DataFrame({"share_percent": values}))
    dash = {"strokeDash": [6, 4], "strokeWidth": look.px(1.5), "color": look.palette.muted}
    return rules.mark_rule(**dash).encode(axis)


def share_lines(
    points: pd.DataFrame, thresholds: tuple[float, float], sizes: list[int], title: str, look: Look
) -> Chart:
    """Shares over a size, a line a series with its name at its end, dots in the colour of the term that rules.

    Columns: series, size, share_percent, rules ("latency", "bandwidth"; anything else is ink).
    """
    palette = look.palette
    inks = {"latency": palette.latency, "bandwidth": palette.bandwidth}
    axis = alt.Axis(values=sizes, title=title, grid=False, format="d")
    x = alt.X("size:Q", scale=alt.Scale(type="log", base=2, domain=[min(sizes), max(sizes)]), axis=axis)
    y = alt.Y(
        "share_percent:Q",
        scale=alt.Scale(domain=[0, 100]),
        axis=alt.Axis(
            title=None, labelExpr="datum.value + ' %'", values=[0, 10, 40, 70, 100], grid=False, tickSize=0
        ),
    )
    base = alt.Chart(points.assign(ink=points.rules.map(inks).fillna(palette.text)))
    ends = points.loc[points.groupby("series", sort=False)["size"].idxmax()]
    over = alt.Chart(ends.nlargest(1, "share_percent"))
    under = alt.Chart(ends.nsmallest(len(ends) - 1, "share_percent"))
    said = words(look, 14, align="right", fontWeight=600)
    layers = [
        _thresholds(thresholds, y, look),
        base.mark_line(strokeWidth=look.px(1.5), color=palette.axis).encode(
            x=x, y=y, detail=alt.Detail("series:N")
        ),
        base.mark_point(filled=True, opacity=1, size=look.px(_DOT) ** 2).encode(
            x=x,
            y=y,
            color=alt.Color("ink:N", scale=None),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("size:Q"), alt.Tooltip("share_percent:Q")],
        ),
        *(
            over_lines(ends.encode(x=x, y=y, text=alt.Text("series:N")), look, **said, dy=look.px(dy))
            for ends, dy in (
                (over, -16),
                (under.transform_filter("datum.share_percent < 20"), -16),
                (under.transform_filter("datum.share_percent >= 20"), 28),
            )
        ),
    ]
    return styled(alt.layer(*layers), look, 200 if look.present else 250)


def node_bars(bars: pd.DataFrame, look: Look) -> Chart:
    """The bill at each TP size, latency under bandwidth; a word stands where it first needs more than one node.

    Columns: ranks, term, order, time_ms, nodes.
    """
    across = bars[bars.nodes > 1].head(1).assign(said="past one node")
    said = words(look, 13.5, color=look.palette.muted)
    layers = [
        term_bars(bars, look),
        alt.Chart(across)
        .mark_text(**said)
        .encode(x=alt.X("ranks:N", sort=None), y=alt.YValue(look.px(8)), text=alt.Text("said:N")),
    ]
    return styled(alt.layer(*layers), look, 190 if look.present else 220)


def nominal_and_measured(links: pd.DataFrame, look: Look) -> Chart:
    """A row a link: what is sold as a tick, what was measured as an open circle. Columns as `ConstantRow`."""
    row = 19 if look.present else 22
    placed = links.reset_index(drop=True).assign(y=lambda t: look.px(12) + look.px(row) * t.index)
    # decades that no link has leave the room for the names
    ends = [0.02 * float(placed.nominal_gb_s.min()), 1.3 * float(placed.nominal_gb_s.max())]
    axis = alt.Axis(title="GB/s, one direction", values=[0.1, 1, 10, 100, 1000], format="~g", grid=False)
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x, y = alt.X("nominal_gb_s:Q", scale=scale, axis=axis), alt.Y("y:Q", scale=None, axis=None)
    known, palette = placed.dropna(subset=["measured_gb_s"]), look.palette
    layers = [
        alt.Chart(known)
        .mark_rule(strokeWidth=look.px(1.5), color=palette.axis)
        .encode(x=alt.X("measured_gb_s:Q", scale=scale, axis=axis), x2=alt.X2("nominal_gb_s"), y=y),
        alt.Chart(placed)
        .mark_tick(thickness=look.px(3), size=look.px(14), color=palette.bandwidth, opacity=1)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("name:N"), alt.Tooltip("source:N")]),
        alt.Chart(known)
        .mark_point(**_circle(look, 7))
        .encode(
            x=alt.X("measured_gb_s:Q", scale=scale, axis=axis),
            y=y,
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("note:N")],
        ),
        alt.Chart(placed)
        .mark_text(**words(look, 13.5, align="left"))
        .encode(x=alt.XValue(0), y=y, text=alt.Text("name:N")),
    ]
    return styled(alt.layer(*layers), look, row * len(placed))


def misses_by_ranks(misses: pd.DataFrame, look: Look) -> Chart:
    """The model's time over the measured one at one payload: a row a machine, a numbered dot a number of ranks.

    Columns as `Miss`.
    """
    row, names = 36 if look.present else 46, list(dict.fromkeys(misses.name))
    placed = misses.assign(y=[look.px(32 + row * names.index(name)) for name in misses.name])
    near = placed.groupby("name").ratio.diff().abs() / placed.ratio < 0.1
    placed.loc[near, "y"] += look.px(20)
    labels = "datum.value === 1 ? 'right' : datum.value + ' ×'"
    axis = alt.Axis(title=None, values=[0.25, 0.5, 1, 2, 4, 8], labelExpr=labels, grid=False)
    x = alt.X("ratio:Q", scale=alt.Scale(type="log", domain=[0.2, 10], nice=False), axis=axis)
    y = alt.Y("y:Q", scale=None, axis=None)
    base, heads = alt.Chart(placed), alt.Chart(placed.drop_duplicates("name"))
    layers = [
        heads.mark_rule(strokeWidth=look.px(1), color=look.palette.hairline).encode(y=y),
        alt.Chart(pd.DataFrame({"ratio": [1.0]})).mark_rule(**_right(look)).encode(x=x),
        base.mark_point(**_circle(look, 20)).encode(
            x=x, y=y, tooltip=[alt.Tooltip("name:N"), alt.Tooltip("ranks:O"), alt.Tooltip("ratio:Q")]
        ),
        base.mark_text(**words(look, 13.5, fontWeight=600)).encode(x=x, y=y, text=alt.Text("ranks:N")),
        heads.mark_text(**words(look, 14, align="left", dy=look.px(-17))).encode(
            x=alt.XValue(0), y=y, text=alt.Text("name:N")
        ),
    ]
    return styled(alt.layer(*layers), look, 20 + row * len(names))


def misses_by_payload(
    misses: pd.DataFrame, regions: tuple[tuple[int, int, str], ...], x: alt.X, look: Look
) -> Chart:
    """One machine's ratio over the payload, with a name over each stretch of it. Columns as `Miss`."""
    spans = alt.Chart(pd.DataFrame(regions, columns=["payload_bytes", "high", "name"]))
    labels = "datum.value === 1 ? 'right' : datum.value + ' ×'"
    low, high = min(0.4, 0.8 * float(misses.ratio.min())), max(2.5, 1.6 * float(misses.ratio.max()))
    values = [value for value in (0.03, 0.1, 0.25, 0.5, 1, 2, 4, 8) if low <= value <= high]
    axis = alt.Axis(title=None, values=values, labelExpr=labels, grid=False, tickSize=0)
    y = alt.Y("ratio:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=axis)
    said = words(look, 13.5, align="left", dx=look.px(5), color=look.palette.muted)
    layers = [
        spans.mark_rule(strokeDash=[2, 4], color=look.palette.axis).encode(x=x),
        spans.mark_text(**said).encode(x=x, y=alt.YValue(look.px(8)), text=alt.Text("name:N")),
        alt.Chart(pd.DataFrame({"ratio": [1.0]})).mark_rule(**_right(look)).encode(y=y),
        alt.Chart(misses).mark_line(color=look.palette.text, strokeWidth=look.px(1.5)).encode(x=x, y=y),
        alt.Chart(misses)
        .mark_point(**_circle(look, 7))
        .encode(x=x, y=y, tooltip=[alt.Tooltip("payload_bytes:Q"), alt.Tooltip("ratio:Q")]),
    ]
    return styled(alt.layer(*layers), look, 190 if look.present else 210)


def _right(look: Look) -> dict[str, Any]:
    """The rule where the model is right."""
    return {"color": look.palette.text, "strokeWidth": look.px(1.5)}


def _circle(look: Look, size: float) -> dict[str, Any]:
    """A measured point: an open circle."""
    palette = look.palette
    return {
        "size": look.px(size) ** 2,
        "filled": True,
        "fill": palette.ground,
        "stroke": palette.text,
        "strokeWidth": look.px(1.6),
        "opacity": 1,
    }


def busbw_by_size(rows: pd.DataFrame, average_gb_s: float, x: alt.X, look: Look) -> Chart:
    """The bus bandwidth of each size, and the one average in a table's footer. Columns: size_bytes, busbw_gb_s."""
    palette = look.palette
    y = alt.Y("busbw_gb_s:Q", axis=alt.Axis(title="busbw, GB/s", tickCount=4, domain=False, tickSize=0))
    mean = alt.Chart(pd.DataFrame({"busbw_gb_s": [average_gb_s], "said": ["the average over sizes"]}))
    base = alt.Chart(rows)
    layers = [
        mean.mark_rule(strokeDash=[6, 4], strokeWidth=look.px(1.5), color=palette.off).encode(y=y),
        mean.mark_text(**words(look, 14, align="right", dy=look.px(-10), color=palette.off)).encode(
            x=alt.XValue("width"), y=y, text=alt.Text("said:N")
        ),
        base.mark_line(color=palette.bandwidth, strokeWidth=look.px(3)).encode(x=x, y=y),
        base.mark_point(**_circle(look, 7)).encode(
            x=x, y=y, tooltip=[alt.Tooltip("size_bytes:Q"), alt.Tooltip("busbw_gb_s:Q")]
        ),
    ]
    return styled(alt.layer(*layers), look, 190 if look.present else 240)
