"""Whether a server ends with the memory it began with: many reruns in one visit, then many visits.

    python -m benchmarks.bench_leak [--reruns 2000] [--visits 200]

A server of its own is warmed up first: every page twice, and a tenth of what is then counted, since caches fill and
Python's allocator grows to its working size. Printed: the resident memory after the warm-up, after the reruns, and
after the visits have been opened, used once and closed, and Streamlit has let go of them.
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.served import start_server, stop_server
from benchmarks.visitor import Visitor
from ui.course.pages import PAGES

MOST_GROWTH = 0.10
LET_GO_S = 3.0
OPTIONS = ("--server.disconnectedSessionTTL", "1")
STEMS = [page.stem if page.stem != "overview" else "" for page in PAGES]


def resident_mb(pid: int) -> float:
    """The memory a process holds. Source: proc(5)."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def reruns(visitor: Visitor, count: int) -> None:
    """Go round the pages, the scenario's panel open, with another batch each time."""
    if "batch" not in visitor.widgets:
        visitor.press("scenario")
    for number in range(count):
        if number % 2:
            visitor.set("batch", number % 64 + 1)
        else:
            visitor.go(STEMS[number // 2 % len(STEMS)])


def visits(url: str, count: int) -> None:
    """Open a visit on one page and its scenario's panel, move something, leave."""
    for number in range(count):
        with Visitor(url, STEMS[number % len(STEMS)]) as visitor:
            visitor.press("scenario")
            visitor.set("batch", number % 64 + 1)


def measured(reruns_: int, visits_: int) -> tuple[float, float, float]:
    """Megabytes after the warm-up, the reruns and the visits."""
    server, url = start_server(options=OPTIONS)
    try:
        with Visitor(url) as visitor:
            reruns(visitor, 4 * len(STEMS) + reruns_ // 10)
            visits(url, visits_ // 10)
            time.sleep(LET_GO_S)
            began = resident_mb(server.pid)
            reruns(visitor, reruns_)
            rerun = resident_mb(server.pid)
            visits(url, visits_)
            time.sleep(LET_GO_S)
            return began, rerun, resident_mb(server.pid)
    finally:
        stop_server(server)


def main() -> int:
    """Print the three; 1 where either grew by more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reruns", type=int, default=2000)
    parser.add_argument("--visits", type=int, default=200)
    asked = parser.parse_args()
    began, rerun, visited = measured(asked.reruns, asked.visits)
    print(f"after the warm-up     {began:7.1f} MB")
    print(f"after {asked.reruns:5} reruns    {rerun:7.1f} MB  {rerun / began - 1:+.1%}")
    print(f"after {asked.visits:5} visits    {visited:7.1f} MB  {visited / began - 1:+.1%}")
    return int(max(rerun, visited) > (1 + MOST_GROWTH) * began)


if __name__ == "__main__":
    sys.exit(main())
