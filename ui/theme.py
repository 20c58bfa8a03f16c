"""Colours and sizes, by role; `.streamlit/config.toml` gives Streamlit the same. Nothing else names a colour.

Latency is violet and bandwidth moss, nowhere else. Ranks take the Okabe-Ito order, always with a label.
"""

from dataclasses import dataclass

SANS = '"Source Sans", sans-serif'
SERIF = '"Source Serif", serif'
CODE = '"Source Code Pro", monospace'
COLUMN_PX = 1160

LEAST_TYPE, PROJECTED, LOW, TYPE_ON_LOW = 24, 1.8, 1.35, 1.55
"""Pixels that the back row reads, and by how much a figure and its type grow on a wall and on a low one."""

_OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")


@dataclass(frozen=True)
class Palette:
    """One mode's colours by role."""

    dark: bool
    ground: str
    second_ground: str
    text: str
    muted: str
    hairline: str
    axis: str
    primary: str
    on_primary: str
    latency: str
    latency_text: str
    on_latency: str
    bandwidth: str
    bandwidth_text: str
    compute: str
    hatch: str
    hatch_ground: str
    ok: str
    off: str
    ranks: tuple[str, ...]

    def rank(self, rank: int) -> str:
        """The solid of a rank: keys, arrows, bands. Beyond eight the order repeats and the label tells."""
        return self.ranks[rank % len(self.ranks)]

    def rank_fill(self, rank: int) -> str:
        """The fill numbers stand on: text reads at 7:1 or more."""
        share = (0.26 if rank % 4 == 3 else 0.34) if self.dark else 0.42
        return mix(self.rank(rank), self.ground if self.dark else "#FFFFFF", share)

    def rank_outline(self, rank: int) -> str:
        """Ink in light; the solid itself in dark."""
        return self.rank(rank) if self.dark else self.text


def mix(colour: str, ground: str, share: float) -> str:
    """`share` of `colour` over `ground`, both `#RRGGBB`."""
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(top * share + below * (1 - share)):02X}" for top, below in pairs)


_COLOURS = {
    "ground": ("#FBFAF7", "#171614"),
    "second_ground": ("#F2F0EA", "#23211E"),
    "text": ("#171614", "#EDEAE3"),
    "muted": ("#55524B", "#B9B4A8"),
    "hairline": ("#DAD6CC", "#3D3A34"),
    "axis": ("#8A867C", "#7F7A70"),
    "primary": ("#2B3A55", "#A9BCE0"),
    "on_primary": ("#FFFFFF", "#171614"),
    "latency": ("#5B3FA3", "#B09AF3"),
    "latency_text": ("#4C3390", "#C3B1F7"),
    "on_latency": ("#FFFFFF", "#171614"),
    "bandwidth": ("#6F8B1F", "#B4CB55"),
    "bandwidth_text": ("#465910", "#C6DA78"),
    "compute": ("#C9C4B8", "#4D4A42"),
    "hatch": ("#8F8B81", "#7F7A70"),
    "hatch_ground": ("#F6F4EF", "#1E1C1A"),
    "ok": ("#1C5F3C", "#8FD3AC"),
    "off": ("#9C2420", "#F5A49C"),
}
"""Each role in light and in dark."""

LIGHT = Palette(dark=False, ranks=(*_OKABE_ITO, "#2B2B2B"), **{role: one for role, (one, _) in _COLOURS.items()})
DARK = Palette(dark=True, ranks=(*_OKABE_ITO, "#D9D6CF"), **{role: one for role, (_, one) in _COLOURS.items()})


@dataclass(frozen=True)
class Look:
    """What a chart needs to know of where it is shown: the mode, whether it is projected, and on which wall."""

    palette: Palette
    present: bool = False
    low: bool = False
    zoom: float = 1.0

    @property
    def scale(self) -> float:
        """How much larger a figure is drawn; a low wall has no room to grow it as much as its letters."""
        return self.zoom * (LOW if self.low else PROJECTED) if self.present else 1.0

    def px(self, size: float) -> float:
        """A laptop size in pixels, as it is to be drawn here."""
        return round(size * self.scale, 1)

    def letters(self, size: float) -> float:
        """What letters of a laptop size take here: 13.5 px becomes 24 px on every wall."""
        return round(size * (PROJECTED * self.zoom if self.present else 1.0), 1)

    def font(self, size: float) -> float:
        """A font's laptop size in pixels, as it is to be set here: on a wall never under 24."""
        larger = TYPE_ON_LOW if self.low else PROJECTED
        return round(self.zoom * max(LEAST_TYPE, size * larger), 1) if self.present else size
