"""Everything that is asked: widgets bound to the URL, each of which checks its own part of the address."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from core.text.numbers import number as number_in
from core.text.numbers import whole_number
from runtime import content
from runtime.content import slug
from ui import address
from ui.course.pages import PAGES
from ui.lighter_state import state
from ui.unseen import asked, is_told, is_unseen, out_of_sight

T = TypeVar("T", bound=int | str)
KEYS = "keys"
"""The switch of the single-key shortcuts, in the address of every page."""
_PLAIN_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
"""A number as Streamlit reads it out of an address: no groups, no blanks."""
_MOST_KEPT = 10**9
_STEMS = {page.prefix: page.stem for page in PAGES}
"""The page that asks under a prefix."""


def _hear_number(key: str, read: Callable[..., float | None], low: float, high: float, expected: str) -> None:
    """Take a number out of the address however it is written: a decimal comma, groups, either minus."""
    if address.is_heard(key):
        return

    def plain(text: str) -> str:
        value = None if _PLAIN_NUMBER.fullmatch(text) else read(text, low, high)
        return text if value is None else repr(value).removesuffix(".0")

    address.spell(key, plain)
    ends = {name: end if isinstance(end, int) else f"{end:g}" for name, end in (("low", low), ("high", high))}
    address.listen(key, lambda text: read(text, low, high) is not None, expected, **ends)


def choice(label: str, key: str, options: Sequence[T], default: T, *, help: str | None = None) -> T:
    """One of a few, as a row of buttons. What its page has a block `option.…` for is said in that block's words."""
    if words := _worded(key, options):
        return words[option(label, key, *_keyed(words, default), help=help)][0]
    address.listen(key, lambda text: text in map(str, options), "options", options=", ".join(map(str, options)))
    given = tuple(options)
    picked = asked(
        key,
        ("choice", given, default),
        given.__contains__,
        lambda: st.segmented_control(
            label, options, default=default, key=key, bind="query-params", required=True, help=help
        ),
    )
    return default if picked is None else picked


def select(label: str, key: str, options: Sequence[T], default: T, *, help: str | None = None) -> T:
    """One of many, as a list to search; worded as `choice`, and bound as `option` is.

    A bound list would have its new address drawn by the whole app before a press is sent.
    """
    if words := _worded(key, options):
        return words[option(label, key, *_keyed(words, default), help=help, listed=True)][0]
    address.listen(key, lambda text: text in map(str, options), "listed")
    if is_unseen():
        return _list(key, key, options, default)
    shown, now = f"{key}_shown", _kept(key, options, default)
    _show(shown, now, asked_by := (shown, key, *map(str, options)))
    st.selectbox(label, options, key=shown, on_change=copy, args=asked_by, help=help)
    return now


def _kept(key: str, options: Sequence[T], default: T) -> T:
    """What the address names, by a list that nobody sees."""
    with out_of_sight():
        return _list(key, key, options, default)


def _show(shown: str, value: object, asked_by: tuple[object, ...]) -> None:
    """Have a widget of which the browser says another value show this one: one that is set is sent anew."""
    if not is_told(shown, value, asked_by):
        st.session_state[shown] = value


def _list(label: str, key: str, options: Sequence[T], default: T) -> T:
    index, given = list(options).index(default), tuple(options)
    picked = asked(
        key,
        ("list", given, default),
        given.__contains__,
        lambda: st.selectbox(label, options, index=index, key=key, bind="query-params"),
    )
    return default if picked is None else picked


def _worded(key: str, options: Sequence[T]) -> dict[str, tuple[T, str]]:
    """Each option's key in the address, the option and its words; none where no option has any of its own.

    An option without a block is a name, of a model or a format, and stands for itself.
    """
    stem = _STEMS.get(key.partition("_")[0])
    if stem is None:
        return {}
    blocks = content.load(stem)
    labels = {one: blocks.get(f"option.{slug(one)}") for one in options}
    if not any(labels.values()):
        return {}
    return {slug(one) if text else str(one): (one, text or str(one)) for one, text in labels.items()}


def _keyed(words: Mapping[str, tuple[T, str]], default: T) -> tuple[dict[str, str], str]:
    """The words by key, and the default's key."""
    keys = {one: key for key, (one, _) in words.items()}
    return {key: text for key, (_, text) in words.items()}, keys[default]


def kept(key: str, options: Sequence[str], default: str) -> str:
    """Which of a few the address names, by its key; what shows it is another widget, in the visit's language."""
    address.expect(key, options)
    return _kept(key, options, default)


def option(
    label: str,
    key: str,
    words: Mapping[str, str],
    default: str,
    *,
    help: str | None = None,
    listed: bool = False,
    in_one_line: bool = False,
) -> str:
    """One of a few, said in the words of the visit's language and named in the address by its key.

    Streamlit puts what it shows into the address, so the widget that is seen is not bound: what is picked there
    goes to one out of sight, whose options are the keys. A row of buttons, in one line without its label where that
    is asked for, or a list to search. Where nobody sees the first, the second is enough.
    """
    shown, keys = f"{key}_shown", list(words)
    now, asked_by = kept(key, keys, default), (shown, key, *words.values())
    if is_unseen():
        st.session_state[shown] = now
        return now
    _show(shown, now, asked_by)
    given: dict[str, Any] = {"key": shown, "on_change": copy, "args": asked_by, "help": help}
    if listed:
        st.selectbox(label, keys, format_func=words.__getitem__, **given)
    else:
        if in_one_line:
            given |= {"label_visibility": "collapsed", "wrap": False}
        st.segmented_control(label, keys, format_func=words.__getitem__, required=True, **given)
    return now


def picked(key: str, default: str, options: Sequence[str] = ()) -> str:
    """What is picked at a control that has not run yet: in this visit, or in its address."""
    now = state()
    value = str(now[key] if key in now else st.query_params.get(key, default))
    return next((one for one in options if slug(one) == value), value)


def whole(label: str, key: str, low: int, high: int, default: int, *, help: str | None = None) -> int:
    """A whole number in a range, typed."""
    _hear_number(key, whole_number, low, high, "whole")
    return int(_typed("whole", label, key, low, high, default, step=1, help=help))


def number(label: str, key: str, low: float, high: float, default: float, *, help: str | None = None) -> float:
    """A number in a range, typed."""
    _hear_number(key, number_in, low, high, "number")
    return float(_typed("number", label, key, low, high, default, format="%g", help=help))


def _typed(kind: str, label: str, key: str, low: float, high: float, default: float, **asks: Any) -> float:
    return asked(
        key,
        (kind, low, high, default),
        lambda held: low <= held <= high,
        lambda: st.number_input(label, low, high, default, key=key, bind="query-params", **asks),
    )


def line(label: str, key: str, longest: int) -> str:
    """A line of text, typed."""
    address.hear(key)
    return asked(
        key,
        ("line", longest),
        lambda held: len(held) <= longest,
        lambda: st.text_input(label, "", max_chars=longest, key=key, bind="query-params"),
    )


def memo(key: str, longest: int = 120) -> str:
    """A text in the URL that a button writes; the page checks what it says."""
    with out_of_sight():
        return line(key, key, longest)


def remember(key: str, value: object) -> None:
    """Set a piece of state. For a button's `on_click`."""
    st.session_state[key] = value


def slide(label: str, key: str, low: int, high: int, default: int, *, step: int = 1, unit: str = "") -> int:
    """A whole number in a range, slid."""
    _hear_number(key, whole_number, low, high, "whole")
    if not low <= st.session_state.get(key, default) <= high:
        st.session_state[key] = default  # kept from another scene, which knew no end of it
    form = f"%d {unit.replace('%', '%%')}" if unit else None
    return int(
        asked(
            key,
            ("slide", low, high, default, step),
            lambda held: low <= held <= high,
            lambda: st.slider(label, low, high, default, step, key=key, format=form, bind="query-params"),
        )
    )


def toggle(label: str, key: str, default: bool = False, *, help: str | None = None) -> bool:
    address.listen(key, lambda text: text in ("true", "false"), "switch")
    return asked(
        key,
        ("toggle", default),
        lambda held: isinstance(held, bool),
        lambda: st.toggle(label, default, key=key, bind="query-params", help=help),
    )


def flag(key: str) -> bool:
    """A state in the URL that a button sets: no widget of its own to see."""
    with out_of_sight():
        return toggle(key, key)


def keep_number(key: str) -> None:
    """Keep in the address a number that is asked for in another scene."""
    if st.session_state.get(key, 0) is None:
        st.session_state[key] = 0  # a row of buttons of which none was pressed
    _hear_number(key, whole_number, 0, _MOST_KEPT, "some_whole")
    with out_of_sight():
        whole(key, key, 0, _MOST_KEPT, 0)


def keys_act() -> bool:
    """Whether single keys are shortcuts in this visit."""
    return bool(state().get(KEYS, True))


def shortcut(key: str) -> str | None:
    """A button's shortcut, unless the visitor has switched them off."""
    return key if keys_act() else None


def copy(source: str, target: str, *words: str) -> None:
    """What a row of such words has picked. For its `on_change`."""
    st.session_state[target] = st.session_state[source]
