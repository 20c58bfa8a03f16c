"""The log reader's page: a pasted log is read and covered, refused without loss, and each exercise asks first."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.startup_log.exercises import exercises
from tests.said import without_terms
from ui.startup_log import words
from ui.startup_log.report import EXAMPLE

ROOT = Path(__file__).resolve().parents[2]
FILE = "pages/6_startup_log.py"


def visit(**query: str) -> AppTest:
    """The page as it stands after a visit with a query."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(FILE)
    return app.run()


def said(app: AppTest) -> str:
    return without_terms("\n".join(element.value for element in app.markdown))


def tables(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def pasted(text: str) -> AppTest:
    app = visit()
    app.text_area(key="log_text").set_value(text)
    return app.run()


def test_the_page_opens_on_an_example_that_agrees():
    app = visit()
    assert not app.exception
    assert "Figures as predicted: 4; off: 0; unexplained: 0." in said(app)
    assert "7.1216 GiB" in tables(app)


def test_a_pasted_log_is_read_and_a_wrong_figure_marked():
    app = pasted(EXAMPLE.replace("7.1217", "14.2488"))
    assert "off: 2" in said(app)
    assert "verdict off" in tables(app)


def test_hosts_and_folders_of_a_pasted_log_are_covered():
    text = EXAMPLE.replace("Qwen/Qwen2-7B-Instruct", "/home/ada/models/Qwen2-7B-Instruct")
    app = pasted(text + "(Worker_TP0 pid=9, ip=10.9.8.7) INFO Model loading took 7.1217 GiB at node7.lab:1:2 [0]")
    assert "verdict" in tables(app)
    for secret in ("/home/ada", "10.9.8.7", "node7"):
        assert secret not in tables(app) + said(app)


def test_what_is_no_log_is_refused_and_kept():
    app = pasted("Dear Ada, nothing runs here.")
    assert "no line of vLLM" in app.error[0].value
    assert app.text_area(key="log_text").value == "Dear Ada, nothing runs here."


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.key)
def test_an_exercise_reveals_only_what_was_committed(exercise):
    scene = {"log_scene": "exercises", "log_case": exercise.key}
    app = visit(**scene)
    assert not app.exception
    assert app.button(key="show").disabled
    assert not app.get("html") or "log-table" not in tables(app)
    app = visit(**scene, **{f"log_{exercise.key}_shown": "true"})
    assert not app.exception
    assert exercise.source in said(app).replace("\\", "")


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.key)
def test_an_exercises_answers_are_apart_and_one_is_right(exercise):
    answers = words.answers(exercise)
    assert len(set(answers.values())) == 3
    assert exercise.answer in answers


def test_an_answer_goes_into_the_address_and_can_then_be_held_against_the_right_one():
    app = visit(log_scene="exercises")
    app.segmented_control(key="log_heads_said").set_value("a").run()
    assert app.query_params["log_heads_said"] == "a"
    app.button(key="show").click().run()
    assert app.query_params["log_heads_shown"] == "true"
    assert "log-table" in tables(app)
    app.segmented_control(key="log_case").set_value("dtype").run()
    assert app.button(key="show").disabled
