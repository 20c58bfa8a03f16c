"""The server that visits come to: what it may be asked, and of how many, is settled before the first of them."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import wraps
from html import escape
from importlib import import_module
from threading import Thread
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.cli_util import open_browser
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from core.text.numbers import whole_number
from runtime import content, operators
from ui import wanted_messages

MOST_VISITS = whole_number(os.environ.get("SHARDLAB_MOST_VISITS"), 1) or 1_000
"""Pages open at once, some 0.1 MB each before they are used: far more than one server answers in good time."""
MOST_BODIES, BODY_S = 64, 30.0
"""Uploads that may be under way at once, and how long one may take: each holds up to a megabyte meanwhile."""
MOST_CONNECTIONS, REQUEST_S = 3 * MOST_VISITS, 10.0
"""Connections open at once, visits among them, and how long one may be without the headers of a request."""
MOST_UNREAD = 1 << 20
"""Bytes that wait for one visit's browser: the largest scene, its folds open, takes less than half of them."""
MOST_UNFINISHED = 1 << 26
"""Bytes of messages that have begun and not ended, of all visits together: a page of pastes has five million."""
MOST_LOOKS = 12
"""So many times `REQUEST_S` may an answer take to be taken: the largest file, at a hundred kilobits a second."""
AGAIN_S = 10
FIRST_PAGE = (
    *("ui.shell", "ui.overview.words", "ui.overview.journey", "ui.overview.course_map", "ui.overview.drawing"),
    *("PIL.Image", "streamlit.material_icon_names"),
)
"""What the first page imports, without what draws figures."""


def _import_first_page() -> None:
    """Import it, and take it out of sight of the collector."""
    for name in FIRST_PAGE:
        import_module(name)
    gc.collect()
    gc.freeze()


_importing = Thread(target=_import_first_page, daemon=True)
"""Begun when the server can be asked: the first visitor's browser meanwhile loads Streamlit's own scripts."""


class Bounded:
    """As many visits at once as the server takes, and as many uploads: one more is answered with 503."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.visits = self.bodies = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            if self.visits >= MOST_VISITS:
                await self._refuse(scope, receive, send)
                return
            self.visits += 1
            try:
                if _importing.is_alive():  # two threads in the modules of one package can end in each other's way
                    await asyncio.to_thread(_importing.join)
                await self.app(scope, receive, send)
            finally:
                self.visits -= 1
        elif scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            await self._read(scope, receive, send)
        elif scope["type"] == "http" and self.visits >= MOST_VISITS and _is_page(scope):
            await self._refuse(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request that has a body."""
        if self.bodies >= MOST_BODIES:
            await self._refuse(scope, receive, send)
            return
        self.bodies += 1
        try:
            async with asyncio.timeout(BODY_S):
                await self.app(scope, receive, send)
        except TimeoutError:
            await Response(status_code=408)(scope, receive, send)
        finally:
            self.bodies -= 1

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        operators.note("full", visits=self.visits, uploads=self.bodies)
        speaks = content.first_of(Headers(scope=scope).get("accept-language", ""))
        again = f'<meta charset="utf-8"><meta http-equiv="refresh" content="{AGAIN_S}"><title>Shardlab</title>'
        page = f'<!doctype html><html lang="{speaks}">{again}<p>{escape(content.load("shell", speaks)["full"])}</p>'
        await HTMLResponse(page, 503, {"Retry-After": str(AGAIN_S)})(scope, receive, send)


class Unread(asyncio.Queue[bytes]):
    """What a visit's browser has yet to take, bounded in bytes: Streamlit bounds the messages, of any length.

    With one that is too many Streamlit ends the visit, whose browser, if it is one, comes back by itself; what
    waited is let go at once. Source: streamlit 1.67, web/server/starlette/starlette_websocket.py.
    """

    waiting = 0

    def _put(self, item: bytes) -> None:
        self.waiting += len(item)
        super()._put(item)

    def _get(self) -> bytes:
        item = super()._get()
        self.waiting -= len(item)
        return item

    def put_nowait(self, item: bytes) -> None:
        if self.full() or self.waiting + len(item) > MOST_UNREAD:
            while not self.empty():
                self.get_nowait()
            operators.note("unread", bytes=MOST_UNREAD)
            raise asyncio.QueueFull
        super().put_nowait(item)


class Unfinished:
    """What has come of messages that have not ended. Past the most, the visit that began first is hung up on."""

    def __init__(self) -> None:
        self.held: dict[WebSocketsSansIOProtocol, int] = {}

    def came(self, visit: WebSocketsSansIOProtocol, size: int) -> None:
        """So many bytes of it are held now, its pieces with what each takes beside its letters."""
        if size:
            self.held[visit] = size  # one that is known keeps its place
        else:
            self.held.pop(visit, None)
        while size and sum(self.held.values()) > MOST_UNFINISHED:
            first = next(iter(self.held))
            del self.held[first]
            operators.note("unfinished", bytes=MOST_UNFINISHED)
            first.transport.abort()


_PIECE = 48
"""Bytes that a piece of a message takes beside its letters."""


def install() -> None:
    """Hang up on a connection that is one too many, that comes to no request or to no end, or that never reads.

    Again changes nothing.

    Uvicorn bounds the time between two requests alone, and takes any byte for one. Source: uvicorn 0.54,
    protocols/http/h11_impl.py.
    """
    made = AutoHTTPProtocol.connection_made
    if hasattr(made, "__wrapped__"):
        return

    @wraps(made)
    def made_and_watched(connection: Any, transport: asyncio.Transport) -> None:
        made(connection, transport)
        if len(connection.connections) > MOST_CONNECTIONS:
            operators.note("full", connections=MOST_CONNECTIONS)
            transport.abort()
        else:
            connection.loop.call_later(REQUEST_S, _hang_up_on, connection, (None, True), 1)

    AutoHTTPProtocol.connection_made = made_and_watched  # type: ignore[method-assign, assignment]
    opened = StarletteSessionClient.__init__

    @wraps(opened)
    def opened_and_bounded(client: Any, websocket: Any) -> None:
        opened(client, websocket)
        client._send_queue = Unread(client._send_queue.maxsize)

    StarletteSessionClient.__init__ = opened_and_bounded  # type: ignore[method-assign, assignment]
    received, lost, unfinished = (
        WebSocketsSansIOProtocol.data_received,
        WebSocketsSansIOProtocol.connection_lost,
        Unfinished(),
    )

    @wraps(received)
    def received_and_counted(visit: WebSocketsSansIOProtocol, data: bytes) -> None:
        held, pieces = unfinished.held.get(visit, 0), len(visit.frames)
        received(visit, data)
        more = len(data) + _PIECE * max(0, len(visit.frames) - pieces)
        if not visit.disconnected:
            unfinished.came(visit, held + more if visit.frames else len(visit.conn.reader.buffer))

    @wraps(lost)
    def lost_and_forgotten(visit: WebSocketsSansIOProtocol, error: Exception | None) -> None:
        unfinished.came(visit, 0)
        visit.frames.clear()
        visit.conn.reader.buffer.clear()
        lost(visit, error)

    WebSocketsSansIOProtocol.data_received = received_and_counted  # type: ignore[method-assign, assignment]
    WebSocketsSansIOProtocol.connection_lost = lost_and_forgotten  # type: ignore[method-assign, assignment]


def _hang_up_on(connection: Any, before: tuple[object, bool], looks: int) -> None:
    """Close a connection that still waits for a request after the one it had answered; else look again later.

    An answer that is not taken in time is given up.
    """
    transport, last = connection.transport, connection.cycle
    is_closed = transport.is_closing() and not transport.get_write_buffer_size()
    if is_closed or transport.get_protocol() is not connection:  # it is a visit by now
        return
    now = last, last is None or last.response_complete
    looks = looks + 1 if now == before else 1
    if looks > MOST_LOOKS:
        transport.abort()
    else:
        if now[1] and looks > 1:
            transport.close()
        connection.loop.call_later(REQUEST_S, _hang_up_on, connection, now, looks)


wanted_messages.install()
install()


def _is_page(scope: Scope) -> bool:
    """Whether a browser wants to show what it asks for."""
    return "text/html" in Headers(scope=scope).get("accept", "")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Bound what the server logs, give it the handles for its visits, and show the app to whoever started it.

    Streamlit leaves the last to a server that an app has made itself.
    """
    operators.bound_other_logs()
    _open_files()
    if not _importing.ident:
        _importing.start()
    if not st.get_option("server.headless"):
        open_browser(f"http://{st.get_option('browser.serverAddress')}:{st.get_option('server.port')}")
    yield


def _open_files() -> None:
    """As many open files as that many visits and their requests need, where the system lets them."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = max(least, 4 * MOST_VISITS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if most < 0 else min(wanted, most), most))


MIDDLEWARE = [Middleware(Bounded)]
