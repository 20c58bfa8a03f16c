"""What one can do after the course: each line with the scene that teaches it and the questions that prove it."""

from dataclasses import dataclass

import streamlit as st

from core.text.question import Concept
from runtime.content import slug
from runtime.prose import named, said
from ui.course import pages as course
from ui.prose import Prose


@dataclass(frozen=True)
class Ability:
    """One line: its words are the overview's block `can.<key>`."""

    key: str
    stem: str
    scene: str
    concept: Concept


ABILITIES = (
    Ability("count", "sharding_math", "count", "sharding"),
    Ability("weigh", "comm_cost", "count", "payload"),
    Ability("price", "comm_cost", "see", "the bill"),
    Ability("boundary", "comm_cost", "bench", "the node boundary"),
    Ability("bubble", "pipeline_bubble", "count", "pipelines"),
    Ability("checksum", "startup_log", "read", "memory"),
    Ability("place", "placement", "plan", "serving"),
    Ability("diagnose", "clinic", "straggler", "waiting"),
    Ability("slips", "comm_cost", "break_it", "published slips"),
)


def abilities(prose: Prose) -> None:
    """The lines, each with its two links."""
    for ability in ABILITIES:
        with st.container(key=f"place_can_{ability.key}"):
            line, scene, quiz = st.columns([7, 3, 3], gap="medium", vertical_alignment="center")
            line.markdown(prose.text(f"can.{ability.key}"))
            with scene:
                taught = course.entry(ability.stem)
                title = taught.scenes[ability.scene]
                _link(taught, taught.scene(ability.scene), f"{taught.title}: {title}")
            with quiz:
                asked = course.entry("quiz")
                _link(
                    asked,
                    {f"{asked.prefix}_about": slug(ability.concept)},
                    said("overview", "says.quiz", concept=named("quiz", ability.concept)),
                )


def _link(entry: course.Entry, query: dict[str, str], label: str) -> None:
    st.page_link(entry.path, label=label, query_params=query)
