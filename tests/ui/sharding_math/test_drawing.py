"""The layer diagram as SVG: well-formed, every rank's share in it, two bars. Looked at in screenshots."""

from xml.etree import ElementTree

import pytest

from core.catalog import model
from core.sharding_math.layer_parts import layer_parts
from tests.each import each
from ui.figures.svg import NARROW, WIDE
from ui.sharding_math.drawing import layer_diagram
from ui.theme import DARK, LIGHT


def words(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.text]


@each("palette", [LIGHT, DARK])
@each("tp_size", [1, 2, 4, 8, 16, 32])
def test_the_diagram_has_two_bars_and_every_rank(tp_size, palette):
    parts = layer_parts(model("llama-3-8b"), tp_size)
    said = words(layer_diagram(parts, tp_size, palette, "a <layer> & its ranks"))
    assert sum(text == "all-reduce" for text in said) == (2 if tp_size > 1 else 0)
    assert said.count("Σ  8 KiB") == (2 if tp_size > 1 else 0)
    if tp_size <= 8:
        assert {f"rank {rank}" for rank in range(tp_size)} <= set(said)
    if tp_size == 32:
        assert said.count("32 ranks") == 7


@pytest.mark.parametrize("tp_size", [1, 2, 4, 8, 16, 32])
def test_every_outline_ends_inside_the_drawing(tp_size):
    """A stroke is two wide, half of it outside its rectangle."""
    for size in (WIDE, NARROW):
        parts = layer_parts(model("llama-3-8b"), tp_size)
        svg = ElementTree.fromstring(layer_diagram(parts, tp_size, LIGHT, "", size))
        boxes = [element.attrib for element in svg.iter() if element.tag.endswith("rect")]
        assert max(float(box["x"]) + float(box["width"]) + 1 for box in boxes) <= size.width


def test_a_phone_sees_every_rank_of_two_and_no_side_scroll():
    said = words(layer_diagram(layer_parts(model("llama-3-8b"), 2), 2, LIGHT, "", NARROW))
    assert {"rank 0", "rank 1", "KV heads 4–7"} <= set(said)


def test_two_matrices_in_one_row_are_not_written_as_one():
    """Gate and up at TP=2 are [7168, 4096] each on a rank; [14336, 4096] would be one whole matrix."""
    said = words(layer_diagram(layer_parts(model("llama-3-8b"), 2), 2, LIGHT, ""))
    assert "2 × [7168, 4096] a rank" in said
    assert not any("[14336, 4096] a rank" in text for text in said)


def test_four_ranks_hold_eight_heads_and_two_kv_heads_each():
    said = words(layer_diagram(layer_parts(model("llama-3-8b"), 4), 4, LIGHT, ""))
    assert "heads 8–15" in said
    assert "KV heads 6–7" in said
    assert "[1024, 4096] a rank" in said
    assert "[4096] on all" in said


def test_shares_are_named_of_all_ranks_or_of_none():
    """At eight ranks `0–1791` would fit and `12544–14335` would not."""
    said = words(layer_diagram(layer_parts(model("llama-3-8b"), 8), 8, LIGHT, ""))
    assert not any(text.startswith("0–1791") for text in said)
    assert "0–3" in said
