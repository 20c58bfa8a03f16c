"""Start here: five ideas before lab 01, a prediction for each, and the words of the course."""

import streamlit as st

from core.course.start_here import ridge_tokens, ring_chunks_sent, ring_stages
from core.units import GB
from ui import scenes
from ui.course import glossary
from ui.figures.frames import frame
from ui.players.still import still
from ui.start_here import charts
from ui.start_here import drawing as drawings
from ui.start_here import rows as rows_of
from ui.start_here import words as facts

ASKING = ("rank", "collectives", "decode", "prefill", "bottlenecks")
page = scenes.open_page("start_here", asking=ASKING)
look = page.look


def picture(svg: str, width: int) -> None:
    with st.container(key=f"drawn_{page.scene}", width=round(look.px(width))):
        still(svg, key=f"picture_{page.scene}")


def margin() -> None:
    """What is said of a scene once its truth is."""
    if page.revealed:
        page.note(f"{page.scene}.note", f"{page.scene}.misread")


def rank() -> None:
    figure, notes = page.split()
    with figure:
        if not (look.present and page.revealed):
            inside, between = map(rows_of.short_name, rows_of.links())
            alt = page.prose.plain("rank.alt")
            picture(drawings.two_nodes(rows_of.NODE_GPUS, inside, between, look.palette, alt), 560)
        bars = frame(rows_of.message_bars())
        far = bars.iloc[-1]
        if page.ask(100 * far["first"] / (far["first"] + far["second"]), high=100, unit="%", digits=0):
            chart = charts.two_part_bars(bars, look, "µs", names=("latency", "bandwidth"))
            page.figure(chart, "rank.reading", bars, "message")
    with notes:
        margin()


def collectives() -> None:
    figure, notes = page.split()
    with figure:
        alt = page.prose.plain("collectives.alt")
        picture(drawings.two_halves(ring_stages(rows_of.RANKS), look.palette, alt), 640)
        if page.ask(ring_chunks_sent(rows_of.RANKS), high=20, unit="chunks"):
            page.reading("collectives.reading")
    with notes:
        margin()


def decode() -> None:
    figure, notes = page.split()
    with figure:
        if page.ask(1e3 * rows_of.one_token().bound_s, high=40, unit="ms", digits=2):
            bars = frame(rows_of.token_bars())
            page.figure(charts.two_part_bars(bars, look, "ms"), "decode.reading", bars, "one_token")
            page.equation(*facts.share_terms())
    with notes:
        margin()


def prefill() -> None:
    figure, notes = page.split()
    with figure:
        if page.ask(ridge_tokens(rows_of.gpu()), high=500, step=5, unit="tokens"):
            curve = frame(rows_of.pass_curve())
            chart = charts.pass_against_tokens(curve, frame(rows_of.pass_marks()), look)
            page.figure(chart, "prefill.reading", curve, "one_pass")
            page.equation(*facts.ridge_terms())
    with notes:
        margin()


def bottlenecks() -> None:
    figure, notes = page.split()
    with figure:
        if page.ask(rows_of.fewest_gpus(), high=20, unit="GPUs"):
            shares = frame(rows_of.shares())
            capacity_gb = rows_of.gpu().usable_memory_bytes / GB
            chart = charts.model_over_gpus(shares, capacity_gb, look)
            page.figure(chart, "bottlenecks.reading", shares, "over_gpus")
    with notes:
        margin()
        with st.container(key="aside_onward"):
            page.note("bottlenecks.onward")


def words() -> None:
    page.say("glossary.lead")
    st.markdown(glossary.table())


page.play(
    facts.fields,
    rank=rank,
    collectives=collectives,
    decode=decode,
    prefill=prefill,
    bottlenecks=bottlenecks,
    glossary=words,
)
