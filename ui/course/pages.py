"""The course as a list: which pages there are, in which order, and what each is called in a URL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PAGES_FOLDER = Path(__file__).resolve().parent.parent.parent / "pages"

SCENES: Mapping[str, str] = {
    "question": "Question",
    "see": "See it",
    "count": "Count it",
    "break_it": "Break it",
    "bench": "Bench",
    "build": "Build it",
    "engines": "In real engines",
    "limits": "Limits",
}
"""A lab's scenes, in code and on the page, in the order it is walked. A tool has its own."""


@dataclass(frozen=True)
class Entry:
    """One page. `prefix` begins its own controls' names in the URL; `scenes` are its tabs, by name in code."""

    stem: str
    file: str
    title: str
    short: str
    prefix: str
    scenes: Mapping[str, str] = field(default_factory=lambda: SCENES)

    @property
    def path(self) -> str:
        """The page's script. It is absolute, since a deploy may start at another entry than the root's."""
        return str(PAGES_FOLDER / f"{self.file}.py")


OVERVIEW = Entry("overview", "0_overview", "Overview", "Shardlab", "home")
START = Entry(
    "start_here",
    "0_start_here",
    "Start here",
    "Start here",
    "start",
    {
        "decode": "One token",
        "prefill": "A prompt",
        "bottlenecks": "Fit and speed",
        "rank": "Rank and link",
        "collectives": "Three collectives",
        "glossary": "Glossary",
    },
)
"""Ten minutes before lab 01: its scenes ask one question each, and the last one lists the words."""

LABS = (
    Entry("sharding_math", "1_sharding_math", "01 Sharding", "Sharding", "shard"),
    Entry("comm_cost", "3_comm_cost", "03 The bill", "The bill", "bill"),
    Entry(
        "pipeline_bubble", "4_pipeline_bubble", "04 Pipelines", "Pipelines", "pipe", {"serve": "Serve", **SCENES}
    ),
    Entry("two_way_tp", "2_two_way_tp", "02 Real ranks", "Real ranks", "real"),
)
TOOLS = (
    Entry(
        "placement",
        "5_placement",
        "Place a model",
        "Placement",
        "place",
        {
            "plan": "Plan",
            "compare": "Compare",
            "cases": "Worked cases",
            "load": "Under load",
            "accuracy": "Held to measurements",
            "limits": "Limits",
        },
    ),
    Entry(
        "startup_log",
        "6_startup_log",
        "Read a log",
        "Startup log",
        "log",
        {"read": "Read", "exercises": "What it catches", "formulas": "The arithmetic", "limits": "Limits"},
    ),
    Entry(
        "strategy",
        "9_strategy",
        "Choose a strategy",
        "Strategy",
        "strategy",
        {
            "memory": "Memory",
            "picker": "The picker",
            "block": "One block",
            "collectives": "Collectives",
            "serving": "Prefill apart",
            "limits": "Limits",
        },
    ),
    Entry(
        "clinic",
        "7_clinic",
        "Clinic",
        "Clinic",
        "clinic",
        {
            "cases": "Cases",
            "straggler": "One slow rank",
            "all_reduce": "Custom all-reduce",
            "hangs": "Hangs at init",
            "limits": "Limits",
        },
    ),
    Entry(
        "reading_rooms",
        "8_reading_rooms",
        "Reading rooms",
        "Reading rooms",
        "read",
        {"megatron": "Megatron-LM", "fsdp": "PyTorch FSDP", "vllm": "vLLM", "limits": "How it was checked"},
    ),
    Entry(
        "quiz",
        "10_quiz",
        "Quiz",
        "Quiz",
        "quiz",
        {"ask": "Questions", "score": "Your score", "limits": "Limits"},
    ),
    Entry("find_it", "11_find_it", "Find it", "Find it", "find", {"find": "Find it", "keys": "Keys"}),
)
"""What the labs lead to, kept open at work: no path to walk, so each names its own scenes."""

PAGES = (OVERVIEW, START, *LABS, *TOOLS)


def entry(stem: str) -> Entry:
    """The page of a stem. Raises KeyError for an unknown one."""
    return {page.stem: page for page in PAGES}[stem]


def after(page: Entry) -> Entry:
    """The page the course goes on to; the last one returns to the overview."""
    index = PAGES.index(page) + 1
    return PAGES[index % len(PAGES)]


def before(page: Entry) -> Entry:
    """The page the course came from; the first one has none, and stays."""
    return PAGES[max(0, PAGES.index(page) - 1)]
