"""What the launcher is tested with where no model is needed: ranks that print, beat, wait, and end, without torch.

    torchrun ... -m tests.runtime.rank_stub --json PATH MODE SECONDS

MODE for SECONDS, or until a file `end` lies beside their beats, before a result is written: `beat` steps on in
silence, `compute` works a third of the time and does not beat, as a process does that imports its libraries,
`sleep` hangs, `untied` beats and does not end with torchrun. As with a model, nobody speaks of a world before every
rank is there.
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
    while len(list(Path(BEATS).glob("here.*"))) < int(os.environ["WORLD_SIZE"]):
        time.sleep(0.05)
    if first:
        say("world")
    until_s = time.monotonic() + float(seconds)
    while time.monotonic() < until_s and not Path(BEATS, "end").exists():
        if mode in ("beat", "untied"):
            beat()
        worked_s = time.process_time() + 0.02
        while mode == "compute" and time.process_time() < worked_s:
            pass
        time.sleep(0.05)
    if first:
        Path(path).write_text("{}", encoding="utf-8")
        say("done")


if __name__ == "__main__":
    main(*sys.argv[2:])
