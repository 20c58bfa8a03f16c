"""Puzzles: place the cuts and the collectives until the picture is right, for the fewest bytes and hops."""

import streamlit as st

from core.course.puzzles.bank import TOKENS
from ui import address, scenes
from ui.players.puzzle_player import puzzle_player
from ui.puzzles import rows

page = scenes.open_page("puzzles")
PARAM = page.key("at")


def play() -> None:
    with st.container(key="aside_lead"):
        page.say("play.lead")
    present = page.look.present
    puzzle_player(rows.board(present), key="puzzles", param=PARAM, present=present)


def rules() -> None:
    page.say("rules.body")
    with st.container(key="note_rules"):
        page.say("rules.counted")


address.hear(PARAM)
page.play(lambda: {"tokens": TOKENS}, play=play, rules=rules)
