"""The planner's tab held to measurements: predicted against published, by source, and what is nearest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import streamlit as st

from core.evidence.accuracy import accuracy_of
from core.evidence.headline import Headline, headline
from core.evidence.report import Residual
from core.evidence.report import residuals as predicted
from core.placement.beside import alike, promised, regimes
from core.placement.plan import Plan, Question
from runtime.foretold import foretold
from runtime.kept import kept
from runtime.prose import said
from runtime.published import planners, shipped_table
from runtime.served import shipped_served
from ui.page import Page
from ui.placement import charts_accuracy as charts
from ui.placement import charts_served
from ui.placement import rows_accuracy as rows
from ui.placement import rows_served as served
from ui.placement.words import accuracy_fields, headline_fields, residual_fields
from ui.question import Choice, ask


@st.cache_resource(max_entries=1, show_spinner=False)
def every_residual() -> tuple[Residual, ...]:
    """The published figures that ship with the project, each predicted: the same for every visitor."""
    return predicted(shipped_table())


@st.cache_resource(max_entries=1, show_spinner=False)
def told_and_tested() -> Headline:
    """What was told before it was seen, and what was tested since: the same for every visitor."""
    return headline(foretold(), shipped_served(), shipped_table(), every_residual())


@cache
def _sources() -> list[str]:
    return rows.sources(every_residual())


@dataclass(frozen=True)
class Source(Choice[str]):
    """A published source, or all: which there are, the table of measurements tells."""

    def read(self, text: str, stem: str) -> str:
        return Choice((rows.EVERY, *_sources()), listed=True).read(text, stem)


@dataclass(frozen=True)
class AccuracyQuestion:
    """The published source that stands in front of the others."""

    source: str = ask(rows.EVERY, Source((rows.EVERY,), listed=True), "says.source")


T = TypeVar("T")


# Tables of some six hundred residuals, which are the same for everybody


def _of_all(worked_out: Callable[..., T]) -> Callable[..., T]:
    return kept(lambda *asked: worked_out(every_residual(), *asked))


_fields = _of_all(residual_fields)
_dots, _near_lines = _of_all(rows.dots), _of_all(rows.near_lines)
_class_lines, _regime_lines, _source_lines = map(_of_all, (rows.class_lines, rows.regime_lines, rows.source_lines))
_foretold_table = kept(rows.foretold_table)
_bands_beside = kept(lambda: rows.bands_beside(regimes(planners().rows)))


@kept
def _unknown_table() -> str:
    return rows.unknown_table(every_residual(), said("placement", "accuracy.unknown_head"))


def accuracy(page: Page[AccuracyQuestion], question: Question, plan: Plan | None) -> None:
    """Draw every published time beside its prediction, and list what is nearest to the plan shown."""
    band, chosen = question.band, page.question.source
    with page.controls():
        page.control("source", options=[rows.EVERY, *_sources()])
    page.fill({**_fields(chosen), **accuracy_fields(question), **_headline_fields()})
    _blind(page, question.cluster.gpu.key)
    figure, margin = page.split()
    with figure:
        table, all_of_them = _dots(chosen), _dots(rows.EVERY)
        in_front = () if chosen == rows.EVERY else [dot for dot in table if dot.chosen]
        chart = charts.predicted_against_published(all_of_them, in_front, (band.low, band.high), page.look)
        page.figure(chart, "accuracy.reading", table, "predicted_against_published")
    with margin, st.container(gap="medium"):
        known = accuracy_of(question.cluster.gpu, question.model, "decode")
        page.verdict(
            *(("ok", "accuracy.tested") if band.tested else ("open", f"accuracy.{'once' if known else 'untested'}"))
        )
        page.note("accuracy.note_rule")
        if not page.look.present:
            page.note("accuracy.note_constants", "accuracy.note_roofline")
    if not page.look.present:
        _beside(page)
        _tables(page, question, plan)


_headline_fields = kept(lambda: headline_fields(told_and_tested()))
_served_lines = kept(lambda own, every: served.served_lines(told_and_tested(), own, every))
_served_dots = kept(lambda own: served.served_dots(told_and_tested(), _served_lines(own, False), own))


def _blind(page: Page[AccuracyQuestion], own: str) -> None:
    """The blind number, and every such time by system, one's own GPU first with its models."""
    page.say("accuracy.blind")
    if page.look.present:  # a line a system is taller than a wall
        return
    chart = charts_served.served_off(_served_dots(own), _served_lines(own, False), page.look)
    page.figure(chart, "accuracy.reading_served", _served_lines(own, True), "served_off")


@kept
def _beside_fields() -> Mapping[str, object]:
    beside = planners()
    return {
        "beside": beside,
        "every": regimes(beside.rows)[-1],
        "inside": promised(beside.rows),
        "compiled": next(one for one in regimes(beside.rows) if one.code == "compiled"),
        "set_aside": sum(not alike(row) for row in beside.rows),
        "faster": beside.seconds_aiconfigurator / beside.seconds_shardlab,
    }


def _beside(page: Page[AccuracyQuestion]) -> None:
    page.fill(_beside_fields())
    with st.container(key="aside_beside"):
        page.say("accuracy.beside")
        table = _bands_beside()
        page.figure(charts.planners_beside(table, page.look), "accuracy.reading_beside", table, "planners")


_headline_lines = kept(lambda: served.headline_lines(told_and_tested()))
_headline_classes = kept(lambda: served.headline_classes(told_and_tested()))
_left_out_lines = kept(lambda: served.left_out_lines(told_and_tested()))


def _tables(page: Page[AccuracyQuestion], question: Question, plan: Plan | None) -> None:
    """The runs that are nearest to the learner's own, then every source in one line."""
    with st.container(key="aside_nearest"):
        page.say("accuracy.headline")
        page.table(_headline_lines(), "accuracy.headline")
        page.say("accuracy.by_class")
        page.table(_headline_classes(), "accuracy.by_class")
        page.say("accuracy.left_out")
        page.table(_left_out_lines(), "accuracy.left_out")
        page.say("accuracy.nearest")
        near = _near_lines(question, plan)
        page.table(near, "accuracy.nearest")
        page.say("accuracy.classes")
        classes = _class_lines()
        page.table(classes, "accuracy.classes")
        page.say("accuracy.unknown")
        st.markdown(_unknown_table())
        page.say("accuracy.regimes")
        page.table(_regime_lines(), "accuracy.regimes")
        page.say("accuracy.foretold")
        page.folded(page.prose.text("accuracy.foretold_each"), "foretold", lambda: _draw_foretold(page))
        page.say("accuracy.sources")
        lines = _source_lines()
        page.table(lines, "accuracy.sources")
        page.say("accuracy.command")


def _draw_foretold(page: Page[AccuracyQuestion]) -> None:
    st.markdown(_foretold_table(foretold(), page.prose.text("accuracy.foretold_head")))
