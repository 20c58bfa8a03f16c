"""What a practitioner asks besides: percentiles, prefixes, drafts, engines for a rate, a trace, an own machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from ui import paste
from ui.page import Page
from ui.placement.examples import EXAMPLE_TRACE
from ui.prose import escape
from ui.question import Choice, Number, Switch, Whole, ask

SHOWN = 5
"""Ways of each kind that are listed."""
TRACE_KEY = "request_trace"


@dataclass(frozen=True)
class MoreQuestion:
    """Fields of what is asked besides; all as usual where nothing was said."""

    percentile: int = ask(99, Choice((50, 99)), "more.percentile")
    prefix: float = ask(0.0, Number(0, 99), "more.prefix")
    draft: int = ask(0, Whole(0, MOST_DRAFTED), "more.draft")
    acceptance: float = ask(100 * Demand().acceptance, Number(0, 100), "more.acceptance")
    ep: bool = ask(False, Switch(), "more.experts", "more.experts_help")
    dcp: bool = ask(False, Switch(), "more.caches", "more.caches_help")
    size: bool = ask(False, Switch(), "more.sizes", "more.sizes_help")


_COLUMNS = (("percentile", "prefix"), ("draft", "acceptance"), ("ep", "dcp", "size"))
_MACHINE = ("log", "table", "bench")


def draw_controls(page: Page[Any]) -> None:
    """Draw what is asked besides, in three columns."""
    for column, names in zip(st.columns(3), _COLUMNS, strict=True):
        with column:
            for name in names:
                page.control(name)


def draw_machine(page: Page[Any]) -> None:
    """Draw the fields of what one's own machine printed."""
    for name in _MACHINE:
        label, key = page.label(f"more.{name}"), page.key(f"own_{name}")
        paste.draw(label, key, kinds=("txt", "log", "out", "json"), height=90)


def texts(page: Page[Any]) -> tuple[str, str, str]:
    """Return a startup log, a table and a benchmark's results, as far as they were pasted."""
    log, table, bench = (paste.text_in(page.key(f"own_{name}")) for name in _MACHINE)
    return log, table, bench


def refitted(question: Question, pasted: tuple[str, str, str]) -> Refit | None:
    """The question as one's own machine has it; None where nothing was pasted."""
    return workers.run(settled_refit, question, *pasted) if any(text.strip() for text in pasted) else None


def say_refit(page: Page[Any], refit: Refit | None) -> None:
    """What was taken of the machine, and what changed."""
    if refit is not None:
        page.say("plan.refit")
        st.markdown("\n".join(f"- {escape(worded(one))}" for one in said_of(refit)))


def say_sizes(page: Page[Any], is_asked: bool, placement: Placement) -> None:
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


def trace(page: Page[Any], question: Question, plan: Plan, chunk_tokens: int) -> None:
    """Requests of one's own, at their own times and lengths, on the plan that is shown."""
    with st.container(key="aside_trace"):
        page.say("load.trace")
        label = page.label("more.trace")
        paste.draw(label, TRACE_KEY, kinds=("csv", "txt", "jsonl"), example=EXAMPLE_TRACE, height=110)
        if text := paste.text_in(TRACE_KEY):
            with page.guarded():
                read = paste.read(read_trace, text)
                run = workers.run(run_trace, question, plan, read, chunk_tokens)
                st.markdown(escape(worded(trace_remark(read, plan, run))))
                fields: Mapping[str, object] = {"run": run, "tokens_per_s": plan.layout.replicas * run.tokens_per_s}
                page.fill(fields)
                page.say("load.trace_reading")
