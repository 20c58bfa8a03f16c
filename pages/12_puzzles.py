"""Puzzles: place the cuts and the collectives until the picture is right, for the fewest bytes and hops."""

from dataclasses import dataclass

import streamlit as st

from core.course.puzzles.bank import TOKENS
from ui import address, scenes
from ui.page import Page
from ui.players.puzzle_player import puzzle_player
from ui.puzzles import rows
from ui.question import Text, ask


@dataclass(frozen=True)
class Question:
    """The puzzle that is open and its answers, as the player writes them."""

    at: str = ask("", Text(4000))


def play(page: Page[Question]) -> None:
    address.let_browser_write(page.key("at"))
    with st.container(key="aside_lead"):
        page.say("play.lead")
    present = page.look.present
    puzzle_player(rows.board(present), key="puzzles", param=page.key("at"), present=present)


def rules(page: Page[Question]) -> None:
    page.say("rules.body")
    with st.container(key="note_rules"):
        page.say("rules.counted")


scenes.play("puzzles", Question, lambda page: {"tokens": TOKENS}, play=play, rules=rules)
