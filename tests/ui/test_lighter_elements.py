"""What is drawn in fewer steps against what Streamlit draws itself: the same messages, byte for byte."""

from types import MethodType

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.layouts import LayoutsMixin
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from ui import lighter_elements


def page() -> None:
    import streamlit as st

    @st.cache_data
    def drawn(text: str) -> str:
        with st.container(key="cached"):
            st.markdown(text)
        return text

    @st.fragment
    def part(place) -> None:
        st.markdown("In a fragment.")
        place.container().markdown("Of a fragment, elsewhere.")

    st.markdown("At the outermost level.")
    head, later = st.container(key="head", horizontal=True, gap=None, vertical_alignment="center"), st.empty()
    with head, st.container(width=300, height=200, border=True, key=7):
        st.markdown("Aligned.", text_alignment="center", width=120)
        head.button("beside", key="beside", width="stretch", shortcut="B", type="primary")
        st.number_input("typed", 0, 9, key="typed", bind="query-params")
    with st.container(horizontal=True, wrap=False, horizontal_alignment="right", height="stretch"):
        left, right = st.columns([1, 2], border=True)
        left.toast("Once.")
        right.code("a = 1", height=90)
    with st.form("asks"):
        st.empty().text_input("name", key="name")
        with st.container():
            st.form_submit_button("send")
    st.container().text_input("not of the form")
    with st.expander("folded", key="fold"), st.grid(2).cell():
        st.caption("In a cell.")
    for tab in st.tabs(["one", "two"]):
        tab.markdown("In a tab.")
    later.markdown("First.")
    later.container(key="late").markdown("Put in its place.")
    drawn("Replayed.")
    with st.container(key="beyond"):
        part(head)
        drawn("Replayed.")
    with st.sidebar, st.container(key="aside"):
        st.markdown("Aside.")


def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All that two runs of the page send."""
    messages: list[bytes] = []
    enqueue = ForwardMsgQueue.enqueue

    def noted(queue, message):
        messages.append(message.SerializeToString(deterministic=True))
        enqueue(queue, message)

    with monkeypatch.context() as patched:
        patched.setattr(ForwardMsgQueue, "enqueue", noted)
        st.cache_data.clear()
        app = AppTest.from_function(page, default_timeout=60).run().run()
        assert not app.exception, app.exception
    return messages


def test_what_is_sent_is_what_streamlit_sends(monkeypatch):
    lighter_elements.install()
    lighter = sent(monkeypatch)
    own = {"_enqueue": lighter_elements._enqueue, "_block": lighter_elements._block}
    for name, method in (own | {"container": LayoutsMixin.container}).items():
        monkeypatch.setattr(DeltaGenerator, name, method)
    monkeypatch.setattr(st, "container", MethodType(LayoutsMixin.container, st._main))
    assert lighter == sent(monkeypatch)
    assert len(lighter) > 60


def twice() -> None:
    import streamlit as st

    st.container(key="one")
    st.container(key="one")


def tilted() -> None:
    import streamlit as st

    st.container(horizontal_alignment="tilted")


@pytest.mark.parametrize("wrong", [twice, tilted])
def test_what_cannot_be_asked_is_refused_each_time(wrong):
    lighter_elements.install()
    app = AppTest.from_function(wrong, default_timeout=60).run()
    assert len(app.run().exception) == 1
