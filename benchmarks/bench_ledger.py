"""The budget's ledger under eight writers that are killed at random moments: is a record lost, is the cap passed?

    python -m benchmarks.bench_ledger [--kills 1000] [--writers 8] [--seed 0]

Each writer authorises and records small sums without end, the clock stepping back between them, and tells of each
one after the guard has answered. One is killed by SIGKILL after a random while and another takes its place. A sum
that was told of must stand in the ledger. What stands in it beyond that was written and not yet told, at most one a
kill. Printed: the kills, the records, those lost, and the most that was ever authorised against its cap.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from core.two_way_tp.spend import BudgetLimits
from runtime import budget
from runtime.budget import BudgetGuard, BudgetGuardExceeded

CAP_USD, STEP_USD = 0.25, 0.05
"""Five of eight writers at a time; the others are refused, and ask again."""
LIMITS = BudgetLimits(lab_usd=1e6, phase_usd=CAP_USD, gpu_hours=1e6, spin_up_usd=0)
LONGEST_S = 0.02


@dataclass(frozen=True)
class Found:
    """What a run came to."""

    kills: int
    records: int
    torn: int
    lost: int
    untold: int
    most_usd: float

    @property
    def holds(self) -> bool:
        """No record lost, at most one a kill untold, the cap kept."""
        return self.lost == 0 and self.untold <= self.kills and self.most_usd <= CAP_USD + 1e-9


def run(ledger: Path, kills: int, writers: int, seed: int) -> Found:
    """Kill writers at random, then hold the ledger to what they told."""
    rng, told = random.Random(seed), ledger.with_suffix(".told")
    told.touch()
    going = [_writer(ledger, told, place) for place in range(writers)]
    for _ in range(kills):
        time.sleep(rng.uniform(0, LONGEST_S))
        place = rng.randrange(writers)
        _end(going[place])
        going[place] = _writer(ledger, told, place)
    for pid in going:
        _end(pid)
    return _held(ledger, told, kills + writers)


def _writer(ledger: Path, told: Path, place: int) -> int:
    """A process that spends without end, and its id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        _spend(ledger, told, f"lab-02/{place}")
    finally:
        os._exit(0)


def _spend(ledger: Path, told: Path, label: str) -> None:
    guard, said = BudgetGuard(ledger, LIMITS), os.open(told, os.O_WRONLY | os.O_APPEND)
    for count in range(10**9):
        budget._now = lambda count=count: f"2026-01-01T00:00:{59 - count % 60:02}Z"  # type: ignore[misc]
        guard.record_actual(label, 0.0)  # what the one before had reserved is free again
        os.write(said, f"actual {label}\n".encode())
        try:
            guard.authorize(label, STEP_USD)
        except BudgetGuardExceeded:
            time.sleep(0.001)
        else:
            os.write(said, f"authorize {label}\n".encode())


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _held(ledger: Path, told: Path, kills: int) -> Found:
    """Every record in its order: what stood open or paid after each, and which of those told of are not there."""
    content = ledger.read_bytes()
    entries = budget._entries(content)
    written = Counter(f"{entry.event} {entry.label}" for entry in entries)
    said = Counter(told.read_text().splitlines())
    reserved, most = Counter[str](), 0
    for entry in entries:
        reserved[entry.label] = reserved[entry.label] + 1 if entry.event == "authorize" else 0
        most = max(most, reserved.total())
    lines = sum(1 for line in content.split(b"\n") if line)
    lost, untold = said - written, written - said
    return Found(kills, len(entries), lines - len(entries), lost.total(), untold.total(), most * STEP_USD)


def main() -> int:
    """Print what was found; 1 where a record was lost or the cap passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder) / "spend.jsonl", asked.kills, asked.writers, asked.seed)
    print(f"{found.kills} kills of {asked.writers} writers: {found.records} records, {found.torn} torn lines")
    print(f"{found.lost} lost, {found.untold} written and not yet told")
    print(f"${found.most_usd:.2f} reserved at most, of ${CAP_USD:.2f}")
    return int(not found.holds)


if __name__ == "__main__":
    sys.exit(main())
