"""Run two ranks on this machine and keep the run as a capture.

    python -m runtime.record_capture NAME [--option=...]

Options after NAME go to distributed.run_tp.
"""

import sys

from runtime import captures
from runtime.torchrun import RunRequest, start


def main(arguments: list[str]) -> int:
    """Record; 0 when the run went well, 1 with its message when not, 2 for bad arguments."""
    if not arguments or arguments[0].startswith("-"):
        print("usage: python -m runtime.record_capture NAME [options of distributed.run_tp]", file=sys.stderr)
        return 2
    name, *options = arguments
    with start(RunRequest(options=tuple(options), wall_s=900, silence_s=300)) as run:
        for line in run.watch():
            if line is not None:
                print(line)
    outcome = run.outcome
    if outcome is None or outcome.status != "done" or outcome.result is None:
        print(outcome.message if outcome else "the run did not end", file=sys.stderr)
        return 1
    captures.save(outcome.lines, outcome.result, captures.CAPTURES / name)
    captures.load(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
