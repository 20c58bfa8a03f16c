"""Lab 02, real ranks: one model on one process and on two, every line of the run against its prediction."""

from collections.abc import Mapping

import streamlit as st

from core.two_way_tp.reconcile import by_hand_s, dearer
from runtime import captures
from runtime.prose import said
from runtime.torch_here import live_runs_allowed
from ui import scenes
from ui.page import Page
from ui.two_way_tp import bench as two_way_tp_bench
from ui.two_way_tp import live_run, pictures, read_run, words
from ui.two_way_tp import paid_run as two_way_tp_paid
from ui.two_way_tp.question import PAID, Question, capture_of, log_of, logs_of, offered, readable, shipped, step_of


def measured(page: Page[Question]) -> two_way_tp_bench.Bench:
    runs, own = [*shipped.items()], live_run.own_run()
    if own:
        runs.append((said("two_way_tp", "says.here", run_name=words.run_name(own.log)), own))
    return two_way_tp_bench.open_bench(page, tuple(runs))


def fields(page: Page[Question]) -> Mapping[str, object]:
    log, recorded = log_of(page), [run.log for run in shipped.values()]
    repeats = {run.log.backend: captures.repeats(run.name) for run in readable.values()}
    told = log, capture_of(page).result, log.steps.index(step_of(page)), recorded, page.scenario.model_spec
    served = {"served": page.once(read_run.reached_on_gpus)}
    return {**words.fields(*told, repeats), **page.once(measured).fields(), **served}


def question(page: Page[Question]) -> None:
    log = log_of(page)
    slips = {"half_the_work": 200}
    on_paper = 100 * log.single_token_s / by_hand_s(log)
    revealed = page.ask(on_paper, high=read_run.MOST_PERCENT, unit="%", slips=slips, picture=pictures.typed(log))
    read_run.play(page, log, revealed)
    if revealed:
        page.say("question.by_hand")
        page.draw_layer()
        read_run.token_figure(page, log, f"question.reading_{dearer(log)}")
        read_run.served(page)


def ask_run(page: Page[Question], *more: str) -> None:
    with page.controls():
        page.control("run", options=list(offered(page)))
        for name in more:
            page.control(name)


def see(page: Page[Question]) -> None:
    ask_run(page, "token")
    read_run.see(page, log_of(page), step_of(page))


def count(page: Page[Question]) -> None:
    ask_run(page)
    read_run.count(page, capture_of(page), logs_of(page))


def break_it(page: Page[Question]) -> None:
    ask_run(page, "wrong")
    read_run.break_it(page, log_of(page), words.WRONGS[page.question.wrong], logs_of(page))


def bench(page: Page[Question]) -> None:
    bench = page.once(measured)
    with page.controls("model", "wire"):
        bench.draw_choice()
    two_way_tp_bench.draw(page, bench, live_run.own_run())


def build(page: Page[Question]) -> None:
    page.controls("build")
    if page.question.build == PAID:
        two_way_tp_paid.section(page)
        return
    page.say("build.body")
    with st.container(key="aside_model"):
        page.say("build.model")


scenes.play(
    *("two_way_tp", Question, fields),
    asking=("question",),
    watches=live_runs_allowed(),
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=bench,
    build=build,
)
