"""Two servers behind HAProxy, and one of them is killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from benchmarks.served import free_port, stop_server
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


def answered_by(url: str, server: str) -> str:
    """The cookie that a visitor of one server has after a further request."""
    request = urllib.request.Request(f"{url}/_stcore/health", headers={"Cookie": f"shardlab={server}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        set_cookies = answer.headers.get_all("Set-Cookie") or []
    return next((line[9:].partition(";")[0] for line in set_cookies if line.startswith("shardlab=")), server)


def test_a_killed_server_loses_its_visitors_to_the_other_with_their_view(pair, profile, open_page):
    url, process = pair
    pages, servers = [], []
    for _ in range(2):
        profile.clear_cookies(name="shardlab")
        pages.append(open_page(f"{url}/{VIEW}"))
        servers.append(cookie(profile))
    assert len(set(servers)) == 2, "each visitor has a server of its own"
    assert [answered_by(url, server) for server in servers] == servers
    before = [(page.url, bars(page)) for page in pages]
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
    for page in pages:
        press(page, "n")
        page.wait_for_url(lambda url: "bill_scene=bench" not in url)
