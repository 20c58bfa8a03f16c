"""The address is the only state: what a visit asks, as the query of its page.

A run reads it once (`begin`); a press writes it (`write`), defaults left out. The visit keeps a copy of its own,
for the browser's may lag a press behind. In a run that a press began, the copy is the truth; in any other, after a
link, Back or a reload, the browser's query is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from math import inf
from time import monotonic
from typing import Any

import streamlit as st

from core.scenario import FIELD_NAMES, Scenario, query_name
from runtime.prose import worded
from ui.course.pages import Entry
from ui.memory import memory
from ui.prose import label as word
from ui.question import Kind
from ui.visit import Visit

SCENARIO_NAMES = tuple(query_name(name) for name in FIELD_NAMES)
SHARED = (*SCENARIO_NAMES, *(one.name for one in fields(Visit)))
"""The names in the address that every page shares."""
LONGEST_VALUE, MOST_NAMES = 4000, 300
"""Of an address's parts; what is longer is nobody's."""

LATE_S = 3.0
"""How long a browser may still tell of a control what it showed before its twin was pressed."""
_EARLIER = "_earlier"
"""When a control was last told another value than one, by its key and that value."""

_COPY, _PRESSED, _OPENED = "_address", "_pressed", "_opened"
_LEFT, _DRAWN, _PLAYED, _TOOK = "_left", "_drawn", "_played", "_took"


def begin() -> None:
    """Read the address, at the beginning of a run of the app or of its open scene."""
    memory().pop(_TOOK, None)
    if memory().pop(_PRESSED, False) and _COPY in memory():
        return
    pairs = list(st.query_params.to_dict().items())[:MOST_NAMES]
    memory()[_COPY] = {name: value[:LONGEST_VALUE] for name, value in pairs}


def open_visit(page: str) -> None:
    """Keep what a visit came with, once: its page, its address, and remarks on what the scenario refused."""
    if is_open():
        return
    came = current()
    scenario, ignored = Scenario.from_query(came)
    memory()[_OPENED] = page, dict(came), [worded(one) for one in ignored]
    _put({**{name: text for name, text in came.items() if name not in SCENARIO_NAMES}, **scenario.to_query()})


def is_open() -> bool:
    """Return whether the visit has begun."""
    return _OPENED in memory()


def current() -> Mapping[str, str]:
    """Return the address of this run."""
    address: dict[str, str] = memory().get(_COPY, {})
    return address


def write(values: Mapping[str, str | None]) -> None:
    """Put values into the address, None to take one out. For a control's callback."""
    memory()[_PRESSED] = True
    put(values)


def put(values: Mapping[str, str | None]) -> None:
    """Put values into the address in the midst of a run, which is not read anew."""
    here, played = st.query_params.to_dict(), memory().get(_PLAYED, frozenset())
    kept = {name: text for name, text in current().items() if name not in played}
    kept |= {name: here[name] for name in played if name in here}
    _put({name: text for name, text in {**kept, **values}.items() if text is not None})


def let_browser_write(name: str) -> None:
    """Leave a name of the address to a player, which writes it in the browser without a run."""
    memory()[_PLAYED] = memory().get(_PLAYED, frozenset()) | {name}


def press() -> None:
    """Say that a press began the run that follows, which so keeps the visit's copy. For what writes nothing."""
    memory()[_PRESSED] = True


def _put(address: dict[str, str]) -> None:
    memory()[_COPY] = address
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)


def scenario() -> Scenario:
    """Return the scenario of this run."""
    now = current()
    return _scenario(tuple((name, now[name]) for name in SCENARIO_NAMES if name in now))


@lru_cache(maxsize=256)
def _scenario(query: tuple[tuple[str, str], ...]) -> Scenario:
    return Scenario.from_query(dict(query))[0]


def shared() -> dict[str, str]:
    """Return the part of the address that every page shares."""
    return {name: text for name, text in current().items() if name in SHARED}


def leave(entry: Entry) -> None:
    """Keep what a page asks now, for who comes back to it by a button."""
    own = {name: text for name, text in current().items() if name.startswith(f"{entry.prefix}_")}
    memory().setdefault(_LEFT, {})[entry.stem] = own


def of(entry: Entry, scene: str = "") -> dict[str, str]:
    """Return the address of another page: as it was left, with what all pages share, on a scene if one is named."""
    left: dict[str, str] = memory().get(_LEFT, {}).get(entry.stem, {})
    return {**shared(), **left, **(entry.scene(scene) if scene else {})}


def came_with(page: str) -> Mapping[str, str]:
    """Return the address that the visit began with, if it began on this page."""
    opened, came, _ = memory().get(_OPENED, ("", {}, []))
    return came if opened == page else {}


def remarks(
    page: str, known: Iterable[str], refused: Callable[[Mapping[str, str]], Mapping[str, str]]
) -> list[str]:
    """Return a sentence for each part of the address that a visit came with and this page did not take.

    None on another page than the one the visit began with. What `refused` names goes out of the address.
    """
    opened, came, of_scenario = memory().get(_OPENED, ("", {}, []))
    if opened != page:
        return []
    said = refused(came)
    if gone := [name for name, text in current().items() if name in said and came.get(name) == text]:
        put(dict.fromkeys(gone))
    strangers = [name for name in came if name not in SHARED and name not in set(known)]
    return [*of_scenario, *said.values(), *(word("address.stranger", name=name[:40]) for name in sorted(strangers))]


def control(
    name: str,
    kind: Kind[Any],
    label: str,
    value: object,
    default: object,
    stem: str,
    *,
    key: str = "",
    **given: Any,
) -> None:
    """Draw the control of one name of the address: it shows the value, and a press is written there.

    It is told the value where it says another, after Back, a link or another scene, and where it is drawn otherwise
    than before, for it then is a new widget to Streamlit. Its key is the name, unless that is on the page already.
    """
    key, looks = key or name, (kind.looks(stem), label)
    drawn: dict[str, object] = memory().setdefault(_DRAWN, {})
    if st.session_state.get(key) != value or drawn.get(key) != looks:
        if key != name and key in st.session_state:
            _note_earlier(key, st.session_state[key])
        st.session_state[key] = value
        drawn[key] = looks
    kind.draw(label, stem, key=key, on_change=_take, args=(key, name, kind, default, stem), **given)


def _note_earlier(key: str, value: object) -> None:
    """Remember what a control showed until now, and forget what no browser can still tell."""
    now = monotonic()
    earlier: dict[tuple[str, object], float] = memory().get(_EARLIER, {})
    memory()[_EARLIER] = {one: at for one, at in earlier.items() if now - at < LATE_S} | {(key, value): now}


def _take(key: str, name: str, kind: Kind[Any], default: object, stem: str) -> None:
    took: set[str] = memory().setdefault(_TOOK, set())
    value = st.session_state[key]
    since_s = monotonic() - memory().get(_EARLIER, {}).get((key, value), -inf)
    if key != name and (name in took or since_s < LATE_S):
        return  # its twin was pressed, and the browser had not yet heard of this one's new value
    took.add(name)
    is_default = value is None or value == default
    write({name: None if is_default else kind.write(value, stem)})
