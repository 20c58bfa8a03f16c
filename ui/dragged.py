"""Numbers in prose that are dragged: `[{{stages|stage,stages}}](drag:p)` is a slider within its sentence.

The link names a field of the page's question or of the scenario. The words of the link hold the number as it is
now. `browser/dragged.js` moves it by pointer, finger or arrow key and tells what was chosen; that is written into
the address as any control's press is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from core.scenario import LIMITS, Scenario, query_name
from ui import address
from ui.memory import memory
from ui.prose import label as word
from ui.question import Choice, QuestionField, label_of
from ui.shortcuts import mounted

LINK = re.compile(r"\[([^\[\]]*)\]\(drag:(\w+)\)")
_OFFERED, _KEY = "_dragged", "dragged"
"""What the open scene lets a visitor drag, by name in the address."""


_hand = st.components.v2.component(
    "shardlab_dragged",
    html="<i></i>",
    js=(Path(__file__).parent / "browser" / "dragged.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True)
class Dragged:
    """A number's name in the address, its label, its values in order, and the one that an address leaves out."""

    name: str
    label: str
    values: Sequence[int]
    default: int | None


def begin() -> None:
    """Offer nothing to be dragged yet, at the beginning of a run of a scene."""
    memory()[_OFFERED] = {}


def marked(markdown: str, fields: Mapping[str, QuestionField], stem: str) -> str:
    """Return prose as Markdown with its numbers to be dragged as HTML; `fields` are those of the page's question.

    Raises KeyError for a link that names no field.
    """
    return LINK.sub(lambda link: _slider(link[1], _found(link[2], _number(link[1]), fields, stem)), markdown)


def _number(words: str) -> int:
    """Return the number in the words of a link, whatever marks part its digits."""
    return int("".join(letter for letter in words if letter.isdigit()))


def _found(field: str, now: int, fields: Mapping[str, QuestionField], stem: str) -> Dragged:
    if field in fields:
        one = fields[field]
        assert isinstance(one.kind, Choice), f"{field} is not one of a few"
        return Dragged(one.address, label_of(stem, one.label), tuple(sorted({now, *one.kind.options})), one.default)
    least, most = LIMITS[field]
    doubled = (1 << power for power in range(most.bit_length()))
    values = sorted({now, *(value for value in doubled if least <= value <= most)})
    return Dragged(query_name(field), word(f"scenario.{field}"), tuple(values), getattr(Scenario(), field))


def _slider(words: str, one: Dragged) -> str:
    """Return the number as a slider: a span, since a real one is never a part of its line."""
    memory().setdefault(_OFFERED, {})[one.name] = one
    told: dict[str, Any] = {
        "class": "dragged",
        "role": "slider",
        "tabindex": 0,
        "title": word("dragged.help"),
        "data-drag": one.name,
        "data-values": " ".join(map(str, one.values)),
        "aria-label": one.label,
        "aria-valuemin": one.values[0],
        "aria-valuemax": one.values[-1],
        "aria-valuenow": _number(words),
        "aria-valuetext": words,
    }
    attributes = " ".join(f'{name}="{escape(str(value), quote=True)}"' for name, value in told.items())
    return f"<span {attributes}>{words}</span>"


def mount() -> None:
    """Mount what hears the dragging, at the end of a run of a scene that offers any."""
    if memory().get(_OFFERED):
        with mounted("dragged"):
            _hand(key=_KEY, on_dragged_change=_hear)


def _hear() -> None:
    take(st.session_state.get(_KEY, {}).get("dragged"))


def take(told: object) -> None:
    """Write what a browser says was dragged into the address, as far as the open scene offers it."""
    address.press()
    name, value = (told.get(part) if isinstance(told, dict) else None for part in ("name", "value"))
    offered: Mapping[object, Dragged] = memory().get(_OFFERED, {})
    one = offered.get(name) if isinstance(name, str) else None
    if one and type(value) is int and value in one.values:
        address.write({one.name: None if value == one.default else str(value)})
