"""The ring that a room is: its ranks around it, what each holds, and whose chunk everybody waits for."""

from dataclasses import dataclass
from math import cos, hypot, pi, sin

from core.course.cluster.standing import WAIT_S, Rank, Standing
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
EACH, BESIDE = 8, 3
"""Where there are many, each eighth rank is named, unless the slow one is so near."""


@dataclass(frozen=True)
class _Ellipse:
    """What the ranks stand on: r0 at the top, clockwise."""

    x: float
    y: float
    radius_x: float
    radius_y: float
    ranks: int

    def turn(self, rank: float) -> tuple[float, float]:
        """Which way a rank lies from the middle."""
        angle = 2 * pi * (rank / self.ranks - 0.25)
        return cos(angle), sin(angle)

    def at(self, rank: float) -> tuple[float, float]:
        """Where a rank stands, or what lies between two."""
        across, down = self.turn(rank)
        return self.x + self.radius_x * across, self.y + self.radius_y * down


def ring_drawing(standing: Standing, palette: Palette, size: Size, alt: str) -> str:
    """Ranks around an ellipse: blocks with their chunks, or dots where there are many."""
    ranks = len(standing.ranks)
    blocks = ranks <= size.most
    margin_x, margin_y = (size.block[0] / 2, size.block[1] / 2) if blocks else (4 * size.letters, 2 * size.letters)
    middle = size.width / 2, size.height / 2
    ring = _Ellipse(*middle, middle[0] - margin_x - 3, middle[1] - margin_y - 3, ranks)
    parts = [_way(ring, rank, one, blocks, palette) for rank, one in enumerate(standing.ranks)]
    draw = _block if blocks else _dot
    parts += [draw(rank, one, standing, ring, palette, size) for rank, one in enumerate(standing.ranks)]
    return drawing(size.width, size.height, alt, *parts, *_middle(standing, palette, size))


def _way(ring: _Ellipse, rank: int, one: Rank, head: bool, palette: Palette) -> str:
    """The link to the next rank: strong, with a head, where a chunk is about to go over it."""
    (x, y), (to_x, to_y) = ring.at(rank), ring.at(rank + 1)
    line = f"M{x:.1f} {y:.1f}A{ring.radius_x:.1f} {ring.radius_y:.1f} 0 0 1 {to_x:.1f} {to_y:.1f}"
    if not one.has_move:
        return path(line, stroke=palette.axis, stroke_width=1.5, fill="none")
    drawn = path(line, stroke=palette.primary, stroke_width=4, fill="none")
    if not head:
        return drawn
    (x, y), (across, down) = ring.at(rank + 0.5), ring.turn(rank + 0.5)
    along, beside = -ring.radius_x * down, ring.radius_y * across
    length = hypot(along, beside)
    unit_x, unit_y = 9 * along / length, 9 * beside / length
    tip = f"M{x + unit_x:.1f} {y + unit_y:.1f}"
    left = f"L{x - unit_x - unit_y:.1f} {y - unit_y + unit_x:.1f}"
    right = f"L{x - unit_x + unit_y:.1f} {y - unit_y - unit_x:.1f}Z"
    return drawn + path(tip + left + right, fill=palette.primary)


def _edge(one: Rank, palette: Palette) -> dict[str, object]:
    """A rank with the move has a strong outline, a simulated one a dashed one, a silent one that of what is off."""
    colour = palette.off if one.is_silent else palette.primary if one.has_move else palette.axis
    dashes = {"stroke_dasharray": "5 4"} if one.is_simulated else {}
    return {"stroke": colour, "stroke_width": 3.5 if one.has_move else 2, **dashes}


def _block(rank: int, one: Rank, standing: Standing, ring: _Ellipse, palette: Palette, size: Size) -> str:
    width, height = size.block
    x, y = ring.at(rank)
    left, top = x - width / 2, y - height / 2
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
    drawn.append(text(left + 6, base, _name(rank, standing), font_weight=700 if one.has_move else 400, **style))
    if rank != standing.slow_rank or standing.is_done:
        drawn.append(text(left + width - 6, base, str(one.total), text_anchor="end", **style))
    return "".join(drawn)


def _dot(rank: int, one: Rank, standing: Standing, ring: _Ellipse, palette: Palette, size: Size) -> str:
    radius = min(11.0, 400 / len(standing.ranks))
    share = one.done / standing.rounds
    (x, y), (across, down) = ring.at(rank), ring.turn(rank)
    left, top = x - radius, y - radius
    drawn = [
        rect(left, top, 2 * radius, 2 * radius, rx=2, fill=palette.ground),
        rect(left, top + 2 * radius * (1 - share), 2 * radius, 2 * radius * share, fill=palette.rank_fill(rank)),
        rect(left, top, 2 * radius, 2 * radius, rx=2, fill="none", **_edge(one, palette)),
    ]
    slow = standing.slow_rank
    if rank == slow or (rank % EACH == 0 and (slow is None or abs(rank - slow) > BESIDE)):
        style = sans(size.letters) | {"fill": palette.text, "text_anchor": _anchor(across)}
        x, y = x + (radius + 5) * across, y + (radius + 0.7 * size.letters) * down + size.letters / 3
        drawn.append(text(x, y, _name(rank, standing), **style))
    return "".join(drawn)


def _anchor(across: float) -> str:
    return "start" if across > 0.3 else "end" if across < -0.3 else "middle"


def _name(rank: int, standing: Standing) -> str:
    """What a rank is called, with what it waits, if it is told to."""
    waits = rank == standing.slow_rank and not standing.is_done
    return f"r{rank}" + (f" +{WAIT_S:g} s" if waits else "")


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
