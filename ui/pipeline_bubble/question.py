"""What lab 04 asks, and the run of that many stages and microbatches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.pipeline_bubble.bubble import FillDrain
from core.pipeline_bubble.experiments import Cheat
from ui.page import Page
from ui.pipeline_bubble import bench as schedule_bench
from ui.pipeline_bubble import rows
from ui.question import Choice, ask

STAGES, FLOWS, MICROBATCHES = (2, 4, 8, 16), (1, 2, 4, 8, 16), (1, 8, 16, 32, 63, 64)


@dataclass(frozen=True)
class Question(schedule_bench.BenchQuestion):
    """Stages, sequences in flight and microbatches, what goes wrong, and all of the bench."""

    p: int | None = ask(None, Choice(STAGES), "says.stages_p")
    flow: int = ask(1, Choice(FLOWS), "says.sequences_flight")
    m: int = ask(16, Choice(MICROBATCHES), "says.microbatches_m")
    wrong: str = ask(rows.NOBODY_WAITS, Choice(tuple(rows.WRONGS)), "says.what_goes_wrong")


def usual_stages(page: Page[Question]) -> int:
    return page.scenario.pp if page.scenario.pp in (2, 4, 16) else 8


def run_of(page: Page[Question]) -> FillDrain:
    return FillDrain(page.question.p or usual_stages(page), page.question.m)


def cheat_of(page: Page[Question]) -> Cheat:
    return rows.cheat(run_of(page), page.question.wrong == rows.ONE_EARLY)


def offered(page: Page[Question]) -> Mapping[str, tuple[Sequence[int], int]]:
    """Return the sizes of a batch that controls offer, and those that are asked."""
    run = run_of(page)
    return {"p": (STAGES, run.stages), "m": (MICROBATCHES, run.microbatches)}


def draw_sizes(page: Page[Question], *names: str) -> None:
    """Draw these controls in a row; the stages begin with the scenario's pipeline."""
    with page.controls():
        for name in names:
            page.control(name, usual=usual_stages(page) if name == "p" else None)
