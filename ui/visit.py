"""A visit, on every page: its language, whether it is projected, its path, its room and its progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from runtime import content
from runtime.rooms import CODE_LETTERS
from ui.memory import memory
from ui.question import Choice, RefusedError, Switch, Text, ask, read

PATH_MINUTES = ("50", "80")
"""The lectures that there are, by their minutes."""


class Language(Choice[str]):
    """One of the languages that there are now: a folder each."""

    def read(self, text: str, stem: str) -> str:
        if text not in content.languages():
            raise RefusedError("options", options=", ".join(content.languages()))
        return text


@dataclass(frozen=True)
class Visit:
    """The parts of the address that every page has, beside the scenario."""

    present: bool = ask(False, Switch())
    keys: bool = ask(True, Switch())
    """Whether single keys are shortcuts."""
    lang: str = ask("", Language(()))
    """The language that was chosen, if one was."""
    done: str = ask("", Text(600))
    """The questions that were revealed."""
    room: str = ask("", Text(CODE_LETTERS))
    chair: str = ask("", Text(32))
    """The key of the room that this visit presides over."""
    notes: bool = ask(False, Switch())
    """Whether it reads the presenter's notes in place of the page."""
    follow: str = ask("", Text(16))
    """The pass of a reader on another device, whom the server tells which scene the wall shows."""
    path: str = ask("", Choice(PATH_MINUTES))


def visit() -> Visit:
    """Return what the address of this run says of the visit."""
    return read_visit(memory().get("_address") or st.query_params.to_dict())[0]


def read_visit(address: Mapping[str, str]) -> tuple[Visit, dict[str, str]]:
    """Return what an address says of the visit, and a sentence for each value that was refused."""
    return _read(tuple(address.items()), (content.language(), *content.languages()))


@lru_cache(maxsize=256)
def _read(address: tuple[tuple[str, str], ...], languages: tuple[str, ...]) -> tuple[Visit, dict[str, str]]:
    return read(Visit, "", "shell", dict(address))
