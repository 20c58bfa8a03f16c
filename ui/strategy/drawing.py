"""One block under a strategy: a row a weight, a column a rank, a bar across what they send."""

from core.strategy.block import Block, Transfer, Weight
from runtime.kept import kept
from runtime.mermaid import held_in_words
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import binary_bytes
from ui.figures.svg import WIDE, Measures, drawing, rect, row_label, sans, shapes, text
from ui.theme import Palette


@kept
def block_diagram(block: Block, palette: Palette, alt: str, size: Measures = WIDE) -> str:
    """The block from top to bottom, on the page's ground so that it can be taken away as a file."""
    height = size.top + len(block.rows) * size.pitch
    drawn = [rect(0, 0, size.width, height, fill=palette.ground), _names(block, palette, size)]
    for index, row in enumerate(block.rows):
        top = size.top + index * size.pitch
        if isinstance(row, Transfer):
            label, parts = _transfer_label(row), _talk(row, top + size.over, palette, size)
        else:
            label, parts = _weight_label(row), _weight(row, block.ranks, top + size.over, palette, size)
        drawn += [row_label(*label, top, palette, size), parts]
    return drawing(size.width, height, alt, *drawn)


def block_rows(block: Block) -> list[dict[str, str]]:
    """The drawing as a table: a row a weight or a collective, and what each rank holds of it."""
    rows = []
    for row in block.rows:
        name, held = _transfer_label(row) if isinstance(row, Transfer) else _weight_label(row)
        each = [_talked(row)] * block.ranks if isinstance(row, Transfer) else list(map(held_in_words, row.held))
        rows.append({"row": name, "a_rank": held, **{f"r{rank}": text for rank, text in enumerate(each)}})
    return rows


def _column(rank: int, ranks: int, size: Measures) -> tuple[float, float]:
    width = (size.right - size.left + size.gap) / ranks - size.gap
    return size.left + rank * (width + size.gap), width


def _names(block: Block, palette: Palette, size: Measures) -> str:
    word = "says.stage" if block.strategy == "PP" else "says.rank"
    parts = []
    for rank in range(block.ranks):
        left, width = _column(rank, block.ranks, size)
        key = rect(left + 1, 3, 11, 11, fill=palette.rank(rank), stroke=palette.text, stroke_width=1.3)
        name = phrase("strategy", word, number=rank) if width > 72 * size.type else str(rank)
        style = sans(size.font(15)) | {"font_weight": 600}
        parts.append(key + text(left + 18, 14 * size.type, name, fill=palette.text, **style))
    return "".join(parts)


def _weight_label(row: Weight) -> tuple[str, str]:
    shape = shapes(row.shape, row.matrices)
    cut = row.cut in ("columns", "rows", "flat", "experts")
    return named("strategy", row.name), phrase("strategy", "says.a_rank", shape=shape) if cut else shape


def _weight(row: Weight, ranks: int, top: float, palette: Palette, size: Measures) -> str:
    parts = []
    for rank, held in enumerate(row.held):
        left, width = _column(rank, ranks, size)
        fill = palette.rank_fill(rank) if row.is_owned else palette.ground
        edge = palette.rank_outline(rank) if row.is_owned else palette.axis
        parts.append(rect(left, top, width, size.row, rx=2, fill=fill, stroke=edge, stroke_width=2))
        label, letters = _fitting(held_in_words(held), width / size.type)
        style = sans(size.font(letters)) | {"text_anchor": "middle"}
        parts.append(text(left + width / 2, top + _baseline(size), label, fill=palette.text, **style))
    return "".join(parts)


def _fitting(held: str, width: float) -> tuple[str, float]:
    """The words and the size of their letters: only their figures, or smaller ones, where there is no room."""
    figures = held.rpartition(" ")[2]
    sizes = ((held, 14.5, 7.6), (figures, 14.5, 7.2), (figures, 12.0, 6.0))
    fits = ((words, letters) for words, letters, wide in sizes if len(words) * wide + 8 <= width)
    return next(fits, ("", 12.0))


def _baseline(size: Measures) -> float:
    return (size.row + 10.5 * size.type) / 2


def _transfer_label(row: Transfer) -> tuple[str, str]:
    return named("strategy", row.op), phrase("strategy", f"block.in_the_{row.when}")


def _talk(row: Transfer, top: float, palette: Palette, size: Measures) -> str:
    fill, ink = ("#35322D", palette.text) if palette.dark else (palette.text, palette.ground)
    width = size.right - size.left
    box = rect(size.left, top, width, size.row, rx=3, fill=fill, stroke=palette.text, stroke_width=2)
    style = sans(size.font(15)) | {"text_anchor": "middle", "font_weight": 600}
    return box + text(size.left + width / 2, top + _baseline(size), _talked(row), fill=ink, **style)


def _talked(row: Transfer) -> str:
    return f"{named('strategy', row.what)}  ·  {binary_bytes(row.payload_bytes)}"
