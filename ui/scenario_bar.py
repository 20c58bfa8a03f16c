"""The scenario bar: one model, GPU, links, layout and load, asked for in the entry and carried by every page."""

from functools import lru_cache

import streamlit as st

from core.catalog import GPUS, LINKS, MODELS
from core.catalog.measured_link import extrapolation
from core.scenario import LIMITS, Scenario, query_name
from core.specs import DTYPE_BYTES
from runtime.prose import worded
from ui.address import SCENARIO_NAMES
from ui.inputs import KEYS, copy, remember, select, toggle, whole
from ui.lighter_state import own, state
from ui.prose import label as word
from ui.unseen import out_of_sight


def draw() -> None:
    """The one scenario: what runs, on what, over which links. Rendered by the entry on every page.

    Its panel is no popover: closed, its fields are asked out of sight, and no browser has them. Its head is filled
    last: the browser's Back is only heard by the widgets.
    """
    opened = st.session_state.setdefault("_scenario_open", False)
    head = st.container()
    with st.container(key="scenario_panel") if opened else out_of_sight():
        _scenario_widgets()
        st.button(word("scenario.done"), key="scenario_done", on_click=remember, args=("_scenario_open", False))
    head.button(
        _summary(scenario()),
        key="scenario",
        type="tertiary",
        icon=":material/expand_less:" if opened else ":material/expand_more:",
        icon_position="right",
        on_click=remember,
        args=("_scenario_open", not opened),
        help=word("scenario.help"),
    )


def _scenario_widgets() -> None:
    default = Scenario()
    st.markdown(word("scenario.lead"))
    toggle(word("scenario.keys"), KEYS, True)
    left, right = st.columns(2)
    with right:
        for field in ("tp", "pp", "replicas", "batch", "prompt_tokens", "output_tokens", "slow_percent"):
            whole(word(f"scenario.{field}"), query_name(field), *LIMITS[field], getattr(default, field))
    with left:
        select(word("scenario.model"), "model", list(MODELS), default.model)
        select(word("scenario.gpu"), "gpu", list(GPUS), default.gpu)
        _link("link", default.link)
        _link("network", default.network)
        select(word("scenario.weights"), "weights", list(DTYPE_BYTES), default.weight_dtype)
        select(word("scenario.kv"), "kv", list(DTYPE_BYTES), default.kv_dtype)


def _link(field: str, default: str) -> None:
    """One of the catalog's links, or a learner's own: the one in use, and those used before in this visit."""
    now = scenario()
    link = now.link_spec if field == "link" else now.network_spec
    own: list[str] = st.session_state.setdefault("_own_links", [])
    if link.measured_ranks is not None and link.key not in own:
        own.append(link.key)
    select(word(f"scenario.{field}"), field, [*LINKS, *own], default)
    if (away := extrapolation(link, now.tp)) is not None:
        said = worded(away)  # its first letter alone is raised: `capitalize` would lower TP and GB/s
        st.markdown(f":gray[{said[:1].upper()}{said[1:]}.]")


def straggler() -> int:
    """The scenario's slow rank, within reach on a page: by how many per cent it is slower than the others.

    A second handle on the panel's field, since one key may be mounted once: it shows what the panel holds, and what
    is typed here goes there, and so into the address.
    """
    held, handle = query_name("slow_percent"), "_straggler"
    st.session_state[handle] = st.session_state[held]
    return int(
        st.number_input(
            word("scenario.slow_percent"),
            *LIMITS["slow_percent"],
            step=10,
            key=handle,
            on_change=copy,
            args=(handle, held),
            width=300,
        )
    )


def scenario() -> Scenario:
    """The scenario as the widgets now stand; before they have run, as the address says."""
    now, address = state(), own("_address")
    values = ((name, now.get(name, address.get(name))) for name in SCENARIO_NAMES)
    return _scenario(tuple((name, str(value)) for name, value in values if value is not None))


@lru_cache(maxsize=256)
def _scenario(query: tuple[tuple[str, str], ...]) -> Scenario:
    return Scenario.from_query(dict(query))[0]


def _summary(chosen: Scenario) -> str:
    layout = [f"TP={chosen.tp}", *([f"PP={chosen.pp}"] if chosen.pp > 1 else [])]
    copies = [f"×{chosen.replicas}"] if chosen.replicas > 1 else []
    straggler = [word("scenario.slower", percent=chosen.slow_percent)] if chosen.slow_percent else []
    return ", ".join([chosen.model, chosen.gpu, *layout, *copies, *straggler])
