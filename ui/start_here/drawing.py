"""Start here: ranks on their links, and a payload through the two halves of an all-reduce."""

from typing import Any

from core.course.start_here import Grid, Stages
from runtime.prose import said as phrase
from ui.figures.svg import drawing, path, rect, text
from ui.theme import Palette

_GPU_W, _GPU_H, _GAP = 68, 60, 56
_NODE_PAD, _BETWEEN, _TOP = 12, 64, 26
_CELL, _LABEL, _ARROW, _HEAD = 34, 20, 76, 44


def two_nodes(gpus_a_node: int, inside: str, between: str, palette: Palette, alt: str) -> str:
    """Two nodes of GPUs in a row, one rank on each, the two kinds of link named."""
    pitch = _GPU_W + _GAP
    node = gpus_a_node * pitch - _GAP + 2 * _NODE_PAD
    width, height = 2 * node + _BETWEEN, _TOP + _GPU_H + 2 * _NODE_PAD + 6
    middle = _TOP + _NODE_PAD + _GPU_H / 2
    parts = [_wire(node, node + _BETWEEN, middle, between, palette)]
    for index in range(2):
        left = index * (node + _BETWEEN)
        frame: dict[str, Any] = {"fill": "none", "stroke": palette.axis, "stroke_width": 1.4, "rx": 4}
        parts.append(rect(left + 1, _TOP, node - 2, _GPU_H + 2 * _NODE_PAD, **frame))
        parts.append(
            text(
                left + 2, _TOP - 9, phrase("start_here", "says.node", index=index), font_size=15, fill=palette.muted
            )
        )
        for slot in range(gpus_a_node):
            start = left + _NODE_PAD + slot * pitch
            if slot:
                parts.append(_wire(start - _GAP, start, middle, inside, palette))
            parts.append(_rank(start, _TOP + _NODE_PAD, index * gpus_a_node + slot, palette))
    return drawing(width, height, alt, *parts)


def _rank(left: float, top: float, rank: int, palette: Palette) -> str:
    box: dict[str, Any] = {"fill": palette.rank_fill(rank), "stroke": palette.rank_outline(rank), "stroke_width": 2}
    word: dict[str, Any] = {"text_anchor": "middle", "fill": palette.text}
    middle = left + _GPU_W / 2
    return (
        rect(left, top, _GPU_W, _GPU_H, rx=2, **box)
        + text(
            middle, top + 28, phrase("start_here", "says.rank", rank=rank), font_size=16, font_weight=600, **word
        )
        + text(middle, top + 47, phrase("start_here", "says.a_gpu"), font_size=14, **word)
    )


def _wire(start: float, end: float, y: float, name: str, palette: Palette) -> str:
    words = text((start + end) / 2, y - 9, name, font_size=14, text_anchor="middle", fill=palette.text)
    return words + path(f"M{start:g} {y:g}H{end:g}", stroke=palette.text, stroke_width=2.5)


def two_halves(stages: Stages, palette: Palette, alt: str) -> str:
    """Three states of a payload side by side, a collective between each two, and the one that is both over all."""
    ranks = len(stages.parts)
    grid = ranks * _CELL
    lefts = [_LABEL + step * (grid + _ARROW) for step in range(3)]
    width, height = lefts[2] + grid + 2, _HEAD + grid + 2
    parts = [_span(lefts[0] + grid / 2, lefts[2] + grid / 2, palette)]
    for left, held, done in zip(lefts, (stages.parts, stages.scattered, stages.whole), (0, 1, 1), strict=True):
        parts.append(_grid(held, left, bool(done), palette))
    for left, words in zip(lefts, (("reduce-", "scatter"), ("all-", "gather")), strict=False):
        parts.append(_step(left + grid, words, _HEAD + grid / 2, palette))
    for rank in range(ranks):
        middle = _HEAD + rank * _CELL + _CELL / 2 + 5
        parts.append(text(0, middle, f"r{rank}", font_size=14, font_weight=600, fill=palette.text))
    return drawing(width, height, alt, *parts)


def _grid(held: Grid, left: float, is_sum: bool, palette: Palette) -> str:
    """One cell a chunk: a part in its rank's colour, a finished sum on plain ground with an ink outline."""
    cells = []
    for rank, row in enumerate(held):
        for index, number in enumerate(row):
            x, y = left + index * _CELL, _HEAD + rank * _CELL
            if number is None:
                cells.append(rect(x + 2, y + 2, _CELL - 4, _CELL - 4, rx=2, fill="none", stroke=palette.hairline))
                continue
            edge: dict[str, Any] = {"rx": 2, "stroke_width": 1.8}
            fill = palette.second_ground if is_sum else palette.rank_fill(rank)
            stroke = palette.text if is_sum else palette.rank_outline(rank)
            cells.append(rect(x + 2, y + 2, _CELL - 4, _CELL - 4, fill=fill, stroke=stroke, **edge))
            word: dict[str, Any] = {"text_anchor": "middle", "fill": palette.text}
            weight = 600 if is_sum else 400
            cells.append(
                text(x + _CELL / 2, y + _CELL / 2 + 6, f"{number:g}", font_size=16, font_weight=weight, **word)
            )
    return "".join(cells)


def _step(left: float, words: tuple[str, str], y: float, palette: Palette) -> str:
    middle = left + _ARROW / 2
    style: dict[str, Any] = {"font_size": 14, "font_weight": 600, "text_anchor": "middle", "fill": palette.text}
    label = text(middle, y - 28, words[0], **style) + text(middle, y - 12, words[1], **style)
    shaft = path(f"M{left + 10:g} {y:g}H{left + _ARROW - 16:g}", stroke=palette.text, stroke_width=2)
    tip = left + _ARROW - 8
    return label + shaft + path(f"M{tip - 9:g} {y - 5:g}l9 5-9 5z", fill=palette.text)


def _span(start: float, end: float, palette: Palette) -> str:
    """One solid bar over the two halves: the collective that they are."""
    bar = rect(start, 2, end - start, 24, rx=3, fill=palette.text)
    style: dict[str, Any] = {"font_size": 14, "font_weight": 600, "text_anchor": "middle", "fill": palette.ground}
    legs = "".join(path(f"M{x:g} 26v12", stroke=palette.text, stroke_width=2) for x in (start + 1, end - 1))
    return bar + legs + text((start + end) / 2, 19, "all-reduce", **style)
