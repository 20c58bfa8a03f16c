"""What takes long is done beside the server: by a few processes, bounded and replaced, for all visitors together.

    report = workers.run(read_log, text, given)

Python runs one thread at a time, so a megabyte that is read in the server is a second in which nobody else's page
moves. A worker is started when there is first work for it, by exec and not by fork: the server has threads. It
imports no torch and no Streamlit, and stands behind the server for the processor. One task may take `CPU_S` and
`MEMORY_BYTES`. Past either its process is ended, the visitor is told, and the next task gets a new one. What a task
came to, a refusal as well, is kept by the hash of what was asked, so the same text again costs nothing.
In a browser's tab, which is one visitor's own, the task is done at once, without those bounds.
"""

import atexit
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

from core.errors import ShardlabError
from runtime import content, operators
from runtime.files import ROOT
from runtime.one_process import ALONE
from runtime.processes import PARENT
from runtime.work_process import answered, received, send

T = TypeVar("T")
Given = TypeVarTuple("Given")
CPU_S, WALL_S, WAIT_S = 20, 150.0, 30.0
"""Of one task: its processor time, its time on a machine that others keep busy, its wait for a free worker."""
MEMORY_BYTES = 512 * 2**20
MOST_WORKERS = 4
KEPT, KEPT_BYTES = 32, 32_000_000
TASKS_EACH = 1_000
"""After so many tasks a process is replaced, whatever it may have held on to."""


class WorkError(ShardlabError):
    """A task that no worker could do within its bounds."""


class WorkFaultError(RuntimeError):
    """A task that raised what no reader may raise: a fault of ours, and no refusal."""


class _Worker:
    """One process and its pipes."""

    def __init__(self, memory_bytes: int, cpu_s: int) -> None:
        self.tasks = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runtime.work_process", str(memory_bytes), str(cpu_s)],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", PARENT: str(os.getpid())},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def asked(self, task: bytes, wall_s: float) -> bytes | None:
        """The answer; None where the process ended over it, by its own bounds or after `wall_s`."""
        self.tasks += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        end = threading.Timer(wall_s, self._process.kill)
        end.start()
        try:
            send(self._process.stdin, task)
            return received(self._process.stdout)
        except OSError:
            return None
        finally:
            end.cancel()

    def end(self) -> bool:
        """Kill the process, and let the system forget it. True where its processor time had run out before."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                continue
        return self._process.wait() == -signal.SIGXCPU


class Workers:
    """At most `most` processes, and the last answers."""

    def __init__(
        self,
        most: int | None = None,
        *,
        cpu_s: int = CPU_S,
        wall_s: float = WALL_S,
        wait_s: float = WAIT_S,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._bounds, self._wall_s, self._wait_s = (memory_bytes, cpu_s), wall_s, wait_s
        self._free = threading.BoundedSemaphore(most or max(2, min(MOST_WORKERS, _processors())))
        self._idle: list[_Worker] = []
        self._kept: OrderedDict[bytes, tuple[str, Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        atexit.register(self.close)

    def run(self, function: Callable[[*Given], T], *given: *Given) -> T:
        """`function(*given)`, done by a worker. The function is a module's own; what it returns can be pickled.

        Raises what the function refuses with, WorkError where it passes its bounds or no worker is free in time,
        WorkFaultError where it raises anything else.
        """
        task = pickle.dumps((function, given, content.language()), pickle.HIGHEST_PROTOCOL)
        key = hashlib.sha256(task).digest()
        kind, value = self._remembered(key) or self._worked(function.__name__, task, key)
        if kind == "gives":
            return value  # type: ignore[no-any-return]
        if kind == "refuses":
            raise _rebuilt(*value)
        if kind == "faults":
            raise WorkFaultError(f"{function.__name__}: {value}")
        raise WorkError(f"work.{kind}")

    def close(self) -> None:
        """End every worker that is at rest; the next task starts another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _worked(self, name: str, task: bytes, key: bytes) -> tuple[str, Any]:
        if not self._free.acquire(timeout=self._wait_s):
            operators.note("busy", task=name)
            return "busy", None
        try:
            return self._remembered(key) or self._answer(name, task, key)
        except OSError:  # no handle and no process is left for another worker: as if none were free
            operators.note("busy", task=name)
            return "busy", None
        finally:
            self._free.release()

    def _answer(self, name: str, task: bytes, key: bytes) -> tuple[str, Any]:
        """Ask a worker; where it was killed from outside while at rest, which is no reason to refuse, another."""
        if ALONE:
            done = answered(task)
            kind, value = pickle.loads(done)
            self._keep(key, kind, value, len(done))
            return kind, value
        worker = self._taken()
        answer = worker.asked(task, self._wall_s)
        spent = answer is None and worker.end()
        if answer is None and not spent and worker.tasks > 1:
            worker = _Worker(*self._bounds)
            answer = worker.asked(task, self._wall_s)
            spent = answer is None and worker.end()
        kind, value = ("overran", None) if answer is None else pickle.loads(answer)
        ended = kind not in ("gives", "refuses")
        if ended or worker.tasks >= TASKS_EACH:
            worker.end()
        else:
            with self._lock:
                self._idle.append(worker)
        if ended:
            operators.note("work_ended", task=name, why=kind, fault=value or "")
        if answer is not None or spent:
            self._keep(key, kind, value, len(answer or b""))
        return kind, value

    def _taken(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Worker(*self._bounds)

    def _remembered(self, key: bytes) -> tuple[str, Any] | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][:2]

    def _keep(self, key: bytes, kind: str, value: Any, size: int) -> None:
        with self._lock:
            self._kept[key] = (kind, value, size)
            while len(self._kept) > KEPT or sum(one[2] for one in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)


def _rebuilt(kind: type[ShardlabError], arguments: tuple[Any, ...], state: dict[str, Any]) -> ShardlabError:
    """The error a worker met: its own __init__ wants what its message was made of, so that is passed over."""
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(state)
    return error


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


_ours = Workers()
run = _ours.run
