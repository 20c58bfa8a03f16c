"""HAProxy before several servers: who comes to which, what it bounds, and that all end with what started them."""

import http.client
import os
import random
import re
import secrets
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
from socketserver import BaseRequestHandler, UDPServer
from types import MappingProxyType
from urllib.parse import unquote

import pytest

from benchmarks.served import free_port
from runtime.processes import tagged
from runtime.rooms import CODE_LETTERS, LETTERS, LIFE_S, MOST_CODES, code_of, letter_of, new_key
from tests.deploy.connections import DEPLOY, PATH, connected, is_served, needs_haproxy, wait_until
from tests.paths import CLOSED, FILES, written
from tests.yaml_here import read
from ui.open_paths import is_open

pytestmark = needs_haproxy
KILLS = 3
LARGE = 1 << 26


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux")
def test_servers_and_proxy_end_with_what_started_them_however_that_ends(tmp_path):
    """Killed at random moments of its start: no process is left, and no file but those of its own folder."""
    for kill in range(KILLS):
        tag = secrets.token_hex(8)
        environment = {**os.environ, "SHARDLAB_TEST": tag, "TMPDIR": str(tmp_path)}
        environment["PATH"] += f":{PATH}"
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


def test_a_rooms_visitors_come_to_the_process_that_it_is_in(tmp_path):
    """Four processes, each told its name: a code that it makes leads to it, whoever asked for what before."""
    with four_processes(tmp_path) as address:
        homes = {}
        while len(homes) < 4:
            home, cookie = visited(address)
            homes[home] = cookie
        for home, name in homes.items():
            own = code_of(new_key(home.partition(" ")[2]))
            for _ in range(20):  # made-up rooms, keys and orders bind nothing
                visited(f"{address}/?room={code_of(new_key('app1'))}&chair={secrets.token_hex(8)}", name)
                visited(f"{address}/?room={own}&chair=1", homes[min(homes)])
            for query in (f"room={own}", f"room={own.lower()}&chair=1", f"a=b&room=%{ord(own[0]):x}{own[1:]}"):
                for cookie in ("", *homes.values()):
                    came, kept = visited(f"{address}/?{query}", cookie)
                    assert came == home
                    assert visited(f"{address}/_stcore/stream", kept)[0] == home, (
                        "a websocket's address has no code"
                    )
        assert visited(address, homes[home])[0] == home, "who names no room stays"
        assert len({visited(f"{address}/?room={room}")[0] for room in ("9AAAAAAA", "CDFGHJ") for _ in range(8)}) > 1


def test_who_says_that_it_is_a_server_is_not_believed(tmp_path):
    with four_processes(tmp_path) as address:
        request = urllib.request.Request(address, headers={"X-Shardlab-Server": "app99"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert b"app99" not in answer.read()


def test_the_proxy_has_a_server_for_each_letter_of_a_code():
    rules = re.findall(
        r"use-server (app\d+) if { var\(txn.room\) -m beg (\S) }", (DEPLOY / "replicas.cfg").read_text()
    )
    assert [letter_of(name) for name, _ in rules] == [letter for _, letter in rules] == list(LETTERS)
    assert [letter_of(name) for name in ("", "app0", "app24", "app01", "app-1", "x")] == [LETTERS[0]] * 6


def test_no_code_is_guessed_in_two_hours_at_the_rate_that_one_address_is_let_through():
    """Visits in ten seconds, codes a visit, and the time that a room lives without a vote."""
    rate = re.search(r"SHARDLAB_VISITS_OF_ONE-(\d+)", (DEPLOY / "haproxy.cfg").read_text())[1]
    tries = int(rate) / 10 * LIFE_S * MOST_CODES
    assert tries / len(LETTERS) ** (CODE_LETTERS - 1) < 1e-3


class Process(BaseHTTPRequestHandler):
    """A process that says its port and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        own = self.headers["X-Shardlab-Server"] or ""
        said = f"{self.server.server_port} {own}".encode() if "large" not in self.path else bytes(LARGE)
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(said)

    def log_message(self, *_):
        """Nothing."""


def test_what_never_comes_to_an_end_ends_at_the_proxy(tmp_path):
    """Headers, a body, or nothing at all, of which no more comes: all are hung up on, and others are served."""
    body = b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\na"
    with four_processes(tmp_path, {"http-request 10s": "http-request 500ms"}) as address, ExitStack() as held:
        slow = [held.enter_context(connected(address)) for _ in range(3)]
        for one, sent in zip(slow, (b"GET / HTTP/1.1\r\nX: ", body, b""), strict=True):
            one.sendall(sent)
        wait_until(lambda: is_served(address, held))
        assert [one.recv(12) for one in slow] == [b"HTTP/1.1 408"] * 3


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


def test_no_way_to_write_a_path_passes_the_list_or_a_bound(tmp_path):
    """A thousand made up by a seed: what a server hears of is an open path, and a visit is one however written."""
    rng = random.Random(3)
    with four_processes(tmp_path, SHARDLAB_VISITS_OF_ONE="5") as address, connected(address) as one:
        passed = 0
        for _ in range(1_000):
            path = written(rng, rng.choice((*CLOSED, *FILES, "comm_cost", "favicon.png")))
            status = asked_raw(one, path.replace(" ", "%20").replace("＿", "%EF%BC%BF"))
            assert status in (200, 400, 404)
            if status == 200:
                passed += 1
                assert is_open(unquote(path.partition("?")[0].partition("#")[0])), path
            if status == 400:
                one = connected(address)
        assert passed > 50
        ways = ("stream", "%73tream", "st%72eam", "%73%74%72%65%61%6d", "strea%6D", "stre%61m", "s%74ream")
        assert [asked_raw(connected(address), f"/_stcore/{way}") for way in ways] == [200] * 5 + [429] * 2


def asked_raw(connection, path):
    """The status of a request of which the path is ours to write, its short answer read."""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode("latin-1"))
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def test_a_file_that_nobody_takes_is_given_up_at_the_proxy(tmp_path):
    times = {"timeout client 60s": "timeout client 500ms"}
    with four_processes(tmp_path, times) as address, connected(address) as one:
        one.sendall(b"GET /static/js/large.js HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(3)
        taken = 0
        with suppress(ConnectionResetError):
            while more := one.recv(1 << 20):
                taken += len(more)
        assert 0 < taken < LARGE


class Names(BaseRequestHandler):
    """A cluster's DNS: one name, which is whole, has 23 addresses; an answer is as long as the question allows."""

    def handle(self):
        asked, socket = self.request
        name, rest = asked[12:].split(b"\0", 1)
        question = asked[12 : 12 + len(name) + 5]
        known = b"".join(bytes([len(part)]) + part for part in self.server.name.encode().split(b"."))
        found = [127 << 24 | last for last in range(1, 24)] if (name, rest[:2]) == (known, b"\0\1") else []
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
            wait_until(lambda: cookies.add(visited(address)[1]) or len(cookies) == 23)
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
    each = enumerate(processes, 1)
    servers = "\n".join(f"    server app{number} 127.0.0.1:{process.server_port}" for number, process in each)
    shared = (DEPLOY / "replicas.cfg").read_text().partition("backend servers\n")[2]
    others = ("server-template", *(f"use-server app{number} " for number in range(5, 24)))
    own = "\n".join(line for line in shared.splitlines() if not line.strip().startswith(others))
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
    environment = {"SHARDLAB_BIND": f"127.0.0.1:{port}", "PATH": PATH, **told}
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
