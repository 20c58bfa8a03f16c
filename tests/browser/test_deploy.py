"""Two servers behind HAProxy, and one of them is killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack

import pytest

from benchmarks.served import free_port, stop_server
from benchmarks.visitor import Visitor
from runtime.rooms import code_of, new_key
from tests.browser.conftest import ROOT, press, settle

VIEW = "comm_cost?model=llama-3-70b&tp=4&bill_scene=bench"


@pytest.fixture
def pair(tmp_path):
    """The address of two servers behind a proxy, and the process id of one of them."""
    if shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs HAProxy")
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, str(ROOT / "deploy/local.py"), "--servers", "2", "--port", str(port)]
    with log.open("wb") as output:
        deploy = subprocess.Popen([*command, "--files", str(tmp_path)], stdout=output, stderr=output)
    deadline = time.monotonic() + 90
    while "servers)" not in log.read_text():
        assert deploy.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    os.kill(deploy.pid, signal.SIGSTOP)  # who starts a dead server anew: here it stays dead
    yield f"http://127.0.0.1:{port}", int((tmp_path / f"{port + 1}.pid").read_text())
    os.kill(deploy.pid, signal.SIGCONT)
    stop_server(deploy)


def cookie(profile) -> str:
    return next(one["value"] for one in profile.cookies() if one["name"] == "shardlab")


def bars(page) -> str:
    """What the bar of the scenario says."""
    return page.locator(".st-key-bar").inner_text()


def kept(url: str, server: str, path: str = "_stcore/health") -> dict[str, str]:
    """The cookies that a visitor of one server has after a further request."""
    request = urllib.request.Request(f"{url}/{path}", headers={"Cookie": f"shardlab={server}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        given = [line.partition(";")[0] for line in answer.headers.get_all("Set-Cookie") or []]
    return {"shardlab": server, **dict(one.split("=", 1) for one in given)}


def answered_by(url: str, server: str) -> str:
    """The server that answers who was at this one."""
    return kept(url, server)["shardlab"]


QUESTION, RING = "pipe_scene=question", "cluster_scene=ring"


def at(url: str, server: str, path: str) -> Visitor:
    """A visit as of a browser with a server's cookie: its websocket is where the page came from."""
    return Visitor(url, path, {"Cookie": "; ".join("=".join(one) for one in kept(url, server, path).items())})


def gather(url: str, servers: list[str], key: str) -> None:
    """A room on the wall of the server that its code names: phones of both vote in it and are ranks of its ring."""
    code = code_of(key)
    presides = f"room={code}&chair={key}&present=true"
    with at(url, servers[0], f"pipeline_bubble?{QUESTION}&{presides}") as wall, ExitStack() as closing:
        wall.press("ask_room")
        phones = [closing.enter_context(at(url, server, f"?room={code}")) for server in servers]
        for phone, guess in zip(phones, (15, 30), strict=True):
            assert f"goes to the room {code}" in " ".join(phone.texts)
            phone.go("pipeline_bubble", f"{QUESTION}&room={code}")
            phone.set("pipe_guess", guess)
            assert f"Sent to the room {code}" in " ".join(phone.texts)
        wall.press("reveal")
        assert "the drain forgotten" in " ".join(wall.texts)
        wall.go("cluster", f"{RING}&{presides}&cluster_ranks=2")
        wall.press("open_ring")
        for phone in phones:
            phone.repeat(phone.repeats[-1])
            assert "Go to its question" in " ".join(phone.texts), "the wall has gone on"
            phone.go("cluster", f"{RING}&room={code}")
        wall.repeat(wall.repeats[-1])
        assert "2 phones are here" in " ".join(wall.texts)
        wall.press("start_ring", wall.repeats[-1])
        for round_ in range(2):
            for phone in phones:
                phone.repeat(phone.repeats[-1])
                hand = phone.told["rank_in_hand"]
                assert (hand["round"], hand["chunk"] is None) == (round_, False)
                phone.tell("rank_in_hand", "sent", {"run": hand["run"], "round": round_}, phone.repeats[-1])
        wall.go("cluster", f"{RING}&{presides}")
        assert "2 of 2 ranks hold the same sum" in " ".join(wall.texts)


def told(url: str, servers: list[str], key: str) -> set[bool]:
    """Whether phones that come with the code are told that there is no such room, whichever server they were at."""
    said = []
    for server in servers:
        with at(url, server, f"?room={code_of(key)}") as phone:
            said.append("There is no room" in " ".join(phone.texts))
    return set(said)


def test_a_killed_server_loses_its_visitors_to_the_other_with_their_view(pair, profile, open_page):
    """Before, phones of both servers share a room, its poll and its ring; after, those of a dead room are told."""
    url, process = pair
    pages, servers = [], []
    for _ in range(2):
        profile.clear_cookies(name="shardlab")
        pages.append(open_page(f"{url}/{VIEW}"))
        servers.append(cookie(profile))
    assert len(set(servers)) == 2, "each visitor has a server of its own"
    assert [answered_by(url, server) for server in servers] == servers
    before = [(page.url, bars(page)) for page in pages]
    keys = [new_key(name) for name in ("app1", "app2")]
    for key in keys:
        gather(url, servers, key)
    assert [told(url, servers, key) for key in keys] == [{False}, {False}]
    connected = [[], []]
    for page, sockets in zip(pages, connected, strict=True):
        page.on("websocket", lambda socket, sockets=sockets: sockets.append(socket))

    os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while not any(connected) and time.monotonic() < deadline:
        pages[0].wait_for_timeout(200)
    for page in pages:
        settle(page)

    assert sorted(map(bool, connected)) == [False, True], "one comes back, the other notices nothing"
    assert [(page.url, bars(page)) for page in pages] == before
    assert len({answered_by(url, server) for server in servers}) == 1, "both are answered by the server that lives"
    gone = [told(url, servers, key) for key in keys]
    assert sorted(gone, key=max) == [{False}, {True}], "one room is gone, and said so"
    for page in pages:
        press(page, "n")
        page.wait_for_url(lambda url: "bill_scene=bench" not in url)
