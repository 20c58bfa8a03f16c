"""What the tests of a deploy share: where it stands, and connections of which each byte is ours."""

import shutil
import time
from contextlib import suppress
from pathlib import Path
from socket import create_connection
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PATH = "/usr/sbin:/usr/bin"
needs_haproxy = pytest.mark.skipif(shutil.which("haproxy", path=PATH) is None, reason="HAProxy is not installed")


def wait_until(holds, within_s=60):
    """Until it holds, which it does in good time."""
    until_s = time.monotonic() + within_s
    while not holds() and time.monotonic() < until_s:
        time.sleep(0.1)
    assert holds()


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
