"""With a learner: the rank that this visit holds, its chunk to be passed on, and a way to leave."""

from collections.abc import Callable

import streamlit as st

from runtime import content
from runtime.prose import said
from runtime.room_ring import RoomRing
from ui.cluster.wall import QUESTION
from ui.players.pass_player import pass_player
from ui.room import poll

REFRESH_S = 1.0
"""How often a phone asks whether something has come."""
_LEFT = "_left_ring"
_HAND = "rank_in_hand"


def draw(ring: RoomRing) -> None:
    """The visit as a rank of the ring, or as one who watches."""
    is_here = poll.is_at(QUESTION)
    if is_here:
        poll.arrive()
    st.fragment(_rank, run_every=REFRESH_S)(ring, is_here, content.language())


def _rank(ring: RoomRing, was_here: bool, language: str) -> None:
    if poll.is_at(QUESTION) != was_here:
        st.rerun()
    with content.speaking(language):  # a fragment runs without the entry, which speaks the visit's language
        if st.session_state.get(_LEFT):
            st.markdown(said("cluster", "phone.left"))
            st.button(said("cluster", "phone.back"), key="ring_back", on_click=_come_back, type="primary")
            return
        hand = ring.here(poll.voter())
        if hand is None:
            standing = ring.standing()
            name = "lobby" if standing is None else "next" if standing.is_done else "late"
            st.markdown(said("cluster", f"phone.{name}", room=poll.code()))
        else:
            pass_player(hand, key=_HAND, on_sent=_sent(ring))
        st.button(said("cluster", "phone.leave"), key="ring_leave", on_click=_leave, args=(ring,))


def _sent(ring: RoomRing) -> Callable[[], None]:
    """What a press of the phone does."""
    return lambda: pass_told(ring, poll.voter(), st.session_state.get(_HAND, {}).get("sent"))


def pass_told(ring: RoomRing, who: str, told: object) -> None:
    """Pass on what a browser says was pressed, as far as that is a press."""
    run, round_ = (told.get(name) if isinstance(told, dict) else None for name in ("run", "round"))
    if isinstance(run, int) and isinstance(round_, int):
        ring.send(who, run, round_)


def _leave(ring: RoomRing) -> None:
    ring.leave(poll.voter())
    st.session_state[_LEFT] = True


def _come_back() -> None:
    st.session_state[_LEFT] = False
