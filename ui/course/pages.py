"""The course as a list: which pages there are, in which order, and what each is called in a URL."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime import content
from runtime.prose import said

PAGES_FOLDER = Path(__file__).resolve().parent.parent.parent / "pages"
SCENES = ("question", "see", "count", "break_it", "bench", "build", "engines", "limits")
"""A lab's scenes, by name in code and in the address, in the order it is walked. A tool has its own."""


@dataclass(frozen=True)
class Entry:
    """One page. `prefix` begins its own controls' names in the URL; `names` are its scenes, each a tab."""

    stem: str
    file: str
    prefix: str
    names: tuple[str, ...] = SCENES

    @property
    def path(self) -> str:
        """The page's script. It is absolute, since a deploy may start at another entry than the root's."""
        return str(PAGES_FOLDER / f"{self.file}.py")

    @property
    def title(self) -> str:
        """What the navigation calls it."""
        return said("shell", f"page.{self.stem}")

    @property
    def short(self) -> str:
        """What the browser's tab and the foot call it."""
        return said("shell", f"short.{self.stem}")

    @property
    def scenes(self) -> Mapping[str, str]:
        """Its scenes as they are called, by name: as the page's own words have it, or as in every lab."""
        own, every = content.load(self.stem), content.load("shell")
        return {name: own.get(f"tab.{name}") or every[f"tab.{name}"] for name in self.names}

    def scene(self, name: str) -> dict[str, str]:
        """The query that opens a scene. Raises KeyError for one that the page has not."""
        if name not in self.names:
            raise KeyError(name)
        return {f"{self.prefix}_scene": name}


OVERVIEW = Entry("overview", "0_overview", "home")
START = Entry(
    "start_here", "0_start_here", "start", ("decode", "prefill", "bottlenecks", "rank", "collectives", "glossary")
)
"""Ten minutes before lab 01: its scenes ask one question each, and the last one lists the words."""

LABS = (
    Entry("sharding_math", "1_sharding_math", "shard"),
    Entry("comm_cost", "3_comm_cost", "bill"),
    Entry("pipeline_bubble", "4_pipeline_bubble", "pipe", ("serve", *SCENES)),
    Entry("two_way_tp", "2_two_way_tp", "real"),
)
TOOLS = (
    Entry("placement", "5_placement", "place", ("plan", "compare", "cases", "load", "race", "accuracy", "limits")),
    Entry("startup_log", "6_startup_log", "log", ("read", "exercises", "formulas", "limits")),
    Entry("strategy", "9_strategy", "strategy", ("serving", "memory", "picker", "block", "collectives", "limits")),
    Entry("clinic", "7_clinic", "clinic", ("cases", "straggler", "all_reduce", "hangs", "limits")),
    Entry("reading_rooms", "8_reading_rooms", "read", ("megatron", "fsdp", "vllm", "limits")),
    Entry("puzzles", "12_puzzles", "puzzles", ("play", "rules")),
    Entry("cluster", "13_cluster", "cluster", ("ring", "time", "limits")),
    Entry("ask", "14_ask", "ask", ("ask", "every", "limits")),
    Entry("quiz", "10_quiz", "quiz", ("ask", "score", "limits")),
    Entry("find_it", "11_find_it", "find", ("find", "keys")),
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
