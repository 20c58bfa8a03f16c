"""The code to point a phone at: dark modules on light in either mode, as every reader takes them."""

from html import escape

from ui.figures.qr import QUIET, Modules
from ui.theme import LIGHT

MODULE_PX = 7
"""On a wall of the least size; a larger one scales it with all the rest."""


def code_svg(modules: Modules, alt: str) -> str:
    """A QR code with the quiet border that it needs; one path, a row of dark modules after another."""
    size = len(modules) + 2 * QUIET
    dark = zip(*modules.nonzero(), strict=True)
    runs = (f"M{x + QUIET} {y + QUIET}h1v1h-1z" for y, x in dark)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" role="img" '
        f'aria-label="{escape(alt)}" shape-rendering="crispEdges">'
        f'<rect width="{size}" height="{size}" fill="#FFFFFF"/>'
        f'<path d="{"".join(runs)}" fill="{LIGHT.text}"/></svg>'
    )


def width_px(modules: Modules, zoom: float) -> int:
    """How wide it is drawn, border and all, so that no module is smaller than `MODULE_PX`."""
    return round(MODULE_PX * zoom * (len(modules) + 2 * QUIET))
