"""Streamlit's session state as its widgets ask for it: one key at a time.

A number input, a select box and a text input each ask whether their own key holds None. Streamlit 1.67 answers by
copying all of the state (`SessionState.filtered_state`), and making the classes of every component anew: a quarter
of a rerun of lab 03's bench, where thirty of them stand. `install` has them read the same mapping key by key, and
looks a key up in one step where Streamlit takes eight calls and three exceptions, 360 times a rerun. Each look
and each message, also asks whether to stop or to begin anew: one comparison where nobody wants that.

Each message of a run also asks for an option of the configuration, under a lock that all visitors' threads share:
in a hall of 150 they stood in line for it. Options are read, not written, once a server runs: no lock is needed.

Each command is wrapped in one that notes what it was asked and how long it took, which this app tells nobody.

The first message of a process looks through every module there is for whether somebody is typing commands.

And whatever list or mapping a component is given is tried as a data frame of every library there is, for which
pandas is imported, half of what a server's first page waits for. No component of this app is given a frame. What it
is given is written out a second time, sorted, for an identity that a component with a key, as all of them are, has
from its key.

Before each run all that a visit keeps is put to itself anew, the classes of every component made for it: here only
what the last run or the browser has said. And what the browser says of a widget is read without making a new record
of how it says it, which is the one that it had.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from types import MethodType
from typing import Any

import streamlit as st
from streamlit import config, delta_generator
from streamlit.components.v2.bidi_component import serialization
from streamlit.components.v2.bidi_component.main import BidiComponentMixin
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.metrics_util import gather_metrics
from streamlit.runtime.scriptrunner import ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state.common import unpack_widget_state_value
from streamlit.runtime.state.presentation import apply_presenter
from streamlit.runtime.state.session_state import (
    SessionState,
    Value,
    WStates,
    _missing_key_error_message,
)

_COUNTED = gather_metrics("no command", lambda: None).__code__
"""Of the wrapper that notes what each command was asked and how long it took."""

_whole = vars(SessionState)["filtered_state"].fget


class OneKeyAtATime(Mapping[str, Any]):
    """What `filtered_state` holds, read when it is asked for, and whole only for who goes through all of it."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        """Raises KeyError for a key nobody gave: an internal one, or a widget's own identity."""
        if key.startswith("$$"):
            raise KeyError(key)
        return self._state[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and not key.startswith("$$") and key in self._state

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, Any]:
        return dict(_whole(self._state))


def state() -> MutableMapping[str, Any]:
    """The visit's state as it is: asked without a lock, and without a look at whether the run is to end."""
    context = get_script_run_ctx()
    return context.session_state._state if context else st.session_state  # type: ignore[return-value]


def own(key: str) -> Any:
    """What the visit keeps under a key that no widget has. Raises KeyError where it keeps nothing."""
    now: Any = state()
    return now._new_session_state[key] if key in now._new_session_state else now._old_state[key]


_NOTHING = object()


def _found(state: SessionState, key: str) -> Any:
    """What the state holds under a key, or under a widget's own identity; `_NOTHING` where it holds nothing."""
    ids, told = state._key_id_mapper, state._new_widget_state
    widget = ids._key_id_mapping.get(key, key)
    name = ids._id_key_mapping.get(key, key) if widget == key else key
    value = state._new_session_state.get(name, _NOTHING)
    if value is _NOTHING and (held := told.states.get(widget)) is not None:
        value = held.value if isinstance(held, Value) else told.get(widget, _NOTHING)
    if value is _NOTHING:
        value = state._old_state.get(widget, _NOTHING)
    if value is _NOTHING:
        value = state._old_state.get(name, _NOTHING)
    known = told.widget_metadata.get(widget)
    shown = value is _NOTHING or known is None or known.presenter is None
    return value if shown else apply_presenter(state, widget, value)


def _item(state: SessionState, key: str) -> Any:
    value = _found(state, key)
    if value is _NOTHING:
        raise KeyError(_missing_key_error_message(key))
    return value


def _get(state: SessionState, key: str, default: Any = None) -> Any:
    value = _found(state, key)
    return default if value is _NOTHING else value


def _contains(state: SessionState, key: object) -> bool:
    return isinstance(key, str) and _found(state, key) is not _NOTHING


_opened = WStates.__getitem__


def _open(told: WStates, widget: str) -> Any:
    """What a browser says of a widget, read as it always was where it says it as it always did."""
    held, known = told.states.get(widget), told.widget_metadata.get(widget)
    if held is None:
        raise KeyError(widget)
    if isinstance(held, Value):
        return held.value
    if known is None or held.value.WhichOneof("value") != known.value_type:
        return _opened(told, widget)
    value = known.deserializer(unpack_widget_state_value(held.value))
    told.states[widget] = Value(value)
    return value


def _compact(state: SessionState) -> None:
    """Put what a run set and a browser said to what is kept, which else stays as it is."""
    ids, told, kept = state._key_id_mapper._key_id_mapping, state._new_widget_state, state._old_state
    widgets_since = [key for key in kept if key in ids and ids[key] not in kept]
    for name in {ids.get(key, key) for key in (*widgets_since, *state._new_session_state)} | told.states.keys():
        value = _found(state, name)
        if value is not _NOTHING:
            kept[name] = value
    state._new_session_state.clear()
    told.clear()


_yield = ScriptRunner._maybe_handle_execution_control_request


def _yield_if_asked(run: ScriptRunner) -> None:
    """End the run or begin it anew if that was asked for. No fragment of this app runs beside its script."""
    if run._requests._state != ScriptRequestType.CONTINUE:
        _yield(run)


_locked_option = config.get_option


def option(key: str) -> Any:
    """An option of Streamlit's configuration, read without the lock. Raises RuntimeError for an unknown one."""
    options = config._config_options
    return options[key].value if options and key in options else _locked_option(key)


def install() -> None:
    """Let every session of this process read its state and its options so. Doing it again changes nothing.

    Options that AppTest has put in front of the configuration stay there.
    """
    if config.get_option.__module__ == config.__name__:
        config.get_option = option
    SessionState.__getitem__ = _item  # type: ignore[method-assign]
    SessionState.__contains__ = _contains  # type: ignore[method-assign]
    SessionState.get = _get  # type: ignore[attr-defined]
    SessionState._compact_state = _compact  # type: ignore[method-assign, assignment]
    WStates.__getitem__ = _open  # type: ignore[method-assign]
    ScriptRunner._maybe_handle_execution_control_request = _yield_if_asked  # type: ignore[method-assign, assignment]
    SessionState.filtered_state = property(OneKeyAtATime)  # type: ignore[assignment]
    serialization._extract_dataframes_from_dict = without_frames  # type: ignore[assignment]
    BidiComponentMixin._build_bidi_identity_kwargs = identity  # type: ignore[method-assign, assignment]
    delta_generator._use_warning_has_been_displayed = True
    _count_no_commands()


def _count_no_commands() -> None:
    """Have each command begin with its own work. Where no statistics are gathered, their wrapper has none."""
    if option("browser.gatherUsageStats"):
        return
    for owner in (st, *DeltaGenerator.__mro__):
        for name, command in list(vars(owner).items()):
            counted = getattr(command, "__func__", command)
            if getattr(counted, "__code__", None) is not _COUNTED:
                continue
            of = getattr(command, "__self__", None)
            setattr(owner, name, counted.__wrapped__ if of is None else MethodType(counted.__wrapped__, of))


def without_frames(data: dict[str, Any], frames: dict[str, bytes] | None = None) -> dict[str, Any]:
    """What a component is given, of which nothing is a data frame."""
    return data


def identity(_: BidiComponentMixin, *, proto: object, data: object, **asked: Any) -> dict[str, Any]:
    """What a component is by, beside its key: its name and its size, and nothing of what it shows."""
    return asked
