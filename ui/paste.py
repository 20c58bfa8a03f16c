"""A text brought along: pasted, or read from a file of the learner's own; a long one is read beside the server.

It is too long for the URL and may be private, so it is in neither the URL nor on the server's disk: it lives in
the visit, over its scenes and pages, and ends with it.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar, TypeVarTuple

import streamlit as st

from runtime import workers
from runtime.files import text_of
from runtime.quantities import grouped
from ui import address
from ui.prose import label as label_of

T = TypeVar("T")
Given = TypeVarTuple("Given")

LIMIT_CHARACTERS = 1_000_000
"""More than any log or table a page reads; a reader takes at most a second for it."""

AT_ONCE_CHARACTERS = 40_000
"""What every reader reads in less time than a worker takes to be asked, whatever the text is."""
PAUSE_S, MOST_SEEN = 3.0, 16
"""Between the beginnings of two long texts in one visit, and how many of them are known again."""


def text_in(key: str) -> str:
    """Return the text that a visit has in a field, "" where there is none or it is refused for its length."""
    text = str(_texts().get(key, ""))
    return "" if len(text) > LIMIT_CHARACTERS else text


def draw(
    label: str,
    key: str,
    *,
    kinds: Sequence[str] = ("txt",),
    example: str = "",
    example_label: str = "",
    height: int = 180,
) -> None:
    """Draw the field of a text, and what fills it: a file of one of `kinds`, and an `example`."""
    text = str(_texts().get(key, ""))
    if st.session_state.get(key) != text:
        st.session_state[key] = text
    st.text_area(label, key=key, height=height, placeholder=label_of("paste.here"), on_change=_typed, args=(key,))
    _bring(label, key, kinds, example, example_label)
    if len(text) > LIMIT_CHARACTERS:
        st.error(label_of("paste.long", characters=grouped(len(text)), limit=grouped(LIMIT_CHARACTERS)))


def put(key: str, text: str) -> None:
    """Put a text in a field. For a button's `on_click`."""
    address.press()
    _texts()[key] = text


def _texts() -> dict[str, str]:
    texts: dict[str, str] = st.session_state.setdefault("_texts", {})
    return texts


def _typed(key: str) -> None:
    put(key, st.session_state[key] or "")


def _bring(label: str, key: str, kinds: Sequence[str], example: str, example_label: str) -> None:
    """Draw what fills the field, and empties it."""
    with st.container(key=f"bring_{key}", horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(label_of("paste.file"), type="tertiary"):
            taken = f"_files_{key}"
            file = f"file_{key}_{st.session_state.setdefault(taken, 0)}"
            st.file_uploader(label, kinds, key=file, on_change=_take, args=(key, file, taken), max_upload_size=1)
        words = example_label or label_of("paste.example")
        for name, said, text in (("ex", words, example), ("clear", label_of("paste.clear"), "")):
            if example if name == "ex" else _texts().get(key):
                st.button(said, key=f"{name}_{key}", type="tertiary", on_click=put, args=(key, text))


def read(reader: Callable[[str, *Given], T], text: str, *given: *Given) -> T:
    """What a reader makes of a text that was brought: at once where it is short, else beside the server.

    Who brings one long text after another waits a little before each, so that the server is there for the others.
    Raises what the reader refuses with, and runtime.workers.WorkError.
    """
    if len(text) <= AT_ONCE_CHARACTERS:
        return reader(text, *given)
    _wait_for_others(hash((reader, text)))
    return workers.run(reader, text, *given)


def _wait_for_others(text: int) -> None:
    """Space the long texts of one visit; one that was read before is kept, and costs nobody anything."""
    seen: dict[int, float] = st.session_state.setdefault("_long_texts", {})
    if text not in seen:
        time.sleep(max(0.0, max(seen.values(), default=0.0) + PAUSE_S - time.monotonic()))
        seen[text] = time.monotonic()
        for oldest in list(seen)[:-MOST_SEEN]:
            del seen[oldest]


def _take(key: str, file: str, taken: str) -> None:
    """Put the file's text in the field, and leave an empty uploader for the next."""
    upload = st.session_state[file]
    if upload is not None:
        put(key, text_of(upload.getvalue()))
        st.session_state[taken] += 1
