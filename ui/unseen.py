"""What a page asks out of sight: kept by the server and in the address, and in no browser.

The controls of a scene that is not open, the fields of a closed panel and the states that a button writes are two
thirds of a page's widgets (lab 03's *see*: 49 of 71). Nobody sees them, so nothing of them is sent: they are drawn
into Streamlit's null generator, which registers a widget, its value and its place in the address, and sends no
message. A browser so has less to mount, and on a slow first visit there is nothing that it could show by mistake.

A browser that mounts such a widget later has no value for it: it is told the server's. And since it sends none
while the widget is out of sight, the server's value is the truth then, and the address is made to say so. Source:
streamlit 1.67, delta_generator.py, `DeltaGenerator`; runtime/state/session_state.py, `register_widget`.
"""

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import replace
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.utils import _register_element_id
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.state.widgets import register_widget_from_metadata

T = TypeVar("T")
MOST_KNOWN = 4096
"""Of widgets that are registered out of sight: what a visitor brings along may be an option of one."""

_NOWHERE = DeltaGenerator(root_container=None)

_unseen: ContextVar[bool] = ContextVar("unseen", default=False)


def is_unseen() -> bool:
    """Whether what is drawn now is out of sight."""
    return _unseen.get()


class _OutOfSight(AbstractContextManager[None]):
    def __init__(self) -> None:
        self._before: list[Token[bool]] = []

    def __enter__(self) -> None:
        self._before.append(_unseen.set(True))
        _NOWHERE.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _NOWHERE.__exit__(kind, error, trace)
        _unseen.reset(self._before.pop())


def out_of_sight() -> AbstractContextManager[None]:
    """Where nothing is seen, and whatever is asked keeps its value and its part of the address."""
    return _OutOfSight()


def mounted(name: str) -> DeltaGenerator:
    """A place for what a browser must have, a script or a shortcut, and shows to nobody.

    The style sheet hides it; until that has come, on a slow first visit, Streamlit's own box of one pixel does.
    """
    return st.container(key=f"unseen_{name}", width=1, height=1, border=False)


_known: dict[Hashable, tuple[WidgetMetadata[Any], Any]] = {}
"""What is registered for a recipe, and its default."""


def asked(key: str, recipe: Hashable, accepts: Callable[[Any], bool], draw: Callable[[], T]) -> T:
    """What a widget says that `draw` draws; out of sight, one whose recipe is known is registered and no more.

    The recipe is its kind, its default and its limits or options, which tell whether it `accepts` a value.
    """
    context = get_script_run_ctx()
    if context is None or not is_unseen():
        return draw()
    state = context.session_state._state
    page = ThreadState.get().active_script_hash
    name = page, key, recipe
    metadata, default = _known.get(name, (None, None))
    if metadata is not None:
        if _rests(state, metadata, key, page, default):
            run = context.shared
            run.widget_user_keys_this_run._data.add(key)
            run.widget_ids_this_run._data.add(metadata.id)
            return default  # type: ignore[return-value]
        if key not in state or accepts(state[key]):
            _register_element_id(context, "unseen", metadata.id)
            return register_widget_from_metadata(metadata, context).value  # type: ignore[no-any-return]
    value = draw()
    widget = state.get_widget_id_from_key(key)
    metadata = state.get_widget_metadata(widget) if widget else None
    if metadata:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[name] = metadata, metadata.deserializer(None)
    return value


def _rests(state: SessionState, metadata: WidgetMetadata[Any], key: str, page: str, default: object) -> bool:
    """Whether a widget was registered just so in the run before, and has its default still: nobody set it since.

    To register it again would change nothing. Most of what is asked out of sight is so in most runs.
    """
    widget, params = metadata.id, state.query_params
    bound = params._bindings_by_widget.get(widget)
    return (
        bound is not None
        and bound.script_hash == page
        and state._new_widget_state.widget_metadata.get(widget) is metadata
        and widget not in state._new_widget_state.states
        and key not in state._new_session_state
        and key not in state._old_state
        and state._old_state.get(widget, metadata) == default
        and key not in params._query_params
        and key not in params._initial_query_params
    )


def is_told(key: str, value: object, asked_by: tuple[object, ...]) -> bool:
    """Whether the browser says of a widget, asked by the same arguments of its callback, that it shows this value.

    A widget that is set is sent, and drawn anew, in every run.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    state = context.session_state._state
    widget = state.get_widget_id_from_key(key)
    metadata = state.get_widget_metadata(widget) if widget in state._new_widget_state.states else None
    return metadata is not None and metadata.callback_args == asked_by and state[key] == value


def install() -> None:
    """Let every session of this process keep what is out of sight. Doing it again changes nothing."""
    register = SessionState.register_widget
    if hasattr(register, "__wrapped__"):
        return

    @wraps(register)
    def kept(state: SessionState, asked: WidgetMetadata[Any], key: str | None) -> RegisterWidgetResult[Any]:
        if key is None or not (asked.bind or asked.persist_state):
            return register(state, asked, key)
        is_mounted = asked.id in state._new_widget_state
        if is_unseen():
            _ask_the_address_once(state, asked.id, key)
        registered = register(state, asked, key)
        if registered.value == asked.deserializer(None):
            return registered
        if is_unseen():
            _write(state, asked, key, registered.value)
        return registered if is_mounted else replace(registered, value_changed=True)

    SessionState.register_widget = kept  # type: ignore[method-assign, assignment]


def _ask_the_address_once(state: SessionState, widget: str, key: str) -> None:
    """An address is as old as the browser's last message; but where its history brings one, that is what holds."""
    context = get_script_run_ctx()
    if widget in state._old_state and not (context and context.is_history_navigation):
        state.query_params._initial_query_params.pop(key, None)


def _write(state: SessionState, asked: WidgetMetadata[Any], key: str, value: Any) -> None:
    """Have the address say a value that is not the default; a row with one entry is that entry there."""
    if not asked.bind:
        return
    written, params = asked.serializer(value), state.query_params
    if isinstance(written, list | tuple) and len(written) == 1:
        (written,) = written
    if not params.stored_param_matches_corrected_value(key, written, asked.value_type):
        params.set_corrected_value(key, written, asked.value_type)
