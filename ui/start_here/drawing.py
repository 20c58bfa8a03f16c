"""Start here: ranks on their links, and a payload through the two halves of an all-reduce."""

from typing import Any

from core.course.start_here import Grid, Stages
from runtime.kept import kept
from runtime.prose import said as phrase
from ui.figures.svg import drawing, path, rect, text
from ui.theme import Palette

_GPU_W, _GPU_H, _GAP = 68, 60, 56
_NODE_PAD, _BETWEEN, _TOP = 12, 64, 26
_CELL, _LABEL, _ARROW, _HEAD = 34, 20, 76, 44
_PHONE_W, _DOWN = 350, 52


@kept
def two_nodes(gpus_a_node: int, inside: str, between: str, palette: Palette, alt: str, narrow: bool = False) -> str:
    """Two nodes of GPUs in a row, one rank on each, the two kinds of link named; on a phone one under the other."""
    node, high = gpus_a_node * (_GPU_W + _GAP) - _GAP + 2 * _NODE_PAD, _GPU_H + 2 * _NODE_PAD
    middle, x = high / 2, (_PHONE_W - node) / 2
    if narrow:
        places = [(x, _TOP), (x, 2 * _TOP + high + _BETWEEN)]
        link = _link((_PHONE_W / 2, _TOP + high), _BETWEEN + _TOP, between, palette, down=True)
        width, height = _PHONE_W, places[1][1] + high + 6
    else:
        places = [(0, _TOP), (node + _BETWEEN, _TOP)]
        link = _link((node, _TOP + middle), _BETWEEN, between, palette)
        width, height = 2 * node + _BETWEEN, _TOP + high + 6
    parts = [link]
    for index, (left, top) in enumerate(places):
        frame: dict[str, Any] = {"fill": "none", "stroke": palette.axis, "stroke_width": 1.4, "rx": 4}
        parts.append(rect(left + 1, top, node - 2, high, **frame))
        name = phrase("start_here", "says.node", index=index)
        parts.append(text(left + 2, top - 9, name, font_size=15, fill=palette.muted))
        for slot in range(gpus_a_node):
            start = left + _NODE_PAD + slot * (_GPU_W + _GAP)
            if slot:
                parts.append(_link((start - _GAP, top + middle), _GAP, inside, palette))
            parts.append(_rank(start, top + _NODE_PAD, index * gpus_a_node + slot, palette))
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


def _link(start: tuple[float, float], long: float, name: str, palette: Palette, down: bool = False) -> str:
    (x, y), style = start, {"font_size": 14, "fill": palette.text}
    if down:
        words = text(x + 9, y + long / 2 + 5, name, **style)
    else:
        words = text(x + long / 2, y - 9, name, text_anchor="middle", **style)
    return words + path(f"M{x:g} {y:g}{'v' if down else 'h'}{long:g}", stroke=palette.text, stroke_width=2.5)


def two_halves(stages: Stages, palette: Palette, alt: str, narrow: bool = False) -> str:
    """Three states of a payload, a collective between each two, and the one that is both over all.

    Side by side; on a phone one under the other.
    """
    ranks = len(stages.parts)
    grid = ranks * _CELL
    pitch = grid + (_DOWN if narrow else _ARROW)
    places = [(_LABEL, 2 + step * pitch) if narrow else (_LABEL + step * pitch, _HEAD) for step in range(3)]
    (right, foot), middle = places[2], grid / 2
    width, height = _PHONE_W if narrow else right + grid + 2, foot + grid + 2
    style: dict[str, Any] = {"font_size": 14, "font_weight": 600, "fill": palette.text}
    parts = [_span(places[0], places[2], grid, palette, narrow)]
    for place, held, is_sum in zip(
        places, (stages.parts, stages.scattered, stages.whole), (False, True, True), strict=True
    ):
        parts.append(_grid(held, place, is_sum, palette))
        if narrow or place == places[0]:
            lines = [place[1] + (rank + 0.5) * _CELL + 5 for rank in range(ranks)]
            parts += [text(0, y, f"r{rank}", **style) for rank, y in enumerate(lines)]
    for (x, y), words in zip(places, (("reduce-", "scatter"), ("all-", "gather")), strict=False):
        if narrow:
            parts.append(text(x + middle + 16, y + grid + _DOWN / 2 + 5, "".join(words), **style))
            parts.append(_arrow(x + middle, y + grid + 6, _DOWN - 12, palette, down=True))
        else:
            parts += [
                text(x + grid + _ARROW / 2, y + middle + up, word, text_anchor="middle", **style)
                for word, up in zip(words, (-28, -12), strict=True)
            ]
            parts.append(_arrow(x + grid + 10, y + middle, _ARROW - 18, palette))
    return drawing(width, height, alt, *parts)


def _grid(held: Grid, place: tuple[float, float], is_sum: bool, palette: Palette) -> str:
    """One cell a chunk: a part in its rank's colour, a finished sum on plain ground with an ink outline."""
    cells = []
    for rank, row in enumerate(held):
        for index, number in enumerate(row):
            x, y = place[0] + index * _CELL, place[1] + rank * _CELL
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


def _arrow(x: float, y: float, long: float, palette: Palette, down: bool = False) -> str:
    shaft, tip = (f"v{long - 8:g}", "l-5-9h10z") if down else (f"h{long - 8:g}", "l-9-5v10z")
    x_end, y_end = (x, y + long) if down else (x + long, y)
    stroke: dict[str, Any] = {"stroke": palette.text, "stroke_width": 2}
    return path(f"M{x:g} {y:g}{shaft}", **stroke) + path(f"M{x_end:g} {y_end:g}{tip}", fill=palette.text)


def _span(first: tuple[float, float], last: tuple[float, float], grid: float, palette: Palette, down: bool) -> str:
    """One solid bar along the two halves: the collective that they are."""
    start, end = (place[down] + grid / 2 for place in (first, last))
    stroke: dict[str, Any] = {"stroke": palette.text, "stroke_width": 2}
    style: dict[str, Any] = {"font_size": 14, "font_weight": 600, "text_anchor": "middle", "fill": palette.ground}
    if down:
        edge, bar_x, turned = first[0] + grid + 12, _PHONE_W - 40, "rotate(90)"
        legs = "".join(path(f"M{edge:g} {y:g}H{bar_x}", **stroke) for y in (start + 1, end - 1))
        name = text((start + end) / 2, -bar_x - 7, "all-reduce", transform=turned, **style)
        return legs + rect(bar_x, start, 24, end - start, rx=3, fill=palette.text) + name
    legs = "".join(path(f"M{x:g} 26v12", **stroke) for x in (start + 1, end - 1))
    bar = rect(start, 2, end - start, 24, rx=3, fill=palette.text)
    return bar + legs + text((start + end) / 2, 19, "all-reduce", **style)
