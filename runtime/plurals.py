"""Which of a noun's forms a count takes: a language's folder says it in the words of Unicode CLDR.

    one: i = 1 and v = 0
    few: v = 0 and i % 10 = 2..4 and i % 100 != 12..14

What none of its rules takes is `other`, the last form. Source: Unicode Technical Standard 35, Plural Rules Syntax.
A browser has the same rules (`Intl.PluralRules`), so a player and a page agree.
"""

import re
from collections.abc import Callable, Mapping

KINDS = ("zero", "one", "two", "few", "many", "other")
"""In the order in which a noun's forms are written."""

Rule = Callable[[float], int]
_RELATION = re.compile(r"([nivft])(?: % (\d{1,9}))? (!?=) (\d{1,9}(?:(?:,|\.\.)\d{1,9})*)", re.ASCII)


def rule(language: Mapping[str, str]) -> Rule:
    """What gives a count the number of its form, from the blocks `plural.…` of a language's folder.

    Raises ValueError for what is no rule.

    >>> czech = rule({"plural.one": "i = 1 and v = 0", "plural.few": "i = 2..4 and v = 0"})
    >>> [czech(count) for count in (1, 2, 5, 1.5)]
    [0, 1, 2, 2]
    """
    forms = {name.removeprefix("plural."): text for name, text in language.items() if name.startswith("plural.")}
    if unknown := forms.keys() - set(KINDS[:-1]):
        raise ValueError(f"no kind of plural: {', '.join(sorted(unknown))}")
    tests = [_any(forms[kind]) for kind in KINDS if kind in forms]
    return lambda count: next((at for at, test in enumerate(tests) if test(count)), len(tests))


def _any(text: str) -> Callable[[float], bool]:
    """Relations joined by `and`, and such rows joined by `or`."""
    rows = [[_relation(part) for part in row.split(" and ")] for row in text.split(" or ")]
    return lambda count: any(all(holds(count) for holds in row) for row in rows)


def _relation(text: str) -> Callable[[float], bool]:
    """One comparison: `i % 10 = 2..4`."""
    match = _RELATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no rule of a plural: {text!r}")
    name, modulus, sign, listed = match.groups()
    bounds = [[int(end) for end in one.split("..")] for one in listed.split(",")]
    values = {value for ends in bounds for value in range(ends[0], ends[-1] + 1)}

    def holds(count: float) -> bool:
        value = _operand(name, abs(count))
        return ((value % int(modulus) if modulus else value) in values) == (sign == "=")

    return holds


def _operand(name: str, count: float) -> float:
    """n is the number, i its whole part, v how many decimals are written, f and t those decimals."""
    whole = int(count)
    decimals = "" if count == whole else f"{count:.15g}".partition(".")[2]
    match name:
        case "n":
            return count
        case "i":
            return whole
        case "v":
            return len(decimals)
    return int(decimals or "0")
