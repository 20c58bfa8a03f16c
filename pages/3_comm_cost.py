"""Lab 03, the communication bill: price the all-reduces of a step on the links there are."""

from contextlib import AbstractContextManager
from dataclasses import replace

import streamlit as st

from core.comm_cost.asked import known_slips
from core.steps import view as views
from runtime.measurements import measured_all_reduces
from ui import inputs, scenes
from ui.comm_cost import bench as comm_bench
from ui.comm_cost import rounds as comm_rounds
from ui.comm_cost import rows as rows_of
from ui.comm_cost import rows_slips as slips
from ui.comm_cost import scenes as comm_scenes
from ui.comm_cost import words
from ui.comm_cost.words_bench import rounds as rounds_fields

BILL, ROUNDS = "the bill", "the wire"
MEASURED, NAPKIN = "as measured", "the lab's napkin"

page = scenes.open_page("comm_cost")
points = measured_all_reduces()
figure = comm_bench.choose(page)
row, unseen = page.controls("see", "count", "break_it", "bench"), page.controls("elsewhere")


def place(seen: bool, is_kept: bool = False) -> AbstractContextManager[object]:
    """A control's place: the row under the title, a gap there, or out of sight; the URL keeps it in all three."""
    if is_kept and not seen:
        with row:
            st.empty()
    return row if seen else unseen


with place(page.scene == "see"):
    shown = page.control(inputs.choice, "view", "says.figure", [BILL, ROUNDS], BILL)
with place(page.scene == "break_it"):
    slip = page.control(inputs.choice, "slip", "says.what_misread", slips.CHOICES, slips.HOP)
phases = {"bench": figure in comm_bench.phased(page.look), "break_it": slip in slips.PHASED}
with place(phases.get(page.scene, True), page.scene == "bench"):
    phase = page.control(inputs.choice, "phase", "says.phase", views.PHASES, "decode")
with place(page.scene in ("see", "count", "bench") and not (page.look.present and page.scene == "bench")):
    napkin = page.control(inputs.choice, "numbers", "says.numbers", [MEASURED, NAPKIN], MEASURED) == NAPKIN
asked = comm_bench.ask(page, figure, place)
# what is asked, and the answer to it, are of a decode step as it is measured
view = views.View(page.scenario) if page.scene == "question" else views.View(page.scenario, phase, napkin)
rounds_shown = page.scene == "see" and shown == ROUNDS
all_reduce = comm_rounds.ask(page, view, place(rounds_shown), rounds_shown and not page.look.present)

if rounds_shown or (page.scene == "break_it" and slip == slips.TWO_WAY):
    page.data_sheet = "link"
elif page.scene == "bench":
    page.data_sheet = comm_bench.made_of(figure, view.phase)
elif page.scene in ("question", "see", "count") or (page.scene == "break_it" and slip == slips.HOP):
    page.data_sheet = "prompt" if view.phase == "prefill" else "compute"


def warn(has_step: bool = True) -> None:
    """What stands against running this step at all; what follows keeps its place where nothing does."""
    with st.container():
        if has_step and view.broken:
            st.error(page.prose.text("refused"))
        if has_step and view.fits != "one" and not view.napkin:
            page.verdict("off" if view.fits == "none" else "open", f"fits.{view.fits}")


def question() -> None:
    priced = view.price(view.asked)
    if page.ask(100 * priced.speedup, high=200 * view.step.tp_size, unit="%", slips=known_slips(priced)):
        warn()
        links = list({link.key: link for link in (view.link, view.asked, view.network)}.values())
        sides = [words.side(view, link, points) for link in (view.asked, view.link, view.network)]
        comm_bench.bars(page, rows_of.link_rows(view, links, points), f"question.reading_{sides[0].speed}", "bill")
        with st.container(key="aside_verdicts"):
            for role, by in zip(("link", "network"), sides[1:], strict=True):
                page.verdict({"faster": "ok", "slower": "off"}.get(by.speed, "open"), f"verdict.{role}_{by.speed}")
            if sides[2].short_s > 0:
                page.say("question.short")
            comm_scenes.served(page, view)


def see() -> None:
    if shown == ROUNDS:
        comm_rounds.draw(page, all_reduce)
        return
    rules = ["napkin" if view.napkin else "rule"]
    if any(view.measured(link, points) for link in view.compared):
        rules.insert(0, "tick")
    # a wall has room for a sentence of each
    in_short = [f"see.wall_{rule}" for rule in rules if page.look.present]
    with page.beside("see.note_step", "see.note_payload", *in_short, rule=[f"see.note_{rule}" for rule in rules]):
        warn()
        reading = "napkin" if view.napkin else phase
        both = [rows_of.link_rows(replace(view, phase=one), view.compared, points) for one in views.PHASES]
        bars, by = both[views.PHASES.index(phase)], f"{page.key('phase')}_shown"
        comm_bench.bars(page, bars, f"see.reading_{reading}", "bill", by=by, states=both)


def break_it() -> None:
    with st.container(key="aside_ask"):
        page.say("break_it.ask")
    warn(slip in slips.OF_THE_SCENARIO)
    comm_scenes.break_it(page, slip, view, points)


def bench() -> None:
    warn(figure in comm_bench.OF_THE_SCENARIO)
    comm_bench.draw(page, asked, view, points)


page.play(
    lambda: {**words.fields(view, asked.own, points), **rounds_fields(all_reduce)},
    question=question,
    see=see,
    count=lambda: comm_scenes.count(page, view, points, warn),
    break_it=break_it,
    bench=bench,
)
