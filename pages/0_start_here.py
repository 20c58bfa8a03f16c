"""Start here: five ideas before lab 01, a prediction for each, and the words of the course."""

from collections.abc import Callable

import streamlit as st

from core.course import labs_own
from core.course.start_here import ridge_tokens, ring_chunks_sent, ring_stages
from runtime.prose import said
from ui import scenes
from ui.course import glossary
from ui.page import Nothing, Page
from ui.players.still import still
from ui.start_here import charts, drawing, pictures, words
from ui.start_here.ring import running_ring

ASKING = ("decode", "prefill", "bottlenecks", "rank", "collectives")


def notes(page: Page[Nothing]) -> tuple[str, ...]:
    """Return what is said of a scene once its truth is, and note what its times are made of."""
    if page.revealed and page.scene in ASKING[:-1]:
        page.data_sheet = "link" if page.scene == "rank" else "compute"
    return (f"{page.scene}.note", f"{page.scene}.misread") if page.revealed else ()


def picture(page: Page[Nothing], draw: Callable[..., str], *drawn: object, width: int) -> None:
    look = page.look
    alt = page.prose.plain(f"{page.scene}.alt")
    with st.container(key=f"drawn_{page.scene}", width=round(look.letters(width * (1.16 if look.present else 1)))):
        still(*(draw(*drawn, look.palette, alt, narrow) for narrow in (False, True)), key=f"picture_{page.scene}")


def decode(page: Page[Nothing]) -> None:
    with page.beside(*notes(page)):
        if (page.scenario.model, page.scenario.gpu) != (labs_own.LABS_OWN.model, labs_own.LABS_OWN.gpu):
            page.say("decode.own")
        slips = labs_own.slips("decode")
        truth_ms = 1e3 * labs_own.TOKEN.bound_s
        if page.ask(truth_ms, high=40, unit="ms", digits=2, slips=slips, picture=pictures.drain()):
            needs = words.token_needs()
            page.figure(charts.token_bars(needs, page.look), "decode.reading", needs, "one_token")
            page.equation(*words.share_terms())


def prefill(page: Page[Nothing]) -> None:
    with page.beside(*notes(page)):
        slips, unit = labs_own.slips("prefill"), said("start_here", "says.unit_tokens")
        truth = ridge_tokens(labs_own.GPU)
        if page.ask(truth, high=500, step=5, unit=unit, slips=slips, picture=pictures.one_pass()):
            passes = labs_own.passes()
            chart = charts.pass_against_tokens(passes, words.marked_tokens().items(), page.look)
            page.figure(chart, "prefill.reading", passes, "one_pass")
            page.equation(*words.ridge_terms())


def bottlenecks(page: Page[Nothing]) -> None:
    with page.beside(*notes(page)):
        unit = said("start_here", "says.unit_gpus")
        slips = labs_own.slips("bottlenecks")
        if page.ask(labs_own.FEWEST_GPUS, high=20, unit=unit, slips=slips, picture=pictures.boxes()):
            shares = words.shares()
            chart = charts.model_over_gpus(shares, labs_own.GPU.usable_memory_bytes, page.look)
            page.figure(chart, "bottlenecks.reading", shares, "over_gpus")


def rank(page: Page[Nothing]) -> None:
    with page.beside(*notes(page)):
        if not (page.look.present and page.revealed):
            picture(page, drawing.two_nodes, labs_own.NODE_GPUS, *labs_own.LINKS, width=560)
        sent = words.messages()
        far = sent[-1]
        slips, bar = labs_own.slips("rank"), pictures.one_message()
        if page.ask(100 * far.latency_s / far.total_s, high=100, unit="%", slips=slips, picture=bar):
            page.figure(charts.message_bars(sent, page.look), "rank.reading", sent, "message")


def collectives(page: Page[Nothing]) -> None:
    onward = {"onward": ["collectives.onward"]} if page.revealed else {}
    with page.beside(*notes(page), **onward):
        if not (page.look.present and page.revealed):
            running_ring(page)
        unit = said("start_here", "says.unit_chunks")
        if page.ask(
            ring_chunks_sent(labs_own.ASKED_RANKS), high=40, unit=unit, slips=labs_own.slips("collectives")
        ):
            picture(page, drawing.two_halves, ring_stages(labs_own.RANKS), width=640)
            page.reading("collectives.reading")
            page.draw_layer()


def words_of_the_course(page: Page[Nothing]) -> None:
    page.say("glossary.lead")
    st.markdown(glossary.table())


scenes.play(
    *("start_here", Nothing, lambda page: words.fields()),
    asking=ASKING,
    decode=decode,
    prefill=prefill,
    bottlenecks=bottlenecks,
    rank=rank,
    collectives=collectives,
    glossary=words_of_the_course,
)
