"""What a visit's scripts say is heard in its order and at once; a script waits until its figure is sent."""

import asyncio
from threading import Event, Thread
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionClientDisconnectedError

from ui import at_once
from ui.at_once import Said

PATIENCE_S = 60


class Visit:
    """A visit whose thread that sends is the test's: it hears when it is told to."""

    id = "visit"

    def __init__(self) -> None:
        self.calls, self.heard, self.queue = [], [], []
        self.woken = Event()

    def _call_soon_on_event_loop(self, call):
        self.calls.append(call)
        self.woken.set()

    def turn(self):
        """One turn of the thread that sends."""
        calls, self.calls = self.calls, []
        for call in calls:
            call()


@pytest.fixture
def visit(monkeypatch):
    def hear(visit, name, *, forward_msg):
        if name == "fault":
            raise ValueError("a fault")
        visit.heard.append(name)
        visit.queue.append(name)

    monkeypatch.setattr(at_once, "_hear", hear)
    monkeypatch.setattr(at_once, "_taken", lambda visit: [visit.queue.pop(0) for _ in list(visit.queue)])
    return Visit()


@pytest.fixture
def browser(monkeypatch, visit):
    """What is sent to the visit's browser, and what sends it; `lost` has it gone."""
    browser = SimpleNamespace(sent=[], lost=False, client="client", session=visit)

    def send(_, message):
        if browser.lost:
            raise SessionClientDisconnectedError
        browser.sent.append(message)

    sessions = SimpleNamespace(get_active_session_info=lambda name: None if browser.client is None else browser)
    runtime = SimpleNamespace(
        _session_mgr=sessions,
        _send_message=send,
        disconnect_session=lambda name, client: setattr(browser, "client", None),
    )
    monkeypatch.setattr(Runtime, "instance", classmethod(lambda _: runtime))
    return browser


def test_all_that_is_said_is_heard_in_its_order_with_one_call(visit, browser):
    said = Said(visit)
    for name in "abc":
        said.say(name)
    assert len(visit.calls) == 1
    visit.turn()
    assert visit.heard == browser.sent == ["a", "b", "c"]
    said.say("d")
    visit.turn()
    assert browser.sent == ["a", "b", "c", "d"]


def test_a_fault_in_one_keeps_none_of_the_others_back(visit, browser):
    said = Said(visit)
    for name in ("a", "fault", "b"):
        said.say(name)
    with pytest.raises(ValueError, match="a fault"):
        visit.turn()
    visit.turn()
    assert browser.sent == ["a", "b"]


def test_who_is_gone_is_sent_nothing_more_and_what_comes_then_waits(visit, browser):
    said, browser.lost = Said(visit), True
    said.say("a")
    visit.turn()
    assert browser.client is None
    said.say("b")
    visit.turn()
    assert visit.queue == ["b"]


def test_a_script_waits_until_its_figure_is_sent(visit, browser, monkeypatch):
    monkeypatch.setattr(at_once, "MOST_WAITED_S", PATIENCE_S)
    figure, said = ForwardMsg(), Said(visit)
    figure.delta.new_element.vega_lite_chart.spec = "{}"
    script = Thread(target=said.say, args=("figure",), kwargs={"forward_msg": figure})
    script.start()
    while len(visit.calls) < 2:
        assert visit.woken.wait(PATIENCE_S)
        visit.woken.clear()
    assert script.is_alive()

    async def turn():
        visit.turn()

    asyncio.run(turn())
    script.join(PATIENCE_S)
    assert not script.is_alive()
    assert browser.sent == ["figure"]
