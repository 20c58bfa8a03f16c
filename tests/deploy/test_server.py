"""A server by itself: guarded before anybody visited, and bounded in bodies, connections, messages and answers."""

import asyncio
import struct
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from socket import create_connection
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from benchmarks.served import served
from runtime import operators
from tests.deploy.connections import ROOT, connected, is_served, wait_until
from ui import server


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

        scope = {"type": "http", "method": method, "headers": []}
        await asyncio.gather(*(app(scope, sends, send) for _ in range(5)))

    asyncio.run(ask())
    return sorted(told)


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


def test_connections_that_come_to_no_request_are_few_and_hung_up_on(monkeypatch):
    """Silence, headers without end, and those after an answer; not a visit, nor a request that takes its time."""
    looks, looked = [], server._hang_up_on
    monkeypatch.setattr(server, "REQUEST_S", 0)
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(server, "_hang_up_on", lambda *one: looks.append(one))
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)

    def time_passes():
        due = [looks.pop() for _ in looks[:]]
        for one in due:
            looked(*one)

    with asked_of() as (address, loop, asked, released), ExitStack() as held:
        visit = held.enter_context(connect(f"ws{address[4:]}/visit"))
        at_work, silent, slow = (held.enter_context(connected(address)) for _ in range(3))
        at_work.sendall(b"GET /waits HTTP/1.1\r\nHost: a\r\n\r\n")
        slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert not is_served(address, held), "one too many"
        monkeypatch.setattr(server, "MOST_CONNECTIONS", 5)
        kept = held.enter_context(connected(address))
        kept.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert kept.recv(12) == b"HTTP/1.1 200"
        kept.sendall(b"GET / HTTP/1.1\r\nX: ")
        wait_until(lambda: asked == ["/visit", "/waits", "/"])
        loop.call_soon_threadsafe(time_passes)
        assert [is_hung_up(one) for one in (silent, slow)] == [True] * 2
        loop.call_soon_threadsafe(time_passes)
        assert is_hung_up(kept)
        assert is_served(address, held)
        loop.call_soon_threadsafe(released.set)
        assert at_work.recv(12) == b"HTTP/1.1 200"
        assert visit.ping().wait(60)


def test_an_answer_that_nobody_takes_is_given_up(monkeypatch):
    """A connection that asks for a file and reads nothing of it was held for ever, and its handle with it."""
    looks, looked = [], server._hang_up_on
    monkeypatch.setattr(server, "REQUEST_S", 0)
    monkeypatch.setattr(server, "MOST_LOOKS", 3)
    monkeypatch.setattr(server, "_hang_up_on", lambda *one: looks.append(one))
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)
    with asked_of() as (address, loop, asked, _), connected(address) as slow:
        slow.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: asked == ["/large"])
        while looks:
            next_look = threading.Event()
            loop.call_soon_threadsafe(looked, *looks.pop())
            loop.call_soon_threadsafe(loop.call_later, 0.01, next_look.set)  # after the one that is due at once
            next_look.wait()
        taken = 0
        with suppress(ConnectionResetError):
            while more := slow.recv(1 << 20):
                taken += len(more)
        assert taken < len(LARGE)


def test_messages_that_never_end_are_bounded_together_and_the_oldest_is_hung_up_on(monkeypatch):
    """Thirty visits held eight hundred megabytes of a server, six hundred of one address all of it."""
    monkeypatch.setattr(server, "MOST_UNFINISHED", 1 << 20)
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)

    def piece(begins, size):
        """A masked frame of a message that goes on, its mask zeros."""
        return struct.pack("!BBQL", 2 if begins else 0, 0x80 | 127, size, 0) + bytes(size)

    with asked_of() as (address, *_), ExitStack() as held:
        first, second = (held.enter_context(connect(f"ws{address[4:]}/visit")) for _ in range(2))
        first.socket.sendall(piece(True, 700_000))
        assert first.ping().wait(60)  # it has come
        second.socket.sendall(piece(True, 300_000))
        assert second.ping().wait(60)
        second.socket.sendall(piece(False, 300_000))
        with pytest.raises(ConnectionClosed):
            first.recv(60)
        assert second.ping().wait(60)
        second.socket.sendall(piece(False, 0) * 12_000)  # nothing takes its place, too
        with pytest.raises(ConnectionClosed):
            second.recv(60)


def test_what_a_browser_leaves_unread_is_bounded_and_let_go(monkeypatch):
    """One visit takes nothing any more, another takes each page as it comes."""
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)
    page = ForwardMsg(hash="a" * (server.MOST_UNREAD // 4))

    async def sent(pages, takes):
        taken = 0

        async def send(message):
            nonlocal taken
            if not takes:
                await asyncio.Event().wait()
            taken += len(message["bytes"])

        scope = {"type": "websocket", "headers": [], "client": None}
        client = StarletteSessionClient(WebSocket(scope, None, send))
        client._websocket.application_state = client._websocket.application_state.CONNECTED
        try:
            for _ in range(pages):
                client.write_forward_msg(page)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            return taken
        finally:
            assert client._send_queue.waiting == 0
            await client.aclose()

    assert asyncio.run(sent(20, takes=True)) >= 20 * len(page.hash)
    with pytest.raises(SessionClientDisconnectedError):
        asyncio.run(sent(6, takes=False))


LARGE = "a" * (1 << 24)


def is_hung_up(one):
    """Whether nothing more comes of a connection, as soon as that is so."""
    with suppress(ConnectionResetError):
        while one.recv(65536):
            continue
    return True


@contextmanager
def asked_of():
    """A server as Streamlit makes one: its address and loop, what it was asked, what it waits for."""
    asked, released, loop = [], asyncio.Event(), asyncio.new_event_loop()

    async def app(scope, receive, send):
        asked.append(scope["path"])
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await receive()
        else:
            if scope["path"] == "/waits":
                await released.wait()
            await PlainTextResponse(LARGE if scope["path"] == "/large" else "read")(scope, receive, send)

    serving = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None, ws="websockets-sansio"))
    thread = threading.Thread(target=loop.run_until_complete, args=(serving.serve(),))
    thread.start()
    try:
        wait_until(lambda: serving.started)
        yield f"http://127.0.0.1:{serving.servers[0].sockets[0].getsockname()[1]}", loop, asked, released
    finally:
        serving.should_exit = serving.force_exit = True
        thread.join()
        loop.close()


@pytest.mark.parametrize(("headless", "shown"), [(False, ["http://localhost:8501"]), (True, [])])
def test_who_starts_the_app_on_a_machine_with_a_screen_is_shown_it(monkeypatch, headless, shown):
    opened, told = [], {"server.headless": headless, "browser.serverAddress": "localhost", "server.port": 8501}
    monkeypatch.setattr(server, "open_browser", opened.append)
    monkeypatch.setattr(operators, "bound_other_logs", lambda: None)
    monkeypatch.setattr(server.st, "get_option", told.__getitem__)
    monkeypatch.setattr(server, "_importing", threading.Thread(target=lambda: None))

    async def start() -> None:
        async with server.lifespan(None):
            pass

    asyncio.run(start())
    assert opened == shown
    assert server._importing.ident


def test_a_visit_is_let_in_when_what_the_first_page_imports_is_there(monkeypatch):
    """Two threads that import modules of one package at once can end in each other's way."""
    imports, steps = threading.Event(), []
    monkeypatch.setattr(server, "_importing", threading.Thread(target=imports.wait))

    async def visit(scope, receive, send):
        steps.append("let in")

    async def come_meanwhile():
        server._importing.start()
        coming = asyncio.create_task(server.Bounded(visit)({"type": "websocket"}, None, None))
        await asyncio.sleep(0)
        steps.append("imported")
        imports.set()
        await coming

    asyncio.run(come_meanwhile())
    assert steps == ["imported", "let in"]
