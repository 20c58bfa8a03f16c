"""Lab 01's plots: the ledger of a step, the TP sizes of a model, and how far sums land from the dense one."""

import altair as alt
import pandas as pd

from ui.figures.style import Chart, styled, words
from ui.theme import Look


def ledger_strip(table: pd.DataFrame, look: Look) -> Chart:
    """One dark cell an all-reduce: layers across, the two halves of a layer down."""
    layers = int(table["layer"].max()) + 1
    ticks = [layer for layer in range(layers) if layer % max(1, layers // 8) == 0 or layer == layers - 1]
    axis = alt.Axis(title="layer", labelAngle=0, ticks=False, domain=False, values=ticks)
    x = alt.X("layer:O", axis=axis, scale=alt.Scale(paddingInner=0.25))
    y = alt.Y("half:N", sort=["attention", "MLP"], axis=_plain_axis(), scale=alt.Scale(paddingInner=0.3))
    cells = alt.Chart(table).mark_rect(color=look.palette.text, cornerRadius=2)
    return styled(
        alt.layer(
            cells.encode(
                x=x,
                y=y,
                tooltip=[
                    alt.Tooltip("layer"),
                    alt.Tooltip("half"),
                    alt.Tooltip("operation"),
                    alt.Tooltip("payload"),
                    alt.Tooltip("ranks"),
                    alt.Tooltip("why"),
                ],
            )
        ),
        look,
        96,
    )


def size_strip(table: pd.DataFrame, look: Look) -> Chart:
    """TP sizes from 1 to 64: filled where the model splits, outlined with copied KV heads, struck if refused."""
    palette = look.palette
    data = table.assign(column=(table["tp_size"] - 1) % 16, row=(table["tp_size"] - 1) // 16)
    hidden = alt.Axis(title=None, labels=False, ticks=False, domain=False, grid=False)
    x = alt.X("column:O", axis=hidden, scale=alt.Scale(paddingInner=0.12))
    y = alt.Y("row:O", axis=hidden, scale=alt.Scale(paddingInner=0.18))
    base = alt.Chart(data).encode(
        x=x,
        y=y,
        tooltip=[alt.Tooltip("tp_size"), alt.Tooltip("verdict"), alt.Tooltip("kv_copies"), alt.Tooltip("equation")],
    )
    allowed, copied, refused = (base.transform_filter(alt.datum.verdict == name) for name in _VERDICTS)
    text = words(look, 14.5)
    layers = [
        refused.mark_text(**words(look, 14.5, color=palette.muted)).encode(text=alt.Text("tp_size:Q")),
        refused.mark_text(**words(look, 14.5, color=palette.muted, text="—", fontSize=look.px(22))),
        copied.mark_rect(fill=palette.ground, stroke=palette.text, strokeWidth=look.px(2), cornerRadius=3),
        copied.mark_text(**text).encode(text=alt.Text("tp_size:Q")),
        allowed.mark_rect(fill=palette.text, cornerRadius=3),
        allowed.mark_text(**{**text, "color": palette.ground, "fontWeight": 600}).encode(
            text=alt.Text("tp_size:Q")
        ),
    ]
    return styled(alt.layer(*layers), look, 150)


_VERDICTS = ("allowed", "KV heads copied", "refused")


def ulps_bars(table: pd.DataFrame, look: Look) -> Chart:
    """How many entries lie how many ulps from the dense product: column-parallel outlined, row-parallel filled."""
    labels = "datum.value == 9 ? '9+' : datum.label"
    axis = alt.Axis(title="ulps from the dense product", labelAngle=0, labelExpr=labels, ticks=False)
    top = 1.2 * float(table["entries"].max())
    x = alt.X("ulps:O", axis=axis, scale=alt.Scale(paddingInner=0.24))
    y = alt.Y("entries:Q", axis=None, scale=alt.Scale(domain=[0, top], nice=False))
    base = alt.Chart(table[table["entries"] > 0]).encode(
        x=x,
        y=y,
        xOffset=alt.XOffset("cut:N"),
        tooltip=[alt.Tooltip("cut"), alt.Tooltip("ulps"), alt.Tooltip("entries")],
    )
    palette = look.palette
    fill = alt.Color("cut:N", scale=alt.Scale(domain=["column", "row"], range=[palette.ground, palette.compute]))
    bars = base.mark_bar(stroke=palette.axis, strokeWidth=look.px(1)).encode(color=fill)
    counts = base.mark_text(**words(look, 13.5, baseline="bottom", dy=-look.px(4))).encode(
        text=alt.Text("entries:Q")
    )
    names = base.transform_filter(alt.datum.ulps == 0).mark_text(
        **words(look, 13.5, baseline="bottom", dy=-look.px(21), fontWeight=600)
    )
    return styled(alt.layer(bars, counts, names.encode(text=alt.Text("cut:N"))), look, 190)


def _plain_axis() -> alt.Axis:
    return alt.Axis(title=None, ticks=False, domain=False)
