"""What one visitor's megabytes cost another: reruns of a page, alone and beside somebody who pastes without end.

    python -m benchmarks.bench_two_visitors [--rounds 8] [--reruns 25]

A server of its own, two sessions. The second pastes a megabyte that takes a reader most of its second, each time
another, and begins the next when it has its answer. Blocks with and without it alternate, so that whatever else the
machine does falls on both. Printed: the median and the 95th percentile of the first one's reruns.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from statistics import median, quantiles

from benchmarks.served import served
from benchmarks.visitor import Visitor

MOST_RATIO = 1.2
LINE = "Mean TTFT (ms): 1\n"
PASTE = LINE * (990_000 // len(LINE))


def hostile(
    url: str, at_work: "multiprocessing.synchronize.Event", over: "multiprocessing.synchronize.Event"
) -> None:
    """Paste while it is one's turn."""
    with Visitor(url, "startup_log") as visitor:
        count = 0
        while not over.is_set():
            if at_work.wait(0.1):
                count += 1
                visitor.set("log_text", f"{PASTE}{count}")


def measuring(reruns: int) -> Iterator[tuple[list[float], list[float]]]:
    """Seconds of the first visitor's reruns so far, alone and beside the other: so many more of each a round."""
    context = multiprocessing.get_context("spawn")
    at_work, over = context.Event(), context.Event()
    with served() as url:
        other = context.Process(target=hostile, args=(url, at_work, over), daemon=True)
        other.start()
        with Visitor(url, "comm_cost") as visitor:
            visitor.press("scenario")
            for batch in range(1, min(reruns, 20) + 1):
                visitor.set("batch", batch)
            alone, beside = [], []
            try:
                while True:
                    for found, works in ((alone, False), (beside, True)):
                        (at_work.set if works else at_work.clear)()
                        visitor.set("batch", 100)  # what is under way ends, or begins
                        found += [visitor.set("batch", batch % 20 + 1) for batch in range(reruns)]
                    yield alone, beside
            finally:
                over.set()
                other.join(30)


def p95(spent: list[float]) -> float:
    return quantiles(spent, n=20)[-1]


def main() -> int:
    """Print both; 1 where the 95th percentile is over its bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--reruns", type=int, default=25)
    asked = parser.parse_args()
    with closing(measuring(asked.reruns)) as found:
        alone, beside = next(islice(found, asked.rounds - 1, None))
    for name, spent in (("alone", alone), ("beside", beside)):
        print(f"{name:8} n={len(spent)} median {1e3 * median(spent):6.1f} ms  p95 {1e3 * p95(spent):6.1f} ms")
    ratio = p95(beside) / p95(alone)
    print(f"p95 beside / alone: {ratio:.2f}, at most {MOST_RATIO}")
    return int(ratio > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
