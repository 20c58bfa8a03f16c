"""A few words of SVG: rectangles, lines and text, with the palette's colours."""

from dataclasses import dataclass
from html import escape

from ui.theme import Look, Palette


@dataclass(frozen=True)
class Measures:
    """A diagram's width, where its blocks begin, its rows' height and pitch. `over`: the labels stand above.

    `type` is by how much its letters are larger, and `lines` are the baselines of a label's two.
    """

    width: int
    left: int
    row: int
    pitch: int
    top: int
    over: int = 0
    type: float = 1.0
    lines: tuple[int, int] = (13, 30)

    @property
    def right(self) -> int:
        """Where blocks end, with room for half an outline."""
        return self.width - 1


WIDE = Measures(852, 214, 29, 42, 28)
NARROW = Measures(350, 1, 29, 74, 30, over=38)
PROJECTED = Measures(852, 264, 31, 42, 30, type=1.35, lines=(16, 35))


def size_of(look: Look) -> Measures:
    """What a diagram is drawn at, on a page or on a wall."""
    return PROJECTED if look.present else WIDE


def rect(x: float, y: float, width: float, height: float, **style: object) -> str:
    """A rectangle; `style` names become attributes, underscores as hyphens."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{_attributes(style)}/>'


def path(d: str, **style: object) -> str:
    """A path."""
    return f'<path d="{d}"{_attributes(style)}/>'


def text(x: float, y: float, words: str, **style: object) -> str:
    """Words at a baseline."""
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
