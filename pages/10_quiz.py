"""The quiz: questions over the whole course, their numbers drawn from a seed and answered by core."""

from core.course.quiz import PASS_FRACTION, paper
from ui import inputs, scenes
from ui.course import pages as course
from ui.quiz import charts, words
from ui.quiz import desk as quiz_desk

ALL = "the whole course"

page = scenes.open_page("quiz")
sheet = quiz_desk.sheet_of(page)
questions, score = paper(sheet.seed), sheet.score()
concepts = list(dict.fromkeys(question.concept for question in questions))
with page.controls("ask"):
    about = page.control(inputs.select, "about", "says.questions_about", [ALL, *concepts], ALL)
chosen = [question for question in questions if about in (ALL, question.concept)]
question = quiz_desk.open_question(page, sheet, chosen)


def ask() -> None:
    page.say("ask.progress" if score.answered else "ask.lead")
    quiz_desk.pose(page, sheet, chosen, question)


def your_score() -> None:
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


page.play(lambda: words.fields(sheet, score), ask=ask, score=your_score)
