"""The field a visitor's own text goes into: kept over scenes and pages, bounded, never in the address."""

import pytest
from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st

    from ui import paste

    if st.toggle("shown", True, key="shown"):
        paste.draw("Your log", "log_text", kinds=("txt", "log"), example="an example")
    st.session_state["seen"] = paste.text_in("log_text")


def test_a_text_is_returned_and_survives_a_scene_that_does_not_show_it():
    app = AppTest.from_function(script, default_timeout=60).run()
    assert app.session_state["seen"] == ""
    app.text_area(key="log_text").set_value("weights take 7.5 GiB").run()
    assert app.session_state["seen"] == "weights take 7.5 GiB"
    app.toggle(key="shown").set_value(False).run()
    app.toggle(key="shown").set_value(True).run()
    assert app.session_state["seen"] == "weights take 7.5 GiB"
    assert not app.query_params


def test_the_example_fills_the_field_and_clear_empties_it():
    app = AppTest.from_function(script, default_timeout=60).run()
    app.button(key="ex_log_text").click().run()
    assert app.session_state["seen"] == "an example"
    app.button(key="clear_log_text").click().run()
    assert app.session_state["seen"] == ""


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xe9 7.5 GiB", "caf\ufffd 7.5 GiB"),
        ("7.5 GiB".encode("utf-16"), "7.5 GiB"),
        (b"\xef\xbb\xbf7.5 GiB", "7.5 GiB"),
    ],
    ids=["bytes that are no text", "redirected by a Windows shell", "with a mark"],
)
def test_a_file_fills_the_field_whatever_its_encoding(data, text):
    app = AppTest.from_function(script, default_timeout=60).run()
    app.get("file_uploader")[0].upload("engine.log", data, "text/plain").run()
    assert app.session_state["seen"] == text


def test_a_text_over_the_limit_is_refused_in_a_sentence_and_stays_in_the_field():
    app = AppTest.from_function(script, default_timeout=60).run()
    app.text_area(key="log_text").set_value("x" * 1_000_001).run()
    assert app.session_state["seen"] == ""
    assert "1\u202f000\u202f001 characters" in app.error[0].value
    assert app.text_area(key="log_text").value
