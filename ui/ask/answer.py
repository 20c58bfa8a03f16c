"""A question as it was typed or picked, answered with the visitor's own model and GPUs, and the ways on from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.ask.answers import ANSWERS, Answered, Link, answered
from core.ask.kinds import recognised
from core.ask.reading import MOST_CHARACTERS, read_question
from core.scenario import Scenario
from ui import address
from ui.course import pages as course
from ui.question import Choice, Text, ask

GROUPS: Mapping[str, Sequence[str]] = {
    "sizes": ("which_tp", "heads", "how_many_gpus", "pp_or_tp", "tp_or_dp", "replicas_or_tp"),
    "room": ("fits", "fits_context", "oom", "users", "kv_tokens"),
    "speed": ("tp_slower", "tokens_per_s", "first_token", "width_speed", "need_nvlink"),
    "apart": ("pp_over_nodes", "tp_over_nodes", "hang", "hang_interface", "hang_p2p"),
}
"""Every kind of question, by what it is about."""


@dataclass(frozen=True)
class Question:
    """A question in the visitor's words, or a kind that was picked: from the list, or as what the words meant."""

    words: str = ask("", Text(MOST_CHARACTERS), "says.words")
    kind: str = ask("", Choice(("", *ANSWERS), listed=True))


def answer_to(question: Question, scenario: Scenario) -> Answered | None:
    """What answers it, with the scenario's model and GPU where the words name none; None where nothing was asked.

    A kind that was picked counts as long as the words may be of it.
    """
    words = question.words.strip()
    if not words and not question.kind:
        return None
    said = read_question(words)
    if words and not recognised(words, said.named):
        return Answered("", said, None)
    model = scenario.model if said.model_is == "usual" else None
    gpu = scenario.gpu if "gpu" in said.usual else None
    picked = question.kind if not words or question.kind in recognised(words) else ""
    return answered(read_question(words, model, gpu), picked)


def way(link: Link) -> tuple[str, str, Mapping[str, str]]:
    """A link's page script, what it is called, and the query that opens it filled in."""
    entry = course.entry(link.stem)
    scene = link.query.get(f"{entry.prefix}_scene", entry.names[0])
    kept = {name: text for name, text in address.shared().items() if name not in address.SCENARIO_NAMES}
    return entry.path, f"{entry.title}: {entry.scenes[scene]}", {**kept, **link.query}


def asking(**values: str) -> Mapping[str, str]:
    """The query that asks this page something, with what all pages share."""
    entry = course.entry("ask")
    return {**address.shared(), **entry.scene("ask"), **{f"{entry.prefix}_{name}": v for name, v in values.items()}}
