"""A submission under its judge: it runs confined and is asked; what is right is known here alone.

The submission's process gets inputs drawn from a seed and answers in plain JSON. It cannot touch what judges it,
and there is nothing in it to forge: no test, no report, no expected value, no module of ours beyond those that the
lab's starter imports. Every wait is bounded. Only the task that was being asked pays for a call without end.

Whatever comes out of it has a grade. A fault of the machine's, or of the judge's own, is a NotGradedError instead.
What a probe claims and what is wrong with an answer is said in the language being spoken.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from json import dumps
from pathlib import Path

from core.course.grading.probe import Probe, verdict
from core.course.grading.probes import probes
from core.course.grading.remarks import say
from core.course.grading.tasks import Lab, Outcome, TaskResult, tally
from core.errors import NotGradedError, OutOfRangeError, Remark, ShardlabError
from runtime import confinement
from runtime.conversation import Answer, Conversation, KilledError, line_of
from runtime.files import ROOT
from runtime.given_modules import write_given
from runtime.learner_code import PASSED_ON
from runtime.processes import PARENT
from runtime.prose import sentence
from runtime.scratch import scratch
from runtime.tree_limits import Tree

PROGRAM = ROOT / "distributed" / "graded_process.py"
SCRATCH, TAG = "scratch", "SHARDLAB_SUBMISSION"
MOST_BYTES = 2**20
"""Of a submission."""

_NEEDED = (
    *(
        ("core.errors", name)
        for name in ("require_divides", "require_positive", "IndivisibleError", "OutOfRangeError")
    ),
    *(("core.ledger", "Ledger"), ("core.specs", "LinkSpec"), ("core.specs", "ModelSpec")),
    *(("runtime.files", "module_at"), ("runtime.files", "line_in")),
    *(("core.errors", "raised"), ("core.errors", "as_row"), ("core.course.grading.right_before", "right_before")),
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
    """What a process of a submission may use: processor time, memory, the size of a file, processes it starts."""

    cpu_s: int = 20
    memory_bytes: int = 2 * 2**30
    file_bytes: int = 16 * 2**20
    processes: int | None = 0


@dataclass(frozen=True)
class Patience:
    """How long is waited: for the file to load, for one call, and for all of it; and what it may use.

    `tree_bytes` and `tree_processes` are of all its processes together, where the system can count them so.
    """

    load_s: float = 15.0
    call_s: float = 10.0
    all_s: float = 60.0
    limits: Limits = field(default_factory=Limits)
    tree_bytes: int = 3 * 2**30
    tree_processes: int = 16


WITH_RANKS = Patience(60.0, 60.0, 240.0, Limits(240, 64 * 2**30, processes=128), 12 * 2**30, 144)
"""Real ranks load PyTorch, which reserves far more address space than it uses."""


def grade(
    lab: Lab, file: Path, seed: int, patience: Patience | None = None, confine: bool = True
) -> tuple[TaskResult, ...]:
    """Every task of a lab, by what a file answers to the probes of a seed.

    Raises OutOfRangeError for what is no regular file or too long, else as `grade_code`.
    """
    return grade_code(lab, code_of(file), seed, patience, confine)


def code_of(file: Path) -> bytes:
    """What is in a submission's file, which is a file of its own and no link.

    Raises OutOfRangeError where it is not, or is too long.
    """
    try:
        status = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise OutOfRangeError("file", file, "not_there") from None
    if not stat.S_ISREG(status.st_mode):
        raise OutOfRangeError("file", file, "link")
    if status.st_size > MOST_BYTES:
        raise OutOfRangeError("file", file, "long", most=MOST_BYTES)
    with os.fdopen(os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as opened:
        return opened.read(MOST_BYTES)


def grade_code(
    lab: Lab, code: bytes, seed: int, patience: Patience | None = None, confine: bool = True
) -> tuple[TaskResult, ...]:
    """Every task of a lab, by what a submission answers to the probes of a seed.

    Raises NotGradedError for a fault of the machine's or of the judge's, ShardlabError where the lab cannot run.
    """
    if confine and (fault := confinement.missing()):
        raise NotGradedError("fault.unconfined", error=fault)
    if lab.needs_torch and find_spec("torch") is None:
        raise ShardlabError("lab_torch", lab=lab.key)
    asked = probes(lab, seed)
    waits = patience or (WITH_RANKS if lab.needs_torch else Patience())
    try:
        with scratch("grading") as name:
            folder = Path(name)
            _lay_out(lab, code, folder)
            judge = _Judge(lab, waits, lambda: _begin(folder, waits, confine))
            try:
                problems = judge.problems(asked)
            except KilledError:  # by a machine that had no memory, perhaps: once more before it is the code's
                problems = judge.problems(asked, again=True)
    except (OSError, MemoryError) as error:
        raise NotGradedError("fault.machine", error=error) from error
    outcomes = [
        (probe.task, Outcome(sentence(probe.claim), sentence(problem) if problem else ""))
        for probe, problem in zip(asked, problems, strict=True)
    ]
    return tally(lab, outcomes)


def _lay_out(lab: Lab, code: bytes, folder: Path) -> None:
    """Write what the process is given: the submission, the modules it may import, and the program that asks it."""
    (folder / "submission.py").write_bytes(code)
    starter = ROOT / "labs" / lab.folder / "starter.py"
    write_given(starter, folder / "given", (*_NEEDED, *_OF_LAB.get(lab.key, ())))
    (folder / PROGRAM.name).write_bytes(PROGRAM.read_bytes())
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _begin(folder: Path, waits: Patience, confine: bool) -> Conversation:
    """A process of the submission's, which has loaded it."""
    inside = Path(confinement.GIVEN) if confine else folder
    limits = asdict(waits.limits)
    if not confine and limits["processes"]:
        limits["processes"] = None  # without users of its own, all of a user's processes would count
    program, submission = inside / PROGRAM.name, inside / "submission.py"
    command = [sys.executable, "-P", "-s", "-B", str(program), str(submission), dumps(limits)]
    told = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    packages = map(str, (inside / "given", *confinement.packages_elsewhere()))
    told |= {"PYTHONPATH": os.pathsep.join(packages), "LANG": "C.UTF-8"}
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    ours = passed_on | {PARENT: str(os.getpid())}
    tree = Tree(waits.tree_bytes, waits.tree_processes)
    if confine:
        return Conversation(confinement.confined(command, folder, told), ours, waits.load_s, tree, {})
    free = folder / SCRATCH
    free.mkdir(exist_ok=True)
    free.chmod(0o777)  # another user writes here
    tag = f"{os.getpid()}-{free}"
    told |= {"TMPDIR": str(free), TAG: tag}
    return Conversation(command, ours | told, waits.load_s, tree, confinement.other_user(), (TAG, tag))


class _Judge:
    """Asks a submission every probe and judges what it answers."""

    def __init__(self, lab: Lab, waits: Patience, begin: Callable[[], Conversation]) -> None:
        self._lab, self._waits, self._begin = lab, waits, begin
        self._conversation: Conversation | None = None
        self._again = False

    def problems(self, asked: Sequence[Probe], again: bool = False) -> list[Remark | None]:
        """What is wrong with each probe's answer, None where nothing is.

        Raises KilledError where somebody else ended the process; `again`, that is the code's own doing.
        """
        confinement.keep_secrets()
        self._again = again
        deadline_s = time.monotonic() + self._waits.all_s
        problems: list[Remark | None] = []
        ended: dict[int, Remark] = {}
        answered: dict[str, Answer] = {}
        try:
            for probe in asked:
                if time.monotonic() > deadline_s:
                    problems.append(say("judge.in_all", wall=f"{self._waits.all_s:g}"))
                    continue
                if probe.task in ended:
                    problems.append(ended[probe.task])
                    continue
                if problem := self._cannot_be_asked():
                    return [*problems, *[problem] * (len(asked) - len(problems))]
                line = line_of(self._lab.key, probe.function, probe.given)  # probes of one call share it
                if line not in answered:
                    answered[line] = self._answer(line, min(self._waits.call_s, deadline_s - time.monotonic()))
                answer = answered[line]
                if isinstance(answer, Remark):
                    ended[probe.task] = answer
                    self._end()
                problems.append(answer if isinstance(answer, Remark) else _judged(probe, answer))
        finally:
            self._end()
        return problems

    def _cannot_be_asked(self) -> Remark | None:
        """Why the code cannot be asked, None where it can: it is loaded where it is not."""
        if self._conversation is not None:
            return None
        try:
            conversation = self._begin()
        except KilledError:
            if self._again:
                return _KILLED_TWICE
            raise
        if conversation.problem:
            return _explained(conversation.problem)
        self._conversation = conversation
        return None

    def _answer(self, line: str, wait_s: float) -> Answer:
        assert self._conversation is not None
        try:
            return self._conversation.ask(line, wait_s)
        except KilledError:
            if self._again:
                return _KILLED_TWICE
            raise

    def _end(self) -> None:
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.end()


_KILLED_TWICE = say("judge.killed")


def _judged(probe: Probe, answer: Mapping[str, object]) -> Remark | None:
    """What is wrong with an answer; a fault of ours on the way is no fault of the answer's."""
    try:
        wrong = verdict(probe, answer)
        return wrong and _explained(wrong)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        raise NotGradedError("fault.judge_at", claim=repr(str(probe.claim)), error=fault) from error


def _explained(problem: Remark) -> Remark:
    """A problem, and where it is a module that is kept back, the reason."""
    kept_back = re.search("No module named '(core|distributed)|from 'core", str(problem))
    return say("error.kept_back", error=problem) if kept_back else problem
