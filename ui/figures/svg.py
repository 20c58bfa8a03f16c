"""A few words of SVG: rectangles, lines and text, with the palette's colours."""

from html import escape

from ui.theme import Palette


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
