"""What a page asks: one frozen dataclass, read from the address once a run.

    @dataclass(frozen=True)
    class Question:
        phase: str = ask("decode", Choice(("decode", "prefill")), "says.phase")
        tokens: int = ask(1, Whole(1, 1_048_576), "says.tokens_step")

A field's name, after its page's prefix, is its name in the address. Its kind reads that text and draws the control.
A default is left out of the address; None stands for a default that depends on the scenario.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from core.text.numbers import number, whole_number
from runtime import content
from runtime.content import slug
from runtime.prose import said
from runtime.quantities import local
from ui.prose import label as word

T = TypeVar("T")
Option = TypeVar("Option", int, str)
_ASKED = "_asked_of_the_address"
LONGEST_SHOWN = 40
"""Letters of a refused value that its remark repeats."""


class RefusedError(ValueError):
    """A text that is no value of a field: the block of `address.*` that says what would be, and its fields."""

    def __init__(self, expected: str, **values: object) -> None:
        super().__init__(expected)
        self.expected, self.values = expected, values


class Kind(Protocol[T]):
    """The kind of a field: reads a text of the address, writes it, and draws the control."""

    def read(self, text: str, stem: str) -> T:
        """Return the value of a text, on the page of a stem. Raises RefusedError."""

    def write(self, value: T, stem: str) -> str:
        """Return the text that `read` takes for a value."""

    def draw(self, label: str, stem: str, **given: Any) -> None:
        """Draw the control under a label; `given` goes to Streamlit's widget."""

    def looks(self, stem: str) -> object:
        """Return what the control is drawn with: where that has changed, it is a new widget to Streamlit."""


@dataclass(frozen=True)
class Choice(Generic[Option]):
    """One of a few, as a row of buttons, or of many as a list to search.

    An option that has a block `<words>.<its slug>` on its page is shown in those words, and named in the address by
    its slug; any other is a name, and stands for itself.
    """

    options: Sequence[Option]
    listed: bool = False
    words: str = "option"

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))

    def read(self, text: str, stem: str) -> Option:
        known = _texts(tuple(self.options), self.words, stem)
        if text not in known:
            raise RefusedError("listed") if self.listed else RefusedError("options", options=", ".join(known))
        option: Option = known[text]
        return option

    def write(self, value: Option, stem: str) -> str:
        return slug(value) if _block(self.words, value) in content.load(stem) else str(value)

    def draw(self, label: str, stem: str, **given: Any) -> None:
        blocks = content.load(stem)

        def words(option: Option) -> str:
            return blocks.get(_block(self.words, option), str(option))

        given = {"format_func": words, **given}
        if self.listed:
            st.selectbox(label, self.options, **given)
        else:
            st.segmented_control(label, self.options, required=True, **given)

    def looks(self, stem: str) -> object:
        return self.options, content.language()


@dataclass(frozen=True)
class Whole:
    """A whole number in a range: typed, or slid in steps.

    A slider has one form of its unit for all numbers: one of several forms (`GPU,GPUs`) it does not show.
    """

    low: int
    high: int
    slid: bool = False
    step: int = 1
    unit: str = ""

    def read(self, text: str, stem: str) -> int:
        value = whole_number(text, self.low, self.high)
        if value is None:
            raise RefusedError("whole", low=self.low, high=self.high)
        return value

    def write(self, value: int, stem: str) -> str:
        return str(value)

    def draw(self, label: str, stem: str, **given: Any) -> None:
        if not self.slid:
            st.number_input(label, self.low, self.high, step=self.step, **given)
            return
        form = "%d" + local(f"0 {self.unit}")[1:].replace("%", "%%") if self.unit and "," not in self.unit else None
        st.slider(label, self.low, self.high, step=self.step, format=form, **given)

    def looks(self, stem: str) -> object:
        return self


@dataclass(frozen=True)
class Number:
    """A number in a range, typed."""

    low: float
    high: float

    def read(self, text: str, stem: str) -> float:
        value = number(text, self.low, self.high)
        if value is None:
            raise RefusedError("number", low=f"{self.low:g}", high=f"{self.high:g}")
        return value

    def write(self, value: float, stem: str) -> str:
        return repr(value).removesuffix(".0")

    def draw(self, label: str, stem: str, **given: Any) -> None:
        st.number_input(label, float(self.low), float(self.high), format="%g", **given)

    def looks(self, stem: str) -> object:
        return self


@dataclass(frozen=True)
class Text:
    """A line of text: typed, or written by a button and drawn by nobody."""

    longest: int = 120

    def read(self, text: str, stem: str) -> str:
        if len(text) > self.longest:
            raise RefusedError("shorter", longest=self.longest)
        return text

    def write(self, value: str, stem: str) -> str:
        return value

    def draw(self, label: str, stem: str, **given: Any) -> None:
        st.text_input(label, max_chars=self.longest, **given)

    def looks(self, stem: str) -> object:
        return self


@dataclass(frozen=True)
class Switch:
    """A setting that is on or off, drawn as a switch."""

    def read(self, text: str, stem: str) -> bool:
        if text not in ("true", "false"):
            raise RefusedError("switch")
        return text == "true"

    def write(self, value: bool, stem: str) -> str:
        return str(value).lower()

    def draw(self, label: str, stem: str, **given: Any) -> None:
        st.toggle(label, **given)

    def looks(self, stem: str) -> object:
        return self


def ask(default: Any, kind: Kind[Any], label: str = "", help: str = "", *, name: str = "") -> Any:
    """Return a field of a question: `label` and `help` are blocks of its page's words.

    `name` is its name in the address, where that is not the field's.
    """
    return field(default=default, metadata={"asked": (kind, label, help), "name": name})


@dataclass(frozen=True)
class Asked:
    """One field of a page's question: its name in the address, its default, its kind and its words."""

    name: str
    address: str
    default: Any
    kind: Kind[Any]
    label: str
    help: str


def asked(question: type[Any], prefix: str) -> Mapping[str, Asked]:
    """Return the fields of a question by name; `prefix` begins their names in the address."""
    known: Mapping[str, Asked] | None = vars(question).get(_ASKED)
    if known is None:
        known = _asked(question, prefix)
        setattr(question, _ASKED, known)
    return known


def _asked(question: type[Any], prefix: str) -> Mapping[str, Asked]:
    found = {}
    for one in fields(question):
        if "asked" not in one.metadata or one.default is MISSING:
            raise TypeError(f"{question.__name__}.{one.name} is no field of `ask`")
        name = one.metadata["name"] or one.name
        address = f"{prefix}_{name}" if prefix else name
        found[one.name] = Asked(one.name, address, one.default, *one.metadata["asked"])
    return found


def read(question: type[T], prefix: str, stem: str, address: Mapping[str, str]) -> tuple[T, dict[str, str]]:
    """Return the question that an address asks, and a sentence for each value that was refused, by its name."""
    values, bad = _read(asked(question, prefix).values(), stem, address)
    return question(**values), bad


def refused(parts: Iterable[Asked], stem: str, address: Mapping[str, str]) -> dict[str, str]:
    """Return a sentence for each of these parts of an address whose value is none."""
    return _read(parts, stem, address)[1]


def _read(parts: Iterable[Asked], stem: str, address: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    values, bad = {}, {}
    for one in parts:
        if (text := address.get(one.address)) is None:
            continue
        try:
            values[one.name] = one.kind.read(text, stem)
        except RefusedError as rule:
            bad[one.address] = refusal(one.address, text, rule)
    return values, bad


def respelled(question: type[Any], prefix: str, stem: str, address: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of an address that are written otherwise than `write` does: `2,5` for 2.5."""
    now, bad = read(question, prefix, stem, address)
    plain = {}
    for one in asked(question, prefix).values():
        if one.address in address and one.address not in bad:
            text = one.kind.write(getattr(now, one.name), stem)
            if text != address[one.address]:
                plain[one.address] = text
    return plain


def refusal(name: str, text: str, rule: RefusedError) -> str:
    """Return the sentence that says which value of an address was ignored, and what was expected."""
    expected = word(f"address.{rule.expected}", **rule.values)
    return word("address.refused", name=name, value=text[:LONGEST_SHOWN], expected=expected)


def label_of(stem: str, block: str, **values: object) -> str:
    """Return a control's label: a block of its page's words."""
    return said(stem, block, **values)


def _block(words: str, option: object) -> str:
    return f"{words}.{slug(option)}"


@lru_cache(maxsize=512)
def _texts(options: tuple[Option, ...], words: str, stem: str) -> Mapping[str, Option]:
    """Return the options by their text in the address, which is the same in every language."""
    blocks = content.load(stem, content.ENGLISH)
    return {slug(one) if _block(words, one) in blocks else str(one): one for one in options}
