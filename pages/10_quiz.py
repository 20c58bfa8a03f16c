"""The quiz: questions over the whole course, their numbers drawn from a seed and answered by core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.course.quiz import PASS_FRACTION, paper
from core.course.quiz import Question as Posed
from ui import scenes
from ui.course import pages as course
from ui.page import Page
from ui.question import Choice, ask
from ui.quiz import charts, words
from ui.quiz import desk as quiz_desk

ALL = "the whole course"
CONCEPTS = tuple(dict.fromkeys(question.concept for question in paper(0)))


@dataclass(frozen=True)
class Question(quiz_desk.DeskQuestion):
    """What the quiz asks of its desk."""

    about: str = ask(ALL, Choice((ALL, *CONCEPTS), listed=True), "says.questions_about")


def questions_of(page: Page[Question]) -> Sequence[Posed]:
    about = page.question.about
    return [one for one in paper(quiz_desk.sheet_of(page).seed) if about in (ALL, one.concept)]


def fields(page: Page[Question]) -> Mapping[str, object]:
    sheet = quiz_desk.sheet_of(page)
    return words.fields(sheet, sheet.score())


def pose(page: Page[Question]) -> None:
    page.controls("about")
    sheet, questions = quiz_desk.sheet_of(page), questions_of(page)
    page.say("ask.progress" if sheet.score().answered else "ask.lead")
    quiz_desk.pose(page, sheet, questions, quiz_desk.open_question(page, sheet, questions))


def your_score(page: Page[Question]) -> None:
    sheet = quiz_desk.sheet_of(page)
    score = sheet.score()
    if not score.answered:
        page.say("score.none")
        return
    page.verdict("ok" if score.passed else "open", "score.passed" if score.passed else "score.not_yet")
    bars = words.concept_bars(score)
    page.figure(charts.score_bars(bars, PASS_FRACTION, page.look), "score.reading", bars, "score")
    if score.weak:
        page.say("score.weak")
        for concept in score.weak:
            quiz_desk.link(course.entry(concept.taught.stem), concept.taught.scene, concept.concept)
    quiz_desk.keep(page, sheet, score)
    page.note("score.kept")


scenes.play("quiz", Question, fields, ask=pose, score=your_score)
