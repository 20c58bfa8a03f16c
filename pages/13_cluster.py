"""The room is the cluster: a ring all-reduce whose ranks are phones, passed by hand and timed on the wall."""

from collections.abc import Mapping

import streamlit as st

from runtime.rooms import ROOMS
from ui import scenes
from ui.cluster import charts, phone, rows, wall, words
from ui.room import poll

page = scenes.open_page("cluster")
ring = ROOMS.ring(poll.code()) if poll.code() else None
is_rank = ring is not None and not poll.presides()
asked = wall.ask(page, ring, is_rank)
runs = ring.runs() if ring else ()


def fields() -> Mapping[str, object]:
    return words.fields(runs)


def ring_of_the_room() -> None:
    if is_rank and ring is not None:
        phone.draw(ring)
    else:
        wall.draw(page, ring, asked)


def time() -> None:
    """Every round of the rings that have ended, over what α + n/β says of it."""
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


def limits() -> None:
    page.say("limits.body")
    with st.container(key="note_limits"):
        page.say("limits.counted")


page.play(fields, ring=ring_of_the_room, time=time, limits=limits)
