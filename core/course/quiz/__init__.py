"""The quiz over the whole course: its numbers are drawn from a seed and answered by core's functions."""

from core.course.quiz.paper import BANK, PASS_FRACTION, Score, Sheet, paper
from core.text.question import Choice, Judged, Number, Question, judge

__all__ = ["BANK", "PASS_FRACTION", "Choice", "Judged", "Number", "Question", "Score", "Sheet", "judge", "paper"]
