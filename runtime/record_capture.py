"""Run two ranks on this machine and keep the run as a capture, or keep one that was made elsewhere.

    python -m runtime.record_capture NAME [--option=...]
    python -m runtime.record_capture NAME --kept LINES RESULT [--folder FOLDER]

Options after NAME go to distributed.run_tp.
"""

import sys
from pathlib import Path

from core.errors import ShardlabError
from runtime import captures
from runtime.prose import worded
from runtime.run_request import RunRequest
from runtime.torchrun import printed

USAGE = __doc__.split("\n\n")[1]


def main(arguments: list[str]) -> int:
    """Record or keep; 0 when there is a capture, 1 with a message when not, 2 for bad arguments."""
    if not arguments or arguments[0].startswith("-"):
        print(f"usage:\n{USAGE}", file=sys.stderr)
        return 2
    name, *options = arguments
    try:
        if "--kept" in options:
            return _keep(name, options)
        return _record(name, options)
    except (OSError, ShardlabError) as error:
        print(error, file=sys.stderr)
        return 1


def _record(name: str, options: list[str]) -> int:
    outcome = printed(RunRequest(options=tuple(options), wall_s=900, silence_s=300))
    if outcome.status != "done" or outcome.result is None:
        print(worded(outcome.message) if outcome.message else "", file=sys.stderr)
        return 1
    captures.save(outcome.lines, outcome.result, captures.CAPTURES / name)
    captures.load(name)
    return 0


def _keep(name: str, options: list[str]) -> int:
    """A run's two files as a capture, read once to see that it is whole."""
    if len(options) not in (3, 5) or options[0] != "--kept" or (len(options) == 5 and options[3] != "--folder"):
        print(f"usage:\n{USAGE}", file=sys.stderr)
        return 2
    lines, result = (Path(path).read_text(encoding="utf-8") for path in options[1:3])
    folder = Path(options[4]) if len(options) == 5 else captures.CAPTURES
    captures.of_texts(name, lines, result)
    captures.save(lines.splitlines(), result, folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
