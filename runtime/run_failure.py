"""Why a run failed, in a sentence."""

import json
import re
import signal
from collections.abc import Sequence

NO_SPACE = "No space left on device"
_KNOWN = {
    NO_SPACE: "the disk is full; free some room, or set TMPDIR to a folder on another disk",
    "annot allocate memory": "it wanted more memory than a run may take; choose a smaller model",
    "Too many open files": "there are too few file handles here; raise the limit with ulimit -n",
    "EADDRINUSE": "the port where the ranks meet is taken; choose another",
    "address already in use": "the port where the ranks meet is taken; choose another",
}
"""What a library says somewhere in its traceback, and what it means."""

_EXIT_CODE = re.compile(r"exitcode\s*:\s*(-?\d+)")
_LAST_ERROR = re.compile(r"^(?:\[rank\d+\]: ?)?(?:\w+\.){0,8}(\w*(?:Error|Exception)\b.*)$", re.MULTILINE)


def plain_failure(lines: Sequence[str], errors: str) -> str:
    """Why a run failed, in a sentence: its own words, the signal that ended a rank, or the last error printed."""
    messages = [row["message"] for row in map(_event, lines) if row.get("event") == "error" and "message" in row]
    if messages:
        return f"The run failed: {messages[-1]}."
    differing = [
        row for row in map(_event, lines) if row.get("event") == "done" and row.get("tokens_equal") is False
    ]
    if differing:
        return "The run finished, and the tokens of TP=1 and TP=2 differ: one of the layers is wrong."
    known = [meaning for words, meaning in _KNOWN.items() if words in errors]
    if known:
        return f"The run failed: {known[0]}."
    code = _EXIT_CODE.search(errors)
    if code and int(code[1]) < 0:
        return f"A rank was ended from outside by {signal.Signals(-int(code[1])).name}; the others were stopped."
    raised = _LAST_ERROR.findall(errors)
    return f"The run failed: {raised[0][:300]}" if raised else "The run failed and did not say why."


def _event(line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
