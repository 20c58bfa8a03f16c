"""Choose a strategy: what each saves and pays, which to take, and one block and every collective under them."""

from collections.abc import Mapping

import streamlit as st

from core.comm_cost.bill import allreduce_payload_bytes
from core.strategy.block import Block, block_under
from core.strategy.training.side_by_side import paper_gb, paper_slips
from core.units import GB
from runtime.rows import Row
from ui import beside, scenes, tested
from ui.strategy import bench as strategy_bench
from ui.strategy import charts, rows
from ui.strategy import rows_scenes as scene_rows
from ui.strategy import scenes as strategy_scenes
from ui.strategy.words import everywhere, memory_fields, picker_fields, room_fields, serving_fields, steps

page = scenes.open_page("strategy", asking=("memory",))
asked = strategy_bench.ask(page)
scenario, look = page.scenario.timed, page.look
links = [scenario.link_spec, scenario.network_spec]


def block_asked() -> Block:
    return block_under(asked.strategy, scenario.model_spec, asked.block_ranks, 1)


def timed() -> list[Row]:
    payload = allreduce_payload_bytes(scenario.prompt_tokens, scenario.model_spec.hidden_size)
    return scene_rows.timed(asked.op, asked.room_ranks, payload, asked.over)


def fields() -> Mapping[str, object]:
    """What the open scene's prose names; no other scene's is computed."""
    here: Mapping[str, object] = {}
    if page.scene == "memory":
        here = memory_fields(asked.held)
    elif page.scene == "picker":
        here = picker_fields(beside.answered(asked.question), beside.flipped(asked.question))
    elif page.scene == "block":
        here = {"talked": sum(one.payload_bytes for one in block_asked().transfers)}
    elif page.scene == "collectives":
        here = room_fields(timed(), asked.over)
    elif page.scene == "serving":
        here = serving_fields(scenario, *scene_rows.handoffs(asked.request, links))
    return {**everywhere(scenario), **here}


def memory() -> None:
    if not page.ask(paper_gb(3), high=120, unit="GB", digits=1, slips=paper_slips()):
        return
    if not look.present:
        page.say("memory.paper")
    if not look.present or asked.view == strategy_bench.HOLDS:
        parts, ends = rows.memory_parts(asked.held), rows.memory_ends(asked.held)
        chart = charts.memory_bars(parts, ends, asked.held.capacity_bytes / GB, look)
        page.figure(chart, "memory.reading", parts, "memory")
        with st.container(key="aside_shrinks"):
            page.reading("memory.shrinks")
    if not look.present or asked.view == strategy_bench.PAYS:
        paid, sums = rows.saved_and_paid(asked.held), rows.sums(asked.held)
        page.figure(charts.saved_and_paid(paid, sums, look), "memory.paid", paid, "saved_and_paid")
    page.notes_beside("aside_memory", "memory.note", "memory.misread")


def picker() -> None:
    given, flips = beside.answered(asked.question), beside.flipped(asked.question)
    served = given.question.purpose == "serve"
    page.errors = tested.columns((given.question.cluster.gpu, given.question.model)) if served else {}
    figure, margin = page.split()
    with figure:
        page.say("picker.answer" if given.stands else "picker.nothing")
        kinds = scene_rows.kinds(given)
        page.figure(
            charts.kinds(kinds, look), f"picker.goal_{given.question.purpose}_{given.question.goal}", kinds, "kinds"
        )
    with margin:
        page.note("picker.flips" if flips else "picker.no_flips")
        if flips:
            page.reading("picker.nearest")
    with st.container(key="aside_picker"):
        if flips:
            page.table(scene_rows.flip_rows(flips), "picker.flips")
        page.say("picker.trace")
        st.markdown(steps(given))
        if given.question.purpose == "train":
            page.say("picker.untested")
    if served:
        tested.beside_times(given.question.cluster.gpu, given.question.model)


def serving() -> None:
    page.errors = tested.columns((scenario.gpu_spec, scenario.model_spec))
    with page.beside("serving.note", "serving.interference"):
        pays = scene_rows.handoffs(asked.request, links)[1].pays
        curves = scene_rows.handoff_curves(asked.request, links)
        chart = charts.handoff_curves(curves, asked.request.prompt_tokens, look)
        page.figure(chart, "serving.reading_pays" if pays else "serving.reading_not", curves, "handoff")
    page.notes_beside("aside_serving", "serving.split", "serving.leads")
    tested.beside_times(scenario.gpu_spec, scenario.model_spec)


page.play(
    fields,
    memory=memory,
    picker=picker,
    block=lambda: strategy_scenes.block(page, asked.strategy, asked.block_ranks, block_asked()),
    collectives=lambda: strategy_scenes.collective(page, asked.op, timed()),
    serving=serving,
)
