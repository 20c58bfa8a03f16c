"""What connections that never come to an end cost a visitor, behind the proxy of `deploy/` and without it.

    python -m benchmarks.bench_slow [--count 400] [--seconds 30]

Another process opens so many of a kind and sends next to nothing on them: headers a byte a second, a body that does
not end, a WebSocket that answers no ping, a connection that never speaks. Printed for each: the other visitor's
reruns meanwhile, how many connections were still open at the end, and the server's memory.
"""

import argparse
import multiprocessing
import secrets
import socket
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median

from benchmarks.served import proxied, start_server, stop_server
from benchmarks.visitor import Visitor

HEAD = "{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
SOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
)
KINDS = {
    "nothing": "",
    "headers": HEAD.format(method="GET", path="/") + "X-Slow: ",
    "body": HEAD.format(method="PUT", path="/_stcore/upload_file/a/b") + "Content-Length: 900000\r\n\r\n",
    "sockets": HEAD.format(method="GET", path="/_stcore/stream") + SOCKET,
}
DRIPS = ("headers", "body")


def hold(address: tuple[str, int], kind: str, count: int, over: Event, left: "multiprocessing.Queue[int]") -> None:
    """Open as many, send a byte a second where the kind does, and count those that are open at the end."""
    with ExitStack() as stack:
        held = []
        for _ in range(count):
            with suppress(OSError):
                one = stack.enter_context(socket.create_connection(address, timeout=10))
                one.sendall(KINDS[kind].format(key=secrets.token_hex(11) + "==").encode())
                one.setblocking(False)
                held.append(one)
        while not over.wait(1):
            held = [one for one in held if is_open(one, kind in DRIPS)]
        left.put(len(held))


def is_open(one: socket.socket, drips: bool) -> bool:
    """Whether the other side has not hung up, having been sent one byte more."""
    try:
        if drips:
            one.send(b"a")
        while one.recv(65536):
            continue
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def beside(url: str, kind: str, count: int, seconds: float) -> tuple[list[float], int]:
    """Seconds of a visitor's reruns while so many are held, and how many were left of them."""
    context = multiprocessing.get_context("spawn")
    over, left = context.Event(), context.Queue()
    host, _, port = url.removeprefix("http://").partition(":")
    with Visitor(url, "comm_cost") as visitor:
        visitor.press("scenario")
        other = context.Process(target=hold, args=((host, int(port)), kind, count, over, left), daemon=True)
        other.start()
        spent, until_s = [], time.monotonic() + seconds
        while time.monotonic() < until_s:
            spent.append(visitor.set("batch", len(spent) % 20 + 1))
            time.sleep(0.05)
        over.set()
        still = left.get(timeout=60)
        other.join(60)
    return spent, still


def resident_mb(pid: int) -> float:
    """The memory a process holds. Source: proc(5)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> int:
    """Print a line for each kind, without the proxy and behind it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server, url = start_server(Path(folder) / "server.log")
        stack.callback(stop_server, server)
        ways = {"alone": url, "behind the proxy": stack.enter_context(proxied(url, Path(folder)))}
        for way, at in ways.items():
            for kind, count in {"nobody": 0, **dict.fromkeys(KINDS, asked.count)}.items():
                spent, still = beside(at, kind if count else "nothing", count, asked.seconds if count else 5)
                times = f"median {1e3 * median(spent):5.0f} ms, longest {1e3 * max(spent):5.0f} ms"
                print(f"{way:17} {kind:8} {count:5} {times}, {still} still open, {resident_mb(server.pid):.0f} MB")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
