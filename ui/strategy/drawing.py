"""One block under a strategy: a row a weight, a column a rank, a bar across where the ranks talk."""

from typing import Any

from core.strategy.block import Block, Talk, Weight
from runtime.prose import said as phrase
from runtime.quantities import binary_bytes
from ui.figures.svg import drawing, rect, text
from ui.theme import CODE, SANS, SERIF, Palette

WIDTH, LEFT, ROW, PITCH, TOP = 852, 214, 29, 42, 28


def block_diagram(block: Block, palette: Palette, alt: str) -> str:
    """The block from top to bottom, on the page's ground so that it can be taken away as a file."""
    height = TOP + len(block.rows) * PITCH
    drawn = [rect(0, 0, WIDTH, height, fill=palette.ground), _names(block, palette)]
    for place, row in enumerate(block.rows):
        top = TOP + place * PITCH
        drawn.append(_talk(row, top, palette) if isinstance(row, Talk) else _weight(row, block.ranks, top, palette))
    return drawing(WIDTH, height, alt, *drawn)


def _column(rank: int, ranks: int) -> tuple[float, float]:
    gap = 12
    width = (WIDTH - LEFT + gap) / ranks - gap
    return LEFT + rank * (width + gap), width


def _names(block: Block, palette: Palette) -> str:
    word = "stage" if block.strategy == "PP" else "rank"
    parts = []
    for rank in range(block.ranks):
        left, _ = _column(rank, block.ranks)
        key = rect(left + 1, 3, 11, 11, fill=palette.rank(rank), stroke=palette.text, stroke_width=1.3)
        parts.append(key + text(left + 18, 14, f"{word} {rank}", fill=palette.text, **_sans(15), font_weight=600))
    return "".join(parts)


def _weight(row: Weight, ranks: int, top: float, palette: Palette) -> str:
    whose = " a rank" if row.cut in ("columns", "rows", "flat", "experts") else ""
    parts = [_label(row.name, f"[{', '.join(map(str, row.shape))}]{whose}", top, palette)]
    for rank, held in enumerate(row.held):
        left, width = _column(rank, ranks)
        fill = palette.rank_fill(rank) if row.is_owned else palette.ground
        edge = palette.rank_outline(rank) if row.is_owned else palette.axis
        parts.append(rect(left, top, width, ROW, rx=2, fill=fill, stroke=edge, stroke_width=2))
        said = _fitting(held, width)
        parts.append(text(left + width / 2, top + 20, said, text_anchor="middle", fill=palette.text, **_sans(14.5)))
    return "".join(parts)


def _fitting(held: str, width: float) -> str:
    """The words, or only their figures where there is no room."""
    if len(held) * 7.6 + 8 <= width:
        return held
    figures = held.rpartition(" ")[2]
    return figures if len(figures) * 7.6 + 8 <= width else ""


def _talk(row: Talk, top: float, palette: Palette) -> str:
    fill, ink = ("#35322D", palette.text) if palette.dark else (palette.text, palette.ground)
    box = rect(LEFT, top, WIDTH - LEFT, ROW, rx=3, fill=fill, stroke=palette.text, stroke_width=2)
    said = f"{row.what}  ·  {binary_bytes(row.payload_bytes)}"
    inside = text((LEFT + WIDTH) / 2, top + 20, said, text_anchor="middle", fill=ink, font_weight=600, **_sans(15))
    return _label(row.op, phrase("strategy", "says.in_the", when=row.when), top, palette) + box + inside


def _label(name: str, under: str, top: float, palette: Palette) -> str:
    """The name in the serif, and under it what a rank holds, in code."""
    serif = {"style": _font(SERIF), "font_size": 17, "font_weight": 600}
    code = {"style": _font(CODE), "font_size": 13}
    return text(0, top + 13, name, fill=palette.text, **serif) + text(
        0, top + 30, under, fill=palette.muted, **code
    )


def _sans(size: float) -> dict[str, Any]:
    return {"style": _font(SANS), "font_size": size}


def _font(family: str) -> str:
    """A font as an inline style, which the page's own rule for text does not override."""
    return f"font-family:{family}".replace('"', "'")
