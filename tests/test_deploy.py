"""What a deploy starts from agrees with the rest of the repository."""

import asyncio
import json
import os
import random
import re
import secrets
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from math import ceil
from pathlib import Path
from socket import create_connection
from socketserver import BaseRequestHandler, UDPServer
from types import MappingProxyType
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

from benchmarks.served import free_port, served
from runtime import operators
from runtime.processes import tagged
from tests.yaml_here import read
from ui import server

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"


def lines(file: str) -> set[str]:
    return {line for line in (ROOT / file).read_text().splitlines() if line}


def test_the_cloud_entry_pins_what_the_root_pins_and_leaves_out_what_no_page_imports():
    root, cloud = lines("requirements.txt"), lines("cloud/requirements.txt")
    assert cloud < root
    assert {line.partition("==")[0] for line in root - cloud} == {"torch", "safetensors", "pytest", "altair"}


def test_every_file_that_a_container_is_made_of_is_here():
    for file in ("Dockerfile", "grader/Dockerfile"):
        for copied in re.findall(r"^COPY (\S+) ", (DEPLOY / file).read_text(), re.MULTILINE):
            assert (ROOT / copied).exists(), (file, copied)


def test_an_image_gets_nothing_that_git_ignores():
    """An environment is gigabytes, and a secret is one."""
    kept_out = {line.removeprefix("**/") for line in lines(".dockerignore")}
    assert {line.strip("/") for line in lines(".gitignore")} | {".git"} <= kept_out


IMAGE = (DEPLOY / "Dockerfile").read_text()
PORT = int(re.search(r"^EXPOSE (\d+)$", IMAGE, re.MULTILINE)[1])
CONFIGURATIONS = ["haproxy.cfg", "replicas.cfg"]
ASKED_FOR = set(re.findall(r"\$\{(\w+)}", "".join((DEPLOY / name).read_text() for name in CONFIGURATIONS)))
HEALTH = "/_stcore/health"
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"


def held_to(given: dict, **needed: object) -> list[object]:
    """The values of a mapping that has these names and no other, each of its type: what a schema would say."""
    assert {name: type(value) for name, value in given.items()} == needed, given
    return list(given.values())


def test_compose_is_as_its_containers_need_it():
    (file,) = read((DEPLOY / "compose.yaml").read_text())
    app, proxy = held_to(*held_to(file, services=dict), app=dict, proxy=dict)
    build, told, deploy, restart = held_to(app, build=dict, environment=dict, deploy=dict, restart=str)
    assert restart == "unless-stopped"
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert told.keys() == {SECRET}
    assert told[SECRET].startswith(f"${{{SECRET}:?")
    assert deploy == {"replicas": 2, "resources": {"limits": {"memory": "1g"}}}
    types = {"image": str, "command": list, "environment": dict, "volumes": list, "ports": list}
    image, command, told, volumes, ports, *_ = held_to(proxy, **types, depends_on=list, restart=str)
    assert proxy["depends_on"] == ["app"]
    assert re.fullmatch(r"haproxy:\d+\.\d+", image)
    mounted = [volume.split(":") for volume in volumes]
    assert [(DEPLOY / here).name for here, _, how in mounted if how == "ro"] == CONFIGURATIONS
    assert [there for _, there, _ in mounted] == files_of(command)
    assert told.keys() == ASKED_FOR
    assert told["SHARDLAB_APP"] == "app"
    assert ports == [f"{told['SHARDLAB_BIND'].removeprefix('*:')}:8080"]


def files_of(command: list[str]) -> list[str]:
    """The configurations that a proxy is started with."""
    return [word for before, word in pairwise(command) if before == "-f"]


def test_the_cluster_s_objects_are_as_its_containers_need_them():
    objects = read((DEPLOY / "kubernetes.yaml").read_text())
    for one in objects:
        held_to(one, apiVersion=str, kind=str, metadata=dict, spec=dict)
        assert one["apiVersion"] == {"Deployment": "apps/v1", "Service": "v1"}[one["kind"]]
    by_name = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in objects}
    pods = {}
    for (kind, name), spec in by_name.items():
        if kind == "Deployment":
            replicas, selector, template = held_to(spec, replicas=int, selector=dict, template=dict)
            assert selector["matchLabels"] == template["metadata"]["labels"]
            (pods[name],) = template["spec"]["containers"]
            assert replicas >= 1
    app, proxy = pods["shardlab"], pods["shardlab-proxy"]
    assert app["image"] == "shardlab"
    assert app["ports"] == [{"containerPort": PORT}]
    assert [one["name"] for one in app["env"]] == [SECRET]
    for probe in ("readinessProbe", "livenessProbe"):
        assert app[probe]["httpGet"] == {"path": HEALTH, "port": PORT}
        assert app[probe]["timeoutSeconds"] >= 10, "late is not dead"
    assert {one["name"] for one in proxy["env"]} == {*ASKED_FOR, "NAMESPACE"}
    told = {one["name"]: one.get("value") for one in proxy["env"]}
    (config,) = by_name["Deployment", "shardlab-proxy"]["template"]["spec"]["volumes"]
    (mount,) = proxy["volumeMounts"]
    assert mount["name"] == config["name"]
    assert files_of(proxy["args"]) == [f"{mount['mountPath']}/{name}" for name in CONFIGURATIONS]
    headless, front = by_name["Service", told["SHARDLAB_APP"].partition(".")[0]], by_name["Service", "shardlab"]
    assert (headless["clusterIP"], headless["ports"]) == ("None", [{"port": PORT}])
    assert front["sessionAffinity"] == "ClientIP"
    (port,) = front["ports"]
    assert told["SHARDLAB_BIND"] == f"*:{port['targetPort']}"
    assert proxy["ports"] == [{"containerPort": port["targetPort"]}]
    labels = [by_name["Deployment", name]["selector"]["matchLabels"] for name in ("shardlab", "shardlab-proxy")]
    assert [headless["selector"], front["selector"]] == labels
    (kustomized,) = read((DEPLOY / "kustomization.yaml").read_text())
    assert kustomized["resources"] == ["kubernetes.yaml"]
    assert kustomized["configMapGenerator"] == [{"name": config["configMap"]["name"], "files": CONFIGURATIONS}]


def test_the_devcontainer_opens_on_the_app():
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    types = {"name": str, "image": str, "postCreateCommand": str, "forwardPorts": list, "portsAttributes": dict}
    held_to(told, **types, postAttachCommand=str)
    (port,) = told["forwardPorts"]
    assert port == PORT
    assert told["portsAttributes"][str(port)]["onAutoForward"] == "openPreview"
    for command in (told["postCreateCommand"], told["postAttachCommand"], IMAGE):
        files = re.findall(r"[\w./-]+\.(?:py|txt)\b", command)
        assert files
        assert all((ROOT / file).exists() for file in files)
    assert HEALTH in IMAGE


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_haproxy_takes_the_configuration_for_containers():
    command = ["haproxy", "-c", "-f", "haproxy.cfg", "-f", "replicas.cfg"]
    environment = {"SHARDLAB_BIND": "*:8080", "SHARDLAB_APP": "app", "PATH": "/usr/sbin:/usr/bin"}
    checked = subprocess.run(command, cwd=DEPLOY, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


KILLS = 3


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("haproxy") is None or sys.platform != "linux", reason="HAProxy, and Linux")
def test_servers_and_proxy_end_with_what_started_them_however_that_ends(tmp_path):
    """Killed at random moments of its start: no process is left, and no file but those of its own folder."""
    for kill in range(KILLS):
        tag = secrets.token_hex(8)
        environment = {**os.environ, "SHARDLAB_TEST": tag, "TMPDIR": str(tmp_path)}
        command = [sys.executable, DEPLOY / "local.py", "--servers", "2", "--port", str(free_port())]
        local = subprocess.Popen(
            [*command, "--files", tmp_path / "own"], env=environment, stdout=subprocess.DEVNULL
        )
        time.sleep(random.Random(kill).random() * 6)
        local.send_signal(signal.SIGKILL)
        local.wait()
        assert gone("SHARDLAB_TEST", tag), f"kill {kill}"
    assert {path.name.partition("-deploy-")[0] for path in tmp_path.iterdir()} <= {"own", "shardlab"}


def gone(name: str, tag: str, within_s: float = 120.0) -> bool:
    """Whether no process carries the tag any more, as soon as that is so."""
    until_s = time.monotonic() + within_s
    while tagged(name, tag) and time.monotonic() < until_s:
        time.sleep(0.1)
    return not tagged(name, tag)


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


def wait_until(holds, within_s=60):
    """Until it holds, which it does in good time."""
    until_s = time.monotonic() + within_s
    while not holds() and time.monotonic() < until_s:
        time.sleep(0.1)
    assert holds()


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
            loop.call_soon_threadsafe(looked, *looks.pop())
            time.sleep(0.05)
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

    async def start() -> None:
        async with server.lifespan(None):
            pass

    asyncio.run(start())
    assert opened == shown


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_a_rooms_visitors_come_to_the_process_that_it_is_in(tmp_path):
    """Four processes: whoever has the code comes to the one of whoever has the key, whatever cookie it has."""
    with four_processes(tmp_path) as address:
        homes = {}
        while len(homes) < 2:
            home, cookie = visited(address)
            homes[home] = cookie
        (first, own), (_, other) = homes.items()
        assert visited(f"{address}/?room=CDFGHJ&chair=1", own)[0] == first
        for query, cookie in (("room=CDFGHJ", ""), ("room=cdfghj", ""), ("room=CDFGHJ", other)):
            home, kept = visited(f"{address}/?{query}", cookie)
            assert home == first
            assert visited(f"{address}/_stcore/stream", kept)[0] == first, "a websocket's address has no code"
        assert visited(f"{address}/?room=CDFGHJ&chair=1", other)[0] != first
        assert visited(f"{address}/?room=CDFGHJ")[0] == first
        assert len({visited(f"{address}/?room=FFFFFF")[0] for _ in range(8)}) > 1


class Process(BaseHTTPRequestHandler):
    """A process that says its port and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        said = str(self.server.server_port).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        """Nothing."""


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_what_never_comes_to_an_end_ends_at_the_proxy(tmp_path):
    """Headers, a body, or nothing at all, of which no more comes: all are hung up on, and others are served."""
    body = b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\na"
    with four_processes(tmp_path, {"http-request 10s": "http-request 500ms"}) as address, ExitStack() as held:
        slow = [held.enter_context(connected(address)) for _ in range(3)]
        for one, sent in zip(slow, (b"GET / HTTP/1.1\r\nX: ", body, b""), strict=True):
            one.sendall(sent)
        wait_until(lambda: is_served(address, held))
        assert [one.recv(12) for one in slow] == [b"HTTP/1.1 408"] * 3


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_one_address_holds_so_many_connections_and_begins_so_many_visits(tmp_path):
    bounds = {"SHARDLAB_CONNECTIONS_OF_ONE": "20", "SHARDLAB_VISITS_OF_ONE": "3"}
    times = {"http-keep-alive 10s": "http-keep-alive 10m"}
    with four_processes(tmp_path, times, **bounds) as address, ExitStack() as held:
        for _ in range(3):
            assert visited(f"{address}/_stcore/stream")[0]
        with pytest.raises(urllib.error.HTTPError, match="429"):
            visited(f"{address}/_stcore/stream")
        assert visited(address)[0]
        assert 0 < sum(is_served(address, held) for _ in range(40)) <= 20


def connected(address):
    """A connection of which we say each byte."""
    return create_connection(("127.0.0.1", urlsplit(address).port), timeout=60)


def is_served(address, held):
    """Whether one more connection is answered, which then stays open."""
    with suppress(OSError):
        one = held.enter_context(connected(address))
        one.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return one.recv(12) == b"HTTP/1.1 200"
    return False


class Names(BaseRequestHandler):
    """A cluster's DNS: one name, which is whole, has 32 addresses; an answer is as long as the question allows."""

    def handle(self):
        asked, socket = self.request
        name, rest = asked[12:].split(b"\0", 1)
        question = asked[12 : 12 + len(name) + 5]
        known = b"".join(bytes([len(part)]) + part for part in self.server.name.encode().split(b"."))
        found = [127 << 24 | last for last in range(1, 33)] if (name, rest[:2]) == (known, b"\0\1") else []
        records = b"".join(struct.pack("!HHHIHI", 0xC00C, 1, 1, 5, 4, address) for address in found)
        longest = struct.unpack("!H", rest[7:9])[0] if asked[11] else 512
        cut = len(question) + len(records) + 12 > longest
        flags = 0x8180 | cut << 9 | 3 * (name != known)
        counts = struct.pack("!5H", flags, 1, 0 if cut else len(found), 0, 0)
        socket.sendto(asked[:2] + counts + question + (b"" if cut else records), self.client_address)


def of_proxy():
    """What the manifest tells the proxy."""
    objects = read((DEPLOY / "kubernetes.yaml").read_text())
    (proxy,) = (one["spec"]["template"] for one in objects if one["metadata"]["name"] == "shardlab-proxy")
    (container,) = proxy["spec"]["containers"]
    return {one["name"]: one.get("value") for one in container["env"]}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_the_proxy_of_a_cluster_finds_as_many_pods_as_it_has_room_for(tmp_path):
    """By the name that the manifest gives: HAProxy reads no search list, and `shardlab-pods` alone is nobody's."""
    name = of_proxy()["SHARDLAB_APP"].replace("$(NAMESPACE)", "hall")
    with UDPServer(("127.0.0.1", 0), Names) as names, ThreadingHTTPServer(("0.0.0.0", 0), Process) as pods:
        names.name = "shardlab-pods.hall.svc.cluster.local"
        for server in (names, pods):
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        replicas = (DEPLOY / "replicas.cfg").read_text()
        for here, put in {
            "parse-resolv-conf": f"nameserver cluster 127.0.0.1:{names.server_address[1]}",
            ":8501": f":{pods.server_port}",
        }.items():
            assert here in replicas
            replicas = replicas.replace(here, put)
        cookies = set()
        with proxied(tmp_path, (DEPLOY / "haproxy.cfg").read_text(), replicas, SHARDLAB_APP=name) as address:
            wait_until(lambda: cookies.add(visited(address)[1]) or len(cookies) == 32)
        for server in (names, pods):
            server.shutdown()


@contextmanager
def four_processes(folder, times=MappingProxyType({}), **bounds):
    """The address of HAProxy before four of them, by the configuration that containers have, but for its times."""
    rules = (DEPLOY / "haproxy.cfg").read_text()
    for here, put in times.items():
        assert here in rules
        rules = rules.replace(here, put)
    processes = [ThreadingHTTPServer(("127.0.0.1", 0), Process) for _ in range(4)]
    for process in processes:
        threading.Thread(target=process.serve_forever, args=(0.02,), daemon=True).start()
    servers = "\n".join(f"    server app{p.server_port} 127.0.0.1:{p.server_port}" for p in processes)
    shared = (DEPLOY / "replicas.cfg").read_text().partition("backend servers\n")[2]
    own = "\n".join(line for line in shared.splitlines() if "server-template" not in line)
    try:
        with proxied(folder, rules, f"backend servers\n{own}\n{servers}\n", **bounds) as address:
            yield address
    finally:
        for process in processes:
            process.shutdown()


@contextmanager
def proxied(folder, rules, servers, **told):
    """The address of HAProxy by two files, once it answers."""
    (folder / "haproxy.cfg").write_text(rules)
    (folder / "servers.cfg").write_text(servers)
    port = free_port()
    command = ["haproxy", "-db", "-f", folder / "haproxy.cfg", "-f", folder / "servers.cfg"]
    environment = {"SHARDLAB_BIND": f"127.0.0.1:{port}", "PATH": "/usr/sbin:/usr/bin", **told}
    proxy = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: is_answered(address))
        yield address
    finally:
        proxy.terminate()
        proxy.wait()


def is_answered(address):
    """Whether a server is there yet, and known to the proxy."""
    with suppress(OSError):
        return bool(visited(address))
    return False


def visited(address, cookie=""):
    """Which process answered, and the cookies that a browser then has."""
    request = urllib.request.Request(address, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        given = [line.partition(";")[0] for line in answer.headers.get_all("Set-Cookie") or []]
        kept = dict(one.split("=", 1) for one in (*filter(None, cookie.split("; ")), *given))
        return answer.read().decode(), "; ".join("=".join(one) for one in kept.items())


SCALE = ROOT / "docs" / "scale.md"


def halls() -> list[dict[str, str]]:
    """The rows of benchmarks/bench_hall that stand in docs/scale.md; a bare page has no `servers`."""
    names = ("learners", "answers", "p50", "p95", "open", "CPU", "MiB", "lost", "own")
    columns = " +".join(rf"(?P<{name}>[\d.]+)" for name in names)
    row = re.compile(rf"^(?:bare|servers: (?P<servers>\d+)) +{columns}$", re.MULTILINE)
    return [found.groupdict() for found in row.finditer(SCALE.read_text(encoding="utf-8"))]


def test_how_many_learners_are_held_is_what_was_measured():
    """The most of whom 95 in 100 were answered within a second and nothing was lost, on one server and on two."""
    said = " ".join(SCALE.read_text(encoding="utf-8").split())
    (told,) = re.findall(r"\*\*One server holds (\d+) learners within a second .*? two .*? hold (\d+)\.\*\*", said)
    rows = [row for row in halls() if float(row["p95"]) <= 1000 and row["lost"] == "0"]
    held = [max(int(row["learners"]) for row in rows if row["servers"] == servers) for servers in ("1", "2")]
    assert list(map(int, told)) == held


def test_what_a_thousand_and_a_hundred_thousand_need_follows_from_what_was_measured():
    """L learners who ask every T seconds and take C seconds each need L · C / T cores, half of them busy."""
    said = SCALE.read_text(encoding="utf-8")
    sum_of_it = r"At (\d+) ms an answer and (\d+) seconds .*? for (\d+) learners; .*? a core for (\d+)"
    (found,) = re.findall(sum_of_it, " ".join(said.split()))
    answer_ms, every_s, a_core, half = map(int, found)
    measured_ms = [float(row["CPU"]) for row in halls() if row["servers"]]
    assert min(measured_ms) <= answer_ms <= max(measured_ms)
    assert a_core == every_s * 1000 // answer_ms
    assert half == a_core // 2
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.,]+) \| ([\d,]+).*? \| ([\d.]+) GiB", said, re.MULTILINE)
    assert [learners for learners, *_ in rows] == ["30", "150", "1,000", "100,000"]
    for learners, cores, servers, memory in rows:
        needed = 2 * number(learners) / a_core
        assert number(cores) == max(1, round(needed, 1))
        assert number(servers) == ceil(number(cores))
        assert number(memory) == 0.25 * number(servers)


def number(said: str) -> float:
    """A number with its commas."""
    return float(said.replace(",", ""))
