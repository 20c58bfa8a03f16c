"""What a machine's own tools say of its GPUs: each started once, read to a bound, and ended after a while.

Nothing is installed, written or sent; a tool that is not there is not looked for elsewhere.
"""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LONGEST_S = 15.0
"""A driver that hangs holds its tool longer than anybody waits."""
MOST_BYTES = 2**20

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("nvidia-smi",),
    ("nvidia-smi", "--query-gpu=index,name,memory.total,memory.used,driver_version", "--format=csv"),
    ("nvidia-smi", "topo", "-m"),
    ("rocm-smi", "--showproductname", "--showmeminfo", "vram"),
    ("rocm-smi", "--showtopo"),
    ("amd-smi", "static"),
    ("amd-smi", "topology"),
)
"""They only ask the driver; none changes anything."""


@dataclass(frozen=True)
class Printed:
    """What a command printed, and what became of it: nothing, or that it was ended, cut, or failed."""

    command: str
    text: str
    ended: bool = False
    cut: bool = False
    status: int | None = 0


def tools_here(commands: Sequence[Sequence[str]] = COMMANDS) -> tuple[tuple[str, ...], ...]:
    """The commands whose program is on the path."""
    return tuple(tuple(command) for command in commands if shutil.which(command[0]))


def ask_tools(
    commands: Sequence[Sequence[str]] = COMMANDS, longest_s: float = LONGEST_S, most_bytes: int = MOST_BYTES
) -> tuple[Printed, ...]:
    """What each command that is there printed, in turn; after one that hung its program is not asked again."""
    answers: list[Printed] = []
    hung: set[str] = set()
    for command in tools_here(commands):
        if command[0] in hung:
            continue
        answer = ask(command, longest_s, most_bytes)
        if answer.ended:
            hung.add(command[0])
        answers.append(answer)
    return tuple(answers)


def ask(command: Sequence[str], longest_s: float = LONGEST_S, most_bytes: int = MOST_BYTES) -> Printed:
    """What one command prints on either stream, up to a bound of bytes and of seconds."""
    said = " ".join(command)
    environment: Mapping[str, str] = {**os.environ, "LC_ALL": "C", "COLUMNS": "400", "TERM": "dumb"}
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        return Printed(said, "", status=error.errno)
    ended = threading.Event()

    def end() -> None:
        ended.set()
        _kill(process)

    timer = threading.Timer(longest_s, end)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None
        data = process.stdout.read(most_bytes + 1)
        if len(data) > most_bytes:
            _kill(process)
        status = process.wait()
    finally:
        timer.cancel()
        _kill(process)
        if process.stdout is not None:
            process.stdout.close()
    text = data[:most_bytes].decode("utf-8", "replace")
    return Printed(said, text, ended.is_set(), len(data) > most_bytes, status)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a command with all that it started, where any of it is left."""
    if process.poll() is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
