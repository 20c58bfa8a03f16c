"""Lab 04, the pipeline bubble: watch a pipe fill and drain, count what is idle, and buy less of it."""

from html import escape

import streamlit as st

from core.pipeline_bubble.bubble import bubble_fraction
from ui import inputs, scenes
from ui.figures.frames import frame
from ui.pipeline_bubble import bench as schedule_bench
from ui.pipeline_bubble import charts, rows
from ui.pipeline_bubble import learner_panel as schedule_panel
from ui.pipeline_bubble import words as facts
from ui.pipeline_bubble import words_schedules as bench_facts
from ui.pipeline_bubble.bench import forward_grid, stuck_grid
from ui.players.schedule_player import Mark, schedule_player

page = scenes.open_page("pipeline_bubble")
look = page.look
own_file = schedule_panel.file_here()
usual = page.scenario.pp if page.scenario.pp in (2, 4, 16) else 8
sized = ["see", *([] if look.present else ["count", "break_it"]), *(["build"] if own_file else [])]
with page.controls(*sized):
    stages = inputs.choice("Stages p", page.key("p"), [2, 4, 8, 16], usual)
    microbatches = inputs.choice("Microbatches m", page.key("m"), [1, 8, 16, 32, 63, 64], 16)
with page.controls("break_it"):
    wrong = inputs.choice("What goes wrong", page.key("wrong"), list(rows.WRONGS), rows.NOBODY_WAITS)
asked = schedule_bench.ask(page)
ask = rows.Ask(stages, microbatches, wrong, asked.bench, asked.pin)

HERO = """<div style="text-align: right"><div class="key-figure" style="font-size: 2.6rem">{}</div>{}</div>"""


def at_rest(key: str) -> None:
    """The whole run as a still, its two triangles counted where there is room for the words."""
    notes = tuple(Mark("note", note.rank, note.tick, note.text) for note in rows.triangle_notes(ask))
    still = forward_grid(rows.run(stages, microbatches), stages, marks=notes)
    schedule_player(
        still, key=key, alt=page.prose.plain("question.reading"), present=look.present, start="end", controls=False
    )


def question() -> None:
    if page.ask(100 * float(bubble_fraction(stages, microbatches)), high=100, unit="%", digits=1):
        at_rest("revealed_run")
        page.reading("question.reading")


def see() -> None:
    alt = page.prose.plain("see.reading")
    follow = min(6, microbatches - 1)
    schedule_player(
        forward_grid(rows.run(stages, microbatches), stages),
        key="run",
        alt=alt,
        present=look.present,
        follow=follow,
    )
    page.reading("see.reading")
    with st.container(key="aside_equal", horizontal=False):
        for column, block, terms in zip(
            st.columns([330, 400, 350], gap="medium"),
            ("see.counted", "see.formula", "see.equal"),
            (rows.counted_terms(ask), rows.formula_terms(ask), ()),
            strict=True,
        ):
            with column:
                page.note(block)
                if terms:
                    page.equation(*terms)


def count() -> None:
    at_rest("counted_run")
    left, right = st.columns([2, 1], vertical_alignment="center")
    with left:
        page.equation(*rows.triangles_terms(ask))
    with right:
        st.html(HERO.format(escape(page.prose.plain("count.share")), escape(page.prose.plain("count.of"))))
    with st.container(key="aside_count"):
        page.reading("count.reading")
        for column, block in zip(
            st.columns(3, gap="medium"), ("count.rows", "count.grid", "count.two"), strict=True
        ):
            with column:
                page.note(block)


def break_it() -> None:
    if wrong == rows.WRONG_FORMULA:
        table = frame(rows.slip_rows(ask))
        page.figure(charts.slip_dots(table, look), "break_it.reading_formula", table, "slips")
        return
    if wrong == rows.DEADLOCK:
        deadlock()
        return
    name = "early" if wrong == rows.ONE_EARLY else "nobody"
    marks = tuple(Mark("wrong", span.rank, float(span.start)) for span in rows.broken_spans(ask))
    schedule_player(
        forward_grid(rows.run(stages, microbatches), stages, page.prose.plain("break_it.right")),
        forward_grid(rows.wrong_run(ask), stages, page.prose.plain(f"break_it.wrong_{name}"), marks),
        key=f"broken_{name}",
        alt=page.prose.plain(f"break_it.reading_{name}"),
        present=look.present,
        start="end",
        controls=not look.present,
    )
    page.reading(f"break_it.reading_{name}")


def deadlock() -> None:
    timeline = rows.stuck_run(ask)
    notes = tuple(Mark("note", note.rank, note.tick, note.text) for note in rows.stuck_notes(timeline))
    block = "break_it.reading_deadlock" if notes else "break_it.reading_lucky"
    cells = stuck_grid(timeline, rows.STUCK_TICKS if notes else 0, notes)
    schedule_player(cells, key="deadlock", alt=page.prose.plain(block), present=look.present, start="end")
    page.reading(block)


def build() -> None:
    if own_file is None:
        page.say("build.body")
        page.say("learner.off")
        return
    schedule_panel.panel(own_file, stages, microbatches, page.prose, look.present)
    with st.expander(page.prose.plain("build.title")):
        page.say("build.body")


page.play(
    lambda: {**facts.fields(ask), **bench_facts.fields(page.scenario, asked.versus, asked.serve, asked.compose)},
    question=question,
    see=see,
    count=count,
    break_it=break_it,
    bench=lambda: schedule_bench.draw(page, asked),
    build=build,
    engines=lambda: page.say("engines.body"),
    limits=lambda: page.say("limits.body"),
)
