"""What lab 03 asks, and the step that is priced."""

from dataclasses import dataclass

from core.steps import view as views
from runtime.measurements import measured_all_reduces
from ui.comm_cost import bench as comm_bench
from ui.comm_cost import rounds as comm_rounds
from ui.comm_cost import rows_slips as slips
from ui.page import Page
from ui.question import Choice, ask

BILL, ROUNDS = "the bill", "the wire"


points = measured_all_reduces()


@dataclass(frozen=True)
class Question(comm_bench.BenchQuestion, comm_rounds.RoundsQuestion):
    """The figure, the phase and the numbers of each scene, the misread word, and all of the bench."""

    view: str = ask(BILL, Choice((BILL, ROUNDS)), "says.figure")
    slip: str = ask(slips.HOP, Choice(tuple(slips.CHOICES)), "says.what_misread")


def view_of(page: Page[Question]) -> views.View:
    """Return the step that is priced: the question is of a decode step as it is measured."""
    asked = page.question
    napkin = asked.numbers == comm_bench.NAPKIN
    return views.View(page.scenario) if page.scene == "question" else views.View(page.scenario, asked.phase, napkin)
