"""The room is the cluster: a ring all-reduce whose ranks are phones, passed by hand and timed on the wall."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.course.cluster.standing import Run
from runtime.room_ring import RoomRing
from runtime.rooms import ROOMS
from ui import scenes
from ui.cluster import charts, phone, rows, wall, words
from ui.cluster.wall import RingQuestion
from ui.page import Page
from ui.room import poll


def ring_here() -> RoomRing | None:
    return ROOMS.ring(poll.code()) if poll.code() else None


def runs_of(page: Page[RingQuestion]) -> Sequence[Run]:
    ring = ring_here()
    return ring.runs() if ring else ()


def fields(page: Page[RingQuestion]) -> Mapping[str, object]:
    return words.fields(page.once(runs_of))


def ring_of_the_room(page: Page[RingQuestion]) -> None:
    ring = ring_here()
    if ring is not None and not poll.presides():
        phone.draw(ring)
    else:
        wall.draw(page, ring)


def time(page: Page[RingQuestion]) -> None:
    """Draw every round of the rings that have ended, over what α + n/β says of it."""
    runs = page.once(runs_of)
    if not runs:
        page.say("time.none")
        return
    figure, margin = page.split()
    with figure:
        bands = rows.bands(runs)
        chart = charts.round_times(rows.rounds(runs), bands, page.look)
        page.figure(chart, words.reading(runs), rows.table(runs), "rounds")
    with margin:
        page.note(*words.notes(runs))


def limits(page: Page[RingQuestion]) -> None:
    page.say("limits.body")
    with st.container(key="note_limits"):
        page.say("limits.counted")


scenes.play("cluster", RingQuestion, fields, ring=ring_of_the_room, time=time, limits=limits)
