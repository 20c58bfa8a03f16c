"""The server that visits come to: what it may be asked, and of how many, is settled before the first of them."""

import asyncio
import gc
import os
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from html import escape
from importlib import import_module
from threading import Thread

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.text.numbers import whole_number
from runtime import content, operators
from ui import lab_files
from ui.open_paths import OpenPaths
from ui.room import phones
from ui.uploads import Uploads
from ui.wanted_messages import Visit

MOST_VISITS = whole_number(os.environ.get("SHARDLAB_MOST_VISITS"), 1) or 1_000
"""Pages open at once, some 0.1 MB each before they are used: far more than one server answers in good time."""
MOST_BODIES, BODY_S = 64, 30.0
"""Uploads that may be under way at once, and how long one may take: each holds up to a megabyte meanwhile."""
ORIGINS = frozenset(one.rstrip("/") for one in os.environ.get("SHARDLAB_ORIGINS", "").lower().split(",") if one)
"""Under which names browsers may come: `https://labs.example.org`. Where none is given Streamlit takes a request's
own word for the server's name, whatever that is."""
AGAIN_S = 10
FIRST_PAGE = (
    *("ui.shell", "ui.overview.words", "ui.overview.journey", "ui.overview.course_map", "ui.overview.drawing"),
    "PIL.Image",
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
            if not _is_of_ours(scope):
                operators.note("dropped", message="origin")
                await Response(status_code=403)(scope, receive, send)
                return
            if self.visits >= MOST_VISITS:
                await self._refuse(scope, receive, send)
                return
            self.visits += 1
            try:
                if _importing.is_alive():  # two threads in the modules of one package can end in each other's way
                    await asyncio.to_thread(_importing.join)
                await self._serve(scope, receive, send)
            finally:
                self.visits -= 1
        elif scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            await self._read(scope, receive, send)
        elif scope["type"] == "http" and self.visits >= MOST_VISITS and _is_page(scope):
            await self._refuse(scope, receive, send)
        elif scope["type"] == "http" and b"room=" in scope["query_string"] and not _is_known(scope):
            await self.app(scope, receive, partial(_make_known, send))
        else:
            await self.app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A visit, for as long as its browser takes what it is told."""
        ends = asyncio.timeout(None)
        try:
            async with ends:
                visit = Visit(receive, send, ends)
                await self.app(scope, visit.receive, visit.send)
        except TimeoutError:
            if not ends.expired():
                raise

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


def _is_of_ours(scope: Scope) -> bool:
    """Whether a visit comes from a page of this server's, as its browser says; what is no browser says nothing."""
    origin = Headers(scope=scope).get("origin")
    return not ORIGINS or origin is None or origin.lower() in ORIGINS


def _is_known(scope: Scope) -> bool:
    """Whether a browser has its name for the votes of a room."""
    return bool(phones.name_of(HTTPConnection(scope).cookies.get(phones.COOKIE, "")))


async def _make_known(send: Send, message: Message) -> None:
    """Answer a browser, and give it a name."""
    if message["type"] == "http.response.start":
        MutableHeaders(scope=message).append("set-cookie", phones.new_cookie())
    await send(message)


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
    if (folder := lab_files.named()) and (fault := lab_files.fault_of(folder)):
        print(f"{lab_files.SETTING}: {folder} {fault}", file=sys.stderr)
    if not _importing.ident:
        _importing.start()
    if not st.get_option("server.headless"):
        address = f"http://{st.get_option('browser.serverAddress')}:{st.get_option('server.port')}"
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    yield


def _open_files() -> None:
    """As many open files as that many visits and their requests need, where the system lets them."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = max(least, 4 * MOST_VISITS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if most < 0 else min(wanted, most), most))


MIDDLEWARE = [Middleware(OpenPaths), Middleware(lab_files.LabFiles), Middleware(Bounded), Middleware(Uploads)]
