"""Lab 01's plots: the ledger of a step, the TP sizes of a model, and how far sums land from the dense one."""

from collections.abc import Iterable

from core.scenario import Scenario
from runtime.prose import said as phrase
from ui.figures.style import PLAIN, Figure, Row, Spec, by, figure, kept, layer, linear, rows_of, words
from ui.sharding_math.pictures import CutLayers
from ui.theme import Look

_VERDICTS = ("allowed", "kv_heads_copied", "refused")


def cut_layers(scenario: Scenario, most: int) -> CutLayers:
    """Return the picture of the question: the model's layers, cut over the ranks."""
    layers, ranks = scenario.model_spec.num_hidden_layers, scenario.tp
    return CutLayers(layers, ranks, most, phrase("sharding_math", "says.cut_over", layers=layers, ranks=ranks))


@kept
def ledger_strip(table: Iterable[Row], look: Look) -> Figure:
    """One dark cell an all-reduce: layers across, the two halves of a layer down."""
    rows = rows_of(table)
    layers = int(max(row["layer"] for row in rows)) + 1
    ticks = [at for at in range(layers) if at % max(1, layers // 8) == 0 or at == layers - 1]
    x = _ordinal("layer", 0.25, title=phrase("sharding_math", "says.layer_axis"), labelAngle=0, values=ticks)
    y = _ordinal("half", 0.3) | {
        "type": "nominal",
        "sort": [phrase("sharding_math", f"says.half_{half}") for half in ("block", "attention", "mlp", "experts")],
    }
    told = ["layer", "half", "operation", "payload", "ranks", "why"]
    cells = layer("rect", rows, x=x, y=y, color=look.palette.text, cornerRadius=2, tooltip=told)
    return figure([cells], look, 96)


@kept
def size_strip(table: Iterable[Row], look: Look) -> Figure:
    """TP sizes from 1 to 64: filled where the model splits, outlined with copied KV heads, struck if refused."""
    palette = look.palette
    rows = [
        {**row, "column": (row["tp_size"] - 1) % 16, "row": (row["tp_size"] - 1) // 16} for row in rows_of(table)
    ]
    where = {
        "x": _ordinal("column", 0.12, labels=False, grid=False),
        "y": _ordinal("row", 0.18, labels=False, grid=False),
        "tooltip": ["tp_size", "verdict", "kv_copies", "equation"],
    }
    allowed, copied, refused = (
        [row for row in rows if row["verdict"] == phrase("sharding_math", f"says.{name}")] for name in _VERDICTS
    )
    label = {"text": "tp_size", **where}
    grey = words(look, 14.5, color=palette.muted)
    layers = [
        layer("text", refused, **label, **grey),
        layer("text", refused, shown="'—'", **where, **{**grey, "fontSize": look.font(22)}),
        layer("rect", copied, fill=palette.ground, stroke=palette.text, **where, **_box(look, 2)),
        layer("text", copied, **label, **words(look, 14.5)),
        layer("rect", allowed, fill=palette.text, **where, **_box(look, 0)),
        layer("text", allowed, **label, **words(look, 14.5, color=palette.ground, fontWeight=600)),
    ]
    return figure(layers, look, 150)


@kept
def ulps_bars(table: Iterable[Row], look: Look) -> Figure:
    """How many entries lie how many ulps from the dense product: column-parallel outlined, row-parallel filled."""
    palette, cuts = look.palette, {cut: phrase("sharding_math", f"says.cut_{cut}") for cut in ("column", "row")}
    rows = [{**row, "cut": cuts[row["cut"]]} for row in rows_of(table) if row["entries"] > 0]
    labels = "datum.value == 9 ? '9+' : datum.label"
    y = linear("entries", [0, 1.2 * max(row["entries"] for row in rows)], PLAIN) | {"axis": None}
    where = {
        "x": _ordinal(
            "ulps",
            0.24,
            line=True,
            title=phrase("sharding_math", "says.ulps_from_dense_product"),
            labelAngle=0,
            labelExpr=labels,
        ),
        "y": y,
        "xOffset": "cut",
        "tooltip": ["cut", "ulps", "entries"],
    }
    fills = by("cut", {cuts["column"]: palette.ground, cuts["row"]: palette.compute})
    count = words(look, 13.5, baseline="bottom", dy=-look.px(4))
    name = words(look, 13.5, baseline="bottom", dy=-look.px(21), fontWeight=600)
    layers = [
        layer("bar", rows, **where, color=fills, stroke=palette.axis, strokeWidth=look.px(1)),
        layer("text", rows, **where, text="entries", **count),
        layer("text", rows, where="datum.ulps == 0", **where, text="cut", **name),
    ]
    return figure(layers, look, 190)


def _ordinal(field: str, padding: float, *, line: bool = False, **axis: object) -> Spec:
    """A row or column of cells, some of each left free."""
    more = {} if line else {"domain": False}
    scale = {"paddingInner": padding}
    return {
        "field": field,
        "type": "ordinal",
        "scale": scale,
        "axis": {"title": None, "ticks": False, **more, **axis},
    }


def _box(look: Look, width: float) -> Spec:
    return {"strokeWidth": look.px(width), "cornerRadius": 3}
