"""The shell every page stands in: navigation, the scenario bar, presenter mode, and the guard for deep links."""

import gc
import html
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from runtime import content, operators
from runtime.kept import kept
from runtime.one_process import ALONE
from ui import address, language, paths, scenario_bar, theme
from ui.course import menu
from ui.course.pages import OVERVIEW, PAGES, Entry
from ui.guarded import guarded
from ui.memory import memory
from ui.prose import escape, label
from ui.room import notes, poll
from ui.shortcuts import mounted, shortcut
from ui.visit import read_visit, visit
from ui.wall import wall

_HERE = Path(__file__).parent
_ICON = f"data:image/png;base64,{b64encode((_HERE / 'icon.png').read_bytes()).decode()}"
"""A picture of ours, in the page itself: a Material icon would be fetched from Google's servers."""

_TITLE = "_title"
"""The page that a visit is on, by its address, and what the browser's tab says."""

FIGURES_AFTER_S = 3.0
"""By then the first visitor of a fresh server has the first words."""

_ENTERED = "_entered"
"""Whether the entry has run before the page, in this run."""

_THERE, _DRAWN_OF = "_there", "_drawn_of"
"""Where a button leads; and of what the shell was drawn: the scenario, the visit, its language and its colors."""

_FIRST = {f"{page.prefix}_scene": page.names[0] for page in PAGES}
"""The scene that each page opens on, by its name in the address."""

_SCRIPTS = ["history", "theme", "wall", "access", "follow", "voter", "live", "shell"]

_browser = st.components.v2.component(
    "shardlab_shell",
    html="<i></i>",
    js="\n".join((_HERE / "browser" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS),
)


@st.cache_resource
def _settle() -> None:
    """Once a server: import what figures and their tables are of, after the first page, which has none."""
    operators.watch()
    if not ALONE:  # a tab imports what a page asks for
        figures = Timer(FIGURES_AFTER_S, _import_figures)
        figures.daemon = True
        figures.start()


def _import_figures() -> None:
    """Import them, out of sight of the collector."""
    for name in ("ui.figures.prediction", "pandas", "pyarrow"):
        import_module(name)
    gc.collect()
    gc.freeze()


@lru_cache(maxsize=2)
def _style(palette: theme.Palette) -> str:
    """The style sheets of a mode: colours as custom properties, then the rules."""
    colours = (f"--shard-{name.replace('_', '-')}: {value};" for name, value in asdict(palette).items())
    rules = "".join(_read(_HERE / sheet) for sheet in ("app.css", "course/menu.css", "course/glossary.css"))
    return f"<style>:root {{ {' '.join(colours)} }} {rules}</style>"


@lru_cache(maxsize=4)
def _read(sheet: Path) -> str:
    """A style sheet on one line: Streamlit looks at each line of what it sends, in every run."""
    return " ".join(sheet.read_text(encoding="utf-8").split())


def navigation() -> StreamlitPage:
    """Declare the course's pages and return the one that is asked for."""
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
    """Guard every page: on the first visit to a fresh server Streamlit runs a deep-linked page file alone.

    Declaring the navigation tells it that this is no bare `pages/` app; the rerun then starts at the entry.
    """
    if memory().pop(_ENTERED, False):
        return
    address.begin()
    language.speak()
    if memory().get(_DRAWN_OF) != _drawn_of():
        navigation()
        st.rerun()


def run() -> None:
    """Do the entry point's whole work."""
    _settle()
    address.begin()
    language.speak()
    page = navigation()
    stem = page.url_path or OVERVIEW.stem
    title = "Shardlab" if stem == OVERVIEW.stem else f"{page.title} · Shardlab"
    at, said = memory().get(_TITLE, ("", ""))
    said = said if at == stem else title
    st.set_page_config(page_title=said, page_icon=_ICON, layout="wide")
    memory()[_TITLE] = stem, said
    poll.join(page.url_path)
    address.open_visit(stem)
    st.html(_style(_palette()))
    memory()[_DRAWN_OF] = _drawn_of()
    _bar(stem)
    with mounted("shell"):
        _mount()
    if visit().present:
        st.html(f"<style>{_read(_HERE / 'present.css')}</style>")
    with st.container(width=4000 if visit().present else theme.COLUMN_PX, key="column"):
        if visit().notes:
            with scene("notes") as told:
                told.said = page.title
                notes.draw()
        else:
            memory()[_ENTERED] = True
            page.run()


@dataclass
class Told:
    """What the browser is told of the open scene, and where its page says what it left out of the address."""

    notice: st.delta_generator.DeltaGenerator
    said: str = ""
    """For a screen reader."""
    view: str = ""
    """For the notes in another window."""


class There(NamedTuple):
    """Where a button leads: a scene of another page, or its first one."""

    entry: Entry
    scene: str


def go(entry: Entry, scene: str) -> None:
    """Have the run that follows go on to another page. For a button's `on_click`."""
    address.press()
    memory()[_THERE] = There(entry, scene)


@contextmanager
def scene(stem: str) -> Iterator[Told]:
    """Have the caller draw what a page shows, and tell the browser of it.

    Runs with the entry or, in a fragment, without it; all is drawn anew where what the shell is drawn of changed.
    """
    address.begin()
    language.speak()
    if there := memory().pop(_THERE, None):
        st.switch_page(there.entry.path, query_params=address.of(there.entry, there.scene))
    if memory().get(_DRAWN_OF) != _drawn_of():
        st.rerun()
    told = Told(st.container())
    poll.recall(st.session_state.get("shell", {}).get("voter"))
    with operators.rerun(stem), guarded(stem):
        yield told
    if visit().present:
        poll.show(told.view)
    if not visit().notes:
        poll.say_where(told.notice)
    with mounted("told"):
        _tell(told)


def _drawn_of() -> object:
    """Return what the bar and the style sheets are drawn of."""
    now = visit()
    return address.scenario(), now.present, now.keys, now.notes, content.language(), _palette().dark


def _tell(told: Told) -> None:
    """Tell the browser what changes with the open scene, in a box that nobody sees: see `browser/shell.js`."""
    parts = {"said": told.said, "view": told.view, "path": paths.name(), "voter": json.dumps(poll.named())}
    attributes = " ".join(f'data-{name}="{html.escape(value)}"' for name, value in parts.items())
    st.html(f"<i {attributes}></i>")


def _mount() -> None:
    """Mount the browser's part of the shell, which a press in a scene leaves as it is."""
    _browser(
        key="shell",
        data={
            "present": visit().present,
            "keys": visit().keys,
            "lang": content.language(),
            "streamlit": _streamlits_own(),
            # a link of the notes leads to the page itself
            "shared": [name for name in address.SHARED if name not in (notes.NOTES, notes.FOLLOW)],
            "first": _FIRST,
            "reads": visit().notes,
            "wall": wall(),
            "dark": _palette().dark,
        },
        default={"wall": wall(), "dark": _palette().dark, "voter": None},
        on_wall_change=address.press,
        on_voter_change=address.press,
        on_dark_change=address.press,
    )


@kept
def _streamlits_own() -> dict[str, str]:
    """What Streamlit says of its own parts, in English alone, by what it is called here: for the browser to put."""
    here, there = content.load("shell"), content.blocks("shell", content.ENGLISH)
    worded = {words: here[name] for name, words in there.items() if name.startswith("streamlit.")}
    return {words: called for words, called in worded.items() if words != called}


def entitle(title: str) -> None:
    """What the browser's tab says; sent where the run before said another: it has a browser go over the page."""
    page, said = memory().get(_TITLE, ("", ""))
    if said != title:
        st.set_page_config(page_title=title)
        memory()[_TITLE] = page, title


def _bar(stem: str) -> None:
    """Draw what every page shares."""
    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        st.html(menu.navigation(content.language(), stem))
        scenario_bar.draw()
        language.switch()
        st.button(
            label("present"),
            key="go_present",
            shortcut=shortcut("P"),
            type="tertiary",
            on_click=address.write,
            args=({"present": None if visit().present else "true"},),
        )


def ignored(entry: Entry, known: Iterable[str]) -> list[str]:
    """Return a sentence for each part of the address that a page without scenes did not take."""
    return address.remarks(entry.stem, known, lambda came: read_visit(came)[1])


def say_what_was_ignored(notice: st.delta_generator.DeltaGenerator, ignored: Sequence[str]) -> None:
    """Say in one line what of the address nobody took, and where the visit's room is."""
    if ignored:
        what = escape("; ".join(line.rstrip(".") for line in ignored))
        notice.markdown(f":gray[{label('ignored', what=what)}]")


def look() -> theme.Look:
    """The mode and size charts are drawn in."""
    seen = wall()
    return theme.Look(_palette(), True, seen["low"], seen["zoom"]) if visit().present else theme.Look(_palette())


def _palette() -> theme.Palette:
    return theme.DARK if st.context.theme.type == "dark" else theme.LIGHT
