"""Start here's figures: they compile, they carry core's numbers, nothing in them is small when projected."""

import re

import pytest
import vl_convert

from core.course import labs_own
from core.course.start_here import ring_stages
from ui.start_here import charts, drawing, words
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def figures(look):
    """Every chart of the page, by the words that must be in it."""
    return {
        ("NVLink", "10 GbE", "56.6 µs", "latency"): charts.message_bars(words.messages(), look),
        ("Read every matrix", "7.36 ms", "48.1 µs"): charts.token_bars(words.token_needs(), look),
        ("decode", "prefill", "read the weights", "multiply"): charts.pass_against_tokens(
            labs_own.passes(), words.marked_tokens().items(), look
        ),
        ("2 GPUs", "70.6 GB each, 34.1 ms a token", "141 GB each, does not fit"): charts.model_over_gpus(
            words.shares(), labs_own.GPU.usable_memory_bytes, look
        ),
    }


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_every_figure_says_what_it_shows(look):
    for said, chart in figures(look).items():
        svg = vl_convert.vegalite_to_svg(chart.to_dict())
        assert all(part in svg for part in said), said
        sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
        assert min(sizes) >= (24 if look.present else 13)
        if "latency" not in said:
            assert look.palette.latency not in svg
            assert look.palette.bandwidth not in svg


def test_only_what_does_not_fit_passes_the_line():
    for share in words.shares():
        assert share.fits == (share.weight_bytes <= labs_own.GPU.usable_memory_bytes)


def test_a_token_of_the_large_model_reads_no_embedding_but_its_own_row():
    """70.55e9 parameters less 128,256 × 8,192 of the embedding, two bytes each, at 2.039 TB/s over two GPUs."""
    two = next(share for share in words.shares() if share.gpus == 2)
    assert two.weight_bytes == pytest.approx(70_553_706_496)
    assert two.read_s == pytest.approx((70_553_706_496 - 128_256 * 8192) / 2.039e12)
    assert words.fields()["large_read_s"] == pytest.approx(two.read_s)


def test_the_two_lines_cross_between_decode_and_the_prompt():
    decode, equal, prefill = words.marked_tokens().values()
    assert decode < equal < prefill
    for one in labs_own.passes():
        assert (one.arithmetic_s < one.memory_s) == (one.tokens < equal)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_drawn_ring_holds_what_the_programs_leave(palette):
    svg, narrow = (drawing.two_halves(ring_stages(4), palette, "alt", on_phone) for on_phone in (False, True))
    assert sorted(set(re.findall(r">([^<>]+)</text>", narrow)) - {"reduce-scatter", "all-gather"}) == sorted(
        set(re.findall(r">([^<>]+)</text>", svg)) - {"reduce-", "scatter", "all-", "gather"}
    )
    numbers = re.findall(r">(\d+)</text>", svg)
    assert numbers.count("10") == 4 + 16
    assert [numbers.count(str(part)) for part in (1, 2, 3, 4)] == [4, 4, 4, 4]
    assert all(word in svg for word in ("reduce-", "all-reduce", "gather", "r0", "r3"))


def test_the_running_ring_adds_its_numbers_and_ends_with_the_sum_everywhere():
    """Rank r begins with r + 1; after three rounds one chunk a rank is 10, after six all of them."""
    ring = labs_own.ring_run()
    sums = labs_own.ring_sums(ring)
    assert sums[0] == tuple((f"{rank + 1}",) * 4 for rank in range(4))
    assert [chunks.count("10") for chunks in sums[3]] == [1, 1, 1, 1]
    assert sums[6] == (("10",) * 4,) * 4
    assert len(ring.rounds) == words.fields()["rounds"] == 6


def test_the_drawn_nodes_name_their_ranks_and_links():
    for on_phone in (False, True):
        svg = drawing.two_nodes(2, "NVLink", "10 GbE", LIGHT, "alt", on_phone)
        assert svg.count(">NVLink<") == 2
        assert svg.count(">10 GbE<") == 1
        assert re.findall(r">rank (\d)<", svg) == ["0", "1", "2", "3"]


def test_the_equations_are_the_numbers_of_the_readings():
    """15.01 GB / 2.039 TB/s = 7.36 ms, and 312 T · 2 / (2 · 2.039 T) = 153 tokens."""
    assert words.share_terms()[1:] == (("15.01 GB", "2.039 TB/s"), "7.36 ms")
    assert words.ridge_terms()[1:] == (("312 T · 2", "2 · 2.039 T"), "153 tokens")
    assert words.fields()["ridge"] == 153
