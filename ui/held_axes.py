"""Holding the axes of a visit's figures, by one key, while what is asked changes."""

import streamlit as st

from ui import address
from ui.figures.axes import Spec
from ui.figures.held import axes_of, hold
from ui.memory import memory
from ui.prose import label
from ui.shortcuts import mounted, shortcut

_HELD, _DRAWN = "_held_axes", "_figures_drawn"
"""In the state of a visit: the axes of figures, while they are held; the open scene and the keys of its figures."""


def are_held() -> bool:
    """Whether figures keep their axes."""
    return _HELD in memory()


def begin(scene: str) -> None:
    """A scene is drawn anew: its figures are known by their places, for a setting may name them otherwise."""
    memory()[_DRAWN] = [scene]


def along(spec: Spec, key: str) -> Spec:
    """A chart along the axes that its place in the scene had when they were first held, or as it is."""
    if not are_held():
        return spec
    known, (scene, *keys) = memory()[_HELD], memory()[_DRAWN]
    if key not in keys:
        keys.append(key)
        memory()[_DRAWN] = [scene, *keys]
    at = scene, keys.index(key)
    held = hold(spec, known.get(at, {}))
    known[at] = axes_of(held)
    return held


def span(player: str, now: float) -> float:
    """How long a player draws its axis of time: as long as `now`, or as it has been drawn while axes are held."""
    if not are_held():
        return now
    known, (scene, *_) = memory()[_HELD], memory()[_DRAWN]
    known[scene, player] = max(known.get((scene, player), now), now)
    return float(known[scene, player])


def button() -> None:
    """What holds them, out of sight behind its key; where they are held, what says so and lets them go."""
    held = are_held()
    with st.container(width="content") if held else mounted("hold"):
        keys = shortcut("F")
        st.button(label("held"), key="held_axes", shortcut=keys, type="tertiary", on_click=_turn, args=(held,))


def _turn(held: bool) -> None:
    address.press()
    if held:
        del memory()[_HELD]
    else:
        memory()[_HELD] = {}
