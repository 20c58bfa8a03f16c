"""Lab 01's figures that are more than one call: the stepper, two stills side by side, a layer over its ranks."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import streamlit as st

from core.sharding_math import drawn
from core.sharding_math.examples import Kind
from core.sharding_math.exercise import Level, calculation, is_given
from core.sharding_math.layer_parts import layer_parts
from core.sharding_math.mistakes import DEAR_ORDERS
from core.sharding_math.rounding import Trial, TrialResult, run_trial
from core.text.question import judge
from runtime import workers
from runtime.prose import said as phrase
from runtime.quantities import heard
from ui import address
from ui.figures.frames import as_row
from ui.figures.svg import NARROW, size_of
from ui.page import Page
from ui.players.block_stepper import View, block_stepper
from ui.players.still import still
from ui.sharding_math import boards, charts, rows
from ui.sharding_math.drawing import layer_diagram

AT_ONCE_WEIGHTS = 128 * 128
"""Of a trial's layer: up to so many are tried in some 40 ms; 512 × 512 take 200 ms, beside the server."""


def draw_ranks(page: Page[Any], kind: Kind) -> None:
    """Draw the choice of ranks, sizes that do not divide struck; choosing one says which rule it breaks."""
    struck, key = rows.struck_ranks(kind), page.key("ranks")
    names = [f".st-key-{key} [role=radio]:nth-of-type({drawn.RANKS.index(size) + 1}) p" for size in struck]
    st.html(f"<style>{', '.join(names)} {{ text-decoration: line-through; opacity: 0.8 }}</style>")
    why = phrase("sharding_math", "says.struck", join="; ".join(struck.values())) if struck else None
    page.control("ranks", usual=drawn.usual_ranks(page.scenario), help=why)


def stepper(page: Page[Any], kind: Kind, num_ranks: int) -> None:
    payload_bytes = drawn.payload(page.scenario, kind)
    runs = drawn.drawn_runs(kind, num_ranks)
    views = [boards.view(run, page.prose, kind, payload_bytes, drawn.DRAWN_FORMAT) for run in runs]
    param = page.key("step")
    address.let_browser_write(param)
    keys = [step["key"] for step in views[0].board["steps"]]
    asked = st.query_params.get(param, "")
    start = keys.index(asked) if asked in keys else 0
    # one place for all layers: a browser draws another one into the stepper that it has
    name = f"sharding_{kind}"
    block_stepper(*views, key="sharding", name=name, present=page.look.present, start=start, param=param)
    if not page.look.present:
        page.note("see.pick")
        if num_ranks == drawn.usual_ranks(page.scenario) != max(2, page.scenario.tp):
            page.note("see.fewer")
        page.as_table(lambda: boards.table(views[0]), name, views[0].reading)


def mistake(page: Page[Any], name: str) -> None:
    """How it should be and how it was done, side by side, with what that costs."""
    (layer, right, wrong), is_dear = drawn.sides(name), name in DEAR_ORDERS
    sides = (
        ("break_it.right", right, ()),
        ("break_it.dear" if is_dear else "break_it.wrong", wrong, layer.unwanted),
    )
    views = {}
    with st.container(key="sides"):
        columns = st.columns(2, gap="medium" if page.look.present else "large")
    for column, side, (title, run, unwanted) in zip(columns, ("right", "wrong"), sides, strict=True):
        with column:
            page.say(title)
            label = page.prose.plain(title)
            view = views[label] = boards.still(run, label, layer.gap().index, unwanted)
            block_stepper(
                view,
                key=f"side_{side}",
                present=page.look.present,
                start=-1,
                controls=False,
                unnamed=side == "wrong",
            )
    page.reading(f"break_it.reading_{name}")
    if not page.look.present:
        page.as_table(lambda: _versions(views), name, page.prose.plain(f"break_it.reading_{name}"))
    page.note("break_it.note_dear" if is_dear else "break_it.note_wrong")


def _versions(views: Mapping[str, View]) -> list[dict[str, object]]:
    return [{**as_row(row), "version": label} for label, view in views.items() for row in boards.table(view)]


def layer(page: Page[Any]) -> None:
    """One decoder layer of the scenario's model: what each rank holds, and where the ranks talk."""
    parts = layer_parts(page.scenario.model_spec, page.scenario.tp, page.scenario.batch)
    reading = "count.layer_reading" if page.scenario.tp > 1 else "count.layer_one"
    alt = page.prose.plain(reading)
    wide, narrow = (
        layer_diagram(parts, page.scenario.tp, page.look.palette, alt, size)
        for size in (size_of(page.look), NARROW)
    )
    still(wide, narrow, key="layer_diagram")
    page.reading(reading)
    page.as_table(rows.layer_rows(parts), "layer", alt)


def by_hand(page: Page[Any], level: Level) -> None:
    """The count of a step, worked or to be worked; an answer is graded with its unit."""
    lines = calculation(page.scenario.model_spec, page.scenario.batch, page.scenario.tp)
    prose = page.prose
    for number, line in enumerate(lines):
        asks, product = prose.text(f"by_hand.asks_{line.asks}"), prose.text(f"by_hand.product_{line.asks}", line)
        value = prose.text(f"by_hand.value_{'bytes' if line.is_bytes else 'number'}", line)
        if is_given(level, number, len(lines)):
            st.markdown(f"{asks}: {product} = **{value}**")
            continue
        entry, verdict = st.columns([1, 2], vertical_alignment="bottom")
        answer = entry.text_input(asks, key=f"by_hand_{level}_{number}", max_chars=40, on_change=address.press)
        if not answer.strip():
            continue
        judged = judge(line.question, heard(answer))
        if judged.right:
            verdict.markdown(f":green[:material/check:] {product} = {value}")
        else:
            unread = judged.block.startswith("judge.")
            hint = phrase("quiz", judged.block) if unread else page.label(judged.block, product=product)
            verdict.markdown(f":red[:material/close:] {hint}")
    page.reading("count.by_hand")


@lru_cache(maxsize=16)
def tried(trial: Trial) -> TrialResult:
    """What a format and an order make of a layer.

    Raises IndivisibleError, and WorkError where no worker can do it.
    """
    if trial.in_features * trial.out_features <= AT_ONCE_WEIGHTS:
        return run_trial(trial)
    return workers.run(run_trial, trial)


def rounding(page: Page[Any], trial: Trial) -> None:
    """What a format and an order of summing make of one dot product."""
    left, margin = page.split()
    with left, page.guarded():
        table = tried(trial).rows
        page.figure(charts.ulps_bars(table, page.look), "bench.reading", table, "ulps")
    with margin:
        page.note("bench.note", "bench.far")


def tp_sizes(page: Page[Any]) -> None:
    table = rows.size_cells(page.scenario)
    with page.split()[0]:
        page.figure(charts.size_strip(table, page.look), "bench.sizes_reading", table, "tp_sizes")
