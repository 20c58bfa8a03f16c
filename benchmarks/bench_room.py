"""A room full of phones: all join one poll and then one ring, each on a websocket of its own.

    python -m benchmarks.bench_room [--phones 64] [--seconds 40] [--servers 1]

Each phone opens the short address, sends a prediction and then another one. Then the wall begins a ring with a rank
for each of them: a phone asks once a second what has come, as its page does, and passes its chunk on at once. The
phones share the cores with the server. Printed: how long each kind of request took, how far the ring came, and what
the server's process holds. The exit status is 1 where something took or held more than it may, or a request failed.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from benchmarks.bench_hall import usage
from benchmarks.served import start_servers, stop_server
from benchmarks.visitor import Visitor
from runtime.room_ring import MOST
from runtime.rooms import code_of

KEY = "abcdef0123456789"
CODE = code_of(KEY)
QUESTION, RING = f"pipe_scene=question&room={CODE}", f"cluster_scene=ring&room={CODE}"
WALL = f"&chair={KEY}&present=true"
HAND = "rank_in_hand"
EVERY_S, ARRIVE_S = 1.0, 10.0
MOST_S, MOST_MIB = 10.0, 400

Took = dict[str, list[float]]
"""Seconds of each request, by what was asked."""


class Phones:
    """So many visits, each with a thread; `took` is what their requests took."""

    def __init__(self, count: int, closing: ExitStack) -> None:
        self.took: Took = defaultdict(list)
        self.visits: list[Visitor] = []
        self.rounds = [0] * count
        self._closing, self._lock = closing, threading.Lock()
        self._pool = closing.enter_context(ThreadPoolExecutor(count))
        self._count = count

    def each(self, act: Callable[[int], None]) -> None:
        """Every phone does it at once; what one of them raises is raised."""
        list(self._pool.map(act, range(self._count)))

    def join(self, url: str) -> None:
        """All of them open the short address, within a few seconds of each other."""

        def open_one(number: int) -> None:
            time.sleep(ARRIVE_S * number / self._count)
            began_s = time.monotonic()
            visit = Visitor(url, f"?room={CODE}")
            self._note("join", time.monotonic() - began_s)
            visit.go("pipeline_bubble", QUESTION)
            with self._lock:
                self.visits.append(visit)
                self._closing.push(visit)

        self.each(open_one)

    def vote(self, values: list[int]) -> None:
        """All send a prediction at once."""
        self.each(lambda number: self._note("vote", self.visits[number].set("pipe_guess", values[number])))

    def pass_on(self, until_s: float) -> None:
        """Each asks every second what has come, and passes its chunk on whenever it has one."""

        def hold(number: int) -> None:
            visit, sent = self.visits[number], (0, -1)
            visit.repeats.clear()
            self._note("ring", visit.go("cluster", RING))
            fragment = visit.repeats[-1]
            time.sleep(EVERY_S * number / self._count)
            while (began_s := time.monotonic()) < until_s:
                self._note("ask", visit.repeat(fragment))
                hand = visit.told.get(HAND)
                if hand and hand["chunk"] is not None and (hand["run"], hand["round"]) != sent:
                    sent = hand["run"], hand["round"]
                    told = {"run": sent[0], "round": sent[1]}
                    self._note("pass", visit.tell(HAND, "sent", told, fragment))
                    self.rounds[number] = sent[1] + 1
                time.sleep(max(0.0, began_s + EVERY_S - time.monotonic()))

        self.each(hold)

    def _note(self, what: str, seconds: float) -> None:
        with self._lock:
            self.took[what].append(seconds)


def lecture(url: str, count: int, seconds: float) -> tuple[Phones, int]:
    """The poll and the ring of a room; the phones, and how many of them were told that their vote has come."""
    with ExitStack() as closing:
        phones = Phones(count, closing)
        wall = closing.enter_context(Visitor(url, f"pipeline_bubble?{QUESTION}{WALL}"))
        wall.press("ask_room")
        phones.join(url)
        phones.vote([15] * count)
        phones.vote([15 + number % 20 for number in range(count)])
        counted = sum(f"Sent to the room {CODE}" in " ".join(visit.texts) for visit in phones.visits)
        wall.go("cluster", f"{RING}{WALL}&cluster_ranks={count}")
        wall.press("open_ring")
        until_s = time.monotonic() + seconds
        ring = threading.Thread(target=phones.pass_on, args=(until_s,))
        ring.start()
        time.sleep(seconds / 4)  # by then all of them are here
        wall.press("start_ring", wall.repeats[-1])
        while time.monotonic() < until_s:
            time.sleep(EVERY_S)
            wall.go("cluster", f"{RING}{WALL}")
        ring.join()
        faults = [fault for visit in (wall, *phones.visits) for fault in visit.faults]
        assert not faults, faults[0]
        return phones, counted


def main() -> int:
    """Print the figures of one room; 1 where they are over their bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=MOST)
    parser.add_argument("--seconds", type=float, default=40.0, help="of the ring")
    parser.add_argument("--servers", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server, url = start_servers(asked.servers, Path(folder) / "log")
        try:
            phones, counted = lecture(url, asked.phones, asked.seconds)
            _, resident = usage(server.pid)
        finally:
            stop_server(server)
    good = resident / 2**20 <= MOST_MIB and counted == asked.phones
    print(f"{asked.phones} phones, {counted} votes")
    print(f"{'asked':8} {'times':>7} {'p50 ms':>8} {'p95 ms':>8}")
    for what, took in phones.took.items():
        p50, p95 = np.quantile(took, [0.5, 0.95])
        print(f"{what:8} {len(took):7} {1e3 * p50:8.0f} {1e3 * p95:8.0f}")
        good &= bool(p95 <= MOST_S)
    print(
        f"ring: every rank has sent {min(phones.rounds)} to {max(phones.rounds)} of {2 * (asked.phones - 1)} chunks"
    )
    print(f"server: {resident / 2**20:.0f} MiB")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
