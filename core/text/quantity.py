"""A quantity as somebody types it: a number and a unit, read into SI, or the reason why it is none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.text.numbers import number

Dimension = Literal["bytes", "time", "bandwidth", "share", "count", "usd"]

_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30}
_UNITS: Mapping[str, tuple[Dimension, float]] = MappingProxyType(
    {
        **{f"{prefix}{b}": ("bytes", size) for prefix, size in _PREFIXES.items() for b in ("b", "byte", "bytes")},
        **{f"{prefix}b/s": ("bandwidth", size) for prefix, size in _PREFIXES.items()},
        **{f"{prefix}bit/s": ("bandwidth", size / 8) for prefix, size in _PREFIXES.items()},
        **dict.fromkeys(("s", "sec", "second", "seconds"), ("time", 1.0)),
        **dict.fromkeys(("millisecond", "milliseconds"), ("time", 1e-3)),
        **dict.fromkeys(("microsecond", "microseconds"), ("time", 1e-6)),
        "ms": ("time", 1e-3),
        "µs": ("time", 1e-6),
        "us": ("time", 1e-6),
        "ns": ("time", 1e-9),
        "h": ("time", 3600.0),
        **dict.fromkeys(("%", "percent"), ("share", 0.01)),
        "$": ("usd", 1.0),
        "usd": ("usd", 1.0),
    }
)
"""By lower case, as the case of a byte's prefix is seldom meant; `Gb/s` alone is bits, and is read before it."""

_BITS = re.compile(r"([kMGT]?)b(?:it)?(?:/s|ps)")
_PARTED = re.compile(r"(\$?)\s*([^A-Za-zµμ%$]*(?:[eE][-+]?\d{1,3})?)\s*(\S{0,12})")
"""A currency's sign, what may be a number, and what stands behind it."""

_LONE = re.compile(r"(?P<before>[^.,\d]{0,60}[1-9]\d{0,2})(?P<mark>[.,])(?P<behind>\d{3}(?:[^.,\d][^.,]{0,60})?)")
"""One mark in all, before three digits."""

_WORDS = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

LONGEST = 60
"""Characters of an answer; what is longer is none."""


@dataclass(frozen=True)
class Quantity:
    """A number in SI and what it is a number of; `unit` is as it was typed, "" for none."""

    value: float
    dimension: Dimension | None
    unit: str


def read_quantity(text: str) -> Quantity | None:
    """What a typed answer means; None where it is no number. A bare number has no dimension, a fraction is a share.

    >>> read_quantity("8 KiB").value, read_quantity("46 %").value, read_quantity("63").dimension
    (8192.0, 0.46, None)
    >>> read_quantity("32,5 μs").value, read_quantity("15/47").value, read_quantity("6.7 billion").value
    (3.25e-05, 0.3191489361702128, 6700000000.0)
    """
    match = _PARTED.fullmatch(text.strip()) if len(text) <= LONGEST else None
    value = _number(match[2]) if match else None
    if match is None or value is None:
        return None
    unit = match[3] or match[1]
    if unit.lower() in _WORDS:
        return Quantity(value * _WORDS[unit.lower()], None, "")
    if not unit:
        return Quantity(value, "share" if "/" in match[2] else None, "")
    known = _unit(unit)
    return Quantity(value * known[1], known[0], unit) if known else Quantity(value, None, unit)


def readings(text: str, marks: str = ",") -> tuple[Quantity, ...]:
    """What a typed answer may mean, as `read_quantity` has it first; none where it is no number.

    A lone comma before three digits parts thousands for some and decimals for others, so it has both meanings. A
    point has them only where `marks` names it: 6.819 ms may be a slip of a unit.

    >>> [read.value for read in readings("6,819 ms")], [read.value for read in readings("16.384", ",.")]
    ([6.819, 0.006819], [16.384, 16384.0])
    """
    lone = _LONE.fullmatch(text)
    other = {",": ".", ".": ","}[lone["mark"]] if lone and lone["mark"] in marks else ""
    texts = (text, f"{lone['before']}{other}{lone['behind']}") if lone and other else (text,)
    return tuple(read for one in texts if (read := read_quantity(one)))


def _number(text: str) -> float | None:
    """A number, or one over another: `15/47`."""
    upper, slash, lower = text.partition("/")
    if not slash:
        return number(text)
    above, below = number(upper), number(lower)
    return above / below if above is not None and below else None


def _unit(unit: str) -> tuple[Dimension, float] | None:
    bits = _BITS.fullmatch(unit)
    if bits and unit.lower() != unit:
        return "bandwidth", _PREFIXES[bits[1].lower()] / 8
    return _UNITS.get(unit.lower().replace("μ", "µ"))
