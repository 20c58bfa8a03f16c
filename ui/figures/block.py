"""One decoder layer of a transformer, cut over its ranks, with its two all-reduces; a lab lights up its part."""

from runtime.kept import kept
from runtime.prose import said
from ui.figures.svg import drawing, path, rect, sans, text
from ui.theme import Palette

PARTS = ("attention", "sum_attention", "mlp", "sum_mlp")
"""From left to right, which is from the input of a layer to its output."""
SUMS = ("sum_attention", "sum_mlp")
WIDE, WALL, PHONE = 852, 640, 350
"""Widths that it is drawn for: on a wall its letters are as large as all of a wall's."""
_TOP, _LANE, _SUM, _GAP, _END = 26, 22, 26, 12, 34
_DIM = 0.4


@kept
def block(lit: tuple[str, ...], ranks: int, palette: Palette, alt: str, width: int = WIDE) -> str:
    """The two blocks of a layer as a lane a rank, and a bar over all lanes where they add up."""
    drawn = min(max(2, ranks), 4)
    high = drawn * _LANE
    middle = _TOP + high / 2
    half = (width - 2 * _END - 2 * _SUM - 4 * _GAP) / 2
    parts, x = [path(f"M0 {middle:g}h{width:g}", stroke=palette.axis, stroke_width=2)], float(_END)
    for part in PARTS:
        shade = 1.0 if part in lit else _DIM
        if part in SUMS:
            parts.append(_sum(x, high, shade, palette))
            x += _SUM + (_GAP if part == SUMS[0] else 0)
            continue
        parts.append(_lanes(x, half, drawn, shade, palette))
        parts.append(_named(x, half, _TOP + high + 18, part, width, palette))
        x += half + _GAP
    tip = f"M{width:g} {middle:g}l-9-5v10z"
    parts.append(path(tip, fill=palette.axis))
    under = 0 if width == PHONE else 33 if width == WALL else 16
    return drawing(width, _TOP + high + 6 + under, alt, *parts)


def _lanes(x: float, wide: float, ranks: int, shade: float, palette: Palette) -> str:
    """A lane a rank, each in two parts: the matrices that are cut by outputs, then the one cut by inputs."""
    drawn = []
    for rank in range(ranks):
        top, first = _TOP + rank * _LANE, 0.62 * wide
        style = {"fill": palette.rank_fill(rank), "stroke": palette.rank_outline(rank), "stroke_width": 1.2}
        for left, length in ((x, first - 2), (x + first + 2, wide - first - 2)):
            drawn.append(rect(left, top + 1.5, length, _LANE - 3, rx=2, opacity=shade, **style))
    return "".join(drawn)


def _named(x: float, wide: float, foot: float, part: str, width: int, palette: Palette) -> str:
    """The block's name over it, and under it how each part is cut."""
    bold, plain = sans(15) | {"font_weight": 600}, sans(13.5)
    name = text(x, _TOP - 9, said("shell", f"block.{part}"), fill=palette.text, **bold)
    if width == PHONE:
        return name
    cuts = [(at, said("shell", f"block.{part}_{cut}")) for at, cut in ((0.0, "column"), (0.64, "row"))]
    lines = [(at, row, line) for at, cut in cuts for row, line in enumerate(_lines(cut, width))]
    return name + "".join(
        text(x + at * wide, foot + 17 * row, line, fill=palette.muted, **plain) for at, row, line in lines
    )


def _lines(cut: str, width: int) -> list[str]:
    """What is cut, and how: a line each where both have no room in one."""
    return cut.split(": ") if width == WALL else [cut]


def _sum(x: float, high: float, shade: float, palette: Palette) -> str:
    """A bar over all lanes, with the sign of a sum."""
    middle, sign = _TOP + high / 2, sans(20) | {"font_weight": 600, "text_anchor": "middle"}
    bar = rect(x, _TOP - 4, _SUM, high + 8, rx=3, fill=palette.text, opacity=shade)
    return bar + text(x + _SUM / 2, middle + 7, "+", fill=palette.ground, **sign)
