"""A text brought along: pasted, or read from a file of the learner's own; a long one is read beside the server.

It is too long for the URL and may be private, so it is in neither the URL nor on the server's disk: it lives in
the visit, over its scenes and pages, and ends with it.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, TypeVarTuple

import streamlit as st

from runtime import workers
from runtime.files import text_of
from ui import inputs

T = TypeVar("T")
Given = TypeVarTuple("Given")

LIMIT_CHARACTERS = 1_000_000
"""More than any log or table a page reads; a reader takes at most a second for it."""

AT_ONCE_CHARACTERS = 40_000
"""What every reader reads in less time than a worker takes to be asked, whatever the text is."""


def pasted(
    label: str,
    key: str,
    *,
    kinds: Sequence[str] = ("txt",),
    example: str = "",
    example_label: str = "Use an example",
    height: int = 180,
) -> str:
    """The text in the field, "" while it is empty or refused for its length. A file of one of `kinds` fills it.

    `example` is offered beside it.
    """
    st.text_area(label, key=key, height=height, placeholder="Paste it here", persist_state="session")
    text = st.session_state[key] or ""
    with st.container(key=f"bring_{key}", horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover("From a file", type="tertiary"):
            taken = f"_files_{key}"
            file = f"file_{key}_{st.session_state.setdefault(taken, 0)}"
            st.file_uploader(label, kinds, key=file, on_change=_take, args=(key, file, taken), max_upload_size=1)
        if example:
            st.button(
                example_label, key=f"ex_{key}", type="tertiary", on_click=inputs.remember, args=(key, example)
            )
        if text:
            st.button("Clear", key=f"clear_{key}", type="tertiary", on_click=inputs.remember, args=(key, ""))
    if len(text) > LIMIT_CHARACTERS:
        st.error(
            f"{len(text):,} characters are over the {LIMIT_CHARACTERS:,} that this page reads; keep its start."
        )
        return ""
    return str(text)


def read(reader: Callable[[str, *Given], T], text: str, *given: *Given) -> T:
    """What a reader makes of a text that was brought: at once where it is short, else beside the server.

    Raises what the reader refuses with, and runtime.workers.WorkError.
    """
    return reader(text, *given) if len(text) <= AT_ONCE_CHARACTERS else workers.run(reader, text, *given)


def _take(key: str, file: str, taken: str) -> None:
    """Put the file's text in the field, and leave an empty uploader for the next."""
    upload = st.session_state[file]
    if upload is not None:
        st.session_state[key] = text_of(upload.getvalue())
        st.session_state[taken] += 1
