"""The planner's answer: what a plan's ranks hold, how it is run, and why each other plan was not taken."""

from typing import Any

import streamlit as st

from core.placement.engine_words import unsaid
from core.placement.manifests import compose, kubernetes
from core.placement.plan import Plan
from core.placement.planner import Placement
from core.placement.preflight_checks import ENGINES, Engine
from core.placement.serve_flags import refusals, remarks, serve_command
from core.placement.shortlist import MOST_REFUSED
from core.placement.trace import why_it_lost
from runtime.prose import worded
from ui.page import Page
from ui.placement import charts, rows
from ui.placement.bench import PlacementState
from ui.prose import escape


def memory(page: Page[Any], asked: PlacementState, taken: Plan) -> None:
    """What one plan's ranks hold, and what does not fit."""
    if taken.ranks:
        parts = rows.memory_parts(taken)
        labels = rows.memory_labels(taken, asked.question.budget.usable_bytes)
        page.figure(charts.memory_bars(parts, labels, page.look), "plan.reading_memory", parts, "memory")
    if taken.broken and asked.placement.fitting:
        st.error(escape(worded(taken.broken)))


def to_run(page: Page[Any], asked: PlacementState, taken: Plan) -> None:
    """What a plan pays its links, and the command that runs it."""
    page.say("plan.bill")
    page.say("plan.flags")
    st.code(_started(asked, taken, "vllm"), language="bash")
    page.folded(page.prose.text("plan.engines"), "engines", lambda: _other_engines(asked, taken))
    if not _against(asked, taken, "vllm"):
        page.folded(page.prose.text("plan.manifests"), "manifests", lambda: _manifests(asked, taken))
    st.markdown(" ".join(escape(worded(note)) for note in remarks(asked.question, taken)))


def _other_engines(asked: PlacementState, taken: Plan) -> None:
    for engine in ENGINES[1:]:
        st.code(_started(asked, taken, engine), language="bash")
        if noted := remarks(asked.question, taken, engine):
            st.markdown(" ".join(escape(worded(note)) for note in noted))


def _manifests(asked: PlacementState, taken: Plan) -> None:
    for manifest in (compose(asked.question, taken), kubernetes(asked.question, taken)):
        if manifest is not None:
            st.code(manifest, language="yaml")


def _started(asked: PlacementState, taken: Plan, engine: Engine) -> str:
    """An engine's command, or what stands against it."""
    return _against(asked, taken, engine) or serve_command(asked.question, taken, engine)


def _against(asked: PlacementState, taken: Plan, engine: Engine) -> str:
    """What an engine cannot be told of a plan, and what it would say itself; "" where it starts to load."""
    untold = [worded(one) for one in unsaid(asked.question, taken, engine)]
    lines = [*untold, *(one.text for one in refusals(asked.question, taken, engine))]
    return "\n".join(f"# {line}" for line in lines)


def why(placement: Placement, index: int) -> None:
    st.markdown(_why(placement, index))


def _why(placement: Placement, index: int) -> str:
    reason = worded(why_it_lost(placement, index))
    return f"**{escape(placement.plans[index].layout.name)}** {escape(reason)}"


def losers(page: Page[Any], placement: Placement) -> None:
    """The plans that fit and were not taken, each with its reason."""
    lost = placement.lost
    if lost:
        page.say("compare.lost")
        st.markdown("\n".join(f"- {_why(placement, index)}" for index in lost[: rows.MOST_LOST]))
    if len(lost) + placement.left_out[0] > rows.MOST_LOST:
        page.say("compare.more_lost")


def refused(page: Page[Any], placement: Placement) -> None:
    """The plans that are refused, in grey, with what each breaks."""
    broken = [plan for plan in placement.plans if not plan.fits]
    if broken:
        page.say("compare.refused")
        kept = broken[:MOST_REFUSED]
        lines = (f"- :gray[~~{escape(plan.layout.name)}~~ {escape(worded(plan.reason))}]" for plan in kept)
        st.markdown("\n".join(lines))
    if placement.refused > MOST_REFUSED:
        page.say("compare.more_refused")
