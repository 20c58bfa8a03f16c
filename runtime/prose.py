"""Words with their numbers put in: blocks of content/, and fields that name what core returned and its unit.

    {{network.comm_fraction|%}}    an attribute of an attribute, and how it is written
    {{ranks|GPU,GPUs}}             a count with its noun: `1 GPU`, `8 GPUs`
    {{ranks|=is,are}}              the word alone that a count takes: a verb, an article, an adjective
    {{kv_bytes|+GB}}               one of a block's addends: they are written so that they add as shown
    {{name}}                       text, or a whole number, as it is; a link by its short name
    {{bill.verdict|word}}          a code by its word: the file's option of that name, or every page's

What a row cannot tell, None, is the file's `says.untold`. There are no expressions: what is to be computed is
core's. A field that nobody fills is an error, not a gap.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Protocol

from core import units
from core.errors import LONGEST_MESSAGE, Remark, ShardlabError
from core.placement.steps import LinkBill
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.strategy.training.layout import Strategy
from core.text.numbers import number
from runtime import content
from runtime.catalog_words import short_name, told
from runtime.quantities import (
    bandwidth,
    binary_bytes,
    decimal_bytes,
    form,
    grouped,
    local,
    percent,
    plain,
    seconds,
    significant,
    step_time,
)

UNITS: Mapping[str, Callable[[float], str]] = MappingProxyType(
    {
        "%": percent,
        "%0": lambda fraction: percent(fraction, 0),
        "%2": lambda fraction: percent(fraction, 2),
        "s": seconds,
        "s4": lambda duration_s: seconds(duration_s, 4),
        "ms": lambda duration_s: seconds(duration_s, least="ms"),
        "us": lambda duration_s: seconds(duration_s, least="µs"),
        "KiB": binary_bytes,
        "GiB": lambda count: local(f"{count / units.GIB:.2f} GiB"),
        "GB": decimal_bytes,
        "GB4": lambda count: decimal_bytes(count, 4),
        "GB/s": bandwidth,
        "GB/s4": lambda rate: bandwidth(rate, 4),
        "n": lambda count: grouped(int(count)),
        "#": lambda count: f"{int(count):,}",
        "g": lambda value: f"{value:g}",
        "g3": lambda value: f"{value:.3g}",
        "g4": lambda value: f"{value:.4g}",
        "~2": lambda value: plain(value, 2),
        "2": lambda value: f"{value:.2f}",
        "x": significant,
        "x2": lambda value: local(f"{value:.2f}"),
        "~s": step_time,
        "~c": lambda fraction: plain(100 * fraction),
        "T": lambda count: plain(count / 1e12),
        "T4": lambda count: plain(count / 1e12, 4),
        "rate": lambda rate: grouped(int(units.significant(rate))) if rate >= 100 else significant(rate),
        "~": plain,
        "usd": lambda usd: local(f"${usd:.2f}"),
        "µs": lambda time_us: local(f"{significant(time_us)} µs"),
    }
)
"""How a quantity of SI is written; `µs` is of a number that a fit keeps as nccl-tests has it.

`KiB`, `GB` and `s` choose the prefix themselves; `ms` and `us` none below.

`#`, `g` and `2` write a number as engines and benchmarks print it, to be found again in what was pasted.
"""


_NAMED = (GpuSpec, LinkSpec, ModelSpec, LinkBill, Strategy)
"""What has names of the catalog: their qualifiers are words."""


@dataclass(frozen=True)
class Prose:
    """One file's blocks, the values of their fields, and how a value is kept from being markup."""

    blocks: Mapping[str, str]
    fields: Mapping[str, object] = field(default_factory=dict)
    escape: Callable[[str], str] = str
    _texts: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def text(self, name: str, row: object = None) -> str:
        """A block with its fields filled, from `row`'s attributes first; what no row is named for, once.

        Raises KeyError for an unknown block, field or unit.
        """
        if row is not None:
            return self._filled(name, row)
        if name not in self._texts:
            self._texts[name] = self._filled(name, None)
        return self._texts[name]

    def block(self, name: str) -> str:
        return self.blocks[name]

    def _filled(self, name: str, row: object) -> str:
        texts, fields = _parts(self.block(name))
        if not fields:
            return texts[0]
        parts = {path: unit[1:] for path, unit in fields if unit and unit.startswith("+")}
        shares = _added({path: self._value(path, row) for path in parts}, *set(parts.values())) if parts else {}
        filled = (self.escape(shares.get(path) or self._field(path, unit, row)) for path, unit in fields)
        return "".join(text for pair in zip(texts, (*filled, ""), strict=True) for text in pair)

    def _field(self, path: str, unit: str | None, row: object) -> str:
        value = self._value(path, row)
        if value is None:
            return self.blocks["says.untold"]
        return worded_option(self.blocks, str(value)) if unit == "word" else written(value, unit)

    def has(self, name: str) -> bool:
        return name in self.blocks

    def _value(self, path: str, row: object) -> object:
        first, *rest = path.split(".")
        own = row is not None and hasattr(row, first)
        owner, value = (row, getattr(row, first)) if own else (None, self.fields[first])
        for name in rest:
            owner, value = value, None if value is None else getattr(value, name)
        if isinstance(value, str) and isinstance(owner, _NAMED):
            value = told(value)
        return value


@lru_cache(maxsize=8192)
def _parts(block: str) -> tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]]:
    """What stands around a block's fields, and each field's path and unit."""
    parts = content.FIELD.split(block)
    return tuple(parts[::3]), tuple(zip(parts[1::3], parts[2::3], strict=True))


def _added(parts: Mapping[str, object], unit: str) -> dict[str, str]:
    """The addends of a block as they add up, each in the unit that their total is written in."""
    numbers = [part for part in parts.values() if isinstance(part, int | float)]
    name = UNITS[unit](sum(numbers)).rpartition(" ")[2]
    shares = units.addends(numbers, units.SIZES[name])
    return {path: local(f"{share} {name}") for path, share in zip(parts, shares, strict=True)}


def written(value: object, unit: str | None = None) -> str:
    """A value in a unit of `UNITS`, or as a count with its noun, `one,many`; without a unit as it is.

    A noun has as many forms as the language has (`runtime.plurals`); behind `=` they stand alone.
    Raises KeyError for an unknown unit.

    >>> written(0.46, "%"), written(8192, "KiB"), written(1, "GPU,GPUs"), written(3, "=is,are")
    ('46.0%', '8 KiB', '1 GPU', 'are')
    """
    if unit is None:
        if isinstance(value, LinkSpec):
            return short_name(value)
        if isinstance(value, Remark):
            return sentence(value)
        return local(str(value)) if isinstance(value, float) else str(value)
    assert isinstance(value, int | float | Fraction), f"{value!r} has no unit {unit}"
    number = float(value) if isinstance(value, Fraction) else value
    if unit.startswith("="):
        return form(number, unit[1:].split(","))
    if "," in unit:
        count = grouped(int(number)) if number == int(number) else plain(number, 4)
        return f"{count} {form(number, unit.split(','))}"
    return _in_unit(number, unit, content.language()) if number else UNITS[unit](number)


@lru_cache(maxsize=4096, typed=True)
def _in_unit(number: float, unit: str, language: str) -> str:
    return UNITS[unit](number)


def said(stem: str, name: str, row: object = None, /, **fields: object) -> str:
    """A block of a file as plain words: a label, a title, a line of a terminal."""
    blocks = content.load(stem)
    return Prose(blocks, fields).text(name, row) if "{{" in blocks[name] else blocks[name]


def named(stem: str, option: str) -> str:
    """An option of a page, or what else the code has a short name for, in the language being spoken."""
    return worded_option(content.load(stem), option)


def worded_option(blocks: Mapping[str, str], option: str) -> str:
    """An option by a file's own word, or the shell's."""
    block = f"option.{content.slug(option)}"
    return blocks.get(block) or content.load("shell").get(block, option)


class Sayable(Protocol):
    """What core has to say: `stem.name` is the block `remark.name` of a file, `values` are what its fields name."""

    @property
    def code(self) -> str:
        """The file and the block."""

    @property
    def values(self) -> Mapping[str, object]:
        """Rows, quantities and names, by field."""


def worded(remark: Sayable) -> str:
    """A remark as plain words; remarks among its values are worded in their place, several with commas between."""
    stem, _, name = remark.code.partition(".")
    values = {field: _nested(value) for field, value in remark.values.items()}
    return Prose(content.load(stem), values).text(f"remark.{name}")


def explained(error: Exception) -> str:
    """An error's message in the language being spoken, and what core says a line was refused for."""
    message, reason = str(error), getattr(error, "reason", None)
    if isinstance(error, ShardlabError) and content.language() != content.ENGLISH:
        message = " ".join(filter(None, sentence(error.remark)[:LONGEST_MESSAGE].split(" ")))
    return message if reason is None else f"{message}, {worded(reason)}"


def sentence(said: Remark) -> str:
    """What a refusal or a verdict says, in the language being spoken."""
    return str(said) if content.language() == content.ENGLISH else worded(_in_style(said))


def _in_style(value: Any) -> Any:
    """A refusal's remark, with numbers that somebody typed in the style of the language being spoken."""
    if isinstance(value, Remark):
        return replace(value, values={name: _in_style(one) for name, one in value.values.items()})
    if type(value) is tuple:
        return tuple(map(_in_style, value))
    return local(value) if isinstance(value, str) and number(value) is not None else value


def _nested(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, Exception):
        return explained(value)
    if type(value) is tuple:  # a row of named values stays a row: a field asks for one of them
        return ", ".join(str(_nested(one)) for one in value)
    return worded(value) if hasattr(value, "code") and hasattr(value, "values") else value
