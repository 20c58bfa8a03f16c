"""What is asked out of sight: nothing of it is sent, and its value is where it would be were it seen."""

import pytest
from streamlit.testing.v1 import AppTest

from ui import unseen

unseen.install()


def page() -> None:
    import streamlit as st

    from ui import inputs
    from ui.unseen import out_of_sight

    st.session_state.setdefault("_address", {})
    st.session_state.setdefault("_heard", set())
    with st.container() if st.session_state.get("open") else out_of_sight():
        said = [
            inputs.whole("whole", "whole", 1, 64, 2),
            inputs.number("number", "number", 0.0, 1.0, 0.5),
            inputs.slide("slide", "slide", 0, 10, 3),
            inputs.toggle("toggle", "toggle"),
            inputs.select("select", "select", ["a", "b", "c"], "a"),
            inputs.choice("choice", "choice", [1, 2, 4], 2),
            inputs.line("line", "line", 9),
        ]
        st.text_area("text", key="text", persist_state="session")
    st.session_state["said"] = [*said, st.session_state["text"]]


KEYS = ("whole", "number", "slide", "toggle", "select", "choice", "line", "text")
DEFAULTS = [2, 0.5, 3, False, "a", 2, "", ""]
OTHERS = [8, 0.25, 7, True, "c", 4, "word", "a text"]


def widgets(app: AppTest) -> dict:
    """The widgets that are seen, by what they ask: a list is seen in place of the one that is bound."""
    kinds = (
        app.number_input,
        app.slider,
        app.toggle,
        app.selectbox,
        app.button_group,
        app.text_input,
        app.text_area,
    )
    return {widget.key.removesuffix("_shown"): widget for kind in kinds for widget in kind}


def said(app: AppTest) -> list:
    assert not app.exception
    return app.session_state["said"]


def test_nothing_of_it_is_sent_and_it_says_its_defaults():
    app = AppTest.from_function(page).run()
    assert not widgets(app)
    assert said(app) == DEFAULTS


@pytest.mark.parametrize("again", [0, 2])
def test_an_address_is_its_value_and_stays_so(again):
    app = AppTest.from_function(page)
    for key, value in zip(KEYS[:-1], OTHERS, strict=False):
        app.query_params[key] = str(value).lower()
    app.run()
    for _ in range(again):
        app.run()
    assert said(app)[:-1] == OTHERS[:-1]


def test_what_was_asked_in_sight_holds_out_of_it_and_a_browser_that_mounts_it_is_told():
    app = AppTest.from_function(page)
    app.session_state["open"] = True
    app.run()
    for key, value in zip(KEYS, OTHERS, strict=True):
        widgets(app)[key].set_value(value)
    assert said(app.run()) == OTHERS
    for seen in (False, False, True):
        app.session_state["open"] = seen
        app.run()
        assert said(app) == OTHERS, seen
        assert bool(widgets(app)) == seen
    told = {key: widget.proto for key, widget in widgets(app).items()}
    assert all(proto.set_value for proto in told.values())


def test_what_a_button_writes_is_in_the_address_and_a_default_is_not():
    app = AppTest.from_function(page).run()
    app.session_state["whole"], app.session_state["toggle"] = 8, True
    app.run()
    assert said(app)[0] == 8
    state = app._session_state._state.query_params
    assert state.to_dict() == {"whole": "8", "toggle": "true"}
    app.session_state["toggle"] = False
    app.run()
    assert state.to_dict() == {"whole": "8"}


def test_what_nobody_has_set_is_not_registered_again(monkeypatch):
    app = AppTest.from_function(page)
    app.query_params["whole"] = "8"
    for _ in range(2):
        app.run()
    registered = []
    register = unseen.register_widget_from_metadata
    monkeypatch.setattr(
        unseen,
        "register_widget_from_metadata",
        lambda metadata, context: (registered.append(metadata.id.rsplit("-")[-1]), register(metadata, context))[1],
    )
    for _ in range(3):
        assert said(app.run()) == [8, *DEFAULTS[1:]]
    assert set(registered) == {"whole"}
    app.session_state["slide"] = 7
    assert said(app.run())[2] == 7
    app.session_state["slide"] = 3
    for _ in range(2):
        assert said(app.run()) == [8, *DEFAULTS[1:]]
    assert app._session_state._state.query_params.to_dict() == {"whole": "8"}


def test_a_value_that_new_limits_refuse_is_not_kept():
    app = AppTest.from_function(page).run()
    app.session_state["slide"] = 7
    assert said(app.run())[2] == 7
    app.session_state["slide"] = 70
    assert said(app.run())[2] == 3


def worded() -> None:
    import streamlit as st

    from ui import inputs

    st.session_state.setdefault("_address", {})
    st.session_state.setdefault("_heard", set())
    words = {"a": "one", "b": "two"} if st.session_state.get("words") else {"a": "uno", "b": "dos"}
    st.session_state["said"] = inputs.option("option", "option", words, "a")


def test_a_row_that_shows_what_it_should_is_not_set_and_one_in_other_words_or_from_elsewhere_is():
    """A widget that is set is sent in each run, though nothing of it changed."""
    app = AppTest.from_function(worded).run()

    def told() -> tuple[bool, list[str], str]:
        assert not app.exception
        row = app.segmented_control(key="option_shown")
        return row.proto.set_value, list(row.proto.raw_values), app.session_state["said"]

    assert told() == (True, ["uno"], "a")
    app.run()
    assert told() == (False, [], "a")
    app.segmented_control(key="option_shown").set_value("b").run()
    assert told() == (False, [], "b")
    app.session_state["option"] = "a"
    app.run()
    assert told() == (True, ["uno"], "a")
    app.segmented_control(key="option_shown").set_value("b").run()
    app.session_state["words"] = True
    app.run()
    assert told() == (True, ["two"], "b")
