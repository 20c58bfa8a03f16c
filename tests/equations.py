"""Equations as they are shown, `4.00 + 0.39 = 4.39 ms`, worked again from the figures that stand there."""

import re
from typing import NamedTuple

from core.units import SIZES

_WORTH = {**SIZES, **{f"{unit}/s": size for unit, size in SIZES.items()}, "TFLOP": 1e12, "TFLOP/s": 1e12, "%": 1e-2}
"""What a unit is worth; any other word behind a number names what is counted."""
_MARKUP = re.compile(r"\\(?=\W)|\*\*|:(?:violet|yellow|green|gray|red|blue)\[|\]|~~|`[^`]*`")
_FIGURES = r"\d{1,3}(?:\u202f\d{3})+|\d+(?:[.,]\d+)?"
_UNIT = r"[^\W\d_]+(?:/s)?|%"
_PART = rf"(?:[^\W\d_][\w-]* )?(?:{_FIGURES})(?: (?:{_UNIT}))?(?: [^\W\d_]+){{0,3}}"
_SUM = rf"{_PART}(?: [-+−×·÷/] {_PART})*"
_SIDE = rf"{_PART} [×·] √?\({_SUM}\)|\({_SUM}\) ÷ \({_SUM}\)|{_SUM}"
_EQUATION = re.compile(
    rf"(?<![-+−×·÷/√] )(?<![\w.,(\u202f√])(?P<left>{_SIDE})(?: \([^)]*\))? = (?={_SIDE})(?P<right>{_SIDE})"
)
_TOKEN = re.compile(rf"(?P<figures>{_FIGURES})(?: (?P<unit>{_UNIT}))?|(?P<mark>[-+−×·÷/()√])")
_MULTIPLIED = re.compile("[×·÷√]| / ")
FIGURES = 3
"""A whole quantity was written to so many figures."""


class Shown(NamedTuple):
    """The least and the most that a shown number stands for, in SI."""

    least: float
    most: float

    @property
    def middle(self) -> float:
        return (self.least + self.most) / 2

    def __add__(self, other: "Shown") -> "Shown":  # type: ignore[override]
        return Shown(self.least + other.least, self.most + other.most)

    def __sub__(self, other: "Shown") -> "Shown":
        return Shown(self.least - other.most, self.most - other.least)

    def __mul__(self, other: "Shown") -> "Shown":  # type: ignore[override]
        return Shown(self.least * other.least, self.most * other.most)

    def __truediv__(self, other: "Shown") -> "Shown":
        return Shown(self.least / other.most, self.most / other.least)

    def root(self) -> "Shown":
        return Shown(max(0.0, self.least) ** 0.5, self.most**0.5)


def _number(figures: str, unit: str, fraction: bool) -> Shown:
    """What is written; of a fraction's own numbers, which have no unit, those of three figures were rounded too."""
    figures = figures.replace("\u202f", "").replace(",", ".")
    value, places, worth = float(figures), len(figures.partition(".")[2]), _WORTH.get(unit, 1.0)
    rounded = unit in _WORTH or (fraction and len(figures) >= FIGURES)
    if places or unit == "%":
        half = 10.0**-places / 2
    else:
        half = 10.0 ** (len(figures) - FIGURES) / 2 if value and rounded else 0.0
    return Shown((value - half) * worth, (value + half) * worth)


def _worked(side: str, unit: str) -> Shown:
    """A side of an equation, its figures put together; a number of a sum without a unit has the total's."""
    summed, fraction = not _MULTIPLIED.search(side), bool(re.match(r"\(.*\d[.,]\d", side))
    source, numbers = "", []
    for found in _TOKEN.finditer(side):
        if found["mark"]:
            source += {"−": "-", "×": "*", "·": "*", "÷": "/", "√": "Shown.root"}.get(found["mark"], found["mark"])
        else:
            source += f"numbers[{len(numbers)}]"
            numbers.append(_number(found["figures"], found["unit"] or (unit if summed else ""), fraction))
    return eval(source, {"numbers": numbers, "Shown": Shown})


def _holds(left: str, right: str) -> bool:
    if re.fullmatch(_PART, left):
        left, right = right, left
    units = [found["unit"] or "" for found in _TOKEN.finditer(right) if found["figures"]]
    worked, total = _worked(left, units[-1]), _worked(right, "")
    if not _MULTIPLIED.search(left):
        worked = Shown(worked.middle, worked.middle)
    slack = 1e-9 * abs(total.most)
    return worked.least - slack <= total.most and total.least - slack <= worked.most


def wrong(text: str) -> list[str]:
    """The equations of a text that do not hold as they are shown.

    A sum must come out to the last place of its total. What is multiplied or divided must come out within what the
    figures that are shown were rounded from.

    >>> wrong("4.00 + 0.39 = 4.39 ms; 170 + 0.16 + 3 = 173 GB; 32 = 5 × 6 + 2"), wrong("6.32 + 0.33 = 6.64 ms")
    ([], ['6.32 + 0.33 = 6.64 ms'])
    >>> wrong("8 KiB ÷ 800 MB/s = 10.24 µs"), wrong("12 GB ÷ 2 TB/s = 7 ms"), wrong("3 × (1 ms + 2.5 ms) = 12 ms")
    ([], ['12 GB ÷ 2 TB/s = 7 ms'], ['3 × (1 ms + 2.5 ms) = 12 ms'])
    >>> wrong("(4) ÷ (2 + 0.31) = 1.73 ×; (311) ÷ (4.86 + 461) = 0.667"), wrong("(12 + 12) ÷ (4 × 13) = (3) ÷ (7)")
    ([], ['(12 + 12) ÷ (4 × 13) = (3) ÷ (7)'])
    >>> wrong("1.5 × √(4 s × 9 s) = 9 s"), wrong("2 × √(4 s × 9 s) = 11 s")
    ([], ['2 × √(4 s × 9 s) = 11 s'])
    """
    plain = _MARKUP.sub("", text).replace("\u00a0", " ")
    found, at = [], 0
    while match := _EQUATION.search(plain, at):
        if not _holds(match["left"], match["right"]):
            found.append(match[0])
        at = match.end("left")
    return found
