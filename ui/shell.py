"""The shell every page stands in: navigation, the scenario bar, presenter mode, and the guard for deep links."""

import gc
from base64 import b64encode
from copy import copy
from dataclasses import asdict
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import TypedDict

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from runtime import content, operators
from runtime.kept import kept
from ui import (
    address,
    inputs,
    language,
    lighter_elements,
    lighter_state,
    paths,
    progress,
    scenario_bar,
    theme,
    unseen,
    wanted_messages,
)
from ui.course import menu
from ui.course.pages import OVERVIEW, PAGES, Entry
from ui.drawn_content import SHELL
from ui.guarded import guarded
from ui.prose import escape, label
from ui.room import notes, poll

_CSS = Path(__file__).parent / "app.css"
_ICON = f"data:image/png;base64,{b64encode((Path(__file__).parent / 'icon.png').read_bytes()).decode()}"
"""A picture of ours, in the page itself: a Material icon would be fetched from Google's servers."""

_TITLE = "_title"
"""The page that a visit is on, by its address, and what the browser's tab says."""

FIGURES_AFTER_S = 3.0
"""By then the first visitor of a fresh server has the first words."""

_FIRST = {f"{page.prefix}_scene": page.names[0] for page in PAGES}
"""The scene that each page opens on, by its name in the address."""

_SHARED = (
    *address.SCENARIO_NAMES,
    progress.KEY,
    "present",
    inputs.KEYS,
    language.KEY,
    poll.ROOM,
    poll.CHAIR,
    notes.FOLLOW,
    paths.PATH,
)

_SCRIPTS = ("history.js", "theme.js", "wall.js", "access.js", "follow.js", "voter.js", "live.js", "shell.js")

_browser = st.components.v2.component(
    SHELL,
    html="<i></i>",
    js="\n".join((Path(__file__).parent / "browser" / name).read_text(encoding="utf-8") for name in _SCRIPTS),
)


@st.cache_resource
def _settle() -> None:
    """Once a server: lighter session state, and what draws figures.

    That comes after the first page, which has none: pandas is most of what a server imports.
    """
    operators.watch()
    lighter_state.install()
    lighter_elements.install()
    unseen.install()
    wanted_messages.install()
    figures = Timer(FIGURES_AFTER_S, _import_figures)
    figures.daemon = True
    figures.start()


def _import_figures() -> None:
    """Import them, out of sight of the collector."""
    import_module("ui.figures.prediction")
    gc.collect()
    gc.freeze()


@lru_cache(maxsize=2)
def _style(palette: theme.Palette) -> str:
    """The style sheets of a mode: colours as custom properties, then the rules."""
    colours = (f"--shard-{name.replace('_', '-')}: {value};" for name, value in asdict(palette).items())
    rules = "".join(_read(_CSS.parent / sheet) for sheet in ("app.css", "course/menu.css", "course/glossary.css"))
    return f"<style>:root {{ {' '.join(colours)} }} {rules}</style>"


@lru_cache(maxsize=4)
def _read(sheet: Path) -> str:
    """A style sheet on one line: Streamlit looks at each line of what it sends, in every run."""
    return " ".join(sheet.read_text(encoding="utf-8").split())


def navigation() -> StreamlitPage:
    """Declare the course's pages and return the one that is asked for."""
    st.session_state["_shell"] = True
    # one each a run, for a page notes whether it has been run
    return st.navigation([copy(page) for page in _declared(content.language())], position="hidden")


@lru_cache(maxsize=4)
def _declared(language: str) -> list[StreamlitPage]:
    """The course's pages with their titles in a language: Streamlit looks for the file of each that it declares."""
    return [st.Page(page.path, title=page.title, default=page is OVERVIEW) for page in PAGES]


def declared(entry: Entry) -> StreamlitPage:
    """One of the course's pages as the navigation has it, for a link to it."""
    return _declared(content.language())[PAGES.index(entry)]


def boot() -> None:
    """Guard of every page: on the first visit to a fresh server Streamlit runs a deep-linked page file alone.

    Declaring the navigation tells it that this is no bare `pages/` app; the rerun then starts at the entry.
    """
    if "_shell" not in st.session_state:
        navigation()
        st.rerun()


def run() -> None:
    """The entry point's whole work."""
    _settle()
    language.speak()
    page = navigation()
    title = "Shardlab" if page.title == OVERVIEW.title else f"{page.title} · Shardlab"
    at, said = st.session_state.get(_TITLE, ("", ""))
    said = said if at == page.url_path else title
    st.set_page_config(page_title=said, page_icon=_ICON, layout="wide")
    st.session_state[_TITLE] = page.url_path, said
    poll.join(page.url_path)
    poll.recall(st.session_state.get("shell", {}).get("voter"))
    address.read()
    st.html(_style(_palette()))
    with address.carried(page.url_path, _SHARED):
        reads = _bar(page.url_path or OVERVIEW.stem)
    st.session_state["_said"] = page.title
    if presenting():
        st.html(f"<style>{_read(_CSS.with_name('present.css'))}</style>")
    width = 4000 if presenting() else theme.COLUMN_PX
    with st.container(width=width, key="column"):
        notice = st.container()
        with operators.rerun(page.url_path or OVERVIEW.stem), guarded(page.url_path or OVERVIEW.stem):
            notes.draw() if reads else page.run()
        address.note_own(page.url_path, _SHARED)
        _say_what_was_ignored(notice, page.url_path)
        if not reads:
            poll.say_where(notice)
    if presenting():
        poll.show(st.session_state.get("_view", ""))
    with unseen.mounted("shell"):
        _browser(
            key="shell",
            data={
                "said": st.session_state["_said"],
                "present": presenting(),
                "keys": inputs.keys_act(),
                "lang": content.language(),
                "streamlit": _streamlits_own(),
                "shared": list(_SHARED),
                "path": paths.name(),
                "presides": poll.code() if poll.presides() else "",
                "voter": poll.named(),
                "first": _FIRST,
                "view": st.session_state.pop("_view", ""),
                "reads": reads,
                "wall": _wall(),
                "dark": _palette().dark,
            },
            default={"wall": _wall(), "dark": _palette().dark, "voter": None},
            on_wall_change=_heard,
            on_voter_change=_heard,
            on_dark_change=_heard,
        )


@kept
def _streamlits_own() -> dict[str, str]:
    """What Streamlit says of its own parts, in English alone, by what it is called here: for the browser to put."""
    here, there = content.load("shell"), content.blocks("shell", content.ENGLISH)
    worded = {words: here[name] for name, words in there.items() if name.startswith("streamlit.")}
    return {words: called for words, called in worded.items() if words != called}


def _heard() -> None:
    """The run that follows is all that a change of the wall asks for."""


def entitle(title: str) -> None:
    """What the browser's tab says; sent where the run before said another: it has a browser go over the page."""
    page, said = st.session_state.get(_TITLE, ("", ""))
    if said != title:
        st.set_page_config(page_title=title)
        st.session_state[_TITLE] = page, title


def stand(stem: str, scene: str) -> None:
    """Which scene is open: the notes in another window follow it."""
    st.session_state["_view"] = f"{stem}_{scene}"


def tell(*sentences: str) -> None:
    """What a screen reader is told when it changes: where the visitor is now, and the answer if it is shown."""
    st.session_state["_said"] = ". ".join(sentences)


def _bar(stem: str) -> bool:
    """What every page shares; whether the notes are read in place of the page."""
    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        st.html(menu.navigation(content.language(), stem))
        scenario_bar.draw()
        with unseen.out_of_sight():
            progress.keep()
            poll.keep()
            paths.keep()
            inputs.flag("present")
            language.keep()
            reads = notes.asked()
        language.switch()
        st.button(
            label("present"),
            key="go_present",
            shortcut=inputs.shortcut("P"),
            type="tertiary",
            on_click=_flip_present,
        )
    return reads


def _flip_present() -> None:
    st.session_state["present"] = not presenting()


def _say_what_was_ignored(region: st.delta_generator.DeltaGenerator, page: str) -> None:
    """One line, on the page the visit opened with."""
    opened_with = st.session_state.setdefault("_opened_with", page)
    ignored = address.ignored() if opened_with == page else []
    if ignored:
        what = escape("; ".join(line.rstrip(".") for line in ignored))
        region.markdown(f":gray[{label('ignored', what=what)}]")


def presenting() -> bool:
    """Whether the page is being projected."""
    return bool(st.session_state.get("present", False))


def look() -> theme.Look:
    """The mode and size charts are drawn in."""
    wall = _wall()
    return theme.Look(_palette(), True, wall["low"], wall["zoom"]) if presenting() else theme.Look(_palette())


class Wall(TypedDict):
    """What the browser tells of the wall: whether it is a low one, and by how much all of it is scaled."""

    low: bool
    zoom: float


def _wall() -> Wall:
    """The wall that is projected on."""
    return wall_of(st.session_state.get("shell", {}).get("wall"))


def wall_of(told: object) -> Wall:
    """What a browser says of its wall, which may be anything, held to what a wall can be."""
    low, zoom = (told.get(name) if isinstance(told, dict) else None for name in ("low", "zoom"))
    return {"low": low is True, "zoom": min(4.0, max(0.5, zoom)) if isinstance(zoom, int | float) else 1}


def _palette() -> theme.Palette:
    return theme.DARK if st.context.theme.type == "dark" else theme.LIGHT
