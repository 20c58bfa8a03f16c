"""The lighter view of session state against Streamlit's own copy of it."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import streamlit as st
from streamlit import config
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, SessionState, Value, WStates
from streamlit.testing.v1 import AppTest

from ui.lighter_state import _COUNTED, OneKeyAtATime, _locked_option, _opened, _whole, install, option

ROOT = Path(__file__).resolve().parents[2]


def page() -> None:
    import streamlit as st

    st.session_state.setdefault("mine", 3)
    st.number_input("typed", key="typed", value=None)
    st.number_input("without a key")
    st.selectbox("picked", ["a", "b"], key="picked")
    st.components.v2.component("lighter", html="<i></i>", js="export default () => {}")(key="part", data=1)


def test_every_key_and_value_are_those_of_streamlits_own_copy():
    app = AppTest.from_function(page, default_timeout=60).run()
    app.selectbox[0].select("b").run()
    state: SessionState = app._session_state._state
    whole, lighter = _whole(state), OneKeyAtATime(state)
    assert {"mine", "typed", "picked", "part"} <= set(whole)
    assert whole["typed"] is None
    assert dict(lighter) == whole
    for key in [*whole, *state._keys(), "unheard of", "$$STREAMLIT_INTERNAL_KEY_X"]:
        assert (key in lighter) == (key in whole), key
        assert lighter.get(key, "none") == whole.get(key, "none"), key


def test_no_command_is_counted_and_each_draws_what_it_drew():
    install()
    commands = [
        *vars(st).values(),
        *(getattr(st._main, name) for name in dir(st._main) if not name.startswith("__")),
    ]
    counted = [one for one in commands if getattr(getattr(one, "__func__", one), "__code__", None) is _COUNTED]
    assert not counted
    assert st.markdown.__self__ is st._main
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    assert [widget.label for widget in app.number_input] == ["typed", "without a key"]


def test_an_option_is_the_one_that_streamlit_reads():
    for key in config.get_config_options():
        assert option(key) == _locked_option(key), key
    with pytest.raises(RuntimeError):
        option("global.unheardOf")


def some_state(seed: int) -> SessionState:
    """What a run and a browser may have left: keys with and without widgets, values read, unread and unreadable."""
    pick, state = Random(seed), SessionState()
    told = state._new_widget_state
    for key in "abcdef":
        widget = f"$$ID-{pick.choice('xy')}-{key}"
        if pick.random() < 0.7:
            state._key_id_mapper[key] = widget
        for kept in (state._old_state, state._new_session_state):
            kept |= {name: pick.randrange(100) for name in (key, widget) if pick.random() < 0.3}
        state._new_session_state.pop(widget, None)
        if pick.random() < 0.7:
            kind, presents = pick.choice(["int_value", "double_value", "trigger_value"]), pick.random() < 0.3
            presenter = (lambda value, _: ("shown", value)) if presents else None
            told.set_widget_metadata(WidgetMetadata(widget, lambda value: value, int, kind, presenter=presenter))
        if pick.random() < 0.6:
            said = {pick.choice(["int_value", "trigger_value"]): pick.randrange(2)} if pick.random() < 0.8 else {}
            told.states[widget] = Serialized(WidgetState(id=widget, **said))
        if pick.random() < 0.2:
            told.states[widget] = Value(pick.randrange(100))
    return state


def test_what_is_kept_of_a_run_is_what_streamlit_keeps(monkeypatch):
    install()
    for seed in range(200):
        lighter, whole = some_state(seed), some_state(seed)
        shown = {widget for widget, meta in whole._new_widget_state.widget_metadata.items() if meta.presenter}
        was = {widget: whole._old_state[widget] for widget in shown & whole._old_state.keys()}
        lighter._compact_state()
        with monkeypatch.context() as patched:
            patched.setattr(WStates, "__getitem__", _opened)
            for name in whole._keys():
                with suppress(KeyError):
                    whole._old_state[name] = whole[name]
            whole._new_session_state.clear()
            whole._new_widget_state.clear()
        # what was kept was shown when it came to be kept: it is not shown a second time
        again = {widget: value for widget, value in was.items() if whole._old_state[widget] == ("shown", value)}
        assert lighter._old_state == whole._old_state | again, seed
        assert lighter._new_session_state == {}
        assert lighter._new_widget_state.states.keys() == whole._new_widget_state.states.keys()
        kinds = [
            {widget: meta.value_type for widget, meta in one._new_widget_state.widget_metadata.items()}
            for one in (lighter, whole)
        ]
        assert kinds[0] == kinds[1], seed


@pytest.mark.slow
def test_the_first_page_of_a_fresh_server_imports_nothing_that_only_figures_need():
    """They were most of a cold start: half a second of pandas before the first words.

    And of ours nothing is left to be imported once its visitor is let in.
    """
    program = (
        "import gc, sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from ui import server\n"
        "server._import_first_page()\n"
        "assert gc.get_freeze_count() > 10_000\n"
        "from ui import shell\n"
        "shell.FIGURES_AFTER_S = 1e6\n"
        "before = set(sys.modules)\n"
        "app = AppTest.from_file('streamlit_app.py', default_timeout=120).run()\n"
        "assert not app.exception and len(app.markdown) > 5\n"
        "late = {'pandas', 'pyarrow', 'altair', 'torch', 'ui.scenes'} & set(sys.modules)\n"
        "assert not late, late\n"
        "new = set(sys.modules) - before\n"
        "assert not [name for name in new if name.startswith(('core.', 'runtime.', 'ui.'))], new\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=300)
