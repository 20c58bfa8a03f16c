"""Choose a strategy: what each saves and pays, which to take, and one block and every collective under them."""

from collections.abc import Mapping

import streamlit as st

from core.comm_cost.bill import allreduce_payload_bytes
from core.strategy.training.side_by_side import paper_gb, paper_slips
from core.units import GB
from ui import beside, scenes, tested
from ui.strategy import bench, charts, rows
from ui.strategy import rows_scenes as scene_rows
from ui.strategy import scenes as strategy_scenes
from ui.strategy.bench import StrategyPage
from ui.strategy.pictures import memory_box
from ui.strategy.words import everywhere, memory_fields, picker_fields, room_fields, serving_fields, steps


def fields(page: StrategyPage) -> Mapping[str, object]:
    return everywhere(page.scenario.timed)


def memory(page: StrategyPage) -> None:
    held, view, on_wall = bench.held(page), page.question.view, page.look.present
    if page.revealed:
        bench.draw_memory_controls(page)
    page.fill(memory_fields(held))
    box = memory_box(page.scenario)
    if not page.ask(paper_gb(3), high=120, unit="GB", digits=1, slips=paper_slips(), picture=box):
        return
    if not on_wall:
        page.say("memory.paper")
    if not on_wall or view == bench.HOLDS:
        parts, ends = rows.memory_parts(held), rows.memory_ends(held)
        chart = charts.memory_bars(parts, ends, held.capacity_bytes / GB, page.look)
        page.figure(chart, "memory.reading", parts, "memory")
        with st.container(key="aside_shrinks"):
            page.reading("memory.shrinks")
    if not on_wall or view == bench.PAYS:
        paid, sums = rows.saved_and_paid(held), rows.sums(held)
        page.figure(charts.saved_and_paid(paid, sums, page.look), "memory.paid", paid, "saved_and_paid")
    page.notes_beside("aside_memory", "memory.note", "memory.misread")


def picker(page: StrategyPage) -> None:
    bench.draw_picker_controls(page)
    question = bench.picker_question(page)
    given, flips = beside.answered(question), beside.flipped(question)
    page.fill(picker_fields(given, flips))
    gpu, model, purpose = question.cluster.gpu, question.model, question.purpose
    page.errors = tested.columns((gpu, model)) if purpose == "serve" else {}
    figure, margin = page.split()
    with figure:
        page.say("picker.answer" if given.stands else "picker.nothing")
        kinds = scene_rows.kinds(given)
        page.figure(charts.kinds(kinds, page.look), f"picker.goal_{purpose}_{question.goal}", kinds, "kinds")
    with margin:
        page.note("picker.flips" if flips else "picker.no_flips")
        if flips:
            page.reading("picker.nearest")
    with st.container(key="aside_picker"):
        if flips:
            page.table(scene_rows.flip_rows(flips), "picker.flips")
        page.say("picker.trace")
        st.markdown(steps(given))
        if purpose == "train":
            page.say("picker.untested")
    if purpose == "serve":
        tested.beside_times(gpu, model)


def block(page: StrategyPage) -> None:
    page.controls("block", "block_ranks")
    drawn = bench.block(page)
    page.fill({"talked": sum(one.payload_bytes for one in drawn.transfers)})
    strategy_scenes.block(page, page.question.block, page.question.block_ranks, drawn)


def collectives(page: StrategyPage) -> None:
    page.controls("op", "room_ranks", "over")
    asked, link = page.question, bench.link(page)
    payload = allreduce_payload_bytes(page.scenario.prompt_tokens, page.scenario.model_spec.hidden_size)
    timed = scene_rows.timed(asked.op, asked.room_ranks, payload, link)
    page.fill(room_fields(timed, link))
    strategy_scenes.collective(page, asked.op, timed)


def serving(page: StrategyPage) -> None:
    page.controls("neighbours", "prompt", "output")
    scenario, request = page.scenario.timed, bench.request(page)
    links = [scenario.link_spec, scenario.network_spec]
    inside, across = scene_rows.handoffs(request, links)
    page.fill(serving_fields(scenario, inside, across))
    page.errors = tested.columns((scenario.gpu_spec, scenario.model_spec))
    with page.beside("serving.note", "serving.interference"):
        curves = scene_rows.handoff_curves(request, links)
        chart = charts.handoff_curves(curves, request.prompt_tokens, page.look)
        page.figure(chart, "serving.reading_pays" if across.pays else "serving.reading_not", curves, "handoff")
    page.notes_beside("aside_serving", "serving.split", "serving.leads")
    tested.beside_times(scenario.gpu_spec, scenario.model_spec)


scenes.play(
    "strategy",
    bench.Question,
    fields,
    asking=("memory",),
    memory=memory,
    picker=picker,
    block=block,
    collectives=collectives,
    serving=serving,
)
