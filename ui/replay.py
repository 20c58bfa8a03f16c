"""A page that is asked for as somebody has seen it: what was sent then is sent again, and nothing is computed.

A page is a function of the visit's state, its address, the look and the language. All of that, as it stands when
the page begins, is the key of a recording: the messages, the widgets, the state that was set and the files to
download, in their order. Playing it registers every widget anew, with the visit's own values, so that the state
and the address are as if the page had run; then a hall that looks at one scenario pays for one run of it.

What depends on more than that is never kept: a room, a fragment, an error, a text that was brought along, what is
not plain data. Source: streamlit 1.67, runtime/state/session_state.py; scriptrunner_utils/script_run_context.py.
"""

import marshal
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from hashlib import blake2b
from threading import Lock
from typing import Any

import streamlit as st
from streamlit import config, runtime
from streamlit.navigation.page import StreamlitPage
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.dataframe_source_manager import DataframeSourceManager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata, is_element_id
from streamlit.runtime.state.session_state import SessionState

from runtime import content
from ui.course import progress
from ui.unseen import is_unseen, registering

MOST_BYTES = 48 * 2**20
"""Of messages that are kept, for all visitors together."""

LONGEST = 10_000
"""Of a text in the state of a visit whose page is kept: a longer one was brought along."""

_OF_THE_VISIT = (
    *("_address", "_heard", "_ignored", "_own", "_shared", "_page", "_opened_with", "_preferred", "_said", "_view"),
    *("shell", progress.KEY),
)
"""State that no page with scenes reads: how the visit came here, and what the browser told of its wall."""

in_tests = False
"""Whether AppTest is played to as well: a test may put something of its own in place of what a page calls."""


@dataclass
class _Recording:
    """What a run of a page did, in its order: functions of a context that do it again."""

    heard: frozenset[str] = frozenset()
    done: list[Callable[[ScriptRunContext], None]] = field(default_factory=list)
    ids: frozenset[str] = frozenset()
    index: int = 0
    size: int = 0
    is_spoilt: bool = False
    registers: bool = False


class _OtherwiseError(Exception):
    """A widget is not as it was: the key of the recording lacks something."""


_recording: ContextVar[_Recording | None] = ContextVar("recording", default=None)
_kept: OrderedDict[bytes, _Recording] = OrderedDict()
_lock = Lock()


def spoil() -> None:
    """What is being drawn is for this visit, or for this moment: it is not kept."""
    if recording := _recording.get():
        recording.is_spoilt = True


def forget() -> None:
    """Keep nothing of what was seen so far."""
    with _lock:
        _kept.clear()


def run(page: StreamlitPage, *about: Any) -> None:
    """Run a page, or play what it did for the same state. `about` is what else it depends on, as plain data."""
    context = get_script_run_ctx()
    key = _key(context, page.url_path, *about) if context and _is_on() else None
    if context is None or key is None:
        page.run()
        return
    with _lock:
        known = _kept.get(key)
        if known:
            _kept.move_to_end(key)
    heard = context.session_state._state["_heard"]
    if known and known.heard <= heard:
        try:
            with context.run_with_active_hash(page._script_hash):
                _play(known, context)
            return
        except _OtherwiseError:
            with _lock:
                _kept.pop(key, None)
            st.rerun()
    with _recorded(context, key, heard):
        page.run()


def _is_on() -> bool:
    return in_tests or not config.get_option("global.appTest")


def _key(context: ScriptRunContext, *about: Any) -> bytes | None:
    """All that a page may depend on, as it stands; None where that is not plain data, or too much of it."""
    state = context.session_state._state
    named = state._key_id_mapper._key_id_mapping
    values: dict[str, Any] = {}
    flags: dict[str, int] = {}

    def note(name: str, value: Any, flag: int) -> None:
        values[name] = value
        flags[name] = flags.get(name, 0) | flag

    try:
        for name, value in state._old_state.items():
            if not is_element_id(name):
                note(named.get(name, name), value, 1)
        for name, value in state._old_state.items():
            if is_element_id(name):
                note(name, value, 2)
        for name in list(state._new_widget_state.states):
            note(name, state._new_widget_state[name], 4)
        for name, value in state._new_session_state.items():
            note(named.get(name, name), value, 8)
        for name in _OF_THE_VISIT:
            values.pop(name, None)
            values.pop(named.get(name, name), None)
        told = [(name, flags[name], _plain(values[name])) for name in sorted(values) if not name.startswith("$$")]
        base = st._main._active_dg._cursor
        address = state.query_params
        written = marshal.dumps(
            (
                told,
                sorted(address._query_params.items()),
                sorted(address._initial_query_params.items()),
                context.is_history_navigation,
                base.delta_path if base else None,
                content.language(),
                about,
            ),
            2,  # later forms depend on which of two equal texts are one
        )
    except (KeyError, TypeError, ValueError):
        return None
    return blake2b(written, digest_size=20).digest()


def _plain(value: Any) -> Any:
    """A value of the state as marshal writes it. Raises ValueError for a long text, and for no plain data."""
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise ValueError("a text that was brought along")
        return value
    if isinstance(value, dict):
        return [(name, _plain(value[name])) for name in sorted(value)]
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, int | float | bytes):
        return value
    raise ValueError(f"{type(value).__name__} is no plain data")


@contextmanager
def _recorded(context: ScriptRunContext, key: bytes, heard: set[str]) -> Iterator[None]:
    """Keep what is done meanwhile, if it comes to its end."""
    recording, send, shared = _Recording(), context.enqueue, context.shared
    before, fragments = shared.widget_ids_this_run.snapshot(), shared.new_fragment_ids.snapshot()
    base = st._main._active_dg._cursor

    def sent(message: ForwardMsg) -> None:
        send(message)
        if not recording.registers:  # a widget that is registered anew tells the address by itself
            recording.size += message.ByteSize()
            recording.done.append(lambda now: now.enqueue(message))

    context.enqueue = sent  # type: ignore[method-assign, assignment]
    token = _recording.set(recording)
    try:
        yield
    except BaseException:
        recording.is_spoilt = True
        raise
    finally:
        _recording.reset(token)
        del context.enqueue
    if recording.is_spoilt or shared.new_fragment_ids.snapshot() != fragments or base is None:
        return
    recording.heard = frozenset(heard)
    recording.ids, recording.index = shared.widget_ids_this_run.snapshot() - before, base.index
    with _lock:
        _kept[key] = recording
        while sum(one.size for one in _kept.values()) > MOST_BYTES:
            _kept.popitem(last=False)


def _play(recording: _Recording, context: ScriptRunContext) -> None:
    base = st._main._active_dg._cursor
    for do in recording.done:
        do(context)
    for name in recording.ids:  # of elements that are no widgets, too: an identity is used once
        context.shared.widget_ids_this_run.check_and_add(name)
    if base is not None:
        base._index = recording.index  # type: ignore[attr-defined]


def install() -> None:
    """Let runs of this process be recorded. After `unseen.install`; doing it again changes nothing."""
    if hasattr(SessionState.__setitem__, "__wrapped__"):
        return
    _watch(SessionState, "__setitem__", _note_set)
    _watch(SessionState, "__delitem__", lambda recording, *_: spoil())
    _watch(MediaFileManager, "add", _note_file)
    _watch(MediaFileManager, "add_deferred", lambda recording, *_, **__: spoil())
    _watch(DataframeSourceManager, "register_source", lambda recording, *_, **__: spoil())
    register = SessionState.register_widget

    @wraps(register)
    def registered(state: SessionState, asked: WidgetMetadata[Any], key: str | None) -> RegisterWidgetResult[Any]:
        recording = _recording.get()
        if recording is None:
            return register(state, asked, key)
        recording.registers = True
        try:
            result = register(state, asked, key)
        finally:
            recording.registers = False
        recording.done.append(_again(asked, key, result))
        return result

    SessionState.register_widget = registered  # type: ignore[method-assign, assignment]


def _watch(owner: type, name: str, note: Callable[..., None]) -> None:
    """Have a method of Streamlit's noted while a page is recorded."""
    method = getattr(owner, name)

    @wraps(method)
    def watched(self: Any, *args: Any, **named: Any) -> Any:
        recording = _recording.get()
        if recording is not None and not recording.registers:
            note(recording, *args, **named)
        return method(self, *args, **named)

    setattr(owner, name, watched)


def _note_set(recording: _Recording, name: str, value: Any) -> None:
    if name.startswith("$$"):
        return  # of Streamlit's own
    try:
        held = marshal.dumps(value, 2)
    except ValueError:
        spoil()
    else:
        recording.done.append(lambda now: now.session_state._state.__setitem__(name, marshal.loads(held)))


def _note_file(recording: _Recording, *args: Any, **named: Any) -> None:
    def add(context: ScriptRunContext) -> None:
        runtime.get_instance().media_file_mgr.add(*args, **named)

    recording.size += len(args[0])
    recording.done.append(add)


def _again(
    asked: WidgetMetadata[Any], key: str | None, was: RegisterWidgetResult[Any]
) -> Callable[[ScriptRunContext], None]:
    """Register a widget as it was: out of sight if it was, told to the browser if it was."""
    unseen = is_unseen()

    def register(context: ScriptRunContext) -> None:
        shared, state = context.shared, context.session_state._state
        shared.widget_ids_this_run.check_and_add(asked.id)
        if key:
            shared.widget_user_keys_this_run.check_and_add(key)
        with registering(unseen):
            now = state.register_widget(asked, key)
        if now.value_changed != was.value_changed or now.value != was.value:
            raise _OtherwiseError(key)

    return register
