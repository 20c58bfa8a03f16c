"""Which uploads stay: Streamlit keeps whatever number of files a visit sends, in the server's memory.

What goes makes room for what comes, by the request with which a browser takes a file back: a page of ours has read
a file when it came.
"""

import re
from dataclasses import dataclass

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_FILES = 32
MOST_UPLOADED = 1 << 26
"""Files of one visit, and bytes of all: past either the first are let go."""
LEAST = 4_096
"""Bytes that a file counts for at least, with what is noted of it."""
PLACE = re.compile(r"/_stcore/upload_file/([\w-]{1,64})/[\w-]{1,64}", re.ASCII)
TOKENS = ("cookie", "x-xsrftoken")
"""By which Streamlit knows a page of its own."""


@dataclass(frozen=True)
class Kept:
    """A file that a visit has sent, and with what its page showed that it is one."""

    visit: str
    size: int
    tokens: list[tuple[bytes, bytes]]


class Uploads:
    """Middleware that counts the files there are, and lets the oldest go."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.bytes = 0
        self.kept: dict[str, Kept] = {}
        self.of_visit: dict[str, dict[str, None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope.get("method")
        place = PLACE.fullmatch(within(scope["path"]) or "") if method in ("PUT", "DELETE") else None
        if not place:
            await self.app(scope, receive, send)
            return
        size, done, asked = 0, False, dict(scope)

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            return message

        async def told(message: Message) -> None:
            nonlocal done
            done = done or message.get("status") == 204
            await send(message)

        await self.app(scope, counted, told)
        if done:
            self._forget(scope["path"])
            if method == "PUT":
                await self._keep(asked, place[1], size)

    async def _keep(self, asked: Scope, visit: str, size: int) -> None:
        headers, path = Headers(scope=asked), asked["path"]
        tokens = [(name.encode(), headers[name].encode("latin-1")) for name in TOKENS if name in headers]
        size = max(LEAST, size + sum(len(value) for _, value in tokens))
        self.kept[path], self.bytes = Kept(visit, size, tokens), self.bytes + size
        own = self.of_visit.setdefault(visit, {})
        own[path] = None
        while len(own) > MOST_FILES:
            await self._let_go(next(iter(own)), asked)
        while self.bytes > MOST_UPLOADED:
            await self._let_go(next(iter(self.kept)), asked)

    async def _let_go(self, path: str, asked: Scope) -> None:
        """Take a file back, as its own page would."""
        tokens = self.kept[path].tokens
        self._forget(path)
        taking = {**asked, "method": "DELETE", "path": path, "raw_path": path.encode(), "headers": tokens}
        await self.app(taking, _nothing, _unheard)

    def _forget(self, path: str) -> None:
        """One less, where it is noted."""
        if gone := self.kept.pop(path, None):
            self.bytes -= gone.size
            del self.of_visit[gone.visit][path]
            if not self.of_visit[gone.visit]:
                del self.of_visit[gone.visit]


def within(path: str) -> str | None:
    """A path below the one that the app is served at; None where it is another's."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    if not base:
        return path
    return path.removeprefix(f"/{base}") or "/" if f"{path}/".startswith(f"/{base}/") else None


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_: Message) -> None:
    """Nobody waits for the answer."""
