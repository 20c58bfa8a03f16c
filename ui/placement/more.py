"""What a practitioner asks besides: percentiles, prefixes, drafts, engines for a rate, a trace, an own machine."""

from collections.abc import Mapping
from types import SimpleNamespace

import streamlit as st

from core.placement.demand import MOST_DRAFTED, Demand
from core.placement.measured_load import run_trace, trace_remark
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.sizing import Sizing, sized, sizing_remark
from core.serving.trace import read_trace
from core.strategy.refit import Refit, said_of, settled_refit
from runtime import workers
from runtime.prose import said, worded
from runtime.quantities import plain, seconds
from runtime.rows import Row, table
from ui import inputs, paste
from ui.placement.examples import EXAMPLE_TRACE
from ui.prose import escape
from ui.scenes import Page

SHOWN = 5
"""Ways of each kind that are listed."""
TRACE_KEY = "request_trace"


def ask(page: Page) -> SimpleNamespace:
    """What is asked besides; all as usual where nothing was said."""
    said = SimpleNamespace()
    with page.asks_folded(page.label("more.title"), "more"):
        left, middle, right = st.columns(3)
        with left:
            said.percentile = page.control(inputs.choice, "percentile", "more.percentile", [50, 99], 99)
            said.prefix_percent = page.control(inputs.number, "prefix", "more.prefix", 0.0, 99.0, 0.0)
        with middle:
            said.draft_tokens = page.control(inputs.whole, "draft", "more.draft", 0, MOST_DRAFTED, 0)
            usual = 100 * Demand().acceptance
            said.acceptance_percent = page.control(
                inputs.number, "acceptance", "more.acceptance", 0.0, 100.0, usual
            )
        with right:
            said.experts = page.control(inputs.toggle, "ep", "more.experts", help=page.label("more.experts_help"))
            said.caches = page.control(inputs.toggle, "dcp", "more.caches", help=page.label("more.caches_help"))
            said.sizes = page.control(inputs.toggle, "size", "more.sizes", help=page.label("more.sizes_help"))
    return said


def machine(page: Page) -> tuple[str, str, str]:
    """A startup log, a table and a benchmark's results, as far as they were pasted."""
    log, table, bench = (
        paste.pasted(
            page.label(f"more.{name}"), page.key(f"own_{name}"), kinds=("txt", "log", "out", "json"), height=90
        )
        for name in ("log", "table", "bench")
    )
    return log, table, bench


def refitted(question: Question, texts: tuple[str, str, str]) -> Refit | None:
    """The question as one's own machine has it; None where nothing was pasted."""
    return workers.run(settled_refit, question, *texts) if any(text.strip() for text in texts) else None


def say_refit(page: Page, refit: Refit | None) -> None:
    """What was taken of the machine, and what changed."""
    if refit is not None:
        page.say("plan.refit")
        st.markdown("\n".join(f"- {escape(worded(one))}" for one in said_of(refit)))


def say_sizes(page: Page, is_asked: bool, placement: Placement) -> None:
    """Engines for a rate, or the rate that the GPUs keep: where that was asked, or no plan keeps the rate asked."""
    question = placement.question
    if not is_asked and (question.demand.requests_per_s is None or placement.met):
        return
    sizing = workers.run(sized, question)
    page.say("plan.sizes")
    st.markdown(escape(worded(sizing_remark(sizing))))
    if ways := rows_of(sizing):
        page.table(ways, "plan.sizes")


def rows_of(sizing: Sizing) -> list[Row]:
    """The best ways to serve a rate of each kind."""
    whole = (
        (one.name, one.gpus, plain(one.kept_per_s), said("placement", "more.reads", chunk=one.chunk_tokens))
        for one in sizing.together[:SHOWN]
    )
    apart = (
        (one.name, one.gpus, plain(one.kept_per_s), said("placement", "more.between", s=seconds(one.transfer_s)))
        for one in sizing.apart[:SHOWN]
    )
    return table("engines gpus requests_per_s note", (*whole, *apart))


def trace(page: Page, question: Question, plan: Plan, chunk_tokens: int) -> None:
    """Requests of one's own, at their own times and lengths, on the plan that is shown."""
    with st.container(key="aside_trace"):
        page.say("load.trace")
        text = paste.pasted(
            page.label("more.trace"), TRACE_KEY, kinds=("csv", "txt", "jsonl"), example=EXAMPLE_TRACE, height=110
        )
        if text:
            with page.guarded():
                read = paste.read(read_trace, text)
                run = workers.run(run_trace, question, plan, read, chunk_tokens)
                st.markdown(escape(worded(trace_remark(read, plan, run))))
                fields: Mapping[str, object] = {"run": run, "tokens_per_s": plan.layout.replicas * run.tokens_per_s}
                page.fill(fields)
                page.say("load.trace_reading")
