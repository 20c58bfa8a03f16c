"""Everything that is asked: widgets bound to the URL, and the scenario bar that all pages share.

A widget's key is its name in the URL. Streamlit drops a bad bound value in silence, so the address a visit
began with is kept raw, each widget checks its own name in it, and what was ignored is said in one line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.catalog import GPUS, LINKS, MODELS
from core.catalog.own_link import extrapolation
from core.numbers import number as number_in
from core.numbers import whole_number
from core.scenario import FIELD_NAMES, LIMITS, Scenario, query_name
from core.specs import DTYPE_BYTES
from runtime import content
from runtime.content import slug
from runtime.prose import worded
from ui.course.old_addresses import key_of
from ui.course.pages import PAGES
from ui.labels import label as word

T = TypeVar("T", int, str)
SCENARIO_NAMES = tuple(query_name(name) for name in FIELD_NAMES)
LONGEST_VALUE = 4000
"""Of an address's parts; what is longer is nobody's."""

KEYS = "keys"
"""The switch of the single-key shortcuts, in the address of every page."""

_PLAIN_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
"""A number as Streamlit reads it out of an address: no groups, no blanks."""

_MOST_KEPT = 10**9
_STREAMLITS_OWN = {"embed", "embed_options"}


def read_address() -> None:
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
    lost = {name: value for name, value in shown.items() if name not in st.query_params}
    if page != st.session_state.get("_page"):
        for missing in (lost, _left_on(page, names)):
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


def _left_on(page: str, names: Sequence[str]) -> dict[str, str]:
    """What a page had in the address when it was left, if it comes back with nothing of its own."""
    left: dict[str, str] = st.session_state.get("_own", {}).get(page, {})
    return {} if _own(names) else left


def _own(names: Sequence[str]) -> dict[str, str]:
    return {
        name: value
        for name, value in st.query_params.to_dict().items()
        if name not in names and name not in _STREAMLITS_OWN
    }


def _note_shared(names: Sequence[str]) -> None:
    st.session_state["_shared"] = {name: st.query_params[name] for name in names if name in st.query_params}


def _overflows(text: str) -> bool:
    """Whether a number in the address is one that Streamlit's widgets cannot hold."""
    try:
        return not abs(float(text)) < 2**53
    except ValueError:
        return False


def ignored_in_address() -> list[str]:
    """A sentence for each part of the address that no widget took, once the page has run."""
    unheard = set(st.session_state["_address"]) - st.session_state["_heard"]
    strangers = [word("address.stranger", name=name[:40]) for name in sorted(unheard)]
    return [*st.session_state["_ignored"], *strangers]


def _listen(name: str, accepts: Callable[[str], bool], expected: str, **fields: object) -> None:
    """Take `name` out of the address, noting a value that the widget will drop, and what it was to be."""
    if name in st.session_state["_heard"]:
        return
    st.session_state["_heard"].add(name)
    value = st.session_state["_address"].get(name)
    if value is not None and not accepts(value):
        wanted = word(f"address.{expected}", **fields)
        refused = word("address.refused", name=name, value=value[:40], expected=wanted)
        st.session_state["_ignored"].append(refused)


def hear(name: str) -> None:
    """Take `name` as one of the page's own, though its widget stands in another scene."""
    st.session_state["_heard"].add(name)


def _is_whole(text: str, low: int, high: int) -> bool:
    return _PLAIN_NUMBER.fullmatch(text) is not None and whole_number(text, low, high) is not None


def expect(name: str, options: Sequence[str]) -> None:
    """Let `name` be in the address, for a widget that is drawn elsewhere."""
    _listen(name, lambda text: text in options, "options", options=", ".join(options))


def _is_number(text: str, low: float, high: float) -> bool:
    return _PLAIN_NUMBER.fullmatch(text) is not None and number_in(text, low, high) is not None


def choice(label: str, key: str, options: Sequence[T], default: T, *, help: str | None = None) -> T:
    """One of a few, as a row of buttons. What its page has a block `option.…` for is said in that block's words."""
    if words := _worded(key, options):
        return _picked_of(words, option(label, key, *_keyed(words, default), help=help))
    _listen(key, lambda text: text in map(str, options), "options", options=", ".join(map(str, options)))
    picked = st.segmented_control(
        label, options, default=default, key=key, bind="query-params", required=True, help=help
    )
    return default if picked is None else picked


def select(label: str, key: str, options: Sequence[T], default: T, *, help: str | None = None) -> T:
    """One of many, as a list to search; worded as `choice`."""
    if words := _worded(key, options):
        return _picked_of(words, option(label, key, *_keyed(words, default), help=help, listed=True))
    _listen(key, lambda text: text in map(str, options), "listed")
    return _list(label, key, options, default, help)


def _list(label: str, key: str, options: Sequence[T], default: T, help: str | None = None) -> T:
    index = list(options).index(default)
    picked = st.selectbox(label, options, index=index, key=key, bind="query-params", help=help)
    return default if picked is None else picked


def _worded(key: str, options: Sequence[T]) -> dict[str, tuple[T, str]]:
    """Each option's key in the address, the option and its words; none where no option has any of its own.

    An option without a block is a name, of a model or a format, and stands for itself.
    """
    page = next((page for page in PAGES if key.startswith(f"{page.prefix}_")), None)
    if page is None:
        return {}
    blocks = content.load(page.stem)
    said = {one: blocks.get(f"option.{slug(one)}") for one in options}
    if not any(said.values()):
        return {}
    return {slug(one) if text else str(one): (one, text or str(one)) for one, text in said.items()}


def _keyed(words: Mapping[str, tuple[T, str]], default: T) -> tuple[dict[str, str], str]:
    """The words by key, and the default's key."""
    keys = {one: key for key, (one, _) in words.items()}
    return {key: text for key, (_, text) in words.items()}, keys[default]


def _picked_of(words: Mapping[str, tuple[T, str]], key: str) -> T:
    return words[key][0]


def kept(key: str, options: Sequence[str], default: str) -> str:
    """Which of a few the address names, by its key; what shows it is another widget, in the visit's language."""
    expect(key, options)
    with out_of_sight(f"kept_{key}"):
        return _list(key, key, options, default)


def option(
    label: str, key: str, words: Mapping[str, str], default: str, *, help: str | None = None, listed: bool = False
) -> str:
    """One of a few, said in the words of the visit's language and named in the address by its key.

    Streamlit puts what it shows into the address, so the widget that is seen is not bound: what is picked there
    goes to one out of sight, whose options are the keys. A row of buttons, or a list to search.
    """
    shown, keys = f"{key}_shown", list(words)
    st.session_state[shown] = kept(key, keys, default)
    asked: dict[str, Any] = {"key": shown, "on_change": _copy, "args": (shown, key), "help": help}
    if listed:
        st.selectbox(label, keys, format_func=words.__getitem__, **asked)
    else:
        st.segmented_control(label, keys, format_func=words.__getitem__, required=True, **asked)
    return str(st.session_state[key])


def picked(key: str, default: str, options: Sequence[str] = ()) -> str:
    """What is picked at a control that has not run yet: in this visit, or in its address."""
    found = str(st.session_state.get(key, st.query_params.get(key, default)))
    return next((one for one in options if slug(one) == found), found)


def whole(label: str, key: str, low: int, high: int, default: int, *, help: str | None = None) -> int:
    """A whole number in a range, typed."""
    _listen(key, lambda text: _is_whole(text, low, high), "whole", low=low, high=high)
    return int(st.number_input(label, low, high, default, 1, key=key, bind="query-params", help=help))


def number(label: str, key: str, low: float, high: float, default: float, *, help: str | None = None) -> float:
    """A number in a range, typed."""
    _listen(key, lambda text: _is_number(text, low, high), "number", low=f"{low:g}", high=f"{high:g}")
    return float(st.number_input(label, low, high, default, key=key, bind="query-params", format="%g", help=help))


def line(label: str, key: str, longest: int) -> str:
    """A line of text, typed."""
    st.session_state["_heard"].add(key)
    return st.text_input(label, "", max_chars=longest, key=key, bind="query-params")


def memo(key: str, longest: int = 120) -> str:
    """A text in the URL that a button writes; the page checks what it says."""
    st.session_state["_heard"].add(key)
    with out_of_sight(key):
        return st.text_input(key, "", max_chars=longest, key=key, bind="query-params")


def remember(key: str, value: object) -> None:
    """Set a piece of state. For a button's `on_click`."""
    st.session_state[key] = value


def slide(label: str, key: str, low: int, high: int, default: int, *, step: int = 1, unit: str = "") -> int:
    """A whole number in a range, slid."""
    _listen(key, lambda text: _is_whole(text, low, high), "whole", low=low, high=high)
    if not low <= st.session_state.get(key, default) <= high:
        st.session_state[key] = default  # kept from another scene, which knew no end of it
    form = f"%d {unit.replace('%', '%%')}" if unit else None
    return int(st.slider(label, low, high, default, step, key=key, format=form, bind="query-params"))


def toggle(label: str, key: str, default: bool = False, *, help: str | None = None) -> bool:
    """On or off."""
    _listen(key, lambda text: text in ("true", "false"), "switch")
    return st.toggle(label, default, key=key, bind="query-params", help=help)


def flag(key: str) -> bool:
    """A state in the URL that a button sets: no widget of its own to see."""
    with out_of_sight(key):
        return toggle(key, key)


def keep_number(key: str) -> None:
    """Keep in the address a number that is asked for in another scene."""
    _listen(key, lambda text: _is_whole(text, 0, _MOST_KEPT), "some_whole")
    with out_of_sight(key):
        st.number_input(key, 0, _MOST_KEPT, 0, 1, key=key, bind="query-params")


def out_of_sight(name: str) -> AbstractContextManager[object]:
    """A place for what must be mounted and is not seen.

    The style sheet hides it; until that has come, on a slow first visit, Streamlit's own box of one pixel does.
    """
    return st.container(key=f"unseen_{name}", width=1, height=1, border=False)


def keys_act() -> bool:
    """Whether single keys are shortcuts in this visit."""
    return bool(st.session_state.get(KEYS, True))


def shortcut(key: str) -> str | None:
    """A button's shortcut, unless the visitor has switched them off."""
    return key if keys_act() else None


def scenario_bar() -> None:
    """The one scenario: what runs, on what, over which links. Rendered by the entry on every page.

    Its panel is shown and hidden by its place, not by a popover: a widget that is not mounted loses its part of the
    URL on the way to the next page. Its head is filled last: the browser's Back is only heard by the widgets.
    """
    opened = st.session_state.setdefault("_scenario_open", False)
    head = st.container()
    # closed, it is a pixel of Streamlit's own until the style sheet that hides it has come
    with st.container(key="scenario_panel") if opened else out_of_sight("scenario"):
        _scenario_widgets()
        st.button(word("scenario.done"), key="scenario_done", on_click=remember, args=("_scenario_open", False))
    head.button(
        _summary(scenario()),
        key="scenario",
        type="tertiary",
        icon=":material/expand_less:" if opened else ":material/expand_more:",
        icon_position="right",
        on_click=remember,
        args=("_scenario_open", not opened),
        help=word("scenario.help"),
    )


def _scenario_widgets() -> None:
    default = Scenario()
    st.markdown(word("scenario.lead"))
    toggle(word("scenario.keys"), KEYS, True)
    left, right = st.columns(2)
    with right:
        for field in ("tp", "pp", "replicas", "batch", "prompt_tokens", "output_tokens", "slow_percent"):
            _size(field, getattr(default, field))
    with left:
        select(_asked("model"), "model", list(MODELS), default.model)
        select(_asked("gpu"), "gpu", list(GPUS), default.gpu)
        _link("link", default.link)
        _link("network", default.network)
        select(_asked("weights"), "weights", list(DTYPE_BYTES), default.weight_dtype)
        select(_asked("kv"), "kv", list(DTYPE_BYTES), default.kv_dtype)


def _asked(field: str) -> str:
    """What a field of the scenario is called."""
    return word(f"scenario.{field}")


def _link(field: str, default: str) -> None:
    """One of the catalog's links, or a learner's own: the one in use, and those used before in this visit."""
    now = scenario()
    wire = now.link_spec if field == "link" else now.network_spec
    own: list[str] = st.session_state.setdefault("_own_links", [])
    if wire.measured_ranks is not None and wire.key not in own:
        own.append(wire.key)
    select(_asked(field), field, [*LINKS, *own], default)
    if (away := extrapolation(wire, now.tp)) is not None:
        st.markdown(f":gray[{worded(away).capitalize()}.]")


def _size(field: str, default: int) -> int:
    return whole(_asked(field), query_name(field), *LIMITS[field], default)


def straggler() -> int:
    """The scenario's slow rank, within reach on a page: by how many per cent it is slower than the others.

    A second handle on the panel's field, since one key may be mounted once: it shows what the panel holds, and what
    is typed here goes there, and so into the address.
    """
    held, handle = query_name("slow_percent"), "_straggler"
    st.session_state[handle] = st.session_state[held]
    return int(
        st.number_input(
            _asked("slow_percent"),
            *LIMITS["slow_percent"],
            step=10,
            key=handle,
            on_change=_copy,
            args=(handle, held),
            width=300,
        )
    )


def _copy(source: str, target: str) -> None:
    st.session_state[target] = st.session_state[source]


def scenario() -> Scenario:
    """The scenario as the widgets now stand; before they have run, as the address says."""
    state = {name: str(st.session_state[name]) for name in SCENARIO_NAMES if name in st.session_state}
    asked = {name: value for name, value in st.session_state["_address"].items() if name in SCENARIO_NAMES}
    return _scenario(tuple({**asked, **state}.items()))


@lru_cache(maxsize=256)
def _scenario(query: tuple[tuple[str, str], ...]) -> Scenario:
    return Scenario.from_query(dict(query))[0]


def _summary(chosen: Scenario) -> str:
    layout = [f"TP={chosen.tp}", *([f"PP={chosen.pp}"] if chosen.pp > 1 else [])]
    copies = [f"×{chosen.replicas}"] if chosen.replicas > 1 else []
    straggler = [word("scenario.slower", percent=chosen.slow_percent)] if chosen.slow_percent else []
    return ", ".join([chosen.model, chosen.gpu, *layout, *copies, *straggler])
