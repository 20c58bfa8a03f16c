"""The grammar of charts: each list of rows once, axes that say SI in a unit one reads, valid specifications."""

from dataclasses import dataclass

import altair as alt
import pandas as pd
import pyarrow as pa
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from runtime import content
from ui.figures import bars, dots, lines
from ui.figures.frames import as_row, sheet, worded
from ui.figures.parts import FIRST, PART
from ui.figures.style import (
    BINARY_BYTES,
    BYTES,
    SECONDS,
    Figure,
    at,
    figure,
    kept,
    layer,
    linear,
    log,
    rows_of,
    unit_of,
    words,
)
from ui.theme import LIGHT, Look

LOOK = Look(LIGHT)


@dataclass(frozen=True)
class Row:
    """A bar with two terms, in SI."""

    name: str
    latency_s: float
    end_s: float
    said: str = "6.82 ms"
    measured_s: float | None = None
    start_s: float = 0.0


ROWS = (Row("NVLink", 0.001, 0.002), Row("10 GbE", 0.006, 0.007, measured_s=0.015))


def everything() -> Figure:
    """One figure with every kind of mark in it."""
    bands = bars.Bands(26, 24, 36, 28)
    rows = bands.placed(ROWS, LOOK)
    x = linear("start_s", [0, 0.016], SECONDS)
    y = lines.times("end_s", [row.end_s for row in ROWS], LOOK)
    sizes = [{"payload_bytes": 2.0**power, "end_s": 1e-6 * power, "name": "a"} for power in range(9, 27)]
    by_bytes = lines.payloads("payload_bytes", [row["payload_bytes"] for row in sizes], "payload")
    return figure(
        [
            bars.stretch(LOOK, rows, x, "latency_s", "#000000", "#FFFFFF"),
            *bars.captions(LOOK, rows, "name", "said", "said"),
            bars.inside(LOOK, rows, x, "latency_s", "said"),
            *bars.measured_tick(LOOK, rows, {**x, "field": "end_s"}, "measured_s", "said"),
            *bars.key(LOOK, [bars.Sign("latency", "#000000", "#111111")]),
            bars.columns(
                LOOK, rows, "name", linear("end_s", [0, 1], SECONDS), "name", {row.name: "#000000" for row in ROWS}
            ),
            lines.lines(LOOK, sizes, by_bytes, y, "name"),
            *lines.names(LOOK, lines.ends(sizes, "name", "payload_bytes"), by_bytes, y, "name"),
            dots.rules(LOOK, "y", y, [1e-6], **dots.dashed(LOOK)),
            dots.label(LOOK, "here", x=0, y=4),
            *dots.key(LOOK, [("fitted", "#000000")]),
            layer("point", [], x=x, y=at("middle")),
        ],
        LOOK,
        bands.height(len(rows)),
    )


def test_a_figure_is_valid_vega_lite():
    alt.LayerChart.from_dict(everything().to_dict())
    assert "10 GbE" in vl_convert.vegalite_to_svg(everything().to_dict())


def test_each_list_of_rows_is_sent_once_as_arrow_and_a_layer_without_rows_stands_empty():
    drawn = everything()
    sent = {name: pa.ipc.open_stream(data).read_all().to_pylist() for name, data in drawn.sent["datasets"].items()}
    assert {spec["data"]["name"] for spec in drawn.spec["layer"]} == set(sent)
    assert sent[drawn.spec["layer"][-1]["data"]["name"]] == []
    head, *first = sent.pop(FIRST)
    assert head[PART]
    assert not any(row[PART] for row in first)
    rows = [*first, *(row for part in sent.values() for row in part)]
    assert [part for row in drawn.rows if (part := row[PART]) != FIRST] == [
        name for name, part in sent.items() for _ in part
    ]
    assert len(rows) == len(drawn.rows)


def test_only_what_a_layer_names_is_sent():
    rows = [{"a": 1.0, "b": 2.0, "unused": "much"}]
    drawn = figure([layer("point", rows, where="datum.b > 1", x=linear("a", [0, 2], SECONDS))], LOOK, 10)
    assert drawn.rows == ({PART: FIRST, "a": 1.0, "b": 2.0},)


def test_a_figure_is_drawn_once_for_the_same_rows():
    calls = []

    @kept
    def draw(rows: tuple[Row, ...], look: Look) -> Figure:
        calls.append(rows)
        return figure([layer("text", rows_of(rows), text="name", **words(look, 14))], look, 10)

    assert draw(list(ROWS), LOOK) is draw(ROWS, LOOK)
    assert draw(ROWS, Look(LIGHT, present=True)) is not draw(ROWS, LOOK)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("units", "value", "unit"),
    [
        (SECONDS, 25.0, "s"),
        (SECONDS, 0.0068, "ms"),
        (SECONDS, 3e-6, "µs"),
        (SECONDS, 0.0, "µs"),
        (BYTES, 80e9, "GB"),
        (BINARY_BYTES, 8192, "KiB"),
    ],
)
def test_an_axis_chooses_its_unit_by_its_end(units, value, unit):
    assert unit_of(units, value)[0] == unit


def labels(x) -> str:
    """The drawing of an axis alone."""
    drawn = figure([layer("point", [{"v": x["scale"]["domain"][1]}], x=x)], LOOK, 20)
    return vl_convert.vegalite_to_svg(drawn.to_dict())


def test_seconds_are_said_in_milliseconds_and_their_unit_stands_once():
    assert ">6 ms<" in labels(linear("v", [0, 0.0068], SECONDS))
    titled = labels(linear("v", [0, 0.0068], SECONDS, title="a step"))
    assert ">6<" in titled
    assert ">a step, ms<" in titled
    assert ">ms a step<" in labels(linear("v", [0, 0.0068], SECONDS, title="{unit} a step"))


def test_each_number_of_a_logarithmic_axis_has_its_own_unit():
    svg = labels(log("v", [1e-6, 20.0], SECONDS))
    assert all(f">{said}<" in svg for said in ("10 µs", "1 ms", "1 s"))
    svg = labels(lines.payloads("v", [512, 2**30], None))
    assert all(f">{said}<" in svg for said in ("512 B", "8 KiB", "16 MiB", "1 GiB"))


def test_a_phone_is_told_a_measurement_whole_whatever_its_decimal_mark():
    """`medido 4,34 ms, NCCL` is cut where the software begins, not within the number."""
    rows = [{"name": "a", "end_s": 1.0, "measured_s": 0.9, "said": "medido 4,34 ms, NCCL", "place": 0}]
    placed = bars.Bands(34, 0, 36, 0).placed(rows, LOOK)
    ticks = bars.measured_tick(LOOK, placed, linear("end_s", [0, 2], SECONDS), "measured_s", "said")
    spec = figure(ticks, LOOK, 80).to_dict()
    svg = vl_convert.vegalite_to_svg({**spec, "width": 350})
    assert "medido 4,34 ms<" in svg


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (847, "4.34 ms (only the all-reduces were measured), vLLM 0.14.0 custom all-reduce, A100 SXM node"),
        (595, "4.34 ms (only the all-reduces were measured)"),
        (350, "4.34 ms"),
    ],
)
def test_what_was_measured_gives_way_to_what_stands_before_it(width, shown):
    """Both stand on one line under a bar: at 595 px, a laptop's half, they were printed over each other."""
    detail = "one stage: 5.07 µs of latency, 230 GB/s"
    measured = "4.34 ms (only the all-reduces were measured), vLLM 0.14.0 custom all-reduce, A100 SXM node"
    rows = [{"name": "a", "total": "1", "end_s": 1.0, "measured_s": 0.9, "detail": detail, "said": measured}]
    placed = bars.Bands(34, 0, 36, 28).placed(rows, LOOK)
    layers = [
        *bars.captions(LOOK, placed, "name", "total", "detail"),
        *bars.measured_tick(LOOK, placed, linear("end_s", [0, 2], SECONDS), "measured_s", "said", "detail"),
    ]
    svg = vl_convert.vegalite_to_svg({**figure(layers, LOOK, 80).to_dict(), "width": width})
    assert f">{detail}<" in svg
    assert f">{shown}<" in svg


@dataclass(frozen=True)
class Told:
    """A row with a code and a number."""

    term: str
    latency_ms: float
    nobody_names: int


def test_a_table_is_headed_and_marked_in_the_language_and_taken_away_as_core_writes_it():
    """Sorting goes by the numbers: what is shown is only their dress."""
    rows = [Told("latency", 6.4, 3), Told("TP=2", 0.41943, 1_035_648)]
    with content.speaking("es"):
        table = sheet(rows)
        dressed = table.shown._translate(False, False)
        assert table.sent.column_names == ["término", "latencia (ms)", "nobody_names"]
        assert [[cell["display_value"] for cell in row[1:]] for row in dressed["body"]] == [
            ["latencia", "6,400", "3"],
            ["TP=2", "0,4194", "1\u202f035\u202f648"],
        ]
        assert table.shown.data["latencia (ms)"].tolist() == [6.4, 0.41943]
        assert table.shown.uuid == ""  # not one of chance, which would have every run send the table anew
        assert table.csv.decode().splitlines() == [
            "term,latency_ms,nobody_names",
            "latency,6.4,3",
            "TP=2,0.41943,1035648",
        ]
    assert sheet(rows).shown.column_names[:2] == ["term", "latency (ms)"]


@given(st.lists(st.tuples(st.text(), st.floats() | st.none() | st.integers(0, 9), st.integers(0, 9) | st.none())))
def test_rows_and_their_frame_make_one_table(cells):
    """Rows are made a table without pandas; a frame of them is pandas's own."""
    rows = [Told(*row) for row in cells]
    table, framed = sheet(rows), pd.DataFrame(map(as_row, rows))
    assert table.csv.decode() == framed.to_csv(index=False, lineterminator="\n")
    assert table.sent.to_pandas().equals(pa.Table.from_pandas(worded(framed)).to_pandas())


def test_a_tooltip_names_its_fields_and_codes_in_the_language():
    with content.speaking("es"):
        drawn = layer("point", [Told("latency", 6.4, 3)], x="latency_ms", tooltip=["term", "latency_ms"]).spec
    told = drawn["encoding"]["tooltip"]
    assert [(one["title"], one["field"]) for one in told] == [
        ("término", "told_term"),
        ("latencia (ms)", "rounded_latency_ms"),
    ]
    assert drawn["transform"][0] == {
        "calculate": '{"latency": "latencia"}[datum.term] || datum.term',
        "as": "told_term",
    }


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (8030261248, "8,030,261,248"),
        (3.0, "3"),
        (112.569859231, "112.6"),
        (-3, "\N{MINUS SIGN}3"),
        (20480.57, "20,480.6"),
        (float("nan"), ""),
    ],
)
def test_a_tooltip_rounds_what_is_not_whole(value, written):
    """As Vega writes it; the specification is the same whatever the numbers are, so no chart is made anew."""
    first = figure([layer("point", [{"bytes": 1.0}, {"bytes": value}], x=0, tooltip=["bytes"])], LOOK, 40)
    other = figure([layer("point", [{"bytes": 1.0}], x=0, tooltip=["bytes"])], LOOK, 40)
    assert first.lifted.spec == other.lifted.spec
    drawn = {**first.to_dict(), "config": {"aria": True}}
    drawn["layer"][0]["mark"]["aria"] = True
    drawn["layer"][0]["encoding"]["description"] = {"field": "rounded_bytes"}
    assert f'aria-label="{written}"' in vl_convert.vegalite_to_svg({**drawn, "width": 100})
