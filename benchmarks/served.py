"""A server of the app on a free port, for those who measure it from outside."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "streamlit_app.py"
STARTS_WITHIN_S = 180.0


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_server(
    log: Path | None = None, options: tuple[str, ...] = (), script: Path = APP, **environment: str
) -> tuple[subprocess.Popen[bytes], str]:
    """A fresh server and its address, up to its health check; nobody has visited it yet.

    Raises RuntimeError, with the end of its log, where it does not start.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    output = log.open("wb") if log else subprocess.DEVNULL
    server = subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=output, stderr=output, env={**os.environ, **environment}
    )
    url = f"http://127.0.0.1:{port}"
    if not _answers(url, server):
        server.kill()
        raise RuntimeError(f"the server did not start: {log.read_text()[-2000:] if log else ''}")
    return server, url


def start_servers(count: int, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """As many servers behind `deploy/local.py`, and their address; one stands alone.

    Raises RuntimeError, with the end of its log, where they do not start.
    """
    if count == 1:
        return start_server(log)
    port = free_port()
    command = [sys.executable, str(ROOT / "deploy" / "local.py"), "--servers", str(count), "--port", str(port)]
    with log.open("wb") as output:
        servers = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    if not _answers(f"http://127.0.0.1:{port}", servers):
        servers.terminate()
        raise RuntimeError(f"the servers did not start: {log.read_text()[-2000:]}")
    return servers, f"http://127.0.0.1:{port}"


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether it answers, having been waited for."""
    deadline_s = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline_s and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return True
        except OSError:
            time.sleep(0.05)
    return False


def stop_server(server: subprocess.Popen[bytes]) -> None:
    """End it, and wait until it has."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def served(
    log: Path | None = None, options: tuple[str, ...] = (), script: Path = APP, **environment: str
) -> Iterator[str]:
    """The address of a server that lives for as long as the block."""
    server, url = start_server(log, options, script, **environment)
    try:
        yield url
    finally:
        stop_server(server)


@contextmanager
def proxied(url: str, folder: Path) -> Iterator[str]:
    """A server as visitors reach it: behind the HAProxy of `deploy/`, where there is one."""
    haproxy = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if haproxy is None:
        yield url
        return
    servers, port = folder / "servers.cfg", free_port()
    servers.write_text(f"backend servers\n    server app {url.removeprefix('http://')}\n")
    command = [haproxy, "-db", "-f", str(ROOT / "deploy" / "haproxy.cfg"), "-f", str(servers)]
    with (folder / "proxy.log").open("wb") as log:
        environment = {**os.environ, "SHARDLAB_BIND": f"127.0.0.1:{port}"}
        proxy = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        if not _answers(f"http://127.0.0.1:{port}", proxy):
            raise RuntimeError(f"the proxy did not start: {(folder / 'proxy.log').read_text()[-2000:]}")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop_server(proxy)
