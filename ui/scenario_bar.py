"""The scenario bar: one model, GPU, links, layout and load, asked for in the entry and carried by every page."""

from typing import Any

import streamlit as st

from core.catalog import GPUS, LINKS, MODELS
from core.catalog.measured_link import extrapolation
from core.scenario import LIMITS, Scenario, query_name
from core.specs import DTYPE_BYTES
from runtime.prose import worded
from ui import address
from ui.prose import label as word
from ui.question import Choice, Kind, Switch, Whole
from ui.visit import visit

STEM = "scenario"
"""The links' words are blocks of this file."""


def draw() -> None:
    """Draw the one scenario: what runs, on what, over which links. Its fields are drawn while its panel is open."""
    opened = st.session_state.setdefault("_scenario_open", False)
    st.button(
        _summary(address.scenario()),
        key="scenario",
        type="tertiary",
        icon=":material/expand_less:" if opened else ":material/expand_more:",
        icon_position="right",
        on_click=_open,
        args=(not opened,),
        help=word("scenario.help"),
    )
    if opened:
        with st.container(key="scenario_panel"):
            _draw_panel()
            st.button(word("scenario.done"), key="scenario_done", on_click=_open, args=(False,))


def _open(opened: bool) -> None:
    address.press()
    st.session_state["_scenario_open"] = opened


def _draw_panel() -> None:
    st.markdown(word("scenario.lead"))
    address.control("keys", Switch(), word("scenario.keys"), visit().keys, True, "shell")
    left, right = st.columns(2)
    with right:
        for field in LIMITS:
            draw_field(field, Whole(*LIMITS[field]))
    with left:
        draw_field("model", Choice(tuple(MODELS), listed=True))
        draw_field("gpu", Choice(tuple(GPUS), listed=True))
        _draw_link("link")
        _draw_link("network")
        draw_field("weight_dtype", Choice(tuple(DTYPE_BYTES), listed=True))
        draw_field("kv_dtype", Choice(tuple(DTYPE_BYTES), listed=True))


def draw_field(field: str, kind: Kind[Any], **given: Any) -> None:
    """Draw the control of one field of the scenario."""
    label, name = word(f"scenario.{query_name(field) if 'dtype' in field else field}"), query_name(field)
    now, default = (getattr(one, field) for one in (address.scenario(), Scenario()))
    address.control(name, kind, label, now, default, STEM, **given)


def _draw_link(field: str) -> None:
    """Draw one of the catalog's links, or a learner's own: the one in use, and those used before in this visit."""
    now = address.scenario()
    link = now.link_spec if field == "link" else now.network_spec
    own: list[str] = st.session_state.setdefault("_own_links", [])
    if link.measured_ranks is not None and link.key not in own:
        own.append(link.key)
    draw_field(field, Choice((*LINKS, *own), listed=True))
    if (away := extrapolation(link, now.tp)) is not None:
        said = worded(away)  # its first letter alone is raised: `capitalize` would lower TP and GB/s
        st.markdown(f":gray[{said[:1].upper()}{said[1:]}.]")


def draw_straggler() -> None:
    """Draw the scenario's slow rank within reach on a page: by how many per cent it is slower than the others."""
    draw_field("slow_percent", Whole(*LIMITS["slow_percent"], step=10), key="_straggler", width=300)


def _summary(chosen: Scenario) -> str:
    layout = [f"TP={chosen.tp}", *([f"PP={chosen.pp}"] if chosen.pp > 1 else [])]
    copies = [f"×{chosen.replicas}"] if chosen.replicas > 1 else []
    straggler = [word("scenario.slower", percent=chosen.slow_percent)] if chosen.slow_percent else []
    return ", ".join([chosen.model, chosen.gpu, *layout, *copies, *straggler])
