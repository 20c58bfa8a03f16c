"""Paths through the course: which scenes a lecture of so many minutes goes through, in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import streamlit as st

from ui import address
from ui.course import pages as course
from ui.prose import label
from ui.shortcuts import shortcut
from ui.visit import visit

_ENDED = "_path_ended"
PATH = "path"
"""The path's name in the address of every page: its minutes."""


@dataclass(frozen=True)
class Stop:
    """A scene of a page, and how long a lecture stays there."""

    stem: str
    scene: str
    minutes: int


_SCENES = (
    ("start_here", "decode", 4, 4),
    ("start_here", "prefill", 3, 3),
    ("start_here", "bottlenecks", 0, 3),
    ("start_here", "rank", 3, 3),
    ("start_here", "collectives", 4, 4),
    ("sharding_math", "question", 3, 3),
    ("sharding_math", "see", 6, 6),
    ("sharding_math", "count", 3, 3),
    ("sharding_math", "break_it", 0, 4),
    ("comm_cost", "question", 4, 4),
    ("comm_cost", "see", 4, 4),
    ("comm_cost", "count", 4, 4),
    ("comm_cost", "break_it", 0, 4),
    ("comm_cost", "bench", 0, 3),
    ("pipeline_bubble", "question", 4, 4),
    ("pipeline_bubble", "see", 4, 4),
    ("pipeline_bubble", "count", 0, 4),
    ("two_way_tp", "question", 0, 3),
    ("two_way_tp", "see", 4, 4),
    ("placement", "plan", 0, 5),
    ("startup_log", "read", 0, 4),
)
"""Each scene's minutes in the short lecture and in the long one."""

PATHS: Mapping[str, tuple[Stop, ...]] = MappingProxyType(
    {
        "50": tuple(Stop(stem, scene, short) for stem, scene, short, _ in _SCENES if short),
        "80": tuple(Stop(stem, scene, long) for stem, scene, _, long in _SCENES),
    }
)
"""The guide for instructors has the same, and a test holds one to the other."""


def name() -> str:
    """Return the path that this visit is on, or nothing."""
    return visit().path


@dataclass(frozen=True)
class Around:
    """What is before a scene and after it, each a page and its scene, and where it is: of its page, or of the path.

    A page without a scene is its first one. `told` is the place on a path, with its minutes.
    """

    before: tuple[course.Entry, str]
    after: tuple[course.Entry, str]
    at: int
    of: int
    told: str = ""
    is_last: bool = False
    """Of a path: nothing follows it."""


def around(page: course.Entry, scene: str, names: Sequence[str]) -> Around:
    """Where a scene of a page is; a path comes before the page's own order, and is gone back to from off it."""
    at = names.index(scene)
    before = (page, names[at - 1]) if at else (course.before(page), "")
    after = (page, names[at + 1]) if at + 1 < len(names) else (course.after(page), "")
    stops = PATHS.get(name(), ())
    own = Around(before, after, at + 1, len(names))
    if not stops:
        return own
    of_path = [(stop.stem, stop.scene) for stop in stops]
    index = of_path.index((page.stem, scene)) if (page.stem, scene) in of_path else None
    left = min(st.session_state.get("_path_at", 0), len(stops) - 1)
    here = left if index is None else index
    following = _named(stops[here + 1]) if here + 1 < len(stops) else after
    if index is None:
        return replace(own, before=_named(stops[left]), after=following)
    st.session_state["_path_at"] = index
    begins = sum(stop.minutes for stop in stops[:index])
    told = label("path.minutes", at=index + 1, of=len(stops), begins=begins, ends=begins + stops[index].minutes)
    is_last = index + 1 == len(stops)
    return Around(_named(stops[index - 1]) if index else before, following, at + 1, len(names), told, is_last)


def end_button() -> None:
    """Draw the button that ends a lecture, in the place of the next scene's: it opens a card."""
    st.button(
        label("path.end_button"), key="next", shortcut=shortcut("N"), type="primary", on_click=_end, help=None
    )
    if st.session_state.pop(_ENDED, False):
        st.dialog(label("path.end_title"))(lambda: st.markdown(label("path.end")))()


def _end() -> None:
    st.session_state[_ENDED] = True
    address.press()


def _named(stop: Stop) -> tuple[course.Entry, str]:
    return course.entry(stop.stem), stop.scene
