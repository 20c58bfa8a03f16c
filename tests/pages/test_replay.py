"""A page that is played again is the page: the same messages, state and address, whoever it was drawn for first."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from ui import replay
from ui.course.pages import PAGES, Entry, entry

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sent(monkeypatch) -> Iterator[list[bytes]]:
    """What the runs of a visit send; in here they are played."""
    messages: list[bytes] = []
    enqueue = ForwardMsgQueue.enqueue

    def noted(self, message):
        messages.append(message.SerializeToString(deterministic=True))
        enqueue(self, message)

    prepare = PagesManager.__init__

    def declared(self, *args, **named):
        prepare(self, *args, **named)
        PagesManager.uses_pages_directory = False  # as a server knows once st.navigation has run in it

    monkeypatch.setattr(PagesManager, "__init__", declared)
    monkeypatch.setattr(ForwardMsgQueue, "enqueue", noted)
    monkeypatch.setattr(replay, "in_tests", True)
    replay.forget()
    yield messages
    replay.forget()


@pytest.fixture
def played(monkeypatch) -> list[object]:
    """A recording for each time that one is played."""
    times: list[object] = []
    play = replay._play

    def counted(recording, context):
        times.append(recording)
        play(recording, context)

    monkeypatch.setattr(replay, "_play", counted)
    return times


def visit(page: Entry, **query: str) -> AppTest:
    """The app on a page; its first run declares the navigation, by which the page is known."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    app.switch_page(page.path)
    return app.run()


def after(app: AppTest, sent: list[bytes], batch: int) -> tuple[list[bytes], dict, dict]:
    """What a run with this batch sends, and the state and the address that it leaves."""
    sent.clear()
    app.session_state["batch"] = batch
    app.run()
    assert not app.exception
    state = app._session_state._state.filtered_state
    plain = {name: repr(state[name]) for name in state if isinstance(state[name], str | int | float | list)}
    return list(sent), plain, dict(app.query_params)


def is_as_it_was(app: AppTest, sent: list[bytes], played: list[object]) -> bool:
    """Whether what is played after another batch is what was drawn before it; whether anything was played."""
    before, count = after(app, sent, 3), len(played)
    after(app, sent, 4)
    assert after(app, sent, 3) == before
    return len(played) > count


def test_what_one_visitor_has_seen_is_played_to_another(sent, played):
    page = entry("comm_cost")
    first, second = (visit(page, **page.scene("see")) for _ in range(2))
    drawn = after(first, sent, 3)
    assert not played[1:]
    assert after(second, sent, 3) == drawn
    assert played
    assert second.button(key="next").click().run().title[0].value != first.title[0].value


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_every_scene_is_played_as_it_is_drawn(page, sent, played):
    app = visit(page)
    for scene in page.names:
        app.session_state[f"{page.prefix}_scene"] = scene
        assert is_as_it_was(app, sent, played) or (page.stem, scene) == ("placement", "race"), scene


def test_what_is_refused_or_brought_along_or_shared_is_not_kept(sent, played):
    refused = entry("comm_cost")
    app = visit(refused, **refused.scene("bench"), bill_figure="ends", tp="3", model="deepseek-v3")
    read = visit(entry("startup_log"))
    read.text_area[0].set_value("WARNING 11-22 a log of my own").run()
    replay.forget()
    for visitor in (read, visit(refused, room="ABCD")):
        after(visitor, sent, 3)
        assert not replay._kept
    assert not app.exception
