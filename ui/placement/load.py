"""The planner's tab under load: percentiles against the arrival rate, and a pasted benchmark beside them."""

import streamlit as st

from core.placement.plan import Plan, Question
from core.placement.under_load import CHUNKS, LoadAsk, Loaded, loaded
from core.serving.bench_reader import read_bench_results
from core.serving.bench_results import example_bench
from runtime import workers
from runtime.kept import kept_of
from ui import inputs, tested
from ui.paste import pasted, read
from ui.placement import charts_load as charts
from ui.placement import more
from ui.placement import rows_load as rows
from ui.placement.words import load_fields
from ui.prose import escape
from ui.scenes import Page

KEY = "bench_result"


def ask(page: Page) -> LoadAsk:
    """What the tab asks. Runs in every scene, so that the URL keeps it."""
    usual = LoadAsk(chunk_tokens=page.scenario.gpu_spec.vllm_batched_tokens)
    with page.controls("load"):
        return LoadAsk(
            ttft_ms=page.control(inputs.number, "p99_ttft", "says.first_token_ms_p", 1.0, 1e6, usual.ttft_ms),
            itl_ms=page.control(inputs.number, "p99_itl", "says.between_tokens_ms_p", 0.1, 1e5, usual.itl_ms),
            chunk_tokens=page.control(
                inputs.select, "chunk", "says.prompt_tokens_step", list(CHUNKS), usual.chunk_tokens
            ),
            seed=page.control(inputs.whole, "seed", "says.seed", 0, 9999, usual.seed),
        )


@kept_of
def _loaded(plan: Plan, question: Question, asked: LoadAsk) -> Loaded:
    return workers.run(loaded, question, plan, asked)


def under_load(page: Page, asked: LoadAsk, question: Question, plan: Plan | None) -> None:
    if plan is None or not plan.fits:
        page.reading("load.nothing")
        return
    load = _loaded(plan, question, asked)
    page.fill(load_fields(load))
    figure, margin = page.split()
    with figure:
        table = rows.tails(load)
        page.figure(charts.tails(table, "ttft", asked.ttft_ms, page.look), "load.reading_ttft", table, "load_ttft")
        with st.container(key="aside_load_itl"):
            page.figure(charts.tails(table, "itl", asked.itl_ms, page.look), "load.reading_itl", table, "load_itl")
    with margin, st.container(gap="medium"):
        page.verdict("off" if load.kept is None else "ok", "load.broken" if load.kept is None else "load.kept")
        if not page.look.present:
            page.note("load.note_capacity", "load.note_closed", "load.note_engine")
    if not page.look.present:
        _bench(page, asked, question, plan)
        more.trace(page, question, plan, asked.chunk_tokens)
    tested.beside_times(question.cluster.gpu, question.model)


def _bench(page: Page, asked: LoadAsk, question: Question, plan: Plan) -> None:
    """What a benchmark of one's own said, beside the same requests on this plan."""
    with st.container(key="aside_bench"):
        page.say("load.bench")
        text = pasted(
            page.label("says.what_vllm_bench_serve"),
            KEY,
            kinds=("txt", "log", "json", "jsonl", "md"),
            example=example_bench(),
            height=130,
        )
        if text:
            with page.guarded():
                results = read(read_bench_results, text)
                lines = workers.run(rows.bench_lines, question, plan, results, asked.seed)
                page.table(lines, "load.bench_reading")
                for warning in rows.bench_warnings(question, results):
                    st.markdown(escape(warning))
                page.reading("load.bench_reading")
