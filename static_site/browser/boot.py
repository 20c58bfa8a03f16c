"""The app in a browser's worker: Streamlit's own ASGI application, spoken to by messages instead of a socket.

`start` begins it; then `opened`, `came`, `closed` are a WebSocket's, and `asked` is one request over HTTP. What the
app sends goes to the JavaScript module `tab`: `sent(visit, bytes)`, `ended(visit)`. pandas and pyarrow, which
tables alone want, are the pack that `tab.fetched(name)` gives as the first is made: until then Streamlit has a
component's data as JSON, without a look for tables in it.
"""

import asyncio
import ctypes
import gzip
import io
import json
import os
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from contextlib import chdir
from importlib import invalidate_caches
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import one_thread
import tab  # of the worker

APP = "/app"
os.chdir(APP)
sys.path.insert(0, APP)
one_thread.install()


class _NoTls(ModuleType):
    """Stands for `ssl`, which Pyodide's library lacks: what opens no connection names its parts all the same."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


sys.modules.setdefault("ssl", _NoTls("ssl"))

_visits: dict[int, "asyncio.Queue[dict[str, Any]]"] = {}
_tasks: set["asyncio.Task[None]"] = set()
_app: Any = None


_LINKED = "libarrow_python.so"


def _place_tables() -> None:
    """Put in place what tables are of: a pack's files, and the library that others of them link to.

    Files are written a piece at a time, as all of them are many times the pack. A library's name is what it was
    loaded by, and the others name this one without a folder.
    """
    with gzip.open(io.BytesIO(tab.fetched("tables").to_bytes())) as pack:
        for name, length in json.loads(pack.readline()):
            path = Path("/", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                while length:
                    length -= file.write(pack.read(min(length, 1 << 20)))
    invalidate_caches()
    _place_utc()
    with chdir(Path(sysconfig.get_path("purelib"), "pyarrow")):
        ctypes.CDLL(_LINKED)
        os.unlink(_LINKED)  # some 40 MB that are not read again


def _place_utc() -> None:
    """Put UTC where dateutil looks for it first: pandas asks, and an archive of all zones takes a second."""
    zones = Path("/usr/share/zoneinfo")
    zones.mkdir(parents=True, exist_ok=True)
    (zones / "UTC").write_bytes((files("tzdata") / "zoneinfo" / "UTC").read_bytes())


def made() -> Any:
    """Import the app; what a server would serve."""
    import anyio.to_thread
    import streamlit as st

    from runtime.one_process import bring_later

    bring_later(_place_tables)
    anyio.to_thread.run_sync = _done_here
    return st.App(f"{APP}/streamlit_app.py")


async def start() -> None:
    """Import the app and have it begin, as a server would."""
    global _app
    _app = made()
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    began: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "lifespan.startup.failed":
            began.set_exception(RuntimeError(message.get("message", "")))
        elif not began.done():
            began.set_result(None)

    told.put_nowait({"type": "lifespan.startup"})
    _keep(_app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, told.get, send))
    await began


def opened(visit: int, path: str, protocols: str, headers: str) -> None:
    """A page opens its socket."""
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    inbox.put_nowait({"type": "websocket.connect"})
    _visits[visit] = inbox
    scope = _scope("websocket", path, headers)
    scope["subprotocols"] = protocols.split(",")
    scope["headers"].append((b"sec-websocket-protocol", protocols.encode()))

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "websocket.send":
            tab.sent(visit, message["bytes"])
        elif message["type"] == "websocket.close":
            tab.ended(visit)

    _keep(_app(scope, inbox.get, send))


def came(visit: int, message: Any) -> None:
    """A page sends a message."""
    if visit in _visits:
        _visits[visit].put_nowait({"type": "websocket.receive", "bytes": message.to_bytes()})


def closed(visit: int) -> None:
    """A page has closed its socket."""
    if inbox := _visits.pop(visit, None):
        inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})


async def asked(method: str, path: str, headers: str, body: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return the answer to one request: its status, headers and body."""
    status, answered, parts, over = 500, [], [], asyncio.Event()
    request = [{"type": "http.request", "body": body.to_bytes() if body else b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if request:
            return request.pop()
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            answered.extend((name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"])
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                over.set()

    await _app({**_scope("http", path, headers), "method": method}, receive, send)
    return status, answered, b"".join(parts)


def _scope(kind: str, path: str, headers: str) -> dict[str, Any]:
    """What a server says of a request. Headers come as lines `name: value`."""
    path, _, query = path.partition("?")
    pairs = (line.partition(": ") for line in headers.splitlines())
    return {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "ws" if kind == "websocket" else "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, _, value in pairs],
        "client": None,
        "server": ("localhost", 80),
        "state": {},
    }


def _keep(coroutine: Any) -> None:
    """Run it beside the rest; the loop alone would let go of it."""
    task = asyncio.ensure_future(coroutine)
    _tasks.add(task)
    task.add_done_callback(_over)


def _over(task: "asyncio.Task[None]") -> None:
    """Let go of it, and say what it failed of: nobody waits for it."""
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()):
        traceback.print_exception(error)


async def _done_here(call: Any, *args: Any, **_: Any) -> Any:
    return call(*args)
