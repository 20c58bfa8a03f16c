"""A measured link offered to every lab: inside a node, or between nodes."""

import streamlit as st

from core.scenario import Scenario
from core.specs import LinkSpec
from runtime.prose import said
from ui import inputs


def offer(link: LinkSpec, scenario: Scenario) -> None:
    """Two buttons that make `link` the scenario's, and so go with the address to every page."""
    for field, label in (
        ("link", said("comm_cost", "says.use_as_link")),
        ("network", said("comm_cost", "says.use_between_nodes")),
    ):
        used = getattr(scenario, field) == link.key
        st.button(
            said("comm_cost", "says.use", label=label) if used else label,
            key=f"use_{field}",
            disabled=used,
            type="primary" if field == "link" and not used else "secondary",
            on_click=inputs.remember,
            args=(field, link.key),
        )
