"""Lab 02, real ranks: one model on one process and on two, every line of the run against its prediction."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.two_way_tp import GPTS, MINI_GPT, slowdown
from runtime import captures
from runtime.paid_run import recorded_slowdown
from runtime.prose import said
from runtime.torchrun import RunRequest
from ui import inputs, scenes
from ui.figures.frames import frame
from ui.startup_log.log_table import answer_table, log_table
from ui.two_way_tp import bench as two_way_tp_bench
from ui.two_way_tp import charts, live_run
from ui.two_way_tp import paid_run as two_way_tp_paid
from ui.two_way_tp import rows as rows_of
from ui.two_way_tp import words as facts

NOTES = {
    "two arms": ("bench.note_figure", "bench.note_wires"),
    "the wires": ("bench.note_fit", "bench.note_wires"),
    "the width": ("bench.note_width", "bench.note_memory"),
    "two replicas": ("bench.note_full", "bench.note_prompts"),
    "two hosts": ("bench.note_hosts",),
}

page = scenes.open_page("two_way_tp")
look, can = page.look, live_run.here()
own = live_run.arrived()
shipped = {
    facts.run_name(run.log): run
    for run in sorted(map(captures.load, captures.names()), key=lambda run: facts.by_size(run.log))
}
own_speaks = own.capture is not None and own.capture.log.model == MINI_GPT
readable = {name: run for name, run in shipped.items() if run.log.model == MINI_GPT}
choices = [*readable, *([live_run.NAME] if own_speaks else [])]
if own.now and own_speaks:
    st.session_state[page.key("run")] = live_run.NAME
with page.controls("see", "count", "break_it"):
    chosen = inputs.choice(said("two_way_tp", "says.run"), page.key("run"), choices, choices[0])
capture = own.capture if chosen == live_run.NAME and own.capture else readable[chosen]
log = capture.log
with page.controls("see"):
    token = inputs.slide(said("two_way_tp", "says.letter"), page.key("token"), 1, 18, 4)
with page.controls("bench"):
    model = inputs.choice(said("two_way_tp", "says.model"), page.key("model"), list(GPTS)[:3], MINI_GPT.key)
    wire = inputs.choice(said("two_way_tp", "says.between_ranks"), page.key("wire"), list(facts.WIRES), "TCP")
    runs = [*shipped.items()]
    if own.capture:
        runs.append((said("two_way_tp", "says.here", run_name=facts.run_name(own.capture.log)), own.capture))
    measured = two_way_tp_bench.open_bench(page, tuple(runs), facts.WIRES[wire], wire)
    drawn = measured.choose()
with page.controls("break_it"):
    wrong = inputs.choice(
        said("two_way_tp", "says.what_goes_wrong"), page.key("wrong"), list(facts.WRONGS), "one rank slow"
    )
with page.controls("build"):
    built = inputs.choice(
        said("two_way_tp", "says.what"), page.key("build"), ["four classes", "a paid run"], "four classes"
    )
    paid = two_way_tp_paid.ask(page, built == "a paid run")
step = log.steps[min(token, len(log.steps)) - 1]


def question() -> None:
    if page.ask(100 / slowdown(log), high=200, unit="%"):
        token_figure(f"question.reading_{facts.dearer(log)}")


def token_figure(reading: str) -> None:
    table = frame(rows_of.token_bars(log))
    page.figure(charts.stacked_bars(table, look), reading, table, "one_token")


def see() -> None:
    figure, margin = page.split()
    with figure:
        page.reading("see.written")
        table = frame(rows_of.timeline(step))
        chart = charts.token_timeline(table, look, rows_of.step_ms(step))
        page.figure(chart, "see.reading", table, "one_letter")
        with st.container(key="aside_letters"):
            written = frame(rows_of.letters(log, step.number))
            page.figure(charts.letters(written, look), "see.letters", written, "letters")
    with margin:
        page.note("see.note_sums", "see.note_gather")


def count() -> None:
    with st.container(key="aside_manifest", horizontal=True, vertical_alignment="center"):
        page.say("count.source")
        with st.popover(said("two_way_tp", "says.manifest"), width="content"):
            st.code(capture.result_text, language="json")
        st.button(said("two_way_tp", "says.run_here"), on_click=inputs.remember, args=(page.key("scene"), "Bench"))
    rows = rows_of.log_rows(rows_of.shown(log))[int(look.present) :]
    meanings = {topic: page.prose.plain(f"count.{topic}") for topic in rows_of.SHOWN_TOPICS}
    st.html(log_table(rows, meanings, page.prose.plain("count.table"), look.present))
    if look.present:
        return
    token_figure("count.reading")


def break_it() -> None:
    kind = facts.WRONGS[wrong]
    if kind == "slow":
        table = frame(rows_of.slowed_bars(log.slowed)) if log.slowed else None
        if table is not None:
            page.figure(charts.stacked_bars(table, look), "break_it.reading_slow", table, "slow_rank")
        return
    page.say("break_it.ask")
    st.html(answer_table(rows_of.answers(log, kind), page.prose.plain("break_it.ask")))
    page.reading(f"break_it.reading_{kind}")


def bench() -> None:
    figure, margin = page.split()
    with figure:
        if drawn == "two arms" or (drawn == "the wires" and not look.present):
            live()
        measured.figures[drawn]()
    with margin:
        page.note(*NOTES[drawn])
        if drawn == "the wires":
            with st.container(key="aside_wire"):
                measured.offer_wire()
        with st.container(key="aside_how"):
            page.note("bench.note_how")
        if own.capture:
            zipped = captures.zipped(own.capture)
            st.download_button(
                said("two_way_tp", "says.download_this_run"),
                zipped,
                "run.zip",
                "application/zip",
                on_click="ignore",
            )


def live() -> None:
    backend = can.backend if can.backend == "nccl" else facts.WIRES[wire]
    label = (
        said("two_way_tp", "says.run_here_gpus", cuda_devices=can.cuda_devices)
        if backend == "nccl"
        else said("two_way_tp", "says.run_here_cpu")
    )
    request = RunRequest(options=("--backend", backend, "--model", model), wall_s=300, silence_s=90)
    if backend == "nccl":
        request = replace(request, memory_bytes=0)  # CUDA maps a GPU's memory into the process
    live_run.panel(request, can, label, page.prose.plain("bench.refused"))


def build() -> None:
    if built == "a paid run":
        two_way_tp_paid.section(page)
        return
    page.say("build.body")
    with st.container(key="aside_model"):
        page.say("build.model")


def fields() -> Mapping[str, str]:
    recorded = [run.log for run in shipped.values()]
    smallest = [slowdown(one) for one in recorded if (one.model, one.backend) == (MINI_GPT, "gloo")]
    other = recorded_slowdown(MINI_GPT.key, "gloo")
    slowdowns = [*smallest, *([other] if other else [])]
    told = (log, capture.result, log.steps.index(step), recorded, page.scenario.model_spec)
    return {**facts.fields(*told, slowdowns), **measured.fields(), **paid.fields()}


page.play(
    fields,
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=build,
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
