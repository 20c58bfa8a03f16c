"""The ring that a room is: its ranks around it, what each holds, and whose chunk everybody waits for."""

from dataclasses import dataclass
from math import cos, hypot, pi, sin

from core.cluster.standing import WAIT_S, Rank, Standing
from runtime.prose import said
from ui.figures.svg import drawing, path, rect, sans, style_of, text
from ui.theme import SERIF, Palette


@dataclass(frozen=True)
class Size:
    """The drawing's width and height, its letters, a rank's block, and up to how many ranks have one."""

    width: int
    height: int
    letters: float
    block: tuple[int, int]
    most: int


WIDE = Size(1136, 400, 17, (104, 48), 16)
NARROW = Size(350, 420, 15, (74, 42), 8)
PROJECTED = Size(1136, 420, 24, (132, 56), 16)
"""As wide as a wall of 1280 × 720 has room, so that no letter is drawn smaller."""


def ring_drawing(standing: Standing, palette: Palette, size: Size, alt: str) -> str:
    """Ranks on an ellipse, r0 at the top, clockwise: blocks with their chunks, or dots where there are many."""
    ranks = len(standing.ranks)
    blocks = ranks <= size.most
    places = [_place(rank, ranks, size, blocks) for rank in range(ranks)]
    parts = [
        _way(places[rank], places[(rank + 1) % ranks], one, palette) for rank, one in enumerate(standing.ranks)
    ]
    for rank, one in enumerate(standing.ranks):
        if blocks:
            parts.append(_block(rank, one, standing, places[rank], palette, size))
        else:
            parts.append(_dot(rank, one, standing, places[rank], palette, size))
    return drawing(size.width, size.height, alt, *parts, *_middle(standing, palette, size))


def _place(rank: int, ranks: int, size: Size, blocks: bool) -> tuple[float, float]:
    margin_x, margin_y = (
        (size.block[0] / 2 + 3, size.block[1] / 2 + 3) if blocks else (4 * size.letters, size.letters)
    )
    angle = 2 * pi * (rank / ranks - 0.25)
    radius_x, radius_y = size.width / 2 - margin_x, size.height / 2 - margin_y
    return size.width / 2 + radius_x * cos(angle), size.height / 2 + radius_y * sin(angle)


def _way(start: tuple[float, float], end: tuple[float, float], one: Rank, palette: Palette) -> str:
    """The link to the next rank: strong, with a head, where a chunk is about to go over it."""
    line = f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}"
    if not one.has_move:
        return path(line, stroke=palette.axis, stroke_width=1.5)
    across, down = end[0] - start[0], end[1] - start[1]
    length = hypot(across, down) or 1.0
    x, y = start[0] + across / 2, start[1] + down / 2
    unit_x, unit_y = 9 * across / length, 9 * down / length
    head = (
        f"M{x + unit_x:.1f} {y + unit_y:.1f}L{x - unit_x - unit_y:.1f} {y - unit_y + unit_x:.1f}"
        f"L{x - unit_x + unit_y:.1f} {y - unit_y - unit_x:.1f}Z"
    )
    return path(line, stroke=palette.primary, stroke_width=4) + path(head, fill=palette.primary)


def _edge(one: Rank, palette: Palette) -> dict[str, object]:
    """A rank with the move has a strong outline, a simulated one a dashed one, a silent one that of what is off."""
    colour = palette.off if one.is_silent else palette.primary if one.has_move else palette.axis
    dashes = {"stroke_dasharray": "5 4"} if one.is_simulated else {}
    return {"stroke": colour, "stroke_width": 4 if one.has_move else 2, **dashes}


def _block(
    rank: int, one: Rank, standing: Standing, place: tuple[float, float], palette: Palette, size: Size
) -> str:
    width, height = size.block
    left, top = place[0] - width / 2, place[1] - height / 2
    strip = height - size.letters * 1.3
    column = width / len(one.parts)
    drawn = [rect(left, top, width, height, rx=3, fill=palette.ground)]
    for chunk, parts in enumerate(one.parts):
        share = strip * parts / len(one.parts)
        whole = parts == len(one.parts)
        fill = palette.rank(chunk) if whole else palette.rank_fill(chunk)
        drawn.append(rect(left + chunk * column, top + height - share, column - 1, share, fill=fill))
    drawn.append(rect(left, top, width, height, rx=3, fill="none", **_edge(one, palette)))
    base = top + size.letters * 1.05
    style = sans(size.letters) | {"fill": palette.text}
    name = f"r{rank}" + (f" +{WAIT_S:g} s" if rank == standing.slow_rank and not standing.is_done else "")
    drawn.append(text(left + 6, base, name, font_weight=700 if one.has_move else 400, **style))
    if rank != standing.slow_rank or standing.is_done:
        drawn.append(text(left + width - 6, base, str(one.total), text_anchor="end", **style))
    return "".join(drawn)


def _dot(rank: int, one: Rank, standing: Standing, place: tuple[float, float], palette: Palette, size: Size) -> str:
    radius = min(12.0, size.height / len(standing.ranks))
    share = one.done / standing.rounds
    left, top = place[0] - radius, place[1] - radius
    drawn = [
        rect(left, top, 2 * radius, 2 * radius, rx=2, fill=palette.ground),
        rect(left, top + 2 * radius * (1 - share), 2 * radius, 2 * radius * share, fill=palette.rank_fill(rank)),
        rect(left, top, 2 * radius, 2 * radius, rx=2, fill="none", **_edge(one, palette)),
    ]
    if rank % 8 == 0 or rank == standing.slow_rank:
        outside = 1 if place[0] >= size.width / 2 else -1
        anchor = {"text_anchor": "start" if outside > 0 else "end"}
        x = place[0] + outside * (radius + 5)
        drawn.append(
            text(x, place[1] + size.letters / 3, f"r{rank}", fill=palette.text, **sans(size.letters), **anchor)
        )
    return "".join(drawn)


def _middle(standing: Standing, palette: Palette, size: Size) -> list[str]:
    """The round, which half of the all-reduce it belongs to, and how long it has taken."""
    half = "gather" if 2 * standing.round >= standing.rounds else "scatter"
    done = "done" if standing.is_done else "round"
    lines = [
        (said("cluster", f"drawn.{done}", standing, now=standing.round + 1), size.letters * 1.5, SERIF),
        ("" if standing.is_done else said("cluster", f"drawn.{half}"), size.letters, ""),
        (said("cluster", "drawn.passed", standing), size.letters * 1.2, ""),
    ]
    y, drawn = size.height / 2 - size.letters, []
    for words, letters, family in lines:
        style = {"style": style_of(family), "font_size": letters} if family else sans(letters)
        drawn.append(text(size.width / 2, y, words, fill=palette.text, text_anchor="middle", **style))
        y += 1.5 * letters if words else 0
    return drawn
