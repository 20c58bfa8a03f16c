"""A part of a page that may refuse, apart from those that draw: the first page has it without pandas."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import ShardlabError
from runtime import operators
from ui.prose import escape


@contextmanager
def guarded(stem: str) -> Iterator[None]:
    """A part of a page that may refuse: the message stands in its place, and a line tells the operator."""
    try:
        yield
    except ShardlabError as error:
        operators.note("refusal", page=stem, kind=type(error).__name__)
        st.error(escape(error))
