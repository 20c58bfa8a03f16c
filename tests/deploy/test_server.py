"""A server by itself: guarded before anybody visited, and bounded in visits, bodies, files and messages."""

import asyncio
import re
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from socket import create_connection
from urllib.parse import urlsplit

import pytest
from starlette.responses import PlainTextResponse, Response
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from benchmarks.served import served
from benchmarks.visitor import Visitor
from runtime import operators
from tests.deploy.connections import ROOT, wait_until
from ui import server, uploads
from ui.uploads import MOST_FILES


@pytest.mark.slow
def test_an_entry_makes_a_server_that_is_guarded_before_anybody_visited(tmp_path):
    """Community Cloud's, before any script ran: messages that no page sends, bad requests, one visit too many."""
    log, entry = tmp_path / "log", ROOT / "cloud" / "streamlit_app.py"
    with served(log, script=entry, SHARDLAB_MOST_VISITS="2") as url:
        asked = BackMsg()
        asked.backend_operation_request.install_skills.SetInParent()
        with come(url) as socket:
            for message in (BackMsg(clear_cache=True), BackMsg(load_git_info=True), asked):
                socket.send(message.SerializeToString())
            wait_until(lambda: log.read_bytes().count(b'"dropped"') == 3)
            with come(url):
                for _ in range(2):
                    with pytest.raises(InvalidStatus) as refused:
                        come(url)
                    assert refused.value.response.status_code == 503
                page = {"Accept": "text/html", "Accept-Language": "es-MX,en"}
                with pytest.raises(urllib.error.HTTPError) as full:
                    urllib.request.urlopen(urllib.request.Request(url, headers=page), timeout=30)
                assert (full.value.code, b'lang="es"' in full.value.read()) == (503, True)
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=30) as health:
                    assert health.status == 200
            wait_until(lambda: comes(url))
        for _ in range(3 * operators.MOST):
            with create_connection(("127.0.0.1", urlsplit(url).port), timeout=30) as bad:
                bad.sendall(b"\x1b]0;nobody's words\x07\r\n\r\n")
                assert bad.recv(100).startswith(b"HTTP/1.1 400")
    lines = log.read_text().splitlines()
    assert len([line for line in lines if '"full"' in line]) == 3
    assert 0 < len([line for line in lines if "Invalid HTTP request" in line]) <= operators.MOST


def come(url):
    """A visit of which the server knows that it is there."""
    return connect(f"ws{url[4:]}/_stcore/stream", subprotocols=["streamlit"], max_size=None)


def comes(url):
    """Whether the server takes another visit."""
    with suppress(InvalidStatus), come(url):
        return True
    return False


def answered(app, method, sends):
    """The statuses that requests at once are answered with."""
    told = []

    async def ask():
        async def send(message):
            told.extend([message["status"]] if message["type"] == "http.response.start" else [])

        scope = {"type": "http", "method": method, "headers": [], "query_string": b""}
        await asyncio.gather(*(app(scope, sends, send) for _ in range(5)))

    asyncio.run(ask())
    return sorted(told)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (b"https://labs.example.org", 0),
        (b"HTTPS://Labs.Example.org", 0),
        (b"http://labs.example.org", 403),
        (b"https://labs.example.org.evil.net", 403),
        (b"https://labs.example.org:444", 403),
        (b"null", 403),
        (b"", 403),
        (None, 0),
    ],
)
def test_a_visit_comes_from_a_name_that_the_operator_gave(monkeypatch, origin, status):
    """Whatever it says that the server is called: so does a page whose name was made to lead here."""
    monkeypatch.setattr(server, "ORIGINS", frozenset({"https://labs.example.org"}))
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)
    came = []

    async def app(scope, receive, send):
        came.append(scope)

    async def send(message):
        assert message.get("status", status) == status

    headers = [
        (b"host", (origin or b"").rpartition(b"/")[2]),
        *([(b"origin", origin)] if origin is not None else []),
    ]
    asyncio.run(server.Bounded(app)({"type": "websocket", "headers": headers}, None, send))
    assert len(came) == (status == 0)


def test_who_opens_a_room_s_address_gets_a_name_once(monkeypatch):
    async def page(scope, receive, send):
        await PlainTextResponse("read")(scope, receive, send)

    def given(query, *cookies):
        told = []

        async def send(message):
            told.append(message)

        headers = [(b"cookie", cookie.encode()) for cookie in cookies]
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": query, "headers": headers}
        asyncio.run(server.Bounded(page)(scope, None, send))
        return [value.decode() for name, value in told[0]["headers"] if name == b"set-cookie"]

    (cookie,) = given(b"room=CDFGHJKL")
    assert cookie.endswith("HttpOnly; SameSite=Lax")
    assert given(b"room=CDFGHJKL", cookie.partition(";")[0]) == []
    assert len({*given(b"room=CDFGHJKL"), *given(b"room=CDFGHJKL", f"{cookie.partition(';')[0]}0"), cookie}) == 3
    assert given(b"tp=4") == []


def test_bodies_that_never_end_are_few_at_once_and_given_up(monkeypatch):
    """Of five at once two are read, and neither for ever; whoever only asks is served all the while."""
    monkeypatch.setattr(server, "MOST_BODIES", 2)
    monkeypatch.setattr(server, "BODY_S", 0.01)
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)

    async def waits(scope, receive, send):
        await receive()
        await PlainTextResponse("read")(scope, receive, send)

    async def never():
        await asyncio.Event().wait()

    async def at_once():
        return {"type": "http.request", "body": b""}

    app = server.Bounded(waits)
    assert answered(app, "PUT", never) == [408, 408, 503, 503, 503]
    assert answered(app, "GET", at_once) == [200] * 5
    assert (app.bodies, app.visits) == (0, 0)


@pytest.mark.slow
def test_uploads_without_end_keep_their_last_ones_and_no_other_visit_loses_one(tmp_path):
    """On a server that runs: what goes is taken back by requests that Streamlit takes for its own pages'."""
    log, script = tmp_path / "log", tmp_path / "page.py"
    script.write_text(PAGE.format(root=str(ROOT)))
    with served(log, script=script) as url, Visitor(url) as other, Visitor(url) as hostile:
        with urllib.request.urlopen(f"{url}/_stcore/health") as answer:
            own = re.search(r"_streamlit_xsrf=([^;]+)", answer.headers["Set-Cookie"])[1]
        tokens = {
            "X-Xsrftoken": own,
            "Cookie": f"_streamlit_xsrf={own}",
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        }

        def put(visitor, name):
            place = f"{url}/_stcore/upload_file/{visitor.session}/{name}"
            urllib.request.urlopen(urllib.request.Request(place, BODY, tokens, method="PUT"), timeout=60).close()

        put(other, "0")
        for number in range(MOST_FILES + 5):
            put(hostile, str(number))
        taken_back = [f"DELETE /_stcore/upload_file/{hostile.session}/{number} 204" for number in range(5)]
        wait_until(lambda: log.read_text().count("DELETE") == 5)
        assert [line for line in log.read_text().splitlines() if line.startswith("DELETE")] == taken_back


@pytest.mark.slow
def test_a_message_that_never_ends_is_bounded(tmp_path):
    """In pieces, so that no length says how much will come: the visit ends at what Streamlit's settings let be."""
    most = int(
        re.search(r"^maxMessageSize = (\d+)$", (ROOT / ".streamlit/config.toml").read_text(), re.MULTILINE)[1]
    )
    with served() as url, come(url) as socket:
        sent = 0

        def pieces():
            nonlocal sent
            for _ in range(8 * most):
                sent += 1 << 20
                yield bytes(1 << 20)

        with suppress(ConnectionClosed):
            socket.send(pieces())
        with pytest.raises(ConnectionClosed):
            socket.recv(60)
        assert most << 20 <= sent < 8 * most << 20, (
            "it was hung up on; the two kernels hold some of what is on its way"
        )


BOUNDARY = "a-boundary"
PART = 'Content-Disposition: form-data; name="f"; filename="f"'
BODY = f"--{BOUNDARY}\r\n{PART}\r\n\r\na\r\n--{BOUNDARY}--\r\n".encode()
PAGE = """
import sys
sys.path.insert(0, {root!r})
import streamlit as st
if __name__ == "__main__":
    st.file_uploader("f")
else:
    from starlette.middleware import Middleware
    from ui import server

    class Told:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            async def told(message):
                if scope.get("method") == "DELETE" and "status" in message:
                    print("DELETE", scope["path"], message["status"], flush=True)
                await send(message)
            await self.app(scope, receive, told)

    app = st.App(__file__, lifespan=server.lifespan, middleware=[*server.MIDDLEWARE, Middleware(Told)])
"""


class Store:
    """An app that keeps what it is sent, as Streamlit does."""

    def __init__(self):
        self.files = {}

    async def __call__(self, scope, receive, send):
        if scope["method"] == "PUT":
            self.files[scope["path"]] = (await receive())["body"]
        else:
            self.files.pop(scope["path"], None)
        await Response(status_code=204)(scope, receive, send)


def asked_for(app, method, path, body=b""):
    """A request of a page, and what came of it."""
    told = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        told.append(message)

    headers = [(b"cookie", b"a=b"), (b"x-xsrftoken", b"b"), (b"host", b"a")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))
    return told[0]["status"]


def test_all_visits_together_keep_so_many_bytes_of_files(monkeypatch):
    """Six hundred visits of one address, each with its last 32 megabytes, would have kept nineteen gigabytes."""
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 10_000)
    monkeypatch.setattr(uploads, "LEAST", 100)
    store = Store()
    app = uploads.Uploads(store)
    place = "/_stcore/upload_file/{}/{}".format
    for number in range(40):
        assert asked_for(app, "PUT", place(f"visit-{number % 8}", number), bytes(1000)) == 204
        assert sum(map(len, store.files.values())) <= 10_000
    assert len(store.files) == 9, "each with what is noted of it"
    assert place("visit-7", 39) in store.files
    for path in [*store.files]:
        assert asked_for(app, "DELETE", path) == 204
    assert (app.bytes, app.kept, app.of_visit) == (0, {}, {})


def test_a_million_empty_files_are_no_less_than_their_places(monkeypatch):
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 20 * uploads.LEAST)
    store = Store()
    app = uploads.Uploads(store)
    for number in range(200):
        asked_for(app, "PUT", f"/_stcore/upload_file/visit-{number}/0")
    assert len(store.files) == len(app.kept) == 20


@pytest.mark.parametrize(("headless", "shown"), [(False, ["http://localhost:8501"]), (True, [])])
def test_who_starts_the_app_on_a_machine_with_a_screen_is_shown_it(monkeypatch, headless, shown):
    opened, told = [], {"server.headless": headless, "browser.serverAddress": "localhost", "server.port": 8501}
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    monkeypatch.setattr(operators, "bound_other_logs", lambda: None)
    monkeypatch.setattr(server.st, "get_option", told.__getitem__)
    monkeypatch.setattr(server, "_importing", threading.Thread(target=lambda: None))

    async def start() -> None:
        async with server.lifespan(None):
            pass

    asyncio.run(start())
    wait_until(lambda: opened == shown)
    assert server._importing.ident


def test_a_visit_is_let_in_when_what_the_first_page_imports_is_there(monkeypatch):
    """Two threads that import modules of one package at once can end in each other's way."""
    imports, steps = threading.Event(), []
    monkeypatch.setattr(server, "_importing", threading.Thread(target=imports.wait))

    async def visit(scope, receive, send):
        steps.append("let in")

    async def come_meanwhile():
        server._importing.start()
        coming = asyncio.create_task(server.Bounded(visit)({"type": "websocket", "headers": []}, None, None))
        await asyncio.sleep(0)
        steps.append("imported")
        imports.set()
        await coming

    asyncio.run(come_meanwhile())
    assert steps == ["imported", "let in"]
