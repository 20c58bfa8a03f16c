"""The figure that a prediction draws: what each picture is told, and bars in it.

A picture is drawn for one number: the learner's as it is slid, in the browser, and after the reveal for that
and for the truth. Its length is of the number line under it, or of its own in pixels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ui.figures.style import RIGHT, Layer, Spec, at, layer, words
from ui.theme import Look

OWN, TRUTH = "own", "truth"
PLOT = "width"
"""The plot's width in an expression."""


@dataclass(frozen=True)
class Now:
    """The number that a picture is drawn for: `said` by the learner, 0 for none yet, or the truth.

    `live` is the parameter by which the browser tells it while it is slid. `name` is how it is called.
    """

    said: float
    live: str = ""
    role: str = OWN
    name: str = ""

    @property
    def at(self) -> str:
        """The expression of the number."""
        return f"({self.live} === '' ? datum.said : toNumber({self.live}))" if self.live else "datum.said"

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Rows that know the number."""
        return [{"said": self.said, **row} for row in rows]

    def reckon(self, **fields: str) -> dict[str, str]:
        """Fields that the browser reckons of it, `datum.at` first."""
        return {"at": self.at, **fields}


class Picture(Protocol):
    """What a prediction draws over its number line."""

    @property
    def height(self) -> float:
        """Laptop pixels that it takes over the number line."""

    @property
    def truth_height(self) -> float:
        """Laptop pixels that the truth takes in addition."""

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return what is there before anybody says a number; `x` is the number line."""

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return what a number draws; the truth stands under the learner's, or over it."""


@runtime_checkable
class Played(Picture, Protocol):
    """A picture that a player of the page shows over time."""

    @property
    def played(self) -> str:
        """The parameter by which it is told how much of its time is over, from 0 to 1, or nothing at rest."""


def caption(look: Look, y: float, left: str, right: str = "") -> list[Layer]:
    """A line of words over a part of a picture: its name, and what it comes to where there is something to say."""
    name = words(look, 15, align="left", fontWeight=600, limit={"expr": PLOT})
    sum_ = words(look, 15, align="right", fontWeight=600)
    return [
        layer("text", [{"name": left}], x=0, y=look.px(y), text="name", **name),
        *([layer("text", [{"sum": right}], x=RIGHT, y=look.px(y), text="sum", **sum_)] if right else []),
    ]


def told(look: Look, now: Now, y: float, shown: str, where: str = "datum.at > 0", **reckoned: str) -> Layer:
    """Words at the right that an expression makes of the number."""
    style = words(look, 15, align="right", fontWeight=600)
    fields = now.reckon(**reckoned)
    return layer("text", now.rows([{}]), reckoned=fields, where=where, shown=shown, x=RIGHT, y=look.px(y), **style)


def box(
    look: Look,
    now: Now,
    left: str,
    right: str,
    top: float,
    bottom: float,
    *,
    where: str = "datum.at > 0",
    **mark: Any,
) -> Layer:
    """A rectangle between two places that expressions of the number give, in pixels."""
    y = {"y": look.px(top), "y2": look.px(bottom), "strokeWidth": look.px(1)}
    places = {"x": at("left_px"), "x2": "right_px"}
    reckoned = now.reckon(left_px=left, right_px=right)
    return layer("rect", now.rows([{}]), reckoned=reckoned, where=where, **places, **{**y, **mark})
