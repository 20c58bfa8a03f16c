"""What lab 02 asks, and the recorded run that is read."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.two_way_tp.predictions import MINI_GPT
from core.two_way_tp.run_log import RunLog, Step
from runtime import captures
from runtime.captures import Capture
from ui.page import Page
from ui.question import Choice, Whole, ask
from ui.two_way_tp import bench as two_way_tp_bench
from ui.two_way_tp import live_run, words
from ui.two_way_tp import paid_run as two_way_tp_paid

FOUR_CLASSES, PAID = "four classes", "a paid run"


shipped = {
    words.run_name(run.log): run
    for run in sorted(map(captures.load, captures.names()), key=lambda run: words.by_size(run.log))
}


readable = {name: run for name, run in shipped.items() if run.log.model == MINI_GPT}


@dataclass(frozen=True)
class Question(two_way_tp_bench.BenchQuestion, two_way_tp_paid.PaidQuestion):
    """The run that is read and its letter, what goes wrong in it, and all of the bench."""

    run: str = ask(next(iter(readable)), Choice((*readable, live_run.NAME)), "says.run")
    token: int = ask(6, Whole(1, 18, slid=True), "says.letter")
    wrong: str = ask("one rank slow", Choice(tuple(words.WRONGS)), "says.what_goes_wrong")
    build: str = ask(FOUR_CLASSES, Choice((FOUR_CLASSES, PAID)), "says.what")


def offered(page: Page[Question]) -> Mapping[str, Capture]:
    """Return the runs that may be read."""
    own = live_run.own_run()
    return {**readable, live_run.NAME: own} if own is not None and own.log.model == MINI_GPT else readable


def capture_of(page: Page[Question]) -> Capture:
    runs = offered(page)
    return runs[page.offered("run", list(runs), next(iter(runs)))]


def log_of(page: Page[Question]) -> RunLog:
    return capture_of(page).log


def step_of(page: Page[Question]) -> Step:
    steps = log_of(page).steps
    return steps[min(page.question.token, len(steps)) - 1]


def logs_of(page: Page[Question]) -> list[RunLog]:
    return [one.log for one in offered(page).values()]
