"""The quiz as a visitor takes it: an answer is judged at once, kept in the address, and counted."""

from core.course.quiz import BANK, Sheet, paper
from runtime import content
from tests.pages.test_every_scene import said, visit
from ui.course.pages import entry
from ui.prose import Prose, plain_text
from ui.quiz.words import spoken

QUIZ = entry("quiz")
SEED = 5
FIRST = paper(SEED)[0]
COUNTED = next(question for question in paper(SEED) if getattr(question, "dimension", "") == "count")


def test_the_quiz_cuts_as_lab_01_does_by_inputs_and_outputs():
    """Rows and columns change places with W and W.T: the lab names both, the question what is meant by them."""
    shard, asked = content.load("sharding_math")["step.mlp.shard"], content.load("quiz")
    right = asked[f"column_or_row.say_{FIRST.right}"]
    assert "W1 is cut by its outputs and W2 by its inputs" in shard
    assert right == "The first by its outputs, the second by its inputs"
    cuts = [text for stem in ("quiz", "strategy") for text in content.load(stem).values()]
    assert not [text for text in cuts if "by rows" in text or "by columns" in text]


def test_as_many_questions_are_asked_as_are_said():
    """60 were said and 61 asked: the lead, the place, the score and, below, the progress count the same paper."""
    asked = len(paper(SEED))
    text = said(visit(QUIZ, quiz_sheet=str(SEED)))
    for told in (f"There are {asked} questions", f"1 of {asked}"):
        assert told in text
    assert Sheet(SEED).score().questions == asked == len({question.key for question in paper(SEED)})


def test_a_right_choice_is_told_so_with_its_reason_and_goes_into_the_address():
    app = visit(QUIZ, quiz_sheet=str(SEED))
    app.radio[0].set_value(FIRST.key_answer)
    app.button(key=next(button.key for button in app.button if button.label == "Answer")).click().run()
    assert not app.exception
    assert "Right:" in said(app)
    assert f"1 of {len(paper(SEED))} answered" in said(app)
    assert Sheet.from_text(app.query_params["quiz_sheet"]).answers == {FIRST.key: FIRST.key_answer}


def test_a_known_mistake_is_recognised_and_the_scene_that_teaches_it_is_linked():
    """A bare number that one slip leads to: that slip's own reply stands there, not the general one."""
    name, value = next(iter(COUNTED.slips.items()))
    sheet = Sheet(SEED).with_answer(COUNTED.key, f"{value:g}")
    app = visit(QUIZ, quiz_sheet=sheet.text(), quiz_at=COUNTED.key)
    reply = Prose(content.load("quiz"), COUNTED.fields).plain(f"{COUNTED.key}.slip_{name}")
    assert reply in plain_text(said(app))
    assert entry(COUNTED.taught.stem).title in app.get("page_link")[0].proto.label


def test_an_answer_without_its_unit_may_be_given_again():
    timed = next(question for question in paper(SEED) if getattr(question, "dimension", "count") == "time")
    app = visit(QUIZ, quiz_sheet=Sheet(SEED).with_answer(timed.key, "7").text(), quiz_at=timed.key)
    assert "Give a time" in app.warning[0].value
    assert app.text_input(key=f"answer_{SEED}_{timed.key}") is not None


def test_a_number_is_asked_and_answered_in_the_marks_of_the_language():
    """Spanish writes `5,00 µs`; a lone comma that was typed is a decimal mark; a release keeps its points."""
    timed = next(question for question in paper(SEED) if getattr(question, "dimension", "count") == "time")
    app = visit(QUIZ, quiz_sheet=str(SEED), quiz_at=timed.key, lang="es")
    app.text_input(key=f"answer_{SEED}_{timed.key}").set_value(timed.fields["answer"].replace(".", ","))
    app.button(key=next(button.key for button in app.button if button.label == "Responder")).click().run()
    kept = app.query_params["quiz_sheet"]
    assert Sheet.from_text(kept).answers == {timed.key: timed.fields["answer"]}
    app = visit(QUIZ, quiz_sheet=kept, quiz_at=timed.key, lang="es")
    assert not app.exception
    assert f"Correcto:** {timed.fields['answer'].replace('.', ',')}" in said(app)
    with content.speaking("es"):
        fields = [text for question in paper(SEED) for text in spoken(question).values()]
    assert {"0.9.2", "3,5 MiB"} <= set(fields)


def test_all_right_is_a_pass_and_fits_the_address():
    sheet = Sheet(SEED, {question.key: question.key_answer for question in paper(SEED)})
    app = visit(QUIZ, quiz_scene="score", quiz_sheet=sheet.text())
    assert not app.exception
    assert f"Passed: {len(BANK)} of {len(BANK)}" in said(app).replace("\\", "")


def test_a_weak_concept_is_linked_to_the_scene_that_teaches_it():
    sheet = Sheet(SEED, {FIRST.key: next(letter for letter in FIRST.letters if letter != FIRST.key_answer)})
    app = visit(QUIZ, quiz_scene="score", quiz_sheet=sheet.text())
    assert FIRST.concept in " ".join(link.proto.label for link in app.get("page_link"))


def test_a_sheet_that_is_garbage_begins_anew():
    app = visit(QUIZ, quiz_sheet="<script>;;=;zzz=1;" + "x" * 900, quiz_at="nowhere")
    assert not app.exception
    assert not app.error
