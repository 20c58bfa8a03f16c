"""What is left of a server that is killed while something is at work for it: processes, temporary files, memory.

    python -m benchmarks.bench_kills [--kills 50] [--only KIND]

A process that does what the server does is killed at a random moment of its work: a grade, a learner's file, pastes
with the workers, a live run. This process adopts whatever it leaves, as init does, and waits for its end. What is
in the temporary folder then goes when the next one starts; what is in /dev/shm must not be there at all.
"""

import argparse
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.served import ROOT

PR_SET_CHILD_SUBREAPER = 36
GONE_WITHIN_S = 120.0
SHM = Path("/dev/shm")
SLEEPS = "import time\ntime.sleep(600)\n"
PROGRAMS = {
    "grader": """
from pathlib import Path
from core.course.grading.tasks import lab_of
from runtime.grading import grade
print(flush=True)
grade(lab_of("lab-03"), Path(FILE), 1)
""",
    "learner": """
from pathlib import Path
from runtime.learner_code import submissions
print(flush=True)
submissions(Path(FILE), 2, 600.0)
""",
    "workers": """
import threading
from runtime import workers
from tests.runtime import work_tasks
for each in range(2):
    threading.Thread(target=lambda each=each: workers.run(work_tasks.asleep, 600.0 + each)).start()
print(flush=True)
""",
    "live run": """
from runtime import torchrun
torchrun.LOCK_NAME = "shardlab-bench-kills"
print(flush=True)
with torchrun.start(torchrun.RunRequest("tests.runtime.rank_stub", ("beat", "600"), silence_s=600)) as run:
    for line in run.watch():
        pass
""",
}
NEXT = "from pathlib import Path; from runtime.scratch import forget_the_dead; forget_the_dead(Path(FOLDER))"


@dataclass(frozen=True)
class Left:
    """What a kill left: the processes that it orphaned, those that did not end, files, and shared memory."""

    orphans: int
    processes: int
    files: tuple[str, ...]
    shared: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        return not (self.processes or self.files or self.shared)


def killed(kind: str, after_s: float, folder: Path) -> Left:
    """Start one, kill it so long after its work began, and wait for what it leaves."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = set(SHM.iterdir()) if SHM.is_dir() else set()
    file = folder / "mine.py"
    file.write_text(SLEEPS)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    server = subprocess.Popen(
        [sys.executable, "-c", PROGRAMS[kind].replace("FILE", repr(str(file)))],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    server.stdout.readline()  # it is at work from now on
    time.sleep(after_s)
    server.send_signal(signal.SIGKILL)
    if server.wait() != -signal.SIGKILL:
        raise RuntimeError(f"{kind}: what was to be killed had ended before")
    server.stdout.close()
    orphans = len(_children())
    until_s = time.monotonic() + GONE_WITHIN_S
    while _children() and time.monotonic() < until_s:
        time.sleep(0.05)
    swept = NEXT.replace("FOLDER", repr(str(temporary)))
    subprocess.run([sys.executable, "-c", swept], cwd=ROOT, check=True)
    files = tuple(path.name for path in temporary.iterdir() if path.suffix != ".lock")
    new = (set(SHM.iterdir()) - before) if SHM.is_dir() else set()
    shared = tuple(path.name for path in new if not _is_held(path))
    return Left(orphans, len(_children()), files, shared)


def _is_held(segment: Path) -> bool:
    """Whether a process that lives has a segment of shared memory: then it is that one's, and not left."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(segment) in maps.read_text():
                return True
        except OSError:
            continue
    return not segment.exists()


def _children() -> list[int]:
    """Processes that are this one's children and have not ended; those that have are let go of."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid():
            if state == "Z":
                os.waitpid(int(folder.name), os.WNOHANG)
            else:
                found.append(int(folder.name))
    return found


def main() -> int:
    """Print what was left, kind by kind; 1 where anything was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--within", type=float, default=4.0, help="seconds from the moment that the work begins")
    parser.add_argument("--only", choices=PROGRAMS, help="what is at work")
    asked, rng, faults = parser.parse_args(), random.Random(0), 0
    for kind in [asked.only] if asked.only else PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            found = [killed(kind, rng.random() * asked.within, Path(folder)) for _ in range(asked.kills)]
        bad = [left for left in found if not left.nothing]
        faults += len(bad)
        print(f"{kind:10} {asked.kills} kills, {sum(left.orphans for left in found)} orphans ended, left: {bad}")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
