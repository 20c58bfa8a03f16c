"""A measured link offered to every lab: inside a node, or between nodes."""

import streamlit as st

from core.scenario import Scenario
from core.specs import LinkSpec
from ui import inputs


def offer(link: LinkSpec, scenario: Scenario) -> None:
    """Two buttons that make `link` the scenario's, and so go with the address to every page."""
    for field, label in (("link", "Use as the link"), ("network", "Use between nodes")):
        used = getattr(scenario, field) == link.key
        st.button(
            f"{label}: in use" if used else label,
            key=f"use_{field}",
            disabled=used,
            type="primary" if field == "link" and not used else "secondary",
            on_click=inputs.remember,
            args=(field, link.key),
        )
