"""Of what a run draws, a visit's browser is sent what it does not show yet.

Streamlit sends each run whole, and a browser goes over all of it, changed or not, several times while it comes in:
some 60 messages for a press that changes three. Here the server keeps, for each connection, what stands at which
place of the page. A run waits for its end and is sent without what stands there already, and without its name: for
the browser all of it belongs to the run that the page was drawn by. A place that is left empty is sent an empty
element.

A figure that stands in its place does not wait, and what else changed comes when it is drawn; so it does after one
that takes a new place, and the blocks that lead to it. Of a run without a figure the words that stand in their
places come first: a question before the form that answers it. That the run began and ended is said after all that:
for each of the two a browser goes over the whole page, lets go of widgets that are gone, and is ready for a key R
or a step back in its history.

Sent whole, as Streamlit sends it, is a run of another page, one longer than `HOLD_S`, one that ends early
and the next, one after a fragment's, and one in which a widget or a named figure has moved, which a browser keeps
by the run's name.
No message refers to one that a browser has kept (`minCachedMessageSize` in `.streamlit/config.toml`): it lets go of
what it has not been sent for two runs.
Source: streamlit 1.67, runtime/runtime.py, `_send_message`; proto/ForwardMsg.proto; App.tsx, AppRoot.ts.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from runtime import operators
from ui import emptied_places as places
from ui.drawn_content import Content, Place, content_of, drawn_by, is_figure

HOLD_S = 0.2
"""How long a run is waited for; one visitor's takes a tenth of that."""

FIGURE_S, REST_S = 0.03, 0.1
"""After a figure is sent, and after the rest of what changed is: it is drawn by then."""

_OF_THE_PAGE = frozenset({"navigation", "page_config_changed"})
"""What is said once of a whole page; a browser takes a title from the first, and then from the second."""
_AT_REST = frozenset({"session_status_changed", "auto_rerun", "stop_auto_rerun"})
"""What a browser takes to be of the run that has begun."""
_WORDS = frozenset({"markdown", "html", "alert", "empty", ""})


class Shown:
    """What one browser shows, by what it was sent; `send` takes what it is sent now."""

    def __init__(self, send: Callable[[ForwardMsg], None]) -> None:
        self._send = send
        self._at: dict[Place, Content] | None = None
        """None: that is not known."""
        self._said: dict[str, str] = {}
        self._run = self._page = ""
        self._held: list[ForwardMsg] = []
        """The run that is waited for."""
        self._until: asyncio.TimerHandle | None = None
        self._ahead = False
        """Whether a figure of it has been sent."""
        self._waiting: list[list[ForwardMsg]] = []
        """What is sent later, one list after another; at last, that a run began and ended."""
        self._next: asyncio.TimerHandle | None = None

    def take(self, message: ForwardMsg) -> None:
        """Send a message, or hold it for the end of its run.

        Streamlit sends to all visitors in one loop, which a fault here would end: it sends all there is instead.
        """
        try:
            self._take(message)
        except SessionClientDisconnectedError:
            raise
        except Exception as fault:
            operators.note("fault", kind=type(fault).__name__)
            self._at = None
            held = self._let_go()
            for one in held if message in held else (*held, message):
                self._send(one)

    def _take(self, message: ForwardMsg) -> None:
        if message.HasField("new_session"):
            self._send_whole()
            self.send_what_waits()
            self._held.append(message)
            self._ahead = False
            if self._at and message.new_session.page_script_hash == self._page and not _fragments(message):
                self._until = asyncio.get_running_loop().call_later(HOLD_S, self.wait_no_longer)
            else:
                self._send_whole()
        elif self._waiting and message.HasField("session_status_changed"):
            self._waiting[-1].append(message)
        elif not self._held:
            self.send_what_waits()
            self._send_anyway(message)
        else:
            self._send_figure(message)
            self._held.append(message)
            if message.HasField("script_finished") and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self._send_changes()
            elif message.HasField("script_finished") or message.delta.HasField("new_transient"):
                self._send_whole()

    def wait_no_longer(self) -> None:
        """Send what there is of a run that takes long."""
        with suppress(SessionClientDisconnectedError):
            self._send_whole()

    def _let_go(self) -> list[ForwardMsg]:
        if self._until:
            self._until.cancel()
            self._until = None
        held, self._held = self._held, []
        return held

    def _send_whole(self) -> None:
        for message in self._let_go():
            self._send_anyway(message)

    def _send_anyway(self, message: ForwardMsg) -> None:
        """As it is. After a run that is given up nothing is known: a browser may not have begun to draw it."""
        if message.HasField("new_session"):
            self._at, self._said = None if _fragments(message) else {}, {}
            self._run, self._page = message.metadata.run.script_run_id, message.new_session.page_script_hash
        elif message.HasField("script_finished") and message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
            self._at = None
        self._is_news(message)
        self._send(message)

    def _send_changes(self) -> None:
        drawn = {tuple(one.metadata.delta_path): one for one in self._held if one.metadata.delta_path}
        widgets = {content_of(one).widget: place for place, one in drawn.items()}
        figures = [place for place, one in drawn.items() if drawn_by(one) not in _WORDS]
        holds = {place[:deep] for place in figures for deep in range(len(place))}
        moved = any(
            (now := widgets.get(at.widget, place)) != place and (at.sort == "element" or now in holds)
            for place, at in (self._at or {}).items()
            if at.widget
        )
        begun, *rest, ended = self._held
        contents = {place: content_of(one) for place, one in drawn.items()}
        stay = {place for place, one in drawn.items() if drawn_by(one) in _WORDS and self._stands(place, contents)}
        cleared = {} if self._ahead or moved else places.cleared(self._at or {}, drawn, contents)
        news = [one for one in rest if self._is_news(one)]
        emptied = places.emptied(self._at or {}, drawn)
        if moved or emptied is None:
            return self._send_whole()
        changed = [one for one in news if one.WhichOneof("type") not in _AT_REST]
        others = [one for new in changed for one in (*cleared.get(tuple(new.metadata.delta_path), ()), new)]
        at_rest = [one for one in news if one.WhichOneof("type") in _AT_REST]
        self._let_go()
        parts: list[list[ForwardMsg]] = [[*others, *emptied]]
        if self._ahead:
            parts = [[], *parts]
        elif not any(is_figure(one) for one in others):
            words = [one for one in others if tuple(one.metadata.delta_path) in stay]
            others = [one for one in others if tuple(one.metadata.delta_path) not in stay]
            parts = [part for part in (words, [*others, *emptied]) if part] or [[]]
        else:
            figure = next(tuple(one.metadata.delta_path) for one in others if is_figure(one))
            ahead = [one for one in others if _leads_to(figure, tuple(one.metadata.delta_path))]
            parts = [ahead, [*(one for one in others if one not in ahead), *emptied]]
        self._waiting = [*parts, [self._named(begun), *at_rest, self._named(ended)]]
        self._send_next()
        return None

    def _send_figure(self, message: ForwardMsg) -> None:
        """Send another figure in the place of one, in blocks that are what they were, while the run goes on."""
        place, known = tuple(message.metadata.delta_path), self._at or {}
        if not is_figure(message) or place not in known:
            return
        now = {tuple(one.metadata.delta_path): content_of(one) for one in self._held}
        if place not in now and self._stands(place, now | {place: content_of(message)}) and self._is_news(message):
            self._ahead = True
            self._send(message)

    def _stands(self, place: Place, drawn: dict[Place, Content]) -> bool:
        """Whether what is drawn at a place, and the blocks it is in, may take the place of what is there."""
        known = self._at or {}
        parts = (place[:deep] for deep in range(2, len(place) + 1))
        return all(part in known and part in drawn and drawn[part].is_as(known[part]) for part in parts)

    def _send_next(self) -> None:
        """Send the first of what waits, and the next of it once that is drawn."""
        with suppress(SessionClientDisconnectedError):
            for message in self._waiting.pop(0):
                self._send(message)
        if self._waiting:
            wait_s = REST_S if len(self._waiting) == 1 else FIGURE_S
            self._next = asyncio.get_running_loop().call_later(wait_s, self._send_next)

    def send_what_waits(self) -> None:
        """Send what was to be sent later, for something comes after it."""
        if self._next:
            self._next.cancel()
            self._next = None
        waiting, self._waiting = self._waiting, []
        with suppress(SessionClientDisconnectedError):
            for message in (one for messages in waiting for one in messages):
                self._send(message)

    def _named(self, message: ForwardMsg) -> ForwardMsg:
        """The beginning or the end of a run, under the name of the run that the page was drawn by."""
        named = ForwardMsg()
        named.CopyFrom(message)
        named.metadata.run.script_run_id = self._run
        return named

    def _is_news(self, message: ForwardMsg) -> bool:
        """Whether the browser does not show it yet; from now on it does."""
        kind = message.WhichOneof("type") or ""
        if kind == "navigation":
            self._page = message.navigation.page_script_hash
        if self._at is None or kind not in ("delta", "ref_hash", *_OF_THE_PAGE):
            return True
        if kind in _OF_THE_PAGE:
            return self._is_said_anew(message, kind)
        place, now = tuple(message.metadata.delta_path), content_of(message)
        before = self._at.pop(place, Content())
        if now.sort != before.sort and before.sort != "element":
            for below in [one for one in self._at if one[: len(place)] == place]:
                del self._at[below]
        if now.sort != "new_transient":
            self._at[place] = now
        return now != before or now.acts

    def _is_said_anew(self, message: ForwardMsg, kind: str) -> bool:
        if self._said.get(kind) == message.hash:
            return False
        if kind == "navigation":
            self._said.clear()
        self._said[kind] = message.hash
        return True


def _leads_to(figure: Place, place: Place) -> bool:
    """Whether a figure cannot be put in its place without it: it is there, or a block on the way, or before one."""
    return bool(place) and place[:-1] == figure[: len(place) - 1] and place <= figure[: len(place)]


def _fragments(begun: ForwardMsg) -> list[str]:
    """The fragments that a run is of; none where it is the page's."""
    return list(begun.metadata.run.fragment_ids)


def install() -> None:
    """Send every visit of this process so. Doing it again changes nothing."""
    write = StarletteSessionClient.write_forward_msg
    if hasattr(write, "__wrapped__"):
        return

    @wraps(write)
    def write_changes(client: Any, message: ForwardMsg) -> None:
        shown = vars(client).get("shown")
        if shown is None:
            shown = client.shown = Shown(lambda one: write(client, one))
        shown.take(message)

    StarletteSessionClient.write_forward_msg = write_changes  # type: ignore[method-assign, assignment]
