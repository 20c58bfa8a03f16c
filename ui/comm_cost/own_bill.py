"""Lab 03 solved in the page: its editor, and the learner's bill of the step beside the reference's."""

from typing import Any

from core.comm_cost import submission
from core.steps.view import View
from ui import solve
from ui.comm_cost import bench, rows
from ui.page import Page


def build(page: Page[Any]) -> None:
    """Draw the lab and, where the last run of its tests gave one for this scenario, the bill."""
    if not solve.is_offered():
        page.say("build.body")
        solve.say_elsewhere()
        return
    page.folded(page.prose.plain("build.title"), "solve_body", lambda: page.say("build.body"))
    sizes = submission.sizes_of(View(page.scenario, napkin=True).step)
    told = [row for row in solve.panel("lab-03", sizes) if row["task"] == submission.TASK]
    bills = submission.own_bills(told[-1], sizes) if told else ()
    if not bills:
        page.say("build.none")
        return
    reading = "build.reading_right" if all(own.right for own in bills) else "build.reading_wrong"
    bench.bars(page, rows.learner_rows(bills), reading, "own_bill")
