"""Lab 01's figures that are more than one call: the stepper, two stills side by side, a layer over its ranks."""

import streamlit as st

from core.sharding_math.examples import Kind, Run
from core.sharding_math.exercise import Level, calculation, grade, is_given
from core.sharding_math.faults import DEAR_ORDERS, broken
from core.sharding_math.layer_parts import layer_parts
from core.units import binary_bytes
from ui import inputs
from ui.figures.frames import frame
from ui.players.block_stepper import block_stepper
from ui.players.still import still
from ui.prose import escape
from ui.scenes import Page
from ui.sharding_math import rows, stepper_views
from ui.sharding_math.drawing import layer_diagram

_SIDEWAYS = "<style>.st-key-scroll_layer { overflow-x: auto } .st-key-layer_diagram { min-width: 600px }</style>"


def ask_ranks(key: str, kind: Kind) -> int:
    """A rank count. Sizes that do not divide stay in sight, struck; choosing one says which equation it breaks."""
    struck = rows.struck_ranks(kind)
    places = [f".st-key-{key} [role=radio]:nth-of-type({rows.RANKS.index(size) + 1}) p" for size in struck]
    st.html(f"<style>{', '.join(places)} {{ text-decoration: line-through; opacity: 0.8 }}</style>")
    why = f"Struck: {'; '.join(struck.values())}" if struck else None
    return inputs.choice("Ranks", key, rows.RANKS, 4, help=why)


def stepper(page: Page, kind: Kind, num_ranks: int) -> None:
    """One layer, stepped."""
    drawn = rows.drawing(kind, num_ranks)
    scale = f"{binary_bytes(rows.payload(page.scenario))} at scale"
    views = [stepper_views.view(run, page.prose, kind, scale, drawn.fmt) for run in drawn.runs]
    block_stepper(*views, key=f"sharding_{kind}", present=page.look.present)


def mistake(page: Page, name: str) -> None:
    """How it should be and how it was done, side by side, with what that costs."""
    found, is_dear = broken(name, rows.BROKEN_RANKS), name in DEAR_ORDERS
    sides = (("break_it.right", found.right), ("break_it.dear" if is_dear else "break_it.wrong", found.wrong))
    for place, (title, trace) in zip(st.columns(2, gap="large"), sides, strict=True):
        with place:
            page.say(title)
            run, due = Run(trace, found.dense), len(found.right.collectives)
            view = stepper_views.still(run, page.prose.plain(title), found.gap().index, due)
            block_stepper(view, key=f"{title}_{name}", present=page.look.present, start=-1, controls=False)
    page.reading(f"break_it.reading_{name}")
    page.note("break_it.note_dear" if is_dear else "break_it.note_wrong")


def layer(page: Page) -> None:
    """One decoder layer of the scenario's model: what each rank holds, and where the ranks talk."""
    parts = layer_parts(page.scenario.model_spec, page.scenario.tp, page.scenario.batch)
    reading = "count.layer_reading" if page.scenario.tp > 1 else "count.layer_one"
    alt = page.prose.plain(reading)
    st.html(_SIDEWAYS)
    with st.container(key="scroll_layer"):
        still(layer_diagram(parts, page.scenario.tp, page.look.palette, alt), key="layer_diagram")
    page.reading(reading)
    with st.expander("The figure as a table"):
        table = frame(rows.layer_rows(parts))
        st.dataframe(table, hide_index=True, alt=alt)
        csv = table.to_csv(index=False).encode()
        st.download_button("Download CSV", csv, "layer.csv", "text/csv", key="csv_layer", on_click="ignore")


def by_hand(page: Page, level: Level) -> None:
    """The count of a step, worked or to be worked; an answer is graded with its unit."""
    lines = calculation(page.scenario.model_spec, page.scenario.batch, page.scenario.tp)
    for number, line in enumerate(lines):
        if is_given(level, number, len(lines)):
            st.markdown(f"{line.asks.capitalize()}: {line.arithmetic} = **{line.shown}**")
            continue
        place, verdict = st.columns([1, 2], vertical_alignment="bottom")
        answer = place.text_input(line.asks.capitalize(), key=f"by_hand_{level}_{number}", max_chars=40)
        if answer.strip():
            graded = grade(answer, line)
            sign = ":green[:material/check:]" if graded.right else ":red[:material/close:]"
            verdict.markdown(f"{sign} {escape(graded.feedback)}")
    page.reading("count.by_hand")
