"""The one reader of numbers: an address, a field, a quiz and a paste take the same text for the same number.

    1,024   1 024   1'024   1_024   1.024,5   1,5   .5   -3   −3   6.02e23   inf

A comma before groups of three digits parts thousands, any other comma is a decimal one; a single point is always
decimal. A number is at most `LONGEST` characters, so that nobody's five thousand digits reach `int`.
"""

import re
from math import inf, isfinite, isnan
from typing import TypeVar

from core.errors import OutOfRangeError

T = TypeVar("T", int, float)

LONGEST = 64
"""Characters of a number, blanks between its groups with them."""

_BLANKS = re.compile(r"[\s\u00a0\u2007\u2009\u202f]")
_MINUS = str.maketrans("\u2212\u2013\u2019\uff0c", "--',")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?P<mark>[, '_])\d{3}(?:(?P=mark)\d{3})*(?:\.\d*)?", re.ASCII)
_POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d*|[1-9]\d{0,2}(?:\.\d{3}){2,}", re.ASCII)
_SIGNED = re.compile(r"(?P<sign>[+-]?)(?P<digits>[\d.,'_ ]+)(?P<power>(?:[eE][+-]?\d{1,4})?)", re.ASCII)
_PLAIN = re.compile(r"\d+(?:[.,]\d*)?|[.,]\d+", re.ASCII)
_PLAINEST = re.compile(r"[+-]?\d{1,17}(?:\.\d{0,17})?", re.ASCII)
"""What most numbers of a table or a log are: read without looking for groups."""
_INFINITE = {"inf": inf, "infinity": inf, "∞": inf}


def number(given: object, least: float = -inf, most: float = inf, *, infinite: bool = False) -> float | None:
    """The number that a text writes, or that JSON held; None for anything else and outside of least..most.

    Infinity is a number only where `infinite` says so; what is too large for a float is none.

    >>> number("1,024"), number("1,5"), number("−3"), number("--5"), number("inf"), number(10**400)
    (1024.0, 1.5, -3.0, None, None, None)
    """
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        value = _read(given) if isinstance(given, str) else float(given)
    except OverflowError:
        return None
    if value is None or isnan(value) or not (infinite or isfinite(value)):
        return None
    return value if least <= value <= most else None


def whole_number(given: object, least: int = -(10**18), most: int = 10**18) -> int | None:
    """As `number`, where it is whole: exact to the last of eighteen digits.

    >>> whole_number("450 192"), whole_number("2e3"), whole_number("1.5"), whole_number("9" * 5000)
    (450192, 2000, None, None)
    """
    if isinstance(given, str) and len(given) <= 18 and given.isascii() and given.isdecimal():
        exact = int(given)
        return exact if least <= exact <= most else None
    value = number(given, least - 1, most + 1)
    if value is None or not value.is_integer():
        return None
    exact = given if isinstance(given, int) else _exact(given) if isinstance(given, str) else int(value)
    return exact if least <= exact <= most else None


def figure(text: str) -> float:
    """The number in a text that a pattern has found to be one.

    Raises OutOfRangeError where it is too long or too large all the same.
    """
    return _there(number(text), text)


def whole(text: str) -> int:
    """The whole number in a text that a pattern has found to be one.

    Raises OutOfRangeError where it is too long or too large all the same.

    >>> whole("0012"), whole("-3")
    (12, -3)
    """
    return _there(whole_number(text), text)


def _there(value: T | None, text: str) -> T:
    if value is None:
        raise OutOfRangeError("number", repr(text[:24]), "a_number_such", a="1/10", b=0.1)
    return value


def _read(text: str) -> float | None:
    """A text's number; infinite where it is spelt out, or beyond a float."""
    if _PLAINEST.fullmatch(text):
        return float(text)
    text = text.strip()
    if len(text) > LONGEST:
        return None
    text = text.translate(_MINUS)
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned.lower() in _INFINITE:
        return -inf if text[0] == "-" else inf
    normal = _normal(text)
    return None if normal is None else float(normal)


def _exact(text: str) -> int:
    """A text that `_read` found whole, digit by digit."""
    normal = _normal(text.strip().translate(_MINUS)) or ""
    return int(float(normal)) if "e" in normal.lower() else int(normal.partition(".")[0] or "0")


def _normal(text: str) -> str | None:
    """The number as Python writes one: no groups, a decimal point."""
    match = _SIGNED.fullmatch(_BLANKS.sub(" ", text))
    if match is None:
        return None
    digits = match["digits"]
    if grouped := _THOUSANDS.fullmatch(digits):
        digits = digits.replace(grouped["mark"], "")
    elif _POINTED.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif _PLAIN.fullmatch(digits):
        digits = digits.replace(",", ".")
    else:
        return None
    return f"{match['sign']}{digits}{match['power']}"
