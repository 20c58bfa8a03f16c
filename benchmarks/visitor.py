"""A visitor without a browser: the app's own messages over its WebSocket, as a page in Chromium would send them.

    with Visitor("http://127.0.0.1:8501", "comm_cost?tp=4") as visitor:
        visitor.press("scenario")  # opens the panel, whose fields are sent to nobody before
        visitor.set("batch", 32)
        visitor.go("clinic")

Each call waits until the app says that its script has finished, and gives the seconds until
all that it changed had come.
"""

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

PATIENCE_S = 120.0


class Visitor:
    """One session. `texts` are the words of the page, `faults` the exceptions shown, `widgets` ids by key.

    `kinds` are those of all messages that came, `told` what components were last told, by key; `repeats` are the
    fragments that a page repeats by itself, which here nobody does but `repeat`.
    """

    def __init__(self, url: str, opening: str = "", headers: Mapping[str, str] | None = None) -> None:
        address = f"ws{url[4:]}/_stcore/stream"
        options: dict[str, Any] = {"subprotocols": ["streamlit"], "max_size": None, "additional_headers": headers}
        self._closing = ExitStack()
        self._socket = self._closing.enter_context(connect(address, **options))
        self._states: dict[str, WidgetState] = {}
        self._sliders: set[str] = set()
        self._page = self._query = self._name = ""
        self.pages: dict[str, str] = {}
        self.widgets: dict[str, str] = {}
        self._texts: dict[tuple[int, ...], tuple[str, str]] = {}
        self.faults: list[str] = []
        self.kinds: set[str] = set()
        self.told: dict[str, Any] = {}
        self.repeats: list[str] = []
        self.session = ""
        stem, _, query = opening.partition("?")
        self.go(stem, query)

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def go(self, stem: str, query: str = "") -> float:
        """Go to a page; the first one is opened by its name, as the navigation is not known yet."""
        self._page, self._query = stem, query
        return self._run()

    def set(self, key: str, value: str | float | bool) -> float:
        """Give a widget that the last run drew a value, and rerun."""
        state = WidgetState(id=self.widgets[key])
        if key in self._sliders:
            state.double_array_value.data.append(float(value))
        elif isinstance(value, bool):
            state.bool_value = value
        elif isinstance(value, str):
            state.string_value = value
        else:
            state.double_value = float(value)
        self._states[key] = state
        return self._run()

    def press(self, key: str, fragment: str = "") -> float:
        """Press a button that the last run drew, in a fragment that then runs alone if one is given."""
        return self._run(WidgetState(id=self.widgets[key], trigger_value=True), fragment=fragment)

    def repeat(self, fragment: str) -> float:
        """Run a fragment again, as a page does by itself."""
        return self._run(fragment=fragment)

    def tell(self, key: str, event: str, value: object, fragment: str = "") -> float:
        """Have a component tell the server of an event."""
        name = _make_trigger_id(self.widgets[key], "events")
        told = json.dumps([{"event": event, "value": value}])
        return self._run(WidgetState(id=name, json_trigger_value=told), fragment=fragment)

    def send(self, message: BackMsg) -> None:
        """Send a message of any kind, and wait for nothing."""
        self._socket.send(message.SerializeToString())

    def _run(self, *once: WidgetState, fragment: str = "") -> float:
        began_s = time.monotonic()
        asked = BackMsg()
        script = asked.rerun_script
        script.fragment_id = fragment
        script.query_string = self._query
        script.page_name, script.page_script_hash = "" if self.pages else self._page, self.pages.get(self._page, "")
        script.widget_states.widgets.extend((*self._states.values(), *once))
        script.context_info.timezone = "UTC"
        script.context_info.url = "http://localhost/"
        self.send(asked)
        answered_s, over = began_s, False
        while not over:
            message = ForwardMsg.FromString(self._socket.recv(PATIENCE_S))  # type: ignore[arg-type]
            over = self._is_finished(message)
            if answered_s == began_s or message.HasField("delta"):
                answered_s = time.monotonic()
        return answered_s - began_s

    def _is_finished(self, message: ForwardMsg) -> bool:
        kind = message.WhichOneof("type")
        self.kinds.add(kind or "")
        if kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "auto_rerun":
            self.repeats = [*self.repeats, message.auto_rerun.fragment_id]
        elif kind == "new_session":
            self.session = message.new_session.initialize.session_id
            self._name = message.metadata.run.script_run_id
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._note(message.delta.new_element, tuple(message.metadata.delta_path))
        ended = message.script_finished
        if kind == "script_finished" and ended == ForwardMsg.FINISHED_SUCCESSFULLY:
            self._texts = {at: (text, run) for at, (text, run) in self._texts.items() if run == self._name}
        return kind == "script_finished" and ended != ForwardMsg.FINISHED_EARLY_FOR_RERUN

    @property
    def texts(self) -> list[str]:
        """What is written on the page now: as a browser, it is sent what is new and clears what no run draws."""
        return [text for text, _ in self._texts.values()]

    def _note(self, element: Any, place: tuple[int, ...]) -> None:
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        if kind == "exception":
            self.faults.append(f"{drawn.type}: {drawn.message} {drawn.stack_trace}")
        if hasattr(drawn, "id") and isinstance(drawn.id, str) and drawn.id.count("-") >= 2:
            key = drawn.id.split("-", 2)[2]
            self.widgets[key] = drawn.id
            if kind == "slider":
                self._sliders.add(key)
            if kind == "bidi_component" and drawn.json:
                self.told[key] = json.loads(drawn.json)
        if hasattr(drawn, "body"):
            self._texts[place] = str(drawn.body), self._name
        else:
            self._texts.pop(place, None)
