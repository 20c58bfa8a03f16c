"""What the launcher is tested with where no model is needed: ranks that print, beat, wait, and end.

    torchrun ... -m tests.runtime.rank_stub --json PATH MODE SECONDS

MODE for SECONDS, or until a file `end` lies beside their beats, before a result is written: `beat` steps on in
silence, `together` takes no step before its peers have taken the last one, as in a sum, `compute` works a third of
the time and does not beat, as a process does that imports its libraries, `sleep` hangs, `untied` beats and does not
end with torchrun; `fill` has torch take a GB first. As with a model, nobody speaks of a world before every rank of
its host is there.
"""

import os
import sys
import time
from pathlib import Path

from distributed.progress import BEATS, beat, say
from runtime.processes import end_with_parent


def main(path: str, mode: str, seconds: str) -> None:
    if mode != "untied":
        end_with_parent()
    first = os.environ["RANK"] == "0"
    if first:
        say("start")
    Path(BEATS, f"here.{os.environ['RANK']}").touch()
    while len(list(Path(BEATS).glob("here.*"))) < int(os.environ["LOCAL_WORLD_SIZE"]):
        time.sleep(0.05)
    if first:
        say("world", tp_size=int(os.environ["WORLD_SIZE"]), hosts=int(os.environ["GROUP_WORLD_SIZE"]))
    if mode == "fill":
        fill()
    until_s = time.monotonic() + float(seconds)
    while time.monotonic() < until_s and not Path(BEATS, "end").exists():
        if mode in ("beat", "untied") or (mode == "together" and stepped()):
            beat()
        worked_s = time.process_time() + 0.02
        while mode == "compute" and time.process_time() < worked_s:
            pass
        time.sleep(0.05)
    if first:
        Path(path).write_text("{}", encoding="utf-8")
        say("done")


def stepped() -> bool:
    """Take a step unless a peer has yet to take the last one; a step is a byte of a rank's own file."""
    own, peers = Path(BEATS, f"here.{os.environ['RANK']}"), Path(BEATS).glob("here.*")
    if any(peer.stat().st_size < own.stat().st_size for peer in peers):
        return False
    with own.open("ab") as steps:
        steps.write(b".")
    return True


def fill() -> None:
    """Ask torch for a GB, in its own words where there is none."""
    import torch

    torch.ones(2**30, dtype=torch.uint8)


if __name__ == "__main__":
    main(*sys.argv[2:])
