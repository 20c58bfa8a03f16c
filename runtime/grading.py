"""A submission under its judge: it runs confined and is asked; what is right is known here alone.

The submission's process gets inputs drawn from a seed and answers in plain JSON. It cannot touch what judges it,
and there is nothing in it to forge: no test, no report, no expected value, no module of ours beyond those that the
lab's starter imports. Every wait is bounded. Only the task that was being asked pays for a call without end.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from core.course.grading.probe import Probe, verdict
from core.course.grading.probes import probes
from core.course.grading.tasks import Lab, Outcome, TaskResult, tally
from core.errors import OutOfRangeError, ShardlabError
from runtime import confinement
from runtime.files import ROOT
from runtime.given_modules import write_given
from runtime.learner_code import PASSED_ON
from runtime.processes import PARENT
from runtime.scratch import scratch

PROGRAM = ROOT / "distributed" / "graded_process.py"
SCRATCH = "scratch"
MOST_BYTES = 2**20
"""Of a submission."""

_HIDDEN = tuple(
    ROOT / name for name in ("core", "distributed", "runtime", "labs", "tests", "scripts", "data", ".git")
)
_NEEDED = (
    *(
        ("core.errors", name)
        for name in ("require_divides", "require_positive", "IndivisibleError", "OutOfRangeError")
    ),
    *(("core.ledger", "Ledger"), ("core.specs", "LinkSpec"), ("core.specs", "ModelSpec")),
    *(("runtime.files", "module_at"), ("runtime.files", "line_in")),
    ("core.course.grading.right_before", "right_before"),
)
_OF_LAB = {
    "lab-01": (("core.sharding_math.whole", "Whole"), ("core.sharding_math.watched", "watched")),
    "lab-02": (("distributed.local_ranks", "run_ranks"), ("distributed.collectives", "join"),
               ("distributed.collectives", "leave"), ("distributed.local_ranks", "_rank_main")),
    "lab-03": (("core.course.grading.inputs", "OnAWire"),),
    "lab-04": (("core.pipeline_bubble.schedules.actions", "Action"),
               ("core.pipeline_bubble.schedules.actions", "Span")),
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What a submission's process may use: processor time, memory, the size of a file, processes of its user."""

    cpu_s: int = 20
    memory_bytes: int = 2 * 2**30
    file_bytes: int = 16 * 2**20
    processes: int | None = 0


@dataclass(frozen=True)
class Patience:
    """How long is waited: for the file to load, for one call, and for all of it; and what it may use."""

    load_s: float = 15.0
    call_s: float = 10.0
    all_s: float = 60.0
    limits: Limits = field(default_factory=Limits)


WITH_RANKS = Patience(60.0, 60.0, 240.0, Limits(240, 64 * 2**30, processes=None))
"""Real ranks load PyTorch, which reserves far more address space than it uses."""


def grade(
    lab: Lab, file: Path, seed: int, patience: Patience | None = None, unseen: Sequence[Path] = ()
) -> tuple[TaskResult, ...]:
    """Every task of a lab, by what a submission answers to the probes of a seed.

    `unseen` are files and folders that are kept from it, as this repository is.

    Raises OutOfRangeError for a file that is not there or too long, ShardlabError where the lab cannot run.
    """
    if not file.is_file():
        raise OutOfRangeError("file", file, "is not there")
    if file.stat().st_size > MOST_BYTES:
        raise OutOfRangeError("file", file, f"is longer than {MOST_BYTES} bytes")
    if lab.needs_torch and find_spec("torch") is None:
        raise ShardlabError(f"{lab.key} runs on PyTorch: pip install -r requirements.txt")
    asked = probes(lab, seed)
    waits = patience or (WITH_RANKS if lab.needs_torch else Patience())
    with scratch("grading") as name:
        folder = Path(name)
        submission = folder / "submission.py"
        submission.write_bytes(file.read_bytes())
        write_given(
            ROOT / "labs" / lab.folder / "starter.py", folder / "given", (*_NEEDED, *_OF_LAB.get(lab.key, ()))
        )
        program = folder / PROGRAM.name
        program.write_bytes(PROGRAM.read_bytes())
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (folder / SCRATCH).mkdir()
        (folder / SCRATCH).chmod(0o777)  # all that another user may write to
        hidden = (*_HIDDEN, *(path.resolve() for path in unseen))
        answers = _ask(lab, asked, partial(_Conversation, program, folder, waits, hidden), waits)
    outcomes = [(probe.task, Outcome(probe.claim, problem)) for probe, problem in zip(asked, answers, strict=True)]
    return tally(lab, outcomes)


def _ask(lab: Lab, asked: Sequence[Probe], begin: Callable[[], "_Conversation"], waits: Patience) -> list[str]:
    """What is wrong with each probe's answer, empty where nothing is."""
    confinement.keep_secrets()
    problems: list[str] = []
    deadline_s = time.monotonic() + waits.all_s
    ended: dict[int, str] = {}
    answered: dict[str, dict[str, object] | str] = {}
    conversation: _Conversation | None = None
    try:
        for probe in asked:
            if time.monotonic() > deadline_s:
                problems.append(f"The code took more than {waits.all_s:g} s in all.")
                continue
            if probe.task in ended:
                problems.append(ended[probe.task])
                continue
            if conversation is None:
                conversation = begin()
                if conversation.problem:
                    return [*problems, *[conversation.problem] * (len(asked) - len(problems))]
            request = {"lab": lab.key, "function": probe.function, "given": dict(probe.given)}
            left_s = min(waits.call_s, deadline_s - time.monotonic())
            line = json.dumps(request)  # probes of one call share it
            answer = answered[line] if line in answered else conversation.ask(line, left_s)
            answered[line] = answer
            if isinstance(answer, str):
                ended[probe.task] = answer
                conversation.end()
                conversation = None
                problems.append(answer)
            else:
                problems.append(_explained(verdict(probe, answer)))
    finally:
        if conversation is not None:
            conversation.end()
    return problems


def _explained(problem: str) -> str:
    """A problem, and where it is a module that is kept back, the reason."""
    kept_back = (
        "No module named 'core" in problem or "from 'core" in problem or "No module named 'distributed" in problem
    )
    return problem + "; a submission may import what the lab's starter imports" if kept_back else problem


class _Conversation:
    """A submission's process, asked a line at a time. `problem` says why it cannot be asked at all."""

    def __init__(self, program: Path, folder: Path, waits: Patience, hidden: Sequence[Path]) -> None:
        command = [
            sys.executable,
            "-P",
            "-s",
            "-B",
            str(program),
            str(folder / "submission.py"),
            json.dumps(asdict(waits.limits)),
        ]
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(folder / SCRATCH)}
        environment |= {"PYTHONPATH": str(folder / "given"), "GLOO_SOCKET_IFNAME": "lo"}
        environment |= {PARENT: str(os.getpid())}
        self._waits = waits
        self._process = subprocess.Popen(
            confinement.confined(command, folder, hidden),
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **confinement.user(),
        )
        self._read = bytearray()
        loaded = self._answer(waits.load_s)
        self.problem = loaded if isinstance(loaded, str) else _explained(str(loaded.get("raised", "")))
        if self.problem:
            self.end()

    def ask(self, request: str, wait_s: float) -> dict[str, object] | str:
        """What was answered; a sentence where nothing was in time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return self._gone()
        return self._answer(wait_s)

    def end(self) -> None:
        confinement.end_group(self._process.pid)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue

    def _answer(self, wait_s: float) -> dict[str, object] | str:
        assert self._process.stdout is not None
        deadline_s, pipe = time.monotonic() + wait_s, self._process.stdout.fileno()
        while b"\n" not in self._read:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
                return f"The code ran for more than {wait_s:g} s and was ended."
            part = os.read(pipe, 65536)
            if not part:
                return self._gone()
            self._read += part
            if len(self._read) > 8 * MOST_BYTES:
                return "The answer has no end."
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        try:
            answer = json.loads(line)
        except ValueError:
            return "The process said something that is no answer."
        return answer if isinstance(answer, dict) else "The process said something that is no answer."

    def _gone(self) -> str:
        code = self._process.wait()
        return f"The process ended before it answered (exit status {code})."
