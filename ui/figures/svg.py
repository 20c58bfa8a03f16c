"""A few words of SVG: rectangles, lines and text, with the palette's colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ui.theme import CODE, SANS, SERIF, Look, Palette


@dataclass(frozen=True)
class Measures:
    """A diagram's width, where its blocks begin, its rows' height and pitch. `over`: the labels stand above.

    `type` is by how much its letters are larger, none of them under `least`, and `lines` are the baselines of a
    label's two; the second begins `beside` the first. `gap` is between two ranks.
    """

    width: int
    left: int
    row: int
    pitch: int
    top: int
    over: int = 0
    type: float = 1.0
    lines: tuple[int, int] = (13, 30)
    beside: int = 0
    least: float = 0.0
    gap: int = 12

    @property
    def right(self) -> int:
        """Where blocks end, with room for half an outline."""
        return self.width - 1

    def font(self, size: float) -> float:
        """A laptop's letters as they are drawn here."""
        return max(self.least, size * self.type)


WIDE = Measures(852, 214, 29, 42, 28)
NARROW = Measures(350, 1, 29, 74, 30, over=38, gap=6)
WALL = Measures(1136, 540, 35, 41, 34, type=1.62, lines=(26, 26), beside=190, least=24, gap=8)
"""As wide as a wall of 1280 × 720 has room, so that no letter is drawn smaller; labels are on one line."""


def size_of(look: Look) -> Measures:
    """What a diagram is drawn at, on a page or on a wall."""
    return WALL if look.present else WIDE


def rect(x: float, y: float, width: float, height: float, **style: object) -> str:
    """A rectangle; `style` names become attributes, underscores as hyphens."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{_attributes(style)}/>'


def path(d: str, **style: object) -> str:
    return f'<path d="{d}"{_attributes(style)}/>'


def text(x: float, y: float, words: str, **style: object) -> str:
    return f'<text x="{x:g}" y="{y:g}"{_attributes(style)}>{escape(words)}</text>'


def idle_pattern(palette: Palette, name: str) -> str:
    """The 45° hatch that means idle, to be used as `fill="url(#name)"`."""
    ground = rect(0, 0, 7, 7, fill=palette.hatch_ground)
    return (
        f'<defs><pattern id="{name}" width="7" height="7" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)">{ground}{rect(0, 0, 1.3, 7, fill=palette.hatch)}</pattern></defs>'
    )


def drawing(width: float, height: float, alt: str, *parts: str) -> str:
    """A whole drawing, with its text alternative."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(alt, quote=True)}">{"".join(parts)}</svg>'
    )


def _attributes(style: dict[str, object]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())


def style_of(family: str) -> str:
    """A font as an inline style, which the page's own rule for text does not override."""
    return f"font-family:{family}".replace('"', "'")


def sans(size: float) -> dict[str, object]:
    return {"style": style_of(SANS), "font_size": size}


def shapes(shape: Sequence[int], matrices: int) -> str:
    """A shape in code; where several matrices share it, one above the other, how many there are of each's."""
    each = [shape[0] // matrices, *shape[1:]]
    return f"{f'{matrices} × ' if matrices > 1 else ''}[{', '.join(map(str, each))}]"


def row_label(name: str, held: str, top: float, palette: Palette, size: Measures) -> str:
    """A row's name in the serif, and what a rank holds of it, in code."""
    first, second = (top + line for line in size.lines)
    serif = {"style": style_of(SERIF), "font_size": size.font(17), "font_weight": 600}
    code = {"style": style_of(CODE), "font_size": size.font(13.5)}
    return text(0, first, name, fill=palette.text, **serif) + text(
        size.beside, second, held, fill=palette.muted, **code
    )
