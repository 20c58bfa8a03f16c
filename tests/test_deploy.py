"""What a deploy starts from agrees with the rest of the repository."""

import asyncio
import os
import random
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect

from benchmarks.served import free_port, served
from runtime.processes import tagged
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
    for file in ("compose.yaml", "kustomization.yaml"):
        for named in re.findall(r"[\w/]+\.(?:cfg|yaml)\b", (DEPLOY / file).read_text()):
            assert (DEPLOY / Path(named).name).exists(), (file, named)


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
def test_a_server_drops_what_no_page_asks_for_before_anybody_visited(tmp_path):
    """The first message of a fresh process, before any script has run, is one that no page sends."""
    log = tmp_path / "log"
    with served(log) as url:
        asked = BackMsg()
        asked.backend_operation_request.install_skills.SetInParent()
        with connect(f"ws{url[4:]}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
            for message in (BackMsg(clear_cache=True), BackMsg(load_git_info=True), asked):
                socket.send(message.SerializeToString())
            until_s = time.monotonic() + 60
            while log.read_bytes().count(b'"dropped"') < 3 and time.monotonic() < until_s:
                time.sleep(0.1)
        assert log.read_bytes().count(b'"dropped"') == 3


@pytest.mark.parametrize(("headless", "shown"), [(False, ["http://localhost:8501"]), (True, [])])
def test_who_starts_the_app_on_a_machine_with_a_screen_is_shown_it(monkeypatch, headless, shown):
    opened, told = [], {"server.headless": headless, "browser.serverAddress": "localhost", "server.port": 8501}
    monkeypatch.setattr(server, "open_browser", opened.append)
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

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(self.server.server_port).encode())

    def log_message(self, *_):
        """Nothing."""


@contextmanager
def four_processes(folder):
    """The address of HAProxy before four of them, by the configuration that containers have."""
    processes = [ThreadingHTTPServer(("127.0.0.1", 0), Process) for _ in range(4)]
    for process in processes:
        threading.Thread(target=process.serve_forever, daemon=True).start()
    servers = "\n".join(f"    server app{p.server_port} 127.0.0.1:{p.server_port}" for p in processes)
    shared = (DEPLOY / "replicas.cfg").read_text().partition("backend servers\n")[2]
    rules = "\n".join(line for line in shared.splitlines() if "server-template" not in line)
    (folder / "servers.cfg").write_text(f"backend servers\n{rules}\n{servers}\n")
    port = free_port()
    command = ["haproxy", "-db", "-f", DEPLOY / "haproxy.cfg", "-f", folder / "servers.cfg"]
    environment = {"SHARDLAB_BIND": f"127.0.0.1:{port}", "PATH": "/usr/sbin:/usr/bin"}
    proxy = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with suppress(OSError):
                visited(f"http://127.0.0.1:{port}")
                break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        proxy.terminate()
        proxy.wait()
        for process in processes:
            process.shutdown()


def visited(address, cookie=""):
    """Which process answered, and the cookies that a browser then has."""
    request = urllib.request.Request(address, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        given = [line.partition(";")[0] for line in answer.headers.get_all("Set-Cookie") or []]
        kept = dict(one.split("=", 1) for one in (*filter(None, cookie.split("; ")), *given))
        return answer.read().decode(), "; ".join("=".join(one) for one in kept.items())


def test_what_a_thousand_and_a_hundred_thousand_need_follows_from_what_was_measured():
    """L learners who ask every T seconds and take C seconds each need L · C / T cores, half of them busy."""
    said = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    sum_of_it = r"At (\d+) ms an answer and (\d+) seconds .*? for (\d+) learners; .*? a core for (\d+)"
    (found,) = re.findall(sum_of_it, " ".join(said.split()))
    answer_ms, every_s, a_core, half = map(int, found)
    measured_ms = [int(found) for found in re.findall(r"^\| Shardlab.* (\d+) ms \|", said, re.MULTILINE)]
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
