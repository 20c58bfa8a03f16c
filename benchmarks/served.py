"""A server of the app on a free port, for those who measure it from outside."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STARTS_WITHIN_S = 60.0


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_server(
    log: Path | None = None, options: tuple[str, ...] = (), **environment: str
) -> tuple[subprocess.Popen[bytes], str]:
    """A fresh server and its address, up to its health check; nobody has visited it yet.

    Raises RuntimeError, with the end of its log, where it does not start.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "streamlit_app.py"), "--server.port", str(port)]
    command += ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
    output = log.open("wb") if log else subprocess.DEVNULL
    server = subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=output, stderr=output, env={**os.environ, **environment}
    )
    url, deadline_s = f"http://127.0.0.1:{port}", time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline_s and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return server, url
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:] if log else ''}")


def stop_server(server: subprocess.Popen[bytes]) -> None:
    """End it, and wait until it has."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def served(log: Path | None = None, options: tuple[str, ...] = (), **environment: str) -> Iterator[str]:
    """The address of a server that lives for as long as the block."""
    server, url = start_server(log, options, **environment)
    try:
        yield url
    finally:
        stop_server(server)
