"""A quantity as somebody types it: a number and a unit, read into SI, or the reason why it is none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Literal

Dimension = Literal["bytes", "time", "bandwidth", "share", "count", "usd"]

_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30}
_UNITS: Mapping[str, tuple[Dimension, float]] = MappingProxyType(
    {
        **{f"{prefix}b": ("bytes", size) for prefix, size in _PREFIXES.items()},
        **{f"{prefix}b/s": ("bandwidth", size) for prefix, size in _PREFIXES.items()},
        **{f"{prefix}bit/s": ("bandwidth", size / 8) for prefix, size in _PREFIXES.items()},
        "s": ("time", 1.0),
        "ms": ("time", 1e-3),
        "µs": ("time", 1e-6),
        "us": ("time", 1e-6),
        "ns": ("time", 1e-9),
        "h": ("time", 3600.0),
        "%": ("share", 0.01),
        "$": ("usd", 1.0),
        "usd": ("usd", 1.0),
    }
)
"""By lower case, as the case of a byte's prefix is seldom meant; `Gb/s` alone is bits, and is read before it."""

_NUMBER = re.compile(r"\s*(\$?)\s*([-+]?\d{1,15}(?:[.,]\d{1,15})?(?:[eE][-+]?\d{1,2})?)\s*([^\s\d]{1,12})?\s*")
_BITS = re.compile(r"([kMGT]?)b(?:it)?(?:/s|ps)")
_GROUPED = re.compile(r"\s*\$?[1-9]\d{0,2}(?:,\d{3}){1,4}(?![\d,])")


@dataclass(frozen=True)
class Quantity:
    """A number in SI and what it is a number of; `unit` is as it was typed, "" for none."""

    value: float
    dimension: Dimension | None
    unit: str


def read_quantity(text: str) -> Quantity | None:
    """What a typed answer means; None where it is no number. A bare number has no dimension.

    >>> read_quantity("8 KiB").value, read_quantity("46 %").value, read_quantity("63").dimension
    (8192.0, 0.46, None)
    """
    tight = text.replace("\u202f", "").replace("\u00a0", " ")[:60]
    if _GROUPED.match(tight):
        tight = tight.replace(",", "")
    match = _NUMBER.fullmatch(re.sub(r"(?<=\d)[ _](?=\d{3}\b)", "", tight))
    if match is None:
        return None
    value, unit = float(match[2].replace(",", ".")), match[3] or ("$" if match[1] else "")
    if not isfinite(value):
        return None
    if not unit:
        return Quantity(value, None, "")
    known = _unit(unit)
    return Quantity(value * known[1], known[0], unit) if known else Quantity(value, None, unit)


def _unit(unit: str) -> tuple[Dimension, float] | None:
    bits = _BITS.fullmatch(unit)
    if bits and unit.lower() != unit:
        return "bandwidth", _PREFIXES[bits[1].lower()] / 8
    return _UNITS.get(unit.lower().replace("μ", "µ"))
