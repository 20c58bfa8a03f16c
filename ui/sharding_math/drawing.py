"""One decoder layer over its ranks: blocks in the ranks' colours, one bar for each place where they talk."""

from collections.abc import Sequence

from core.sharding_math.layer_parts import LayerPart
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import binary_bytes
from ui.figures.svg import WIDE, Measures, drawing, rect, row_label, sans, shapes, text
from ui.theme import Palette

MOST_DRAWN = 16
MOST_ON_A_PHONE = 4


@kept
def layer_diagram(parts: Sequence[LayerPart], ranks: int, palette: Palette, alt: str, size: Measures = WIDE) -> str:
    """Rows from top to bottom, ranks side by side; where there is no room for all, one block with their count.

    On a phone, `NARROW`, the labels stand above their rows instead of before them.
    """
    drawn_ranks = ranks if ranks <= (MOST_ON_A_PHONE if size.over else MOST_DRAWN) else 0
    drawn = [_rank_names(ranks, palette, size)] if drawn_ranks else []
    for row, part in enumerate(parts):
        top = size.top + row * size.pitch
        drawn.append(_label(part, ranks, top, palette, size))
        top += size.over
        if part.is_collective:
            drawn.append(_bar(part, top, palette, size))
        else:
            drawn.append(_blocks(part, ranks, drawn_ranks, top, palette, size))
    return drawing(size.width, size.top + len(parts) * size.pitch, alt, *drawn)


def _column(rank: int, ranks: int, size: Measures) -> tuple[float, float]:
    """Left edge and width of a rank's column."""
    gap = 12 if ranks <= 8 else 5
    width = (size.right - size.left + gap) / ranks - gap
    return size.left + rank * (width + gap), width


def _rank_names(ranks: int, palette: Palette, size: Measures) -> str:
    names = []
    for rank in range(ranks):
        left, _ = _column(rank, ranks, size)
        key = rect(left + 1, 3, 11, 11, fill=palette.rank(rank), stroke=palette.text, stroke_width=1.3)
        word = said("sharding_math", "says.rank", rank=rank) if ranks <= 8 else str(rank)
        style = sans(size.font(15)) | {"font_weight": 600}
        names.append(key + text(left + 18, 14 * size.type, word, fill=palette.text, **style))
    return "".join(names)


def _label(part: LayerPart, ranks: int, top: float, palette: Palette, size: Measures) -> str:
    """The name in the serif, and the shape that a rank holds in code."""
    shape = said("sharding_math", "says.sum_over", ranks=ranks) if part.is_collective else _shape(part, ranks)
    return row_label(named("sharding_math", part.name), shape, top, palette, size)


def _shape(part: LayerPart, ranks: int) -> str:
    """What a rank holds: of two matrices that stand in one row, each one's shape."""
    whole = shapes(part.rank_shape, part.matrices)
    held = "replicas" if part.cut == "replicated" else "slices"
    return whole if ranks == 1 else said("sharding_math", f"board.held_{held}", shape=whole)


def _blocks(part: LayerPart, ranks: int, drawn: int, top: float, palette: Palette, size: Measures) -> str:
    if not drawn:
        return _block(
            (size.left, size.right - size.left),
            top,
            said("sharding_math", "says.ranks", ranks=ranks),
            palette.second_ground,
            palette.axis,
            palette,
            size,
        )
    held = _held(part, ranks, _column(0, ranks, size)[1], size.type)
    blocks = []
    for rank in range(ranks):
        owned = part.cut != "replicated" and ranks > 1
        fill = palette.rank_fill(rank) if owned else palette.ground
        edge = palette.rank_outline(rank) if owned else palette.text
        blocks.append(_block(_column(rank, ranks, size), top, held[rank], fill, edge, palette, size))
    return "".join(blocks)


def _held(part: LayerPart, ranks: int, width: float, larger: float) -> list[str]:
    """Which units each rank holds, as far as there is room to say it of all of them."""
    if not part.num_units:
        return [said("sharding_math", "says.whole") if width > 60 else ""] * ranks
    ends = [part.units_of(rank, ranks) for rank in range(ranks)]
    spans = [f"{first}" if first == last else f"{first}–{last}" for first, last in ends]
    room = int((width - 8) / (8 * larger))
    units = named("sharding_math", part.units)
    for words in ([f"{units} {span}" for span in spans], spans):
        if max(map(len, words)) <= room:
            return words
    return [""] * ranks


def _block(
    across: tuple[float, float], top: float, words: str, fill: str, edge: str, palette: Palette, size: Measures
) -> str:
    left, width = across
    box = rect(left, top, width, size.row, rx=2, fill=fill, stroke=edge, stroke_width=2)
    style = sans(size.font(15)) | {"text_anchor": "middle"}
    return box + text(left + width / 2, top + _baseline(size), words, fill=palette.text, **style)


def _baseline(size: Measures) -> float:
    return (size.row + 11 * size.type) / 2


def _bar(part: LayerPart, top: float, palette: Palette, size: Measures) -> str:
    fill, ink = ("#35322D", palette.text) if palette.dark else (palette.text, palette.ground)
    box = rect(
        size.left, top, size.right - size.left, size.row, rx=3, fill=fill, stroke=palette.text, stroke_width=2
    )
    style = sans(size.font(15.5)) | {"text_anchor": "middle"}
    words = f"Σ  {binary_bytes(part.payload_bytes)}"
    return box + text(
        (size.left + size.right) / 2,
        top + _baseline(size),
        words,
        font_weight=600,
        fill=ink,
        **style,
    )
