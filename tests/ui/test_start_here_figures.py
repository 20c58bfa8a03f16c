"""Start here's figures: they compile, they carry core's numbers, nothing in them is small when projected."""

import re

import pytest
import vl_convert

from core.course.start_here import ring_stages
from core.units import GB
from ui.figures.frames import frame
from ui.start_here import charts
from ui.start_here import drawing as drawings
from ui.start_here import rows as rows_of
from ui.start_here import words as facts
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]
CAPACITY_GB = rows_of.gpu().usable_memory_bytes / GB


def figures(look):
    """Every chart of the page, by the words that must be in it."""
    messages, token = frame(rows_of.message_bars()), frame(rows_of.token_bars())
    curve, marks = frame(rows_of.pass_curve()), frame(rows_of.pass_marks())
    return {
        ("NVLink", "10 GbE", "56.6 µs", "latency"): charts.two_part_bars(
            messages, look, "µs", names=("latency", "bandwidth")
        ),
        ("Read every matrix", "7.36 ms", "48.1 µs"): charts.two_part_bars(token, look, "ms"),
        ("decode", "prefill", "read the weights", "multiply"): charts.pass_against_tokens(curve, marks, look),
        ("2 GPUs", "70.6 GB each, read in 34.6 ms", "141 GB each, does not fit"): charts.model_over_gpus(
            frame(rows_of.shares()), CAPACITY_GB, look
        ),
    }


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_every_figure_says_what_it_shows(look):
    for said, chart in figures(look).items():
        svg = vl_convert.vegalite_to_svg(chart.to_dict())
        assert all(words in svg for words in said), said
        sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
        assert min(sizes) >= (24 if look.present else 13)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_latency_and_bandwidth_have_their_colours_and_compute_has_neither(look):
    messages, token, *_ = (vl_convert.vegalite_to_svg(chart.to_dict()) for chart in figures(look).values())
    for colour in (look.palette.latency, look.palette.bandwidth):
        assert colour in messages
        assert colour not in token


def test_only_what_does_not_fit_passes_the_line():
    for share in rows_of.shares():
        assert share.fits == (share.weights_gb <= CAPACITY_GB)


def test_the_two_lines_cross_between_decode_and_the_prompt():
    decode, equal, prefill = (mark.tokens for mark in rows_of.pass_marks())
    assert decode < equal < prefill
    by_engine = {name: [p for p in rows_of.pass_curve() if p.engine == name] for name in ("memory", "arithmetic")}
    for memory, arithmetic in zip(by_engine["memory"], by_engine["arithmetic"], strict=True):
        assert (arithmetic.time_ms < memory.time_ms) == (memory.tokens < equal)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_drawn_ring_holds_what_the_programs_leave(palette):
    svg = drawings.two_halves(ring_stages(4), palette, "alt")
    numbers = re.findall(r">(\d+)</text>", svg)
    assert numbers.count("10") == 4 + 16
    assert [numbers.count(str(part)) for part in (1, 2, 3, 4)] == [4, 4, 4, 4]
    assert all(word in svg for word in ("reduce-", "all-reduce", "gather", "r0", "r3"))


def test_the_drawn_nodes_name_their_ranks_and_links():
    svg = drawings.two_nodes(2, "NVLink", "10 GbE", LIGHT, "alt")
    assert svg.count(">NVLink<") == 2
    assert svg.count(">10 GbE<") == 1
    assert re.findall(r">rank (\d)<", svg) == ["0", "1", "2", "3"]


def test_the_equations_are_the_numbers_of_the_readings():
    """15.01 GB / 2.039 TB/s = 7.36 ms, and 312 T · 2 / (2 · 2.039 T) = 153 tokens."""
    assert facts.share_terms()[1:] == (("15.01 GB", "2.039 TB/s"), "7.36 ms")
    assert facts.ridge_terms()[1:] == (("312 T · 2", "2 · 2.039 T"), "153 tokens")
    assert facts.fields()["ridge"] == "153"
