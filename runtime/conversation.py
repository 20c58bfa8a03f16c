"""A submission's process, asked a line at a time: every wait has an end, and that of them all is one deadline.

What comes before the process says that it has begun is the machine's; what comes after is the submission's, but for
a kill that nobody here asked for: that is the machine's too, until it happens again.
"""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from core.course.grading.answer import answer_in, writable
from core.course.grading.remarks import remark_of, say
from core.errors import NotGradedError, Remark, remark
from runtime import confinement
from runtime.processes import kill_tagged
from runtime.tree_limits import Tree

MOST_BYTES = 8 * 2**20
"""Of an answer."""
BEGIN_S, END_S = 60.0, 10.0
"""How long a process may take to begin, on a busy machine, and to end once it is killed."""
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
_OUT_OF_TIME = (-signal.SIGXCPU, 128 + signal.SIGXCPU)
_OF_MEMORY = say("judge.memory")

Answer = Mapping[str, Any] | Remark


class KilledError(NotGradedError):
    """Somebody else ended the process, as a machine without memory does."""


class Conversation:
    """One process of a submission's. `problem` says why it cannot be asked, None where it can.

    What it started ends with its namespaces, or with its control groups; where it has neither, a variable of the
    environment, the `tag`, tells it from others.

    Raises NotGradedError where the machine could not begin it, or somebody else ended it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        load_s: float,
        tree: Tree,
        user: Mapping[str, Any],
        tag: tuple[str, str] | None = None,
    ) -> None:
        self._tree, self._read, self._tag = tree, bytearray(), tag
        try:
            self._process = subprocess.Popen(
                tree.joined(command),
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **user,
            )
        except OSError as error:
            tree.close()
            raise NotGradedError("fault.no_process", error=error.strerror) from error
        try:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
            if self._answer(time.monotonic() + BEGIN_S, BEGIN_S) != {"begun": True}:
                raise NotGradedError("fault.no_run", error=self._complaint())
            loaded = self._answer(time.monotonic() + load_s, load_s)
            raised = None if isinstance(loaded, Remark) else loaded.get("raised")
            self.problem = loaded if isinstance(loaded, Remark) else remark_of(raised) if raised else None
        except BaseException:
            self.end()
            raise
        if self.problem:
            self.end()

    def ask(self, request: str, wait_s: float) -> Answer:
        """What was answered; a remark where nothing was in time."""
        deadline_s, left = time.monotonic() + wait_s, memoryview(request.encode() + b"\n")
        assert self._process.stdin is not None
        pipe = self._process.stdin.fileno()
        while left:
            if not select.select([], [pipe], [], max(0.0, deadline_s - time.monotonic()))[1]:
                return _late(wait_s)
            try:
                left = left[os.write(pipe, left[:65536]) :]
            except BlockingIOError:
                continue
            except OSError:
                return self._gone()
        return self._answer(deadline_s, wait_s)

    def end(self) -> None:
        """End the process and all that it started.

        Raises NotGradedError where the system does not end it in time.
        """
        confinement.end_group(self._process.pid)
        self._process.kill()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise NotGradedError("fault.not_ended", wall=END_S) from None
        finally:
            if self._tag:
                kill_tagged(*self._tag)
            self._tree.close()
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _answer(self, deadline_s: float, wait_s: float) -> Answer:
        assert self._process.stdout is not None
        pipe, seen = self._process.stdout.fileno(), 0
        while (end := self._read.find(b"\n", seen)) < 0:
            seen = len(self._read)
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
                return _OF_MEMORY if self._tree.exceeded() else _late(wait_s)
            try:
                part = os.read(pipe, 2**20)
            except BlockingIOError:
                continue
            if not part:
                return self._gone()
            self._read += part
            if len(self._read) > MOST_BYTES:
                return say("judge.no_end")
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return answer_in(line)

    def _gone(self) -> Remark:
        """Why the process answers no more: it has ended, or has closed what it answers through."""
        try:
            status = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            return say("judge.closed")
        if self._tree.exceeded():
            return _OF_MEMORY
        if status in _KILLED:
            raise KilledError("fault.killed")
        if status in _OUT_OF_TIME:
            return say("judge.processor")
        return say("judge.exit", status=status)

    def _complaint(self) -> str | Remark:
        """The last line on standard error, or that there is none."""
        assert self._process.stderr is not None
        with suppress(OSError, subprocess.TimeoutExpired):
            self._process.wait(0.5)
            said = os.read(self._process.stderr.fileno(), 65536).decode(errors="replace").strip().splitlines()
            if said:
                return writable(said[-1])[:300]
        return remark("errors.sandbox.says_nothing")


def _late(wait_s: float) -> Remark:
    return say("error.too_long", wall=f"{wait_s:g}")


def line_of(lab: str, function: str, given: Mapping[str, Any]) -> str:
    """A request as the process reads it."""
    return json.dumps({"lab": lab, "function": function, "given": dict(given)})
