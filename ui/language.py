"""The language of a visit: the one chosen, else the one that the browser prefers."""

from contextlib import nullcontext
from functools import partial

import streamlit as st

from runtime import content
from ui import address
from ui.memory import memory
from ui.prose import label
from ui.visit import visit

KEY = "lang"
"""In the address of every page once somebody has chosen one."""


def speak() -> None:
    """Speak the language of the visit in this run: the one chosen, else the one that the browser prefers."""
    if "_preferred" not in memory():
        memory()["_preferred"] = preferred()
    content.speak(visit().lang or memory()["_preferred"])


def preferred() -> str:
    """The first finished language that the browser asks for; English where it asks for none."""
    return content.first_of(f"{st.context.locale or ''},{st.context.headers.get('Accept-Language', '')}")


def switch() -> None:
    """A button for the other finished language; where there are several, one that they open from."""
    others = [name for name in content.finished() if name != content.language()]
    alone, here = len(others) == 1, content.language().upper()
    several = partial(st.popover, here, key="speak_others", type="tertiary", help=label("scenario.language"))
    with nullcontext() if alone else several():
        for name in others:
            called = content.load("language", name)["language"]
            st.button(
                name.upper() if alone else called,
                key=f"speak_{name}",
                help=called if alone else None,
                type="tertiary",
                on_click=address.write,
                args=({KEY: name},),
            )
