"""Lab 03, the communication bill: price the all-reduces of a step on the links there are."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.comm_cost.asked import known_slips
from core.steps import view as views
from ui import scenes
from ui.comm_cost import bench as comm_bench
from ui.comm_cost import own_bill, pictures, words
from ui.comm_cost import rounds as comm_rounds
from ui.comm_cost import rows as rows_of
from ui.comm_cost import rows_slips as slips
from ui.comm_cost import scenes as comm_scenes
from ui.comm_cost.question import ROUNDS, Question, points, view_of
from ui.comm_cost.words_bench import rounds as rounds_fields
from ui.page import Page


def fields(page: Page[Question]) -> Mapping[str, object]:
    all_reduce = comm_rounds.all_reduce_of(page, page.once(view_of))
    told = page.once(view_of), comm_bench.own_bill(page), points, page.question.view == ROUNDS
    return {**words.fields(*told), **rounds_fields(all_reduce)}


def warn(page: Page[Question], has_step: bool = True) -> None:
    """Say what stands against running this step at all; what follows keeps its place where nothing does."""
    view = page.once(view_of)
    with st.container():
        if has_step and view.broken:
            st.error(page.prose.text("refused"))
        if has_step and view.fits != "one" and not view.napkin:
            page.verdict("off" if view.fits == "none" else "open", f"fits.{view.fits}")


def question(page: Page[Question]) -> None:
    view = page.once(view_of)
    page.data_sheet = "compute"
    priced = view.price(view.asked)
    high, slips_of = 200 * view.step.tp_size, known_slips(priced)
    if page.ask(100 * priced.speedup, high=high, unit="%", slips=slips_of, picture=pictures.tail(view)):
        warn(page)
        page.draw_layer(view.step.tp_size)
        links = list({link.key: link for link in (view.link, view.asked, view.network)}.values())
        sides = [words.side(view, link, points) for link in (view.asked, view.link, view.network)]
        comm_bench.bars(page, rows_of.link_rows(view, links, points), f"question.reading_{sides[0].speed}", "bill")
        with st.container(key="aside_verdicts"):
            for role, by in zip(("link", "network"), sides[1:], strict=True):
                page.verdict({"faster": "ok", "slower": "off"}.get(by.speed, "open"), f"verdict.{role}_{by.speed}")
            if sides[2].short_s > 0:
                page.say("question.short")
            comm_scenes.served(page, view)


def see(page: Page[Question]) -> None:
    view, asked = page.once(view_of), page.question
    page.data_sheet = "link" if asked.view == ROUNDS else "prompt" if view.phase == "prefill" else "compute"
    with page.controls("view", "phase"):
        comm_rounds.draw_controls(page, asked.view == ROUNDS)
    if asked.view == ROUNDS:
        comm_rounds.draw(page, comm_rounds.all_reduce_of(page, view))
        return
    rules = ["napkin"] if view.napkin else ["rule", "networks"]
    if any(view.measured(link, points) for link in view.compared):
        rules.insert(0, "tick")
    with page.beside("see.note_step", "see.note_payload", rule=[f"see.note_{rule}" for rule in rules]):
        warn(page)
        if page.look.present:  # it has room for a sentence of it
            page.say("see.wall_napkin" if view.napkin else "see.wall_rule")
        reading = "napkin" if view.napkin else view.phase
        both = [rows_of.link_rows(replace(view, phase=one), view.compared, points) for one in views.PHASES]
        bars = both[views.PHASES.index(view.phase)]
        comm_bench.bars(page, bars, f"see.reading_{reading}", "bill", by=page.key("phase"), states=both)


def count(page: Page[Question]) -> None:
    view = page.once(view_of)
    page.data_sheet = "prompt" if view.phase == "prefill" else "compute"
    page.controls("phase", "numbers")
    comm_scenes.count(page, view, points, lambda: warn(page))


def break_it(page: Page[Question]) -> None:
    slip = page.question.slip
    page.controls("slip", *(["phase"] if slip in slips.PHASED else []))
    view = page.once(view_of)
    if slip in (slips.TWO_WAY, slips.HOP):
        page.data_sheet = "link" if slip == slips.TWO_WAY else "prompt" if view.phase == "prefill" else "compute"
    with st.container(key="aside_ask"):
        page.say("break_it.ask")
    warn(page, slip in slips.OF_THE_SCENARIO)
    comm_scenes.break_it(page, slip, view, points)


def bench(page: Page[Question]) -> None:
    view, figure = page.once(view_of), page.question.figure
    page.data_sheet = comm_bench.made_of(figure, view.phase)
    comm_bench.draw_controls(page)
    warn(page, figure in comm_bench.OF_THE_SCENARIO)
    comm_bench.draw(page, view, points)


scenes.play(
    *("comm_cost", Question, fields),
    asking=("question",),
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=own_bill.build,
)
