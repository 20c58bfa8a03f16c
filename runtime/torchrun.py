"""Start torchrun, watch it, and end it with everything it started.

    with start(RunRequest("distributed.run_tp")) as run:
        for line in run.watch():
            ...
    run.outcome

One run at a time on a machine. However the block is left, by the end of the run, cancel, an error or a browser
that went away, no process of the run outlives it: torchrun's ranks are sessions of their own, so beside ending
its process group the launcher looks for survivors by a tag in their environment.

Stated times, on an idle machine: a dead rank, a full disk or a missing checkpoint is told within 10 s of being met,
a taken port or an absent torch at once; ending takes at most `grace_s` and two seconds. A run is silent when for
`silence_s` no line came and nobody got on: a process that is starting gets on while it is given processor time, and
one that has begun to work beats with every step (distributed/progress.py). So a hung rank is silent, since no other
can step without it, and a busy machine is not. A process that somebody stopped is told within 30 s, whatever the
silence that is allowed. Any run is ended after `wall_s`.

On two hosts each starts its own part, with the address at which the ranks meet:

    start(RunRequest(ranks=1, nnodes=2, node_rank=0, rendezvous="10.0.0.1:29500"))     and node_rank=1 on the other
"""

import os
import queue
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

from core.errors import Remark, ShardlabError, remark
from runtime.files import ROOT
from runtime.locks import HostLock
from runtime.processes import PARENT, is_stopped, kill_tagged, processor_s, tagged
from runtime.run_failure import NO_SPACE, plain_failure
from runtime.run_request import RunRefusedError, RunRequest, require_free_port
from runtime.scratch import scratch, temporary_folder
from runtime.torch_here import has_torch

TAG, BEATS = "SHARDLAB_RUN", "SHARDLAB_BEATS"
LOCK_NAME = "shardlab-live-run"
TICK_S = 0.25
LOOK_S, IDLE_S = 1.0, 0.05
"""How often the processes of a run that prints nothing are looked at, and the processor time of one that waits."""
STOPPED_S = 20.0
"""So long may a process of a run be stopped, whatever the others do: none of them can step without it."""
FULL_BYTES = 2**16

Status = Literal["done", "failed", "silent", "overran", "cancelled"]


@dataclass(frozen=True)
class Outcome:
    """How a run ended: what there is to say of it, the lines it printed, and the object it wrote, if it did."""

    status: Status
    message: Remark | None
    elapsed_s: float
    lines: tuple[str, ...]
    result: str | None


def start(request: RunRequest) -> "TorchRun":
    """Begin a run.

    Raises RunRefusedError while another one is going on this machine, and where there is no torch, no room
    for its files, or something else at its port.
    """
    if not has_torch():
        raise RunRefusedError("run.no_torch")
    if request.speaks and request.rendezvous:
        require_free_port(request.rendezvous)
    lock = HostLock(LOCK_NAME)
    try:
        if lock.acquire():
            return TorchRun(request, lock)
    except OSError as error:
        lock.release()
        raise RunRefusedError("run.not_started", error=error.strerror, folder=temporary_folder()) from error
    raise RunRefusedError("run.busy", wall=round(request.wall_s))


def printed(request: RunRequest) -> Outcome:
    """A run to its end, each of its lines printed as it comes.

    Raises ShardlabError as `start` does, and where it did not end.
    """
    with start(request) as run:
        for line in run.watch():
            if line is not None:
                print(line, flush=True)
    if run.outcome is None:
        raise ShardlabError("run.not_ended")
    return run.outcome


@dataclass
class TorchRun:
    """A run that is going. Use as a context; `watch` gives its lines as they come."""

    request: RunRequest
    lock: HostLock
    tag: str = field(default_factory=lambda: uuid.uuid4().hex)
    outcome: Outcome | None = None

    def __post_init__(self) -> None:
        self._folder = scratch("run")
        self._require_room()
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._printed: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._started = threading.Event()
        self._not_started = ""
        self._signs_s: dict[int, float] = {}
        self._stopped_s: dict[int, float] = {}
        self._began_s = self._heard_s = self._looked_s = time.monotonic()
        self._pumping = threading.Thread(target=self._pump, name="torchrun", daemon=True)
        self._pumping.start()
        self._started.wait()

    def __enter__(self) -> "TorchRun":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def watch(self) -> Iterator[str | None]:
        """Each line as it is printed, and None a few times a second when there is none; ends with the run."""
        while True:
            try:
                line = self._lines.get(timeout=TICK_S)
            except queue.Empty:
                if not self._overdue():
                    yield None
                    continue
                return
            if line is None:
                self._finish()
                return
            self._heard_s = time.monotonic()
            self._printed.append(line)
            yield line

    def cancel(self) -> Outcome:
        return self._end("cancelled", remark("errors.run.cancelled"))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run was started."""
        return time.monotonic() - self._began_s

    def _require_room(self) -> None:
        """Write as much as a run may, and take it away: what has no room for its result is told before it runs.

        Raises OSError.
        """
        try:
            self._result_path.write_bytes(bytes(FULL_BYTES))
        except OSError:
            self._folder.cleanup()
            raise
        self._result_path.unlink()

    def _pump(self) -> None:
        """Start torchrun and hand on its lines. The kernel ties torchrun to this thread, which lives as long."""
        try:
            with self._stderr_path.open("w") as errors:
                self._process = self._popen(errors)
        except OSError as error:
            self._not_started = f"{type(error).__name__}: {error}"
        self._started.set()
        if self._process is not None and self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line.rstrip("\n"))
            self._process.wait()
        self._lines.put(None)

    def _popen(self, errors: IO[str]) -> subprocess.Popen[str]:
        tags = {TAG: self.tag, BEATS: self._folder.name, "TMPDIR": self._folder.name, PARENT: str(os.getpid())}
        return subprocess.Popen(
            self.request.command(self._result_path),
            cwd=ROOT,
            env={**os.environ, **tags, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )

    @property
    def _result_path(self) -> Path:
        return Path(self._folder.name) / "result.json"

    @property
    def _stderr_path(self) -> Path:
        return Path(self._folder.name) / "stderr"

    def _overdue(self) -> bool:
        """End a run that has said nothing, or gone on, for too long, and ranks that outlive torchrun."""
        now_s, request = time.monotonic(), self.request
        if self._process is not None and self._process.poll() is not None:
            kill_tagged(TAG, self.tag)  # a rank that was only starting holds the pipe open
        elif now_s - max(self._heard_s, self._looked_s) > LOOK_S:
            self._look()
        if now_s - self._began_s > request.wall_s:
            self._end("overran", remark("errors.run.overran", wall=round(request.wall_s)))
        elif request.speaks and (silent_s := self._silent_s(now_s)):
            self._end("silent", remark("errors.run.silent", silence=round(silent_s)))
        return self.outcome is not None

    def _silent_s(self, now_s: float) -> float:
        """How long a run may be silent, where it has been for longer; else 0."""
        allowed_s = self.request.silence_s
        if now_s - self._heard_s > allowed_s:
            return allowed_s
        stopped_s = max((now_s - since_s for since_s in self._stopped_s.values()), default=0.0)
        return STOPPED_S if stopped_s > STOPPED_S else 0.0

    def _look(self) -> None:
        """See whether any process has got on: it beat, or it has not begun to and was given processor time."""
        self._looked_s = time.monotonic()
        beats = {int(file.suffix[1:]): file.stat().st_mtime for file in Path(self._folder.name).glob("beat.*")}
        ours = tagged(TAG, self.tag)
        stopped = filter(is_stopped, ours)
        self._stopped_s = {pid: self._stopped_s.get(pid, self._looked_s) for pid in stopped}
        starting = {pid: processor_s(pid) for pid in ours if pid not in beats}
        signs = {**starting, **beats}
        # a beat is of another time, and not of a later one: a clock may have been set back
        if any(abs(sign_s - self._signs_s.get(pid, 0.0)) > IDLE_S for pid, sign_s in signs.items()):
            self._heard_s = self._looked_s
        self._signs_s = signs

    def _finish(self) -> None:
        """The program ended by itself."""
        written = self._result_path.is_file() or not self.request.speaks
        if self._process is not None and self._process.returncode == 0 and written:
            self._end("done", None)
        else:
            self._end("failed", self._failure())

    def _failure(self) -> Remark:
        """Why it failed: by what it printed, or by a disk that had no room even for that."""
        if shutil.disk_usage(self._folder.name).free < FULL_BYTES:
            return plain_failure(self._printed, NO_SPACE)
        if self._process is not None and self._process.returncode < 0:
            name = signal.Signals(-self._process.returncode).name
            return remark("errors.run.launcher_ended", signal=name)
        errors = self._stderr_path.read_text(errors="replace") if self._stderr_path.is_file() else ""
        return plain_failure(self._printed, self._not_started or errors)

    def _end(self, status: Status, message: Remark | None) -> Outcome:
        """End every process, keep what was written, let others run. The first call decides the outcome."""
        if self.outcome is None:
            self._stop()
            self._pumping.join(self.request.grace_s)
            self._printed += self._left_over()
            result = self._result_path.read_text() if self._result_path.is_file() else None
            self.outcome = Outcome(status, message, self.elapsed_s, tuple(self._printed), result)
            self._folder.cleanup()
            self.lock.release()
        return self.outcome

    def _left_over(self) -> list[str]:
        """The lines that were printed and not yet watched."""
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return [line for line in lines if line is not None]

    def _stop(self) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(self.request.grace_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
        kill_tagged(TAG, self.tag)
