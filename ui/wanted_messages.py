"""What a visitor's browser may ask of the server over its WebSocket: reruns, and the data of what is on the page.

Streamlit answers more than this app's pages ask for, and to anybody: it clears the caches of all visitors, runs git
and sends the names of changed files. For whoever seems to sit at the machine itself, as everybody does behind a
proxy on it, it also writes files beside the app. All of that is dropped on its way to Streamlit. Source: streamlit
1.67, runtime/app_session.py, `handle_backmsg`; runtime/backend_operation_handler.py, `connection_locality`.

What our pages do ask for is bounded, too: Streamlit makes an address for each file name of a list as long as a
message, in the thread that all visitors share, and begins a script anew for each message of a visit, of which
thousands a second would leave no time to the others.

A message is read here as protobuf's wire format has it, by the numbers of its fields, and no field of another
number passes, so that it does not matter which of several Streamlit would take. Source:
https://protobuf.dev/programming-guides/encoding/; streamlit 1.67, proto/BackMsg.proto.
"""

import asyncio
import time
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Message, Receive, Send

from runtime import operators

STOP, RERUN, FILE_URLS, HEARTBEAT, OPERATION = 7, 11, 16, 17, 19
WANTED = frozenset({STOP, RERUN, FILE_URLS, HEARTBEAT, OPERATION})
"""Fields of a `BackMsg` that a page of ours sends: `stop_script`, `rerun_script` and so on."""
QUERY, WIDGETS, WIDGET, FILE_NAME = 1, 2, 1, 2
"""Fields of a `ClientState`: `query_string` and `widget_states`; each widget in the latter; a file's name."""
OPERATIONS = frozenset({1, 2, 3, 6})
"""Fields of an operation: who asks, and a file or rows of a table that the page shows."""
MOST_WIDGETS, LONGEST_QUERY, MOST_NAMES = 2_000, 64_000, 16
"""Of one message: a page of ours has some hundred widgets, and asks for one file at a time."""
MOST_FIELDS = 4_000
"""Of one message, and of each part of it, in all."""
AT_ONCE, PER_S = 60.0, 50.0
"""Messages of one visit, at once and from then on: whoever waits for each answer sends fewer."""
UNREAD_S, GIVE_UP_S = 1.0, 30.0
"""Whoever takes nothing of its answers for so long begins no run; and for so long, is hung up on."""


def fields(data: bytes | memoryview) -> Iterator[tuple[int, memoryview | None]]:
    """Yield each field of a message: its number, and its bytes where it is of any length.

    Raises ValueError where it is no message, of a kind that protobuf gave up, or of too many fields.
    """
    view, at = memoryview(data), 0
    for _ in range(MOST_FIELDS):
        if at == len(view):
            return
        tag, at = _number(view, at)
        kind = tag & 7
        if kind == 2:
            size, at = _number(view, at)
            end = at + size
            yield tag >> 3, view[at:end]
        elif kind == 0:
            _, end = _number(view, at)
            yield tag >> 3, None
        else:
            end = at + {1: 8, 5: 4}.get(kind, len(view) + 1)
            yield tag >> 3, None
        if end > len(view):
            raise ValueError("a field that has no end")
        at = end
    raise ValueError("too many fields")


def _number(view: memoryview, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    number = 0
    for place in range(10):
        if at + place >= len(view):
            break
        number |= (view[at + place] & 127) << 7 * place
        if view[at + place] < 128:
            return number, at + place + 1
    raise ValueError("a number that has no end")


def is_wanted(data: bytes) -> bool:
    """Whether a page of this app sends such a message."""
    try:
        found = list(fields(data))
        return bool(found) and all(_is_short(number, part) for number, part in found)
    except ValueError:
        return False


def _is_short(number: int, part: memoryview | None) -> bool:
    """Whether a field is one of those, and asks for no more than a page does."""
    if number in (STOP, HEARTBEAT) and part is None:
        return True
    if number not in (RERUN, FILE_URLS, OPERATION) or part is None:
        return False
    inner = list(fields(part))
    if number == OPERATION:
        return all(one in OPERATIONS for one, _ in inner)
    if number == FILE_URLS:
        return sum(one == FILE_NAME for one, _ in inner) <= MOST_NAMES
    queries = sum(len(text or b"") for one, text in inner if one == QUERY)
    states = [each for one, states in inner if one == WIDGETS for each in fields(states or b"")]
    return queries <= LONGEST_QUERY and sum(one == WIDGET for one, _ in states) <= MOST_WIDGETS


@dataclass
class Allowance:
    """How many messages a visit may still send: so many at once, and some more each second."""

    left: float = AT_ONCE
    at_s: float = 0.0

    def takes(self, now_s: float) -> bool:
        """Whether one more may come now, which is then counted."""
        self.left = min(AT_ONCE, self.left + PER_S * (now_s - self.at_s))
        self.at_s = now_s
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass
class Visit:
    """What passes between a visit and its browser. `ends` is the time limit under which Streamlit serves it."""

    of_browser: Receive
    to_browser: Send
    ends: asyncio.Timeout
    allowance: Allowance = field(default_factory=Allowance)
    waiting: MutableMapping[object, float] = field(default_factory=dict)
    """What is being sent, and since when."""

    async def receive(self) -> Message:
        """Return the next message that is wanted. What is not is dropped, and gives others their turn."""
        while True:
            message = await self.of_browser()
            fault = self._fault(message) if message["type"] == "websocket.receive" else ""
            if not fault:
                return message
            operators.note("dropped", message=fault)
            await asyncio.sleep(0)

    def _fault(self, message: Message) -> str:
        """Why a message is dropped; nothing where it passes."""
        now_s, data = time.monotonic(), message.get("bytes")
        if not self.allowance.takes(now_s):
            return "too many"
        if not isinstance(data, bytes) or not is_wanted(data):
            return "unwanted"
        return "unread" if now_s - min(self.waiting.values(), default=now_s) > UNREAD_S else ""

    async def send(self, message: Any) -> None:
        """Send what Streamlit says. Raises OSError, and ends the visit, where its browser takes nothing."""
        sent = object()
        self.waiting[sent] = time.monotonic()
        try:
            async with asyncio.timeout(GIVE_UP_S):
                await self.to_browser(message)
        except TimeoutError:
            operators.note("unread", seconds=GIVE_UP_S)
            self.ends.reschedule(asyncio.get_running_loop().time())
            raise OSError("nothing is taken") from None
        finally:
            del self.waiting[sent]
