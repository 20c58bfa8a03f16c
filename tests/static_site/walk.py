"""Open scenes of an ASGI app as a browser does, and return what each shows: alike on a server and in a tab."""

import asyncio
import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE_S = 300
UNSAID = {"id", "formId", "elementHash", "fragmentId", "data", "url", "arrowData", "styler", "activeScriptHash"}
"""Fields that name no word: of a widget, of bytes in Arrow's own form, of a file that is kept."""


async def shown(app: Any, page: str, query: str) -> list[str]:
    """Every text of one address, in the order in which the run sent it; an exception is one of them."""
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sent: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.send":
            sent.put_nowait(message["bytes"])

    scope = {
        "type": "websocket", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "scheme": "ws",
        "path": "/_stcore/stream", "raw_path": b"/_stcore/stream", "root_path": "", "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"sec-websocket-protocol", b"streamlit")],
        "client": None, "server": ("localhost", 80), "subprotocols": ["streamlit"], "state": {},
    }  # fmt: skip
    inbox.put_nowait({"type": "websocket.connect"})
    visit = asyncio.ensure_future(app(scope, inbox.get, send))
    asked = BackMsg()
    asked.rerun_script.query_string, asked.rerun_script.page_name = query, page
    inbox.put_nowait({"type": "websocket.receive", "bytes": asked.SerializeToString()})
    texts: dict[tuple[int, ...], list[str]] = {}
    try:
        while True:
            message = ForwardMsg()
            message.ParseFromString(await asyncio.wait_for(sent.get(), PATIENCE_S))
            kind = message.WhichOneof("type")
            if kind == "delta":
                texts[tuple(message.metadata.delta_path)] = list(_texts(MessageToDict(message.delta)))
            elif kind == "new_session":
                texts.clear()
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return [text for one in texts.values() for text in one]
    finally:
        inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await visit


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in UNSAID:
                yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield _rounded(value)


def _rounded(text: str) -> str:
    """A text with its long numbers in twelve digits: two platforms' last bits may differ."""
    return re.sub(r"-?\d+\.\d{9,}(e-?\d+)?", lambda found: f"{float(found[0]):.12g}", text)


async def walk(app: Any, addresses: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """What each address shows, of an app that is begun for it and ended."""
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    begun = asyncio.Event()
    over = asyncio.Event()

    async def send(message: dict[str, Any]) -> None:
        (begun if "startup" in message["type"] else over).set()

    told.put_nowait({"type": "lifespan.startup"})
    life = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, told.get, send))
    await begun.wait()
    pages = {}
    for page, query in addresses:
        pages[f"{page}?{query}"] = await shown(app, page, query)
        print(f"{page}?{query}", file=sys.stderr)
    told.put_nowait({"type": "lifespan.shutdown"})
    await life
    return pages


def scenes(language: str = "en") -> list[tuple[str, str]]:
    """Every scene of the course as a page and its query."""
    from ui.course.pages import OVERVIEW, PAGES

    return [
        ("" if entry is OVERVIEW else entry.stem, f"{entry.prefix}_scene={name}&lang={language}")
        for entry in PAGES
        for name in (entry.names if entry is not OVERVIEW else entry.names[:1])
    ]


def told(pages: dict[str, list[str]]) -> str:
    return json.dumps(pages)
