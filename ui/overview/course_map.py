"""What one can do after the course: each line with the scene that teaches it and the questions that prove it."""

import streamlit as st

from core.text.question import Concept
from runtime.content import slug
from runtime.prose import named, said
from ui import address, shell
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
    """The lines, each with its two links: three places of one grid, which the style sheet lays."""
    quiz = course.entry("quiz")
    for key, stem, name, concept in ABILITIES:
        taught = course.entry(stem)
        st.markdown(prose.text(f"can.{key}"))
        lead_to(taught, f"{taught.title}: {taught.scenes[name]}", taught.scene(name))
        asked = said("overview", "says.quiz", concept=named("quiz", concept))
        lead_to(quiz, asked, {f"{quiz.prefix}_about": slug(concept)})


def lead_to(entry: course.Entry, label: str, query: dict[str, str] | None = None) -> None:
    """A link to a page, by what is declared of it: by its path Streamlit would look for its file."""
    st.page_link(shell.declared(entry), label=label, query_params={**address.shared(), **(query or {})})
