"""The score by concept: a bar of what was right, and the line that passes."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look

_ROW = 34


def score_bars(bars: pd.DataFrame, pass_fraction: float, look: Look) -> Chart:
    """One bar a concept on an axis from none to all right; a weak one is hollow, and says so by its outline."""
    ink, ground = look.palette.primary, look.palette.ground
    y = alt.Y("concept:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=look.px(170)))
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], grid=False, title=None)
    x = alt.X("right_fraction:Q", scale=alt.Scale(domain=[0, 1.18], nice=False), axis=axis)
    base = alt.Chart(bars)
    bar = base.mark_bar(height={"band": 0.56}, stroke=ink, strokeWidth=look.px(1.5)).encode(
        x=x, y=y, fill=alt.condition("datum.weak", alt.value(ground), alt.value(ink))
    )
    said = base.mark_text(**words(look, 13.5, align="left", dx=look.px(7))).encode(
        x=x, y=y, text=alt.Text("said:N")
    )
    line = alt.Chart(pd.DataFrame({"right_fraction": [pass_fraction]}))
    passes = line.mark_rule(strokeDash=[4, 4], strokeWidth=look.px(1.5), color=look.palette.muted).encode(x=x)
    return styled(alt.layer(bar, passes, said), look, _ROW * len(bars))
