"""The lighter view of session state against Streamlit's own copy of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from ui.lighter_state import _COUNTED, OneKeyAtATime, _locked_option, _whole, install, option

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
