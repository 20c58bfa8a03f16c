"""Streamlit's messages of elements and containers, made in fewer steps.

A scene draws some forty elements and thirty containers, the overview 85 and 29. Of what Streamlit 1.67 does for
each, half is for other pages: it looks the visit, the place and the form up several times over, asks whether a
cached function draws and keeps what it would replay, and checks a container's arguments, which are the same in each
run. Here each is looked up once, and a container is written once for whoever asks for the same. What a fragment, a
cached function or the outermost level of a page draws goes Streamlit's own way.

Source: streamlit 1.67, delta_generator.py, `_enqueue` and `_block`; elements/layouts.py, `container`.
"""

from functools import lru_cache
from types import MethodType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.delta_generator_singletons import context_dg_stack
from streamlit.elements.layouts import LayoutsMixin
from streamlit.elements.lib import layout_utils
from streamlit.elements.lib.form_utils import FormData
from streamlit.elements.lib.utils import _compute_element_id, _register_element_id
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import _thread_state, in_cached_function

_enqueue, _block = DeltaGenerator._enqueue, DeltaGenerator._block
_container: Any = LayoutsMixin.container
_NO_FORM = FormData("")


def _place(asked: DeltaGenerator) -> DeltaGenerator:
    """Where it draws: what is asked of the whole page is drawn in the container that is open."""
    stack = context_dg_stack.get()
    return stack[-1] if asked._parent is None and len(stack) > 1 else asked


def _is_plain(place: DeltaGenerator) -> bool:
    """Whether a page draws there, in a container of its own, and neither a fragment nor a cached function."""
    run = _thread_state.get(None)
    return (
        run is not None
        and run.fragment_id is None
        and place._provided_cursor is not None
        and not in_cached_function.get()
    )


def _send(message: ForwardMsg, place: DeltaGenerator) -> None:
    at: Any = place._provided_cursor
    message.metadata.delta_path[:] = (at._root_container, *at._parent_path, at._index)
    context: Any = get_script_run_ctx()
    context.enqueue(message)


@lru_cache(maxsize=256, typed=True)
def _sized(width: Any, height: Any, text_alignment: Any) -> Element:
    """An element of which nothing is said but its size and how its text is aligned."""
    element = Element()
    if height is not None:
        element.height_config.CopyFrom(layout_utils.get_height_config(height))
    if width is not None:
        element.width_config.CopyFrom(layout_utils.get_width_config(width))
    if text_alignment is not None:
        layout_utils.validate_text_alignment(text_alignment)
        element.text_alignment_config.CopyFrom(layout_utils.get_text_alignment_config(text_alignment))
    return element


def element(
    asked: DeltaGenerator,
    delta_type: str,
    element_proto: Any,
    layout_config: layout_utils.LayoutConfig | None = None,
    has_one_shot_effect: bool = False,
    agent_props: str | None = None,
) -> DeltaGenerator:
    """Draw an element as `DeltaGenerator._enqueue` does."""
    place = _place(asked)
    if has_one_shot_effect or agent_props or not _is_plain(place):
        return _enqueue(asked, delta_type, element_proto, layout_config, has_one_shot_effect, agent_props)
    message = ForwardMsg()
    new = message.delta.new_element
    getattr(new, delta_type).CopyFrom(element_proto)
    if layout_config is not None:
        new.MergeFrom(_sized(layout_config.width, layout_config.height, layout_config.text_alignment))
    _send(message, place)
    at: Any = place._provided_cursor
    drawn = DeltaGenerator(place._root_container, at.lock_element(), place)
    drawn._form_data = place._form_data or _NO_FORM
    return drawn


def block(
    asked: DeltaGenerator,
    block_proto: Block | None = None,
    dg_type: type | None = None,
    agent_props: str | None = None,
) -> DeltaGenerator:
    """Open a container of any kind as `DeltaGenerator._block` does."""
    place = _place(asked)
    if block_proto is None or agent_props or not _is_plain(place):
        return _block(asked, block_proto, dg_type, agent_props)
    message = ForwardMsg()
    message.delta.add_block.CopyFrom(block_proto)
    _send(message, place)
    at: Any = place._provided_cursor
    opened: DeltaGenerator = (dg_type or DeltaGenerator)(
        place._root_container, at.open_block(), place, block_proto.WhichOneof("type")
    )
    opened._form_data = place._form_data or _NO_FORM
    return opened


class _Writes:
    """In a page's place, to whom Streamlit hands a container as it has written it."""

    @property
    def dg(self) -> "_Writes":
        return self

    def _block(self, proto: Block, agent_props: str | None = None) -> Block:
        return proto


@lru_cache(maxsize=4096, typed=True)
def _written(page: str, key: str | None, **asks: Any) -> Block:
    """A page's container by what it is asked to be; raises what Streamlit raises for what cannot be asked."""
    proto: Block = _container(_Writes(), **asks)
    if key:
        proto.id = _compute_element_id("container", key, active_script_hash=page)
    return proto


def container(asked: DeltaGenerator, *, key: str | int | None = None, **asks: Any) -> DeltaGenerator:
    """A container as `st.container` makes it. Raises StreamlitDuplicateElementKey where its key stands already."""
    context, run = get_script_run_ctx(), _thread_state.get(None)
    if context is None or run is None:
        return _container(asked, key=key, **asks)  # type: ignore[no-any-return]
    proto = _written(run.active_script_hash, None if key is None else str(key), **asks)
    if proto.id:
        _register_element_id(context, "container", proto.id)
    return asked._block(proto)


def install() -> None:
    """Let every session of this process draw so. Doing it again changes nothing."""
    DeltaGenerator._enqueue = element  # type: ignore[method-assign, assignment]
    DeltaGenerator._block = block  # type: ignore[method-assign, assignment]
    DeltaGenerator.container = container  # type: ignore[method-assign, assignment]
    st.container = MethodType(container, st._main)
