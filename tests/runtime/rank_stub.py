"""What the launcher is tested with where no model is needed: ranks that print, beat, wait, and end, without torch.

    torchrun ... -m tests.runtime.rank_stub --json PATH MODE SECONDS

MODE for SECONDS, before a result is written: `beat` steps on in silence, `compute` works and does not beat, as a
process does that imports its libraries, `sleep` hangs.
"""

import os
import sys
import time
from pathlib import Path

from distributed.progress import beat, say
from runtime.processes import end_with_parent


def main(path: str, mode: str, seconds: str) -> None:
    end_with_parent()
    first = os.environ["RANK"] == "0"
    if first:
        say("start")
        say("world")
    until_s = time.monotonic() + float(seconds)
    while time.monotonic() < until_s:
        if mode == "beat":
            beat()
        if mode != "compute":
            time.sleep(0.05)
    if first:
        Path(path).write_text("{}", encoding="utf-8")
        say("done")


if __name__ == "__main__":
    main(*sys.argv[2:])
