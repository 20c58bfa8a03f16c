"""Why a run failed, in a sentence."""

import json
import re
import signal
from collections.abc import Sequence

from core.errors import Remark, remark

NO_SPACE = "No space left on device"
_KNOWN = {
    NO_SPACE: remark("errors.run.disk_full"),
    "annot allocate memory": remark("errors.run.much_memory"),
    "Too many open files": remark("errors.run.few_handles"),
    "EADDRINUSE": remark("errors.run.meeting_port"),
    "address already in use": remark("errors.run.meeting_port"),
}
"""What a library says somewhere in its traceback, and what it means."""

_EXIT_CODE = re.compile(r"exitcode\s*:\s*(-?\d+)")
_LAST_ERROR = re.compile(r"^(?:\[rank\d+\]: ?)?(?:\w+\.){0,8}(\w*(?:Error|Exception)\b.*)$", re.MULTILINE)


def plain_failure(lines: Sequence[str], errors: str) -> Remark:
    """Why a run failed, in a sentence: its own words, the signal that ended a rank, or the last error printed."""
    messages = [row["message"] for row in map(_event, lines) if row.get("event") == "error" and "message" in row]
    if messages:
        return remark("errors.run.failed", error=str(messages[-1]))
    if any(row.get("event") == "done" and row.get("tokens_equal") is False for row in map(_event, lines)):
        return remark("errors.run.tokens_differ", one=1, two=2)
    known = [meaning for words, meaning in _KNOWN.items() if words in errors]
    if known:
        return remark("errors.run.failed", error=known[0])
    code = _EXIT_CODE.search(errors)
    if code and int(code[1]) < 0:
        return remark("errors.run.rank_ended", signal=signal.Signals(-int(code[1])).name)
    raised = _LAST_ERROR.findall(errors)
    if raised:
        return remark("errors.run.failed_with", error=raised[0][:300])
    return remark("errors.run.failed_silent")


def _event(line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
