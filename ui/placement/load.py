"""The planner's tab under load: percentiles against the arrival rate, and a pasted benchmark beside them."""

from dataclasses import dataclass

import streamlit as st

from core.placement.plan import Plan, Question
from core.placement.under_load import CHUNKS, LoadAsk, Loaded, loaded
from core.serving.bench_reader import read_bench_results
from core.serving.bench_results import example_bench
from runtime import workers
from runtime.kept import kept_of
from ui import paste, tested
from ui.page import Page
from ui.placement import charts_load as charts
from ui.placement import more
from ui.placement import rows_load as rows
from ui.placement.words import load_fields
from ui.prose import escape
from ui.question import Choice, Number, Whole, ask

KEY = "bench_result"


@dataclass(frozen=True)
class LoadQuestion:
    """The fields of the tab: what was promised, how an engine reads prompts, and which arrivals."""

    p99_ttft: float = ask(LoadAsk().ttft_ms, Number(1, 1e6), "says.first_token_ms_p")
    p99_itl: float = ask(LoadAsk().itl_ms, Number(0.1, 1e5), "says.between_tokens_ms_p")
    chunk: int | None = ask(None, Choice(CHUNKS, listed=True), "says.prompt_tokens_step")
    seed: int = ask(LoadAsk().seed, Whole(0, 9999), "says.seed")


def draw_controls(page: Page[LoadQuestion]) -> None:
    """Draw what is promised, how an engine reads prompts, and the seed of the arrivals."""
    with page.controls("p99_ttft", "p99_itl"):
        page.control("chunk", usual=page.scenario.gpu_spec.vllm_batched_tokens)
        page.control("seed")


def _asked(page: Page[LoadQuestion]) -> LoadAsk:
    asked = page.question
    chunk_tokens = asked.chunk or page.scenario.gpu_spec.vllm_batched_tokens
    return LoadAsk(ttft_ms=asked.p99_ttft, itl_ms=asked.p99_itl, chunk_tokens=chunk_tokens, seed=asked.seed)


@kept_of
def _loaded(plan: Plan, question: Question, asked: LoadAsk) -> Loaded:
    return workers.run(loaded, question, plan, asked)


def under_load(page: Page[LoadQuestion], question: Question, plan: Plan | None) -> None:
    """Draw the percentiles of the plan shown over the arrival rate, and what was measured of it."""
    asked = _asked(page)
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


def _bench(page: Page[LoadQuestion], asked: LoadAsk, question: Question, plan: Plan) -> None:
    """What a benchmark of one's own said, beside the same requests on this plan."""
    with st.container(key="aside_bench"):
        page.say("load.bench")
        paste.draw(
            page.label("says.what_vllm_bench_serve"),
            KEY,
            kinds=("txt", "log", "json", "jsonl", "md"),
            example=example_bench(),
            height=130,
        )
        if text := paste.text_in(KEY):
            with page.guarded():
                results = paste.read(read_bench_results, text)
                lines = workers.run(rows.bench_lines, question, plan, results, asked.seed)
                page.table(lines, "load.bench_reading")
                for warning in rows.bench_warnings(question, results):
                    st.markdown(escape(warning))
                page.reading("load.bench_reading")
