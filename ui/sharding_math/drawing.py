"""One decoder layer over its ranks: blocks in the ranks' colours, one bar for each place where they talk."""

from collections.abc import Sequence
from typing import Any

from core.sharding_math.layer_parts import LayerPart
from core.units import binary_bytes
from ui.figures.svg import drawing, rect, text
from ui.theme import CODE, SANS, SERIF, Palette

WIDTH, LEFT, ROW, PITCH, TOP = 852, 214, 29, 42, 28
RIGHT = WIDTH - 1  # room for half an outline
MOST_DRAWN = 16


def layer_diagram(parts: Sequence[LayerPart], ranks: int, palette: Palette, alt: str) -> str:
    """Rows from top to bottom, ranks side by side; above sixteen ranks one block with their count."""
    drawn = [_rank_names(ranks, palette)] if ranks <= MOST_DRAWN else []
    for row, part in enumerate(parts):
        top = TOP + row * PITCH
        drawn.append(_label(part, ranks, top, palette))
        drawn.append(_bar(part, ranks, top, palette) if part.is_collective else _blocks(part, ranks, top, palette))
    return drawing(WIDTH, TOP + len(parts) * PITCH, alt, *drawn)


def _column(rank: int, ranks: int) -> tuple[float, float]:
    """Left edge and width of a rank's column."""
    gap = 12 if ranks <= 8 else 5
    width = (RIGHT - LEFT + gap) / ranks - gap
    return LEFT + rank * (width + gap), width


def _rank_names(ranks: int, palette: Palette) -> str:
    names = []
    for rank in range(ranks):
        left, _ = _column(rank, ranks)
        key = rect(left + 1, 3, 11, 11, fill=palette.rank(rank), stroke=palette.text, stroke_width=1.3)
        word = f"rank {rank}" if ranks <= 8 else str(rank)
        style: dict[str, Any] = {"style": _font(SANS), "font_size": 15, "font_weight": 600}
        names.append(key + text(left + 18, 14, word, fill=palette.text, **style))
    return "".join(names)


def _label(part: LayerPart, ranks: int, top: float, palette: Palette) -> str:
    """The name in the serif, and the shape that a rank holds in code."""
    shape = f"sum over {ranks}" if part.is_collective else _shape(part, ranks)
    name = text(0, top + 13, part.name, style=_font(SERIF), font_size=17, font_weight=600, fill=palette.text)
    return name + text(0, top + 30, shape, style=_font(CODE), font_size=13.5, fill=palette.muted)


def _shape(part: LayerPart, ranks: int) -> str:
    whole = f"[{', '.join(map(str, part.rank_shape))}]"
    return whole if ranks == 1 else f"{whole} {'on all' if part.cut == 'replicated' else 'a rank'}"


def _blocks(part: LayerPart, ranks: int, top: float, palette: Palette) -> str:
    if ranks > MOST_DRAWN:
        return _block(LEFT, RIGHT - LEFT, top, f"{ranks} ranks", palette.second_ground, palette.axis, palette)
    blocks = []
    held = _held(part, ranks, _column(0, ranks)[1])
    for rank in range(ranks):
        left, width = _column(rank, ranks)
        owned = part.cut != "replicated" and ranks > 1
        fill = palette.rank_fill(rank) if owned else palette.ground
        edge = palette.rank_outline(rank) if owned else palette.text
        blocks.append(_block(left, width, top, held[rank], fill, edge, palette))
    return "".join(blocks)


def _held(part: LayerPart, ranks: int, width: float) -> list[str]:
    """Which units each rank holds, as far as there is room to say it of all of them."""
    if not part.num_units:
        return ["whole" if width > 60 else ""] * ranks
    ends = [part.units_of(rank, ranks) for rank in range(ranks)]
    spans = [f"{first}" if first == last else f"{first}–{last}" for first, last in ends]
    room = int((width - 8) / 8)
    for words in ([f"{part.units} {span}" for span in spans], spans):
        if max(map(len, words)) <= room:
            return words
    return [""] * ranks


def _block(left: float, width: float, top: float, words: str, fill: str, edge: str, palette: Palette) -> str:
    box = rect(left, top, width, ROW, rx=2, fill=fill, stroke=edge, stroke_width=2)
    style: dict[str, Any] = {"text_anchor": "middle", "style": _font(SANS), "font_size": 15}
    return box + text(left + width / 2, top + 20.5, words, fill=palette.text, **style)


def _bar(part: LayerPart, ranks: int, top: float, palette: Palette) -> str:
    fill, ink = ("#35322D", palette.text) if palette.dark else (palette.text, palette.ground)
    box = rect(LEFT, top, RIGHT - LEFT, ROW, rx=3, fill=fill, stroke=palette.text, stroke_width=2)
    style: dict[str, Any] = {"text_anchor": "middle", "style": _font(SANS), "font_size": 15.5}
    words = f"Σ  {binary_bytes(part.payload_bytes)}"
    return box + text((LEFT + RIGHT) / 2, top + 20.5, words, font_weight=600, fill=ink, **style)


def _font(family: str) -> str:
    """A font as an inline style, which the page's own rule for text does not override."""
    return f"font-family:{family}".replace('"', "'")
