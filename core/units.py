"""Units, and how a quantity is written.

SI inside, and the unit is in the name: `_s`, `_bytes`, `_bytes_per_s`, `_flops`, `_usd`, `_fraction`.
GB is 1e9 bytes, GiB is 2**30; Gb/s is an eighth of GB/s. Text is made here, once, so that a page, a
command and a test print one quantity one way.
"""

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Literal

Named = Literal["rough", "modeled", "measured"]
"""The three names a number can have: by the graded lab's formula, by fitted links and data sheets, or timed."""

KIB = 2**10
MIB = 2**20
GIB = 2**30
KB = 10**3
MB = 10**6
GB = 10**9
TB = 10**12

_BINARY = (("TiB", 2**40), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))
_DECIMAL = (("TB", TB), ("GB", GB), ("MB", MB), ("KB", KB))
_TIME = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
SIZES = dict((*_BINARY, *_DECIMAL, *_TIME, ("B", 1.0)))
"""What a unit with its prefix is, in bytes or seconds."""


def significant(value: float, digits: int = 3) -> str:
    """`value` to `digits` significant figures, never in exponent form, trailing zeros kept; what is endless is ∞.

    >>> significant(0.3861), significant(6.8194), significant(46.01), significant(1234.5), significant(float("inf"))
    ('0.386', '6.82', '46.0', '1230', '∞')
    """
    if not isfinite(value):
        return str(value).replace("inf", "∞")
    if value == 0:
        return "0"
    places = digits - 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    places = digits - 1 - floor(log10(abs(rounded))) if rounded else places
    return f"{rounded:.{max(places, 0)}f}"


def addends(parts: Sequence[float], size: float = 1.0) -> list[str]:
    """Parts of a sum as they add up beside it, in units of `size`: to the last of their total's three figures.

    The largest takes what rounding left over; what is too small for that place has two figures.

    >>> addends([6.318, 0.326]), addends([170.0, 0.162, 3.5]), addends([0.5, 0.5], size=1e-3)
    (['6.31', '0.33'], ['170', '0.16', '4'], ['500', '500'])
    """
    total = significant(sum(parts) / size)
    places = len(total.partition(".")[2]) or 3 - len(total)

    def written(part: float) -> str:
        return f"{part:.{max(places, 0)}f}"

    shown = [
        written(rounded) if (rounded := round(part / size, places)) or not part else significant(part / size, 2)
        for part in parts
    ]
    left = float(total) - sum(map(float, shown))
    largest = max(range(len(parts)), key=parts.__getitem__)
    shown[largest] = written(round(float(shown[largest]) + left, places))
    return shown


def plain(value: float, digits: int = 3) -> str:
    """As `significant`, with the zeros after the decimal point that say nothing left out: `8`, not `8.00`."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def binary_bytes(count: float, digits: int = 3) -> str:
    """A byte count in KiB, MiB, GiB: `8 KiB`. Whole bytes below one KiB."""
    for unit, size in _BINARY:
        if abs(count) >= size:
            return f"{plain(count / size, digits)} {unit}"
    return f"{plain(count, digits)} B"


def decimal_bytes(count: float, digits: int = 3) -> str:
    """A byte count in KB, MB, GB (powers of ten), as vendors and link speeds are given."""
    for unit, size in _DECIMAL:
        if abs(count) >= size:
            return f"{plain(count / size, digits)} {unit}"
    return f"{plain(count, digits)} B"


def seconds(duration_s: float, digits: int = 3, least: str = "ns") -> str:
    """A duration in the largest unit that keeps it at or above one, but none below `least`: `6.82 ms`, `50 µs`."""
    if duration_s == 0:
        return f"0 {'s' if least == 'ns' else least}"
    for unit, size in _TIME:
        if unit == least or abs(duration_s) >= size * (1 - 10.0**-digits / 2):
            return f"{significant(duration_s / size, digits)} {unit}"
    return f"{significant(duration_s / _TIME[-1][1], digits)} {least}"


def percent(fraction: float, decimals: int = 1) -> str:
    """A fraction in 0..1 as a percentage: `46.0 %`. Below the last decimal, two significant figures: `0.021 %`."""
    value = 100 * fraction
    if value and abs(value) < 10.0**-decimals:
        return f"{significant(value, 2)}\u00a0%"
    return f"{value:.{decimals}f}\u00a0%"


def bandwidth(bytes_per_s: float, digits: int = 3) -> str:
    """A link or memory speed, decimal: `300 GB/s`, `1.25 GB/s`, `2.04 TB/s`."""
    return f"{decimal_bytes(bytes_per_s, digits)}/s"


def grouped(count: int) -> str:
    """A whole number in groups of three with narrow no-break spaces: `1 035 648`."""
    return f"{count:,}".replace(",", "\u202f")
