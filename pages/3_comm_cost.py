"""Lab 03, the communication bill."""

import streamlit as st

from ui import inputs, scenes

page = scenes.open_page("comm_cost")
with page.controls("see", "bench"):
    g = inputs.choice("Phase", page.key("phase"), ["decode", "prefill"], "decode")


def question():
    said = page.predict(lambda key: inputs.slide("Share of the step", key, 0, 100, 0, unit="%"), 0)
    st.write(said)
    page.reading("question.reading")


def see():
    f, m = page.split()
    with f:
        page.say("see.reading")
    with m:
        page.note("see.note", "see.note2")
    page.verdict("ok", "see.v")


page.play(
    lambda: {"x": "1"},
    question=question,
    see=see,
    count=see,
    break_it=see,
    bench=see,
    build=see,
    engines=see,
    limits=see,
)
