"""Lab 02, real ranks: one model on one process and on two, every line of the run against its prediction."""

from collections.abc import Mapping

import streamlit as st

from core.two_way_tp.predictions import GPTS, MINI_GPT
from core.two_way_tp.reconcile import dearer, slowdown
from runtime import captures
from runtime.content import slug
from runtime.prose import said
from ui import inputs, scenes
from ui.two_way_tp import bench as two_way_tp_bench
from ui.two_way_tp import live_run, read_run, words
from ui.two_way_tp import paid_run as two_way_tp_paid

page = scenes.open_page("two_way_tp")
own, is_new = live_run.arrived()
shipped = {
    words.run_name(run.log): run
    for run in sorted(map(captures.load, captures.names()), key=lambda run: words.by_size(run.log))
}
readable = {name: run for name, run in shipped.items() if run.log.model == MINI_GPT}
offered = {**readable, live_run.NAME: own} if own is not None and own.log.model == MINI_GPT else readable
if is_new and live_run.NAME in offered:
    st.session_state[page.key("run")] = slug(live_run.NAME)
with page.controls("see", "count", "break_it"):
    chosen = page.control(inputs.choice, "run", "says.run", list(offered), next(iter(offered)))
capture = offered[chosen]
log, logs = capture.log, [one.log for one in offered.values()]
with page.controls("see"):
    token = page.control(inputs.slide, "token", "says.letter", 1, 18, 6)
with page.controls("bench"):
    model = page.control(inputs.choice, "model", "says.model", list(GPTS)[:3], MINI_GPT.key)
    link = page.control(inputs.choice, "wire", "says.between_ranks", list(words.BACKENDS), "TCP")
    runs = [*shipped.items()]
    if own:
        runs.append((said("two_way_tp", "says.here", run_name=words.run_name(own.log)), own))
    measured = two_way_tp_bench.open_bench(page, tuple(runs), words.BACKENDS[link], link)
    drawn = measured.choose()
with page.controls("break_it"):
    wrong = page.control(inputs.choice, "wrong", "says.what_goes_wrong", list(words.WRONGS), "one rank slow")
with page.controls("build"):
    built = page.control(inputs.choice, "build", "says.what", ["four classes", "a paid run"], "four classes")
    paid = two_way_tp_paid.ask(page, built == "a paid run")
step = log.steps[min(token, len(log.steps)) - 1]


def question() -> None:
    if page.ask(100 / slowdown(log), high=200, unit="%", slips={"half_the_work": 200}):
        read_run.token_figure(page, log, f"question.reading_{dearer(log)}")
        page.say("question.by_hand")


def build() -> None:
    if built == "a paid run":
        two_way_tp_paid.section(page)
        return
    page.say("build.body")
    with st.container(key="aside_model"):
        page.say("build.model")


def fields() -> Mapping[str, object]:
    recorded = [run.log for run in shipped.values()]
    repeats = {run.log.backend: captures.repeats(run.name) for run in readable.values()}
    told = (log, capture.result, log.steps.index(step), recorded, page.scenario.model_spec)
    return {**words.fields(*told, repeats), **measured.fields(), **paid.fields()}


page.play(
    fields,
    question=question,
    see=lambda: read_run.see(page, log, step),
    count=lambda: read_run.count(page, capture, logs),
    break_it=lambda: read_run.break_it(page, log, words.WRONGS[wrong], logs),
    bench=lambda: two_way_tp_bench.draw(page, measured, drawn, own, model, words.BACKENDS[link]),
    build=build,
)
