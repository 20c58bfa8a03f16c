"""The wall that a visit is projected on, as its browser says."""

from typing import TypedDict

import streamlit as st


class Wall(TypedDict):
    """What the browser tells of the wall: whether it is a low one, and by how much all of it is scaled."""

    low: bool
    zoom: float


def wall() -> Wall:
    """Return the wall that is projected on."""
    return wall_of(st.session_state.get("shell", {}).get("wall"))


def wall_of(told: object) -> Wall:
    """Return what a browser says of its wall, which may be anything, held to what a wall can be."""
    low, zoom = (told.get(name) if isinstance(told, dict) else None for name in ("low", "zoom"))
    return {"low": low is True, "zoom": min(4.0, max(0.5, zoom)) if isinstance(zoom, int | float) else 1}
