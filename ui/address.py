"""The page's address: what a visit began with, what each page put there, and which parts of it nobody took.

A widget's key is its name in the URL. Streamlit drops a bad bound value in silence, so the address a visit
began with is kept raw, each widget checks its own name in it, and what was ignored is said in one line.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.scenario import FIELD_NAMES, Scenario, query_name
from runtime.prose import worded
from ui.lighter_state import own
from ui.old_addresses import key_of
from ui.prose import label as word

SCENARIO_NAMES = tuple(query_name(name) for name in FIELD_NAMES)
LONGEST_VALUE = 4000
"""Of an address's parts; what is longer is nobody's."""
_STREAMLITS_OWN = {"embed", "embed_options"}


def read() -> None:
    """Keep the query a session opened with, once; aliases in it become catalog keys, and what is unusable goes.

    Widgets take their first value from the query a run began with, so with a corrected one the run begins anew.
    """
    if "_address" in st.session_state:
        return
    raw = {name: value[:LONGEST_VALUE] for name, value in st.query_params.to_dict().items()}
    scenario, ignored = Scenario.from_query(raw)
    spelt = {name: key_of(name, value) for name, value in raw.items()}
    st.session_state["_address"] = spelt
    st.session_state["_heard"] = set(SCENARIO_NAMES) | _STREAMLITS_OWN
    st.session_state["_ignored"] = [worded(one) for one in ignored]
    clean = {name: value for name, value in spelt.items() if name not in SCENARIO_NAMES and not _overflows(value)}
    clean |= scenario.to_query()
    if clean != raw:
        st.query_params.from_dict(clean)
        st.rerun()


@contextmanager
def carried(page: str, names: Sequence[str]) -> Iterator[None]:
    """Draw what every page shares; what a page change lost of it is put back into the address first.

    Who leaves a page before the browser has mounted its widgets, as on a slow first visit, leaves without their
    state and their part of the address, and every page after would begin with the defaults. An address that the
    browser's Back brings is left as it is: its widgets are mounted, and Streamlit refuses.
    """
    shown: dict[str, str] = st.session_state.get("_shared", {})
    if page != st.session_state.get("_page"):
        here = st.query_params.to_dict()
        lost = {name: value for name, value in shown.items() if name not in here}
        left = {} if _own(names) else st.session_state.get("_own", {}).get(page, {})
        for missing in (lost, left):
            if missing:
                with suppress(StreamlitAPIException):
                    st.query_params.update(missing)
                    st.rerun()
    st.session_state["_page"] = page
    _note_shared(names)
    yield
    _note_shared(names)


def note_own(page: str, names: Sequence[str]) -> None:
    """Keep what a page has in the address beside what all pages share, for the browser's Back drops it."""
    st.session_state.setdefault("_own", {})[page] = _own(names)


def _own(names: Sequence[str]) -> dict[str, str]:
    return {
        name: value
        for name, value in st.query_params.to_dict().items()
        if name not in names and name not in _STREAMLITS_OWN
    }


def _note_shared(names: Sequence[str]) -> None:
    here = st.query_params.to_dict()
    st.session_state["_shared"] = {name: here[name] for name in names if name in here}


def _overflows(text: str) -> bool:
    """Whether a number in the address is one that Streamlit's widgets cannot hold."""
    try:
        return not abs(float(text)) < 2**53
    except ValueError:
        return False


def ignored() -> list[str]:
    """A sentence for each part of the address that no widget took, once the page has run."""
    unheard = set(st.session_state["_address"]) - st.session_state["_heard"]
    strangers = [word("address.stranger", name=name[:40]) for name in sorted(unheard)]
    return [*st.session_state["_ignored"], *strangers]


def listen(name: str, accepts: Callable[[str], bool], expected: str, **fields: object) -> None:
    """Take `name` out of the address, noting a value that the widget will drop, and what it was to be."""
    if is_heard(name):
        return
    hear(name)
    value = st.session_state["_address"].get(name)
    if value is not None and not accepts(value):
        wanted = word(f"address.{expected}", **fields)
        refused = word("address.refused", name=name, value=value[:40], expected=wanted)
        st.session_state["_ignored"].append(refused)


def spell(name: str, plain: Callable[[str], str]) -> None:
    """Have the address write a value as its widget reads one, `2.5` for `2,5`, and begin the run anew with that."""
    value = st.session_state["_address"].get(name)
    if value is None or (written := plain(value)) == value:
        return
    st.session_state["_address"][name] = written
    with suppress(StreamlitAPIException):
        st.query_params[name] = written
        st.rerun()


def is_heard(name: str) -> bool:
    """Whether a widget has taken `name` in this visit."""
    return name in own("_heard")


def hear(name: str) -> None:
    """Take `name` as one of the page's own, though its widget stands in another scene."""
    own("_heard").add(name)


def expect(name: str, options: Sequence[str]) -> None:
    """Let `name` be in the address, for a widget that is drawn elsewhere."""
    listen(name, lambda text: text in options, "options", options=", ".join(options))
