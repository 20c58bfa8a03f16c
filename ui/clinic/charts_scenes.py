"""The clinic's other scenes: one slow rank three ways, the slowest of many, and what carries which payload."""

import altair as alt
import pandas as pd

from ui.clinic.charts import named_lines
from ui.figures.style import Chart, styled, words
from ui.theme import Look

_BYTES = (
    "datum.value >= 1048576 ? datum.value/1048576 + ' MiB' : "
    "datum.value >= 1024 ? datum.value/1024 + ' KiB' : datum.value + ' B'"
)


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def response_lines(rows: pd.DataFrame, here: pd.DataFrame, look: Look) -> Chart:
    """By how much each kind of work is longer against by how much one rank is slower, a circle at the knob.

    Columns of both: kind, slow_percent, longer_percent.
    """
    points = rows.rename(columns={"kind": "series", "slow_percent": "x"})
    marks = here.rename(columns={"kind": "series", "slow_percent": "x"})
    layers = named_lines(points, "longer_percent", "one rank slower by, %", "longer by, %", look)
    dots = (
        alt.Chart(marks)
        .mark_point(
            size=look.px(11) ** 2,
            filled=True,
            fill=look.palette.ground,
            stroke=look.palette.text,
            strokeWidth=look.px(2),
            opacity=1,
        )
        .encode(x=alt.X("x:Q"), y=alt.Y("longer_percent:Q"))
    )
    return styled(alt.layer(*layers, dots), look, 230)


def largest_curves(rows: pd.DataFrame, drawn: str, look: Look) -> Chart:
    """The slowest of N ranks' extra time over one rank's, N doubling; rows of kind `drawn` are open circles.

    Columns: kind, ranks, times.
    """
    axis = alt.Axis(values=[1, 2, 4, 8, 16, 32, 64], grid=False, title="ranks in lockstep", format="d")
    x = alt.X("ranks:Q", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)
    y = alt.Y(
        "times:Q", axis=alt.Axis(title="times one rank's mean, or its σ", tickCount=5, domain=False, tickSize=0)
    )
    lines, dots = rows[rows.kind != drawn], rows[rows.kind == drawn]
    ends = lines.loc[lines.groupby("kind", sort=False).ranks.idxmax()]
    dashes = alt.StrokeDash("kind:N", scale=alt.Scale(range=[[1, 0], [7, 4], [2, 3]]), sort=None)
    circle = {"filled": True, "fill": look.palette.ground, "stroke": look.palette.text, "opacity": 1}
    layers = [
        alt.Chart(lines)
        .mark_line(strokeWidth=look.px(3), color=look.palette.text)
        .encode(
            x=x,
            y=y,
            detail=alt.Detail("kind:N"),
            strokeDash=dashes,
        ),
        alt.Chart(dots).mark_point(size=look.px(7) ** 2, strokeWidth=look.px(1.6), **circle).encode(x=x, y=y),
        alt.Chart(ends)
        .mark_text(**words(look, 14, align="right", fontWeight=600, dx=look.px(-6), dy=look.px(-14)))
        .encode(x=x, y=y, text=alt.Text("kind:N")),
    ]
    return styled(alt.layer(*layers), look, 260)


def payload_bands(bands: pd.DataFrame, payload_bytes: float, release: str, look: Look) -> Chart:
    """What carries a payload, a row a release, over a logarithmic axis of bytes; a line stands at one payload.

    Columns: release, place, kernel, low_bytes, high_bytes. The machine's own release is set in bold.
    """
    palette, row = look.palette, 26 if look.present else 40
    fills = {
        "one stage": palette.primary,
        "two stages": palette.compute,
        "half butterfly": palette.second_ground,
        "symmetric memory": palette.hatch_ground,
        "NCCL": palette.ground,
    }
    inks = {"one stage": palette.on_primary}
    shown = bands.assign(
        top=look.px(1) * (row * bands.place + 4),
        bottom=look.px(1) * (row * (bands.place + 1) - 4),
        middle=look.px(1) * (row * (bands.place + 0.5)),
        fill=bands.kernel.map(fills),
        ink=[inks.get(kernel, palette.text) for kernel in bands.kernel],
        size=bands.kernel.str.len(),
    )
    low, high = float(bands.low_bytes.min()), float(bands.high_bytes.max())
    axis = alt.Axis(
        values=[2**9, 2**13, 2**18, 2**23], grid=False, title="payload of one all-reduce", labelExpr=_BYTES
    )
    x = alt.X("low_bytes:Q", scale=alt.Scale(type="log", base=2, domain=[low, high], nice=False), axis=axis)
    share = f"log(datum.high_bytes / datum.low_bytes) / log({high / low})"
    room = f"{share} * width > datum.size * {look.px(7.6)} + {look.px(14)}"
    names = shown.drop_duplicates("release")
    names = names.assign(weight=[600 if name == release else 400 for name in names.release])
    base = alt.Chart(shown)
    mark = pd.DataFrame({"payload_bytes": [min(max(payload_bytes, low), high)]})
    layers = [
        base.mark_rect(stroke=palette.axis, strokeWidth=look.px(1)).encode(
            x=x, x2=alt.X2("high_bytes"), y=_y("top"), y2=alt.Y2("bottom"), color=alt.Color("fill:N", scale=None)
        ),
        base.transform_filter(room)
        .mark_text(**words(look, 13.5, align="left", dx=look.px(7)))
        .encode(x=x, y=_y("middle"), text=alt.Text("kernel:N"), color=alt.Color("ink:N", scale=None)),
        *(
            alt.Chart(names[names.weight == weight])
            .mark_text(**words(look, 14, align="right", fontWeight=weight, dx=look.px(-8)))
            .encode(x=alt.XValue(0), y=_y("middle"), text=alt.Text("release:N"))
            for weight in (400, 600)
        ),
        *(
            alt.Chart(mark).mark_rule(strokeWidth=look.px(width), color=colour).encode(x=alt.X("payload_bytes:Q"))
            for width, colour in ((6, palette.ground), (2, palette.text))
        ),
    ]
    return styled(alt.layer(*layers), look, row * int(bands.place.max() + 1)).properties(
        padding={"left": look.px(62), "right": look.px(8), "top": look.px(2), "bottom": look.px(2)}
    )
