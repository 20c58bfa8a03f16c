"""What all labs share: the `lab` fixture, failures in one line each, and a summary by task.

`LAB_IMPL` chooses what is graded: `solution` (default), `starter`, or the path of any other file. Labs repeat their
file names, so a module is loaded from its path, under a name that no other lab has. With
`LAB_LANG=es` all of it is said in Spanish.
"""

import importlib.util
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace, TracebackType

import pytest

from core.course.grading.remarks import in_words
from core.course.grading.tasks import LABS
from core.errors import Remark, raised, remark
from core.specs import LinkSpec
from labs.spoken import fail, language, link_named, say, words

_TASKS = {
    (lab.folder, test): (lab.key, task.number, task.name)
    for lab in LABS.values()
    for task in lab.tasks
    for test in task.tests
}
_PRINTED_LINES, _PRINTED_CHARACTERS = 20, 200
"""As many of a test's printed lines are shown, the last ones, and as many characters of each, the first ones."""

_TEST_S, _RANKS_TEST_S = 10, 120
"""Seconds of one test; real ranks load PyTorch."""

_RESULTS = pytest.StashKey[dict]()
_ENDED = pytest.StashKey[dict]()
_IN_THREADS = pytest.StashKey[list[str]]()
_NO_CASE = SimpleNamespace(params={})


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest) -> ModuleType:
    """The module that the tests of one lab grade."""
    return load(request.path.parent, _implementation())


def load(folder: Path, implementation: str) -> ModuleType:
    """A lab's `solution`, `starter`, or the file at a path, as a fresh module."""
    path = folder / f"{implementation}.py" if implementation in ("solution", "starter") else Path(implementation)
    if not path.is_file():
        fail("error.no_file", named=implementation, file=path)
    name = f"{folder.name.replace('-', '_')}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _implementation() -> str:
    return os.environ.get("LAB_IMPL", "solution")


def _task_of(item: pytest.Item) -> tuple[str, int, str] | None:
    return _TASKS.get((item.path.parent.name, getattr(item, "originalname", item.name)))


@pytest.fixture(autouse=True)
def _task(request, record_property, monkeypatch):
    """Write the task into the JUnit report, for whoever reads it, and keep what a thread of the attempt raised."""
    raised = request.node.stash[_IN_THREADS] = []
    monkeypatch.setattr(threading, "excepthook", lambda error: raised.append(_of_thread(error)))
    task = _task_of(request.node)
    if task is not None:
        record_property("task", task[1])
        if "lab" in request.fixturenames:
            _let_others_be_right(request, LABS[task[0]], task[2], monkeypatch)


def _let_others_be_right(request, lab, name, monkeypatch):
    """Put the reference in the place of all functions but a task's own: a task is not judged by another's fault.

    Not in lab 02, whose layers are made in processes of their own, nor in a template, which has no reference.
    """
    if lab.needs_torch or _implementation() == "solution" or not (request.path.parent / "solution.py").is_file():
        return
    mine, reference = request.getfixturevalue("lab"), _reference(request.path.parent)
    for task in lab.tasks:
        if task.name != name and hasattr(mine, task.name):
            monkeypatch.setattr(mine, task.name, getattr(reference, task.name))


@cache
def _reference(folder: Path) -> ModuleType:
    return load(folder, "solution")


class TooLongError(BaseException):
    """The graded code had its time. It is no Exception, for the code may catch these in its loop."""

    def __init__(self, said: Remark) -> None:
        super().__init__(said)
        self.remark = said


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """End a test that takes too long, and those of its task that would follow."""
    task = _task_of(item)
    ended = item.config.stash.setdefault(_ENDED, {})
    if task in ended:
        pytest.fail(ended[task], pytrace=False)
    lab = LABS.get(task[0]) if task else None
    with _bounded(0 if lab is None else _RANKS_TEST_S if lab.needs_torch else _TEST_S):
        return (yield)


@contextmanager
def _bounded(wall_s: int) -> Iterator[None]:
    """Raise TooLongError after some seconds, where the system has such a clock; 0 is no limit."""
    main = threading.current_thread() is threading.main_thread()
    if not wall_s or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError(say("error.overtime", wall=wall_s))

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test's result by its task; an error raised by the graded code in one line, with its place in the file."""
    report = yield
    task = _task_of(item)
    if task is None or (report.when != "call" and report.passed):
        return report
    ours = call.excinfo is not None and not _line_of(call.excinfo.tb)
    if report.failed and (in_threads := item.stash.get(_IN_THREADS, [])):
        report.longrepr = in_threads[0]
    elif report.failed and ours and isinstance(call.excinfo.value, AssertionError):
        report.longrepr = _unmet(item, call.excinfo)
    elif report.failed and call.excinfo is not None:
        error, line = call.excinfo.value, _line_of(call.excinfo.tb)
        if isinstance(error, TooLongError):
            item.config.stash[_ENDED][task] = words(say("error.too_long_too", **error.remark.values))
        if isinstance(error, pytest.fail.Exception) and not line:
            report.longrepr = error.msg
        else:
            said = _said(error)  # without a line where a rank met it, or the lab what it was given
            at_line = remark("errors.raised.at_line_of", error=said, at=line, file=_file_name())
            report.longrepr = words(at_line if line else said)
    if report.failed and "Spec(" in (text := str(report.longrepr)):
        report.longrepr = _by_name(text)
    report.sections = [(head, _last_lines(printed)) for head, printed in report.sections]
    passed, failures = item.config.stash.setdefault(_RESULTS, {}).setdefault(task, ([], []))
    passed.append(report.outcome == "passed")
    if report.failed:
        failures.append(str(report.longrepr).strip().splitlines()[-1])
    return report


def _said(error: BaseException) -> Remark:
    """An error by its name and its words; numpy's own of a product that does not fit, without its signatures."""
    if isinstance(error, TooLongError) or type(error).__name__ == "RankError":  # which names all by itself
        return error.remark  # type: ignore[union-attr]
    text = str(error)
    sizes = re.fullmatch(
        r"matmul: .*mismatch in its core dimension 0.*\(size (\d+) is different from (\d+)\)", text
    )
    if sizes:
        product = remark("errors.raised.product", columns=sizes[2], rows=sizes[1])
        return remark("errors.raised.named", kind=type(error).__name__, error=product)
    return raised(error, in_words(_cut(_by_name(" ".join(text.split())))))


def _by_name(line: str) -> str:
    """A line in which a link, a model or an offer stands by its name, and not with all that it has."""
    return _ROW.sub(r"\1", line)


_ROW = re.compile(
    r"""\b(?:LinkSpec|ModelSpec|GpuSpec|Offer)\((?:key='[^']*', )?name='([^']*)'"""
    r"""(?:[^()'"]|'[^']*'|"[^"]*"|\((?:[^()'"]|'[^']*'|"[^"]*"|\([^()]*\))*\))*\)?"""
)


def _cut(line: str) -> str:
    return line if len(line) <= _PRINTED_CHARACTERS else line[: _PRINTED_CHARACTERS - 1] + "…"


def _last_lines(printed: str) -> str:
    """What a test printed, its beginning left out where it is long, and the end of each line that is."""
    lines = printed.splitlines()
    left_out = len(lines) - _PRINTED_LINES
    head = [words(say("error.lines_before", lines=left_out))] if left_out > 0 else []
    return "\n".join([*head, *map(_cut, lines[-_PRINTED_LINES:])])


def _unmet(item: pytest.Item, raised: pytest.ExceptionInfo) -> str:
    """What a test wants, for which case, and what it found instead, in one line."""
    wanted = next((entry for entry in reversed(raised.traceback) if entry.path == item.path), None)
    statement = " ".join(str(wanted.statement).split()).removeprefix("assert ") if wanted else item.name
    inputs = tuple(
        say("part.input", name=name, value=link_named(one) if isinstance(one, LinkSpec) else _by_name(repr(one)))
        for name, one in getattr(item, "callspec", _NO_CASE).params.items()
    )
    found = _by_name(str(raised.value).partition("\n")[0].removeprefix("assert "))
    unmet = {"statement": statement, "inputs": inputs, "found": _cut(found)}
    return words(say("result.unmet_for" if inputs else "result.unmet", **unmet))


def _of_thread(error: threading.ExceptHookArgs) -> str:
    """What a thread raised, in one line."""
    said, line = _said(error.exc_value), _line_of(error.exc_traceback)
    return words(remark("errors.raised.at_line_in_thread", error=said, at=line, file=_file_name()))


def _line_of(raised: TracebackType | None) -> int:
    """The last line of the graded file on the way to an error; 0 where it has none."""
    frames = traceback.extract_tb(raised)
    return next((frame.lineno or 0 for frame in reversed(frames) if Path(frame.filename).name == _file_name()), 0)


def _file_name() -> str:
    return Path(_implementation()).with_suffix(".py").name


class _SaidOnce:
    """Each failure of a lab once: the first case of a test, and the first of the tests that say the same."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        every = {kind: stats[kind] for kind in ("failed", "error") if stats.get(kind)}
        stats |= {kind: self._first(reports) for kind, reports in every.items()}
        result = yield
        stats |= every
        return result

    def _first(self, reports):
        first, seen = [], set()
        for report in reports:
            ours = Path(report.fspath).parts[0] == "labs"
            said = {str(report.longrepr), report.nodeid.partition("[")[0]} if ours else {report.nodeid}
            if not said & seen:
                first.append(report)
            seen |= said
        return first


def pytest_configure(config):
    language()  # one that there is not is refused before anything runs
    if not config.pluginmanager.has_plugin("labs-said-once"):
        config.pluginmanager.register(_SaidOnce(), "labs-said-once")


def pytest_terminal_summary(terminalreporter, config):
    """A line a task: how many of its tests passed, and what the first that did not said."""
    results = config.stash.get(_RESULTS, {})
    if all(all(passed) for passed, _ in results.values()) and len({key for key, *_ in results}) != 1:
        return
    terminalreporter.section(words(say("result.by_task")))
    for (key, number, name), (passed, said) in sorted(results.items()):
        sign = "ok" if all(passed) else "  "
        line = say(
            "result.task_line", lab=key, number=number, name=f"{name:<28}", passed=sum(passed), tests=len(passed)
        )
        terminalreporter.write_line(f"{sign}  {words(line)}")
        if said:
            terminalreporter.write_line(f"      {said[0][:200]}")
