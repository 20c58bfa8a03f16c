"""What one can do after the course: each line with the scene that teaches it and the questions that prove it."""

import streamlit as st

from core.text.question import Concept
from runtime.content import slug
from runtime.prose import named, said
from ui.course import pages as course
from ui.prose import Prose

ABILITIES: tuple[tuple[str, str, str, Concept], ...] = (
    ("count", "sharding_math", "count", "sharding"),
    ("weigh", "comm_cost", "count", "payload"),
    ("price", "comm_cost", "see", "the bill"),
    ("boundary", "comm_cost", "bench", "the node boundary"),
    ("bubble", "pipeline_bubble", "count", "pipelines"),
    ("checksum", "startup_log", "read", "memory"),
    ("place", "placement", "plan", "serving"),
    ("diagnose", "clinic", "straggler", "waiting"),
    ("slips", "comm_cost", "break_it", "published slips"),
)
"""Of each line its words, the overview's block `can.<key>`; the page and the scene that teach it; its questions."""


def abilities(prose: Prose) -> None:
    """The lines, each with its two links."""
    for key, stem, name, concept in ABILITIES:
        with st.container(key=f"place_can_{key}"):
            line, scene, quiz = st.columns([7, 3, 3], gap="medium", vertical_alignment="center")
            line.markdown(prose.text(f"can.{key}"))
            with scene:
                taught = course.entry(stem)
                title = taught.scenes[name]
                _link(taught, taught.scene(name), f"{taught.title}: {title}")
            with quiz:
                asked = course.entry("quiz")
                _link(
                    asked,
                    {f"{asked.prefix}_about": slug(concept)},
                    said("overview", "says.quiz", concept=named("quiz", concept)),
                )


def _link(entry: course.Entry, query: dict[str, str], label: str) -> None:
    st.page_link(entry.path, label=label, query_params=query)
