"""Answers to lab 04: the lab's mutants and some more, and the tasks that are wrong."""

from core.course.grading.tasks import LABS
from tests.core.pipeline_bubble.test_lab_mutants_pipeline_bubble import MUTANTS
from tests.lab_runs import ROOT

BEFORE = (ROOT / "tests" / "runtime" / "answers" / "lab_04.py").read_text(encoding="utf-8")
BEFORE += "from core.pipeline_bubble.schedules.actions import Action, Span\n"
_TASK_OF = {test: task.number for task in LABS["lab-04"].tasks for test in task.tests}

ANSWERS = {
    "as it stands": ("", ()),
    "a formula that a later task asks too": (
        """
def bubble_fraction(stages, microbatches):
    return Fraction(stages, microbatches + stages)
def bubble_overhead(stages, microbatches):
    bubble = bubble_fraction(stages, microbatches)
    return bubble / (1 - bubble)
def microbatches_for_budget(stages, budget, *, under=False):
    budget = Fraction(str(budget))
    if budget <= 0 and stages > 1:
        raise OutOfRangeError("budget", budget, "is nothing")
    least = (stages - 1) * (1 - budget) / budget
    return max(1, least.__floor__() + 1 if under else least.__ceil__())
""",
        (4,),
    ),
    "an order that nobody else asks for": (
        "\ndef fill_drain(stages, microbatches):\n    return []\n", (1,)),
    "a budget of nothing that is never met": (
        """
def microbatches_for_budget(stages, budget, *, under=False):
    budget = Fraction(str(budget))
    number = 1
    while budget > 0 and (bubble_fraction(stages, number), under) >= (budget, True):
        number += 1
    return number
""",
        (6,),
    ),
    **{name: (code, (_TASK_OF[test],)) for name, (code, test) in MUTANTS.items()},
}  # fmt: skip
