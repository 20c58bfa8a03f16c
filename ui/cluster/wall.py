"""On the wall: a ring is opened, filled with phones, begun, and drawn until every rank holds the sum."""

from dataclasses import dataclass

import streamlit as st

from core.course.cluster.standing import WAIT_S, Standing
from runtime import content
from runtime.one_process import ALONE
from runtime.prose import said
from runtime.room_ring import AT_RANDOM, FEWEST, MOST, SIZES, RoomRing
from runtime.rooms import ROOMS, Question
from ui.cluster import words
from ui.cluster.drawing import NARROW, PROJECTED, WIDE, ring_drawing
from ui.page import Page
from ui.players.still import still
from ui.question import Choice, Whole, ask
from ui.room import poll
from ui.shortcuts import shortcut
from ui.theme import Look
from ui.visit import visit

QUESTION = Question("cluster", "ring", 0.0)
"""What a room is at while it is a ring: a place, and no number to be guessed."""

REFRESH_S = 1.0
USUAL_RANKS = 8
NOBODY, RANDOM = "nobody", "random"
RANKS = tuple(f"r{rank}" for rank in range(MOST))


@dataclass(frozen=True)
class RingQuestion:
    """The ring that is to begin: how many ranks, how many numbers a chunk, who is told to be slow."""

    ranks: int = ask(USUAL_RANKS, Whole(FEWEST, MOST), "ask.ranks")
    numbers: int = ask(SIZES[0], Choice(SIZES), "ask.numbers")
    slow: str = ask(NOBODY, Choice((NOBODY, RANDOM, *RANKS), listed=True), "ask.slow")


def slow_rank(asked: RingQuestion) -> int | None:
    """Return the rank that is told to be slow, None for none of those there are."""
    if asked.slow == RANDOM:
        return AT_RANDOM
    rank = asked.ranks if asked.slow == NOBODY else int(asked.slow[1:])
    return rank if rank < asked.ranks else None


def _draw_controls(page: Page[RingQuestion]) -> None:
    with page.controls("ranks", "numbers"):
        offered = (NOBODY, RANDOM, *RANKS[: page.question.ranks])
        page.control("slow", _word("ask.slow", wait_s=WAIT_S), options=offered)


def draw(page: Page[RingQuestion], ring: RoomRing | None) -> None:
    """Draw the scene of who presides, or of a visit that is in no room."""
    if ALONE:
        page.say("ring.lead")
        page.say("ring.in_tab")
        return
    if ring is None or ring.standing() is None:
        _draw_controls(page)
    asked = page.question
    if not poll.presides() or ring is None:
        page.say("ring.lead")
        st.button(_word("open"), key="open_ring", shortcut=shortcut("A"), type="primary", on_click=_open)
        return
    standing = ring.standing()
    if standing is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="large", key="room_wall"):
            poll.how_to_join(page.look)
            with st.container(width="stretch"):
                page.say("ring.join")
                st.fragment(_lobby, run_every=REFRESH_S)(ring, asked, content.language())
        return
    if standing.is_done:
        page.tell(page.entry.scenes[page.scene], words.told(standing))
    st.fragment(_ring, run_every=REFRESH_S)(ring, page.look, standing.is_done, content.language())


def _lobby(ring: RoomRing, asked: RingQuestion, language: str) -> None:
    with content.speaking(language):
        present = ring.present()
        simulated = max(0, asked.ranks - present)
        watching = max(0, present - asked.ranks)
        name = "filled" if simulated else "watched" if watching else "full"
        st.markdown(_word(f"lobby.{name}", present=present, simulated=simulated, watching=watching))
        keys = shortcut("A")
        args = (ring, asked)
        st.button(_word("start"), key="start_ring", shortcut=keys, type="primary", on_click=_start, args=args)
    if ring.standing() is not None:
        st.rerun()


def _ring(ring: RoomRing, look: Look, was_done: bool, language: str) -> None:
    standing = ring.standing()
    if standing is None or standing.is_done != was_done:
        st.rerun()
    with content.speaking(language):
        told = words.told(standing)
        sizes = (PROJECTED,) if look.present else (WIDE, NARROW)
        still(*(ring_drawing(standing, look.palette, size, told) for size in sizes), key="ring_drawn")
        with st.container(key="reading_ring"):
            st.markdown(told)
        with st.container(horizontal=True, vertical_alignment="center", key="ring_acts"):
            _acts(ring, standing)


def _acts(ring: RoomRing, standing: Standing) -> None:
    if standing.is_done:
        keys = shortcut("A")
        st.button(_word("again"), key="again_ring", shortcut=keys, type="primary", on_click=ring.stop)
        return
    silent = [rank for rank, one in enumerate(standing.ranks) if one.is_silent]
    if silent:
        label = _word("pass_for", ranks=words.named(silent))
        st.button(label, key="pass_for", type="primary", on_click=ring.pass_for_silent)
    st.button(_word("stop"), key="stop_ring", on_click=ring.stop)
    st.markdown(_word("key"), width="stretch")


def _start(ring: RoomRing, asked: RingQuestion) -> None:
    ring.start(asked.ranks, asked.numbers, slow_rank(asked))


def _open() -> None:
    poll.call_to(QUESTION)
    if poll.presides():
        ROOMS.ring_of_key(visit().chair)


def _word(name: str, **fields: object) -> str:
    return said("cluster", name, **fields)
