"""The poll of a lecture: the wall asks, learners send the prediction they make anyway, the wall shows all.

Who holds the room's key presides: it is in the address of that visit alone, as the code is in everybody's.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable

import streamlit as st

from core.text.question import heaps
from runtime import content
from runtime.prose import said
from runtime.quantities import form, percents, plain
from runtime.rooms import MOST_CODES, MOST_VOTES, ROOMS, Question, Tally, code_of, new_key
from ui import address
from ui.course.pages import entry
from ui.memory import memory
from ui.players.still import still
from ui.prose import escape
from ui.room import phones, way_in
from ui.room.drawing import code_svg, width_px
from ui.room.line import Line
from ui.shortcuts import shortcut
from ui.theme import Look
from ui.visit import visit

ROOM, CHAIR = "room", "chair"
"""The code and the key, in the address of every page."""

VOTER = "_voter"
REFRESH_S, FOLLOW_S = 2.0, 4.0
"""How often a wall counts its votes, and a phone looks where the wall has gone."""
NAMED = 3
"""How many heaps of wrong answers a wall has room to name."""

_PLAIN = re.compile(r"[\w.,:+%-]{1,80}", re.ASCII)
_NAME = re.compile(r"[0-9a-f]{16}", re.ASCII)
_AT = "_at_the_question"
_TRIED = "_codes"
SERVER = "X-Shardlab-Server"  # the proxy tells each request which one it is
_GIVEN = ("guess", "revealed")


def word(name: str, **fields: object) -> str:
    return said("room", name, **fields)


def code() -> str:
    """Return the code of the room that this visit is in, if it is in one."""
    return _tried(visit().room)


def _tried(text: str) -> str:
    """Return the code that a text is; none once this visit has asked for as many as it may, for it is guessing."""
    tried = memory().setdefault(_TRIED, [])
    if (found := text.strip().upper()) not in tried and len(tried) < MOST_CODES:
        tried.append(found)
    return found if found in tried else ""


def presides() -> bool:
    """Whether this visit holds the key of its room."""
    key = visit().chair
    return bool(key) and code_of(key) == code() and ROOMS.presides(key)


def open_key() -> None:
    """Give this visit a key to a room of its own, if it has none."""
    if not presides():
        key = new_key(str(st.context.headers.get(SERVER)))
        address.write({CHAIR: key, ROOM: code_of(key)})


def show(view: str) -> None:
    """Keep which scene the wall shows, for the notes on another device, where this visit presides over a room."""
    if presides():
        ROOMS.show(visit().chair, view)


def join(path: str) -> None:
    """Who comes by the short address, which names no page, begins where the room is; who reads the notes, there."""
    if path or address.is_open() or "notes" in st.query_params:
        return
    asked = ROOMS.asked(_tried(st.query_params.get(ROOM, "")))
    if asked:
        kept = {name: st.query_params[name] for name in (ROOM, "lang") if name in st.query_params}
        st.switch_page(entry(asked.question.stem).path, query_params={**dict(asked.address), **kept})


# On the wall


def is_asked(line: Line) -> bool:
    """Whether this visit presides, and its room is being asked just this."""
    return presides() and line.is_of(ROOMS.asked(code()))


def button(line: Line, revealed: bool) -> Callable[[], object] | None:
    """The foot's button: ask the room, or let it vote again; none where neither is of use."""
    if not is_asked(line):
        name, act = "ask", lambda: call_to(line.question)
    elif not revealed and len(ROOMS.tallies(code())) < MOST_VOTES:
        name, act = "again", _again
    else:
        return None
    label, keys = word(name), shortcut("A")
    return lambda: st.button(label, key="ask_room", shortcut=keys, on_click=act)


def call_to(question: Question) -> None:
    """Have this visit's room, opened if need be, at a question. For a button's `on_click`."""
    address.press()
    open_key()
    page = entry(question.stem)
    shown = {
        name: value
        for name, value in address.current().items()
        if (name in address.SCENARIO_NAMES or name.startswith(f"{page.prefix}_"))
        and not name.endswith(_GIVEN)
        and _PLAIN.fullmatch(value)
    }
    if not ROOMS.ask(visit().chair, question, tuple({**shown, **page.scene(question.scene)}.items())):
        address.write({CHAIR: None, ROOM: None})
        memory()["_room_full"] = True


def _again() -> None:
    address.press()
    ROOMS.ask_again(visit().chair)


def wall(line: Line, look: Look, draw: Callable[..., None], revealed: bool) -> None:
    """The room's predictions on the line of the guess, and how to join; after the reveal, which slips they are."""
    ROOMS.take_votes(visit().chair, not revealed)
    votes = st.fragment(_votes, run_every=None if revealed else REFRESH_S)
    asked = (line, look, draw, revealed, content.language())
    if revealed:
        votes(*asked)
        _name_heaps(line)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="large", key="room_wall"):
        how_to_join(look)
        with st.container(width="stretch"):
            votes(*asked)


def how_to_join(look: Look) -> None:
    """The short address of this server, as phones reach it, to type or to point one at; or that none can come."""
    found = way_in.addresses({ROOM: code()})
    modules = way_in.code_of(found[0]) if found else None
    with st.container(key="room_join", width=width_px(modules, look.zoom) if modules is not None else 300):
        if modules is not None:
            still(code_svg(modules, word("join.alt", address=found[0].rpartition("//")[2])), key="room_code")
        st.markdown(f"{word('join')} {way_in.typed(found)}" if found else word("join.nobody"))
        if found and way_in.is_local():
            st.markdown(word("join.network"))


def _votes(line: Line, look: Look, draw: Callable[..., None], revealed: bool, language: str) -> None:
    from ui.room.charts import room_line  # with pandas, which the first page of a fresh server does without

    with content.speaking(language):  # a fragment runs without the entry, which speaks the visit's language
        tallies = ROOMS.tallies(code()) or (Tally(),)
        votes = [
            (_title(round_index, tally, len(tallies)), tally.counts) for round_index, tally in enumerate(tallies)
        ]
        truth = line.question.truth if revealed else None
        chart = room_line(votes, truth, look, high=line.high, unit=line.unit, digits=line.digits)
        draw(chart, "; ".join(title for title, _ in votes), "figure_room")


def _title(round_index: int, tally: Tally, of: int) -> str:
    name = "votes" if of == 1 else ("before", "after")[round_index]
    return word(name, voters=tally.voters)


def _name_heaps(line: Line) -> None:
    reach = max(line.step, 0.02 * line.high)
    first, *second = [heaps(one.counts, line.question.truth, line.slips, reach) for one in ROOMS.tallies(code())]
    again = Counter({one.slip: one.count for heap in second for one in heap})
    slips = f"slip.{line.question.stem}.{line.question.scene}"
    rows = [
        word(
            "heap.again" if second else "heap",
            count=one.count,
            again=again[one.slip],
            value=plain(one.value),
            unit=form(one.value, line.unit.split(",")),
            slip=word(f"{slips}.{one.slip}"),
        )
        for one in first[:NAMED]
    ]
    if rows:
        with st.container(key="room_heaps"):
            st.markdown("\n".join(f"- {escape(percents(row))}" for row in rows))


# With a learner


def send(line: Line, guess: int | None, revealed: bool) -> None:
    """Send the prediction to the room that this visit is in, and say so in one line, which follows the wall."""
    if not code() or presides() or not line.is_of(ROOMS.asked(code())):
        return
    arrive()
    st.fragment(_sent, run_every=FOLLOW_S)(line.question, guess, revealed, content.language())


def _sent(question: Question, guess: int | None, revealed: bool, language: str) -> None:
    with content.speaking(language), st.container(key="room_sent"):  # as of the votes
        if not is_at(question):
            _lead()
            return
        told = _told(question, guess, revealed)
        st.markdown(word(told, room=code()))
        if told == "anew":
            st.button(word("keep"), key="room_keep", on_click=_keep, args=(question, guess))


def _keep(question: Question, guess: int) -> None:
    ROOMS.vote(code(), question, ballot(), guess)


def _told(question: Question, guess: int | None, revealed: bool) -> str:
    """Send what was not sent yet, and the block that says so.

    A second vote counts no number of the first without being asked to.
    """
    asked = ROOMS.asked(code())
    if asked is None or not asked.takes_votes or revealed:
        return "over"
    if guess is None:
        return "waits"
    *before, now = ROOMS.said(code(), ballot()) or (None,)
    if now is None and guess in before:
        return "anew"
    return "sent" if now == guess or ROOMS.vote(code(), question, ballot(), guess) else "over"


def is_at(question: Question) -> bool:
    """Whether the room of this visit is asking just this."""
    asked = ROOMS.asked(code()) if code() else None
    return asked is not None and asked.question.agrees(question)


def arrive() -> None:
    """This visit is where its room is: it needs no way there."""
    memory()[_AT] = True


def ballot() -> str:
    """Return under which name this visit votes: its browser's, which all its tabs have; else its own."""
    return phones.name_of(str(st.context.cookies.get(phones.COOKIE))) or voter()


def voter() -> str:
    """The random name of this visit in its room: its browser keeps it, and nobody else is told."""
    room, name = st.session_state.get(VOTER, ("", ""))
    if room != code() or not name:
        room, name = st.session_state[VOTER] = (code(), secrets.token_hex(8))
    return str(name)


def named() -> dict[str, str] | None:
    """The room and the name in it, for the browser to keep; none where this visit is in no room, or presides."""
    return {"room": code(), "name": voter()} if code() and not presides() else None


def recall(told: object) -> None:
    """Let this visit be the voter that its browser says it was before: what it said meanwhile is that voter's.

    What a browser tells may be anything. Nobody knows another's name, and a visit that takes names in turn has one
    vote all the same.
    """
    room, name = (told.get(part) if isinstance(told, dict) else None for part in ("room", "name"))
    if not code() or room != code() or not isinstance(name, str) or not _NAME.fullmatch(name) or name == voter():
        return
    ROOMS.rename(code(), voter(), name)
    st.session_state[VOTER] = (code(), name)


def say_where(region: st.delta_generator.DeltaGenerator) -> None:
    """One line for who is in a room and not at its question: the way there, once the wall has gone on."""
    if memory().pop("_room_full", False):
        region.markdown(word("full"))
    is_there = memory().pop(_AT, False)
    if code() and not presides() and not is_there:
        with region, st.container(key="room_where"):
            _lead()


def _lead() -> None:
    """The way to what the room is asked, or that there is no such room."""
    if ROOMS.asked(code()) is None:
        st.markdown(f":gray[{escape(word('unknown', room=code()))}]")
    else:
        st.markdown(f"{escape(word('elsewhere', room=code()))} [{word('follow')}](./?{ROOM}={code()})")
