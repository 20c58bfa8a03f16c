"""Lab 03's figures as specifications: they compile, they carry the bill's own numbers, they keep their axes."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import GPUS, MODELS
from core.comm_cost.asked import AskedBill
from core.comm_cost.readings import readings
from core.scenario import Scenario
from core.steps.view import View
from runtime.measurements import measured_all_reduces
from ui.comm_cost import charts
from ui.comm_cost import rows as rows_of
from ui.comm_cost import rows_payloads as payload_rows
from ui.comm_cost.rows_residuals import named_residuals
from ui.comm_cost.rows_scale import bills_by_ranks
from ui.figures.prediction import prediction_line
from ui.figures.time_against_payload import time_against_payload
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]
NAMES = ["light", "dark", "projected"]
POINTS = measured_all_reduces()


def drawn(chart) -> str:
    """The chart as Vega draws it."""
    return vl_convert.vegalite_to_svg(chart.to_dict())


def sizes(svg: str) -> set[float]:
    """Every type size in a drawing, in px."""
    return {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}


def napkin(**scenario):
    return View(Scenario(**scenario), napkin=True)


def bill_table(view):
    return rows_of.link_rows(view, view.compared, POINTS)


@pytest.mark.parametrize("look", LOOKS, ids=NAMES)
@pytest.mark.parametrize("view", [View(Scenario()), View(Scenario(), "prefill"), napkin()])
def test_the_bill_is_drawn_in_the_two_colours_and_no_other_term_has_them(look, view):
    table = bill_table(view)
    svg = drawn(charts.bill_bars(table, look, charts.axis_end_ms(table)))
    assert look.palette.latency in svg
    assert look.palette.bandwidth in svg
    for row in table:
        assert row.name in svg


def test_a_projected_figure_has_no_type_under_24_px():
    look = Look(LIGHT, present=True)
    table = bill_table(View(Scenario()))
    assert min(sizes(drawn(charts.bill_bars(table, look, charts.axis_end_ms(table))))) >= 24


@pytest.mark.parametrize("view", [View(Scenario(tp=8)), napkin()])
def test_the_bars_are_the_bill(view):
    """What the row says in milliseconds is what core priced, launch counted as waiting."""
    row, priced = rows_of.link_row(view, view.network, POINTS), view.price(view.network)
    assert row.compute_ms == pytest.approx(1e3 * priced.step.rank_compute_s)
    assert row.latency_ms == pytest.approx(1e3 * priced.waiting_s)
    assert row.bandwidth_ms == pytest.approx(1e3 * priced.bandwidth_s)


def test_the_main_story_says_a_speed_up_and_the_napkin_a_share():
    """8 ms whole and 6.82 ms are 46.0 %; 4 ms and 0.33 ms make a token 1.85 times as fast."""
    lab, view = napkin(), View(Scenario())
    assert rows_of.link_row(lab, lab.network, POINTS).in_words == "6.40 + 0.42 = 6.82 ms, 46.0%"
    assert rows_of.link_row(view, view.link, POINTS).in_words == "4.00 + 0.33 = 4.33 ms, 1.85 ×"
    assert rows_of.link_rows(view, view.links, POINTS)[0].in_words == "8 ms"


@given(st.sampled_from(sorted(MODELS)), st.sampled_from(sorted(GPUS)), st.sampled_from((2, 4, 8)), st.booleans())
def test_no_figure_mixes_the_napkins_links_with_measured_ones(model, gpu, tp, lab):
    view = View(Scenario(model=model, gpu=gpu, tp=tp), napkin=lab)
    assert {link.base_s == 0 for link in (*view.compared, view.link, view.network)} == {lab}


def test_what_does_not_fit_is_told_apart():
    """141 GB on an 80 GB GPU: not on one, on two only just not, on four."""
    large = Scenario(model="llama-3-70b", gpu="h100-sxm")
    assert [View(replace(large, tp=tp)).fits for tp in (1, 2, 4)] == ["none", "shared", "shared"]
    assert View(Scenario()).fits == "one"


def test_a_measured_bill_stands_beside_the_modelled_one():
    """64 all-reduces of 8 KiB over TCP took 233 µs each: 14.9 ms, on top of the step."""
    lab = napkin()
    assert rows_of.link_row(lab, lab.network, POINTS).measured_ms == pytest.approx(8 + 64 * 0.233, rel=0.001)
    view = View(Scenario())
    assert rows_of.link_row(view, view.network, POINTS).measured_ms == pytest.approx(4 + 64 * 0.233, rel=0.001)


def test_where_nobody_measured_no_tick_is_drawn():
    lab = napkin(tp=16)
    row = rows_of.link_row(lab, lab.network, POINTS)
    assert row.measured == ""
    table = [row]
    assert "measured" not in drawn(charts.bill_bars(table, LOOKS[0], charts.axis_end_ms(table)))


@pytest.mark.parametrize("look", LOOKS, ids=NAMES)
@pytest.mark.parametrize("tp", [1, 2, 6, 64])
def test_time_against_payload_is_drawn_at_any_number_of_ranks(look, tp):
    """At some of them nothing was measured, and the line stands alone."""
    view = napkin(tp=tp)
    curve = payload_rows.curve(view, view.link)
    measured = payload_rows.measured_points(view, POINTS)
    residuals = named_residuals(view, POINTS)
    svg = drawn(time_against_payload(curve, measured, payload_rows.marks(view), residuals, look))
    assert "payload of one all-reduce" in svg
    assert "decode" in svg


@pytest.mark.parametrize(("tp", "over"), [(2, False), (4, True), (8, True)])
def test_a_lines_name_stands_where_no_circle_lies(tp, over):
    """A100 NCCL at N = 2 takes longer than modelled, at 4 and 8 less: there its circles lie under the line."""
    view = napkin(tp=tp)
    curve = payload_rows.curve(view, view.link)
    measured = payload_rows.measured_points(view, POINTS)
    named = time_against_payload(curve, measured, payload_rows.marks(view), [], LOOKS[0])
    assert [dy < 0 for dy in name_drops(named)] == (
        [True, False] if over else [False]
    )  # a phone's is under the circles


def name_drops(chart):
    """How far under its beginning each line's name stands, in their order, and on a phone where it differs."""
    places = [(row["wide"], row["narrow"]) for row in chart.rows if "narrow" in row]
    return [dy for pair in places for dy in dict.fromkeys(pair)]


def test_the_names_of_two_lines_that_begin_close_together_stand_apart():
    """PCIe and InfiniBand NDR at TP=2, 8.5 and 13.5 µs: both names stood between them, one over the other."""
    view = View(Scenario(link="pcie-4", network="ib-ndr"), "decode")
    curve = [*payload_rows.curve(view, view.link), *payload_rows.curve(view, view.network)]
    measured = payload_rows.measured_points(view, POINTS)
    drawn_lines = time_against_payload(curve, measured, payload_rows.marks(view), [], LOOKS[0])
    assert [dy < 0 for dy in name_drops(drawn_lines)] == [False, True]  # PCIe's under, the network's over its own


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_the_name_of_a_regime_stands_clear_of_the_payloads_pointed_at(tp):
    """Neither an upright nor the end of the axis crosses the part of it, some 0.15, that a name takes."""
    view = napkin(tp=tp)
    curve = [*payload_rows.curve(view, view.link), *payload_rows.curve(view, view.network)]
    measured = payload_rows.measured_points(view, POINTS)
    marks = payload_rows.marks(view)
    spec = time_against_payload(curve, measured, marks, [], LOOKS[0]).to_dict()
    named = [row for rows in spec["datasets"].values() for row in rows if "said" in row]
    assert {row["said"] for row in named} == {"latency rules", "bandwidth rules"}
    low, high = min(row.payload_bytes for row in curve), max(row.payload_bytes for row in curve)
    name = (high / low) ** 0.15
    for row in named:
        begins, ends = row["payload_bytes"], row["payload_bytes"] * name
        assert ends < high
        assert not any(begins < mark.payload_bytes < ends for mark in marks)


def test_residuals_are_named_by_the_side_of_the_line_they_lie_on():
    """A100 NCCL at N = 2 takes 10.97 µs where the model says 6.05, at N = 8 21.3 where it says 42.1."""
    near = [found for found in named_residuals(napkin(), POINTS) if found.time_us < 100]
    assert [found.name for found in near][:2] == ["launch", "protocol"]
    assert named_residuals(napkin(tp=8), POINTS)[0].name == "fewer hops than a ring"
    assert not named_residuals(napkin(tp=16), POINTS)


def test_the_line_turns_colour_where_the_terms_meet():
    curve = payload_rows.curve(napkin(), napkin().network)
    turn = max(row.payload_bytes for row in curve if row.rules == "latency")
    assert turn == min(row.payload_bytes for row in curve if row.rules == "bandwidth")
    assert turn == pytest.approx(2 * 50e-6 * 1.25e9)


def test_waiting_grows_with_the_ranks_and_bytes_stay_below_two_payloads():
    own = AskedBill(50.0, 1.25, 1, 8.0, 2, "llama-3-8b")
    rows = bills_by_ranks(own)
    bars = {(row.term, row.ranks): row.time_ms for row in rows}
    assert bars["latency", "TP=64"] == pytest.approx(63 * bars["latency", "TP=2"])
    longest = max(time_ms for (term, _), time_ms in bars.items() if term == "bandwidth")
    assert longest < 2 * bars["bandwidth", "TP=2"]
    assert "TP=64" in drawn(charts.bills_by_ranks(rows, LOOKS[0]))


def test_a_pin_reads_back_as_it_was_written():
    own = AskedBill(2.5, 25.0, 16, 3.35, 8, "llama-3-70b")
    assert AskedBill.from_text(own.text()) == own


@pytest.mark.parametrize(
    "text", ["", "1_2_3", "a_b_c_d_e_f", "50_0_1_8_2_llama-3-8b", "50_1_1_8_2_gpt-9", "_" * 99]
)
def test_a_pin_that_is_none_is_no_pin(text):
    assert AskedBill.from_text(text) is None


@pytest.mark.parametrize(
    ("said", "truth", "words"),
    [
        (None, None, []),
        (15, None, ["you said 15%"]),
        (15, 46.0, ["you said 15%", "46.0%", "31 points low"]),
        (90, 46.0, ["44 points high"]),
        (45, 46.0, ["1 point low"]),
        (46, 46.0, ["right"]),
        (None, 46.0, ["46.0%"]),
    ],
)
def test_before_the_reveal_only_what_was_said_is_there(said, truth, words):
    svg = drawn(prediction_line(said, truth, LOOKS[0], high=100, unit="%"))
    assert all(word in svg for word in words)
    assert ("46.0%" in svg) == (truth is not None)


@pytest.mark.parametrize(
    ("said", "unit", "words"),
    [(2, "ms", "5 ms low"), (8, "GPU,GPUs", "1 GPU high"), (9, "GPU,GPUs", "2 GPUs high")],
)
def test_how_far_off_one_was_has_its_unit(said, unit, words):
    assert words in drawn(prediction_line(said, 7.0, LOOKS[0], high=40, unit=unit))


@pytest.mark.parametrize(
    ("said", "moved", "words"),
    [
        (None, "", None),
        (1, "", "you said 1 GPU"),
        (1, "3", "you said 3 GPUs"),
        (3, "1", "you said 1 GPU"),
        (3, "0", None),
    ],
)
def test_the_browser_moves_the_line_as_the_slider_is_moved(said, moved, words):
    line = prediction_line(said, None, LOOKS[0], high=20, unit="GPU,GPUs", slider="start_guess").to_dict()
    (live,) = (param for param in line["params"] if param["name"] == "live_start_guess")
    assert "bind" in live
    live["value"] = moved
    svg = vl_convert.vegalite_to_svg(line)
    assert re.findall("you said[^<]*", svg) == ([words] if words else [])


@pytest.mark.parametrize(("truth", "high"), [(1540.0, 2000), (46.0, 100)])
def test_thousands_on_the_line_are_grouped_as_everywhere(truth, high):
    svg = drawn(prediction_line(None, truth, LOOKS[0], high=high, unit="%"))
    assert ("1\u202f200" in svg) == (high > 1000)
    assert "1,200" not in svg


@pytest.mark.parametrize(
    ("terms_s", "said"),
    [
        ((6.4e-3, 0.42e-3), "6.40 + 0.42 = 6.82 ms"),
        ((3.1e-3, 1.951), "0.0031 + 1.95 = 1.95 s"),
        ((0.0, 99.97e-3), "0 + 100 = 100 ms"),
        ((3e-3, 25.655), "0.0030 + 25.7 = 25.7 s"),
        ((45e-3, 6197.3), "0.045 + 6200 = 6200 s"),
    ],
)
def test_the_terms_of_a_long_bill_are_told_in_seconds(terms_s, said):
    assert rows_of.sum_in_ms(*terms_s) == said


@pytest.mark.parametrize("width", [330, 620, 852])
def test_each_sum_of_the_slips_stands_nearer_its_own_bar_than_the_next(width):
    """On a phone and at 1366 px a long name's sum moves under its bar, where it must not meet the next name."""
    view = napkin()
    bills = rows_of.reading_rows(readings(view.step, view.network))
    spec = {**charts.bill_bars(bills, LOOKS[0], charts.axis_end_ms(bills)).to_dict(), "width": width}
    svg = vl_convert.vegalite_to_svg(spec)
    heights = {
        text: float(y)
        for y, text in re.findall(r"<text[^>]*translate\([\d.-]+,([\d.-]+)\)[^>]*>([^<]+)</text>", svg)
    }
    for row, following in pairwise(bills):
        assert heights[row.name] - 2 <= heights[row.in_words] <= heights[following.name] - 18


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_bar_of_one_stage_can_be_worked_out_from_its_label(ranks):
    """Its latency grows with the peers that are read, and each of them is a whole payload."""
    view = View(Scenario(model="llama-3-70b", gpu="a100-80gb-sxm", tp=ranks))
    label = rows_of.link_row(view, view.link, POINTS).detail
    latency_us, rate = re.search(r"one stage: (\S+) µs of latency, (\S+) GB/s", label).groups()
    one_us = float(latency_us) + (ranks - 1) * view.step.payload_bytes / float(rate) / 1e3
    assert 160 * one_us / 1e6 == pytest.approx(view.price(view.link).comm_s, rel=2e-3)
