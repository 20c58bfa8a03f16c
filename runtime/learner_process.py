"""The program that runs a learner's file, in a process of its own: limits first, then their code, a task at a time.

    python -I learner_process.py <repository> <file> <results> <lab> <size>...

Results are written as one JSON line a task, so that what was done before a limit is met is kept. The learner's
own prints go to standard output, which nobody reads.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CPU_S = 5
MEMORY_BYTES = 2 * 2**30
FILE_BYTES = 16 * 2**20
Row = tuple[str, dict[str, Any]]


def limit(cpu_s: int = CPU_S) -> None:
    """Bound processor time, memory and what is written, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def main(repository: str, file: str, results: str, lab: str, *sizes: int) -> None:
    """Try every task of the file at its sizes: ranks; a step; stages and microbatches."""
    sys.path.insert(0, repository)
    from runtime.processes import end_with_parent

    end_with_parent()
    limit()
    with open(results, "w", encoding="utf-8") as out:
        for task, row in rows_of(lab, file, *sizes):
            print(json.dumps({"task": task, **row}), file=out, flush=True)


def rows_of(lab: str, file: str, *sizes: int) -> Iterator[Row]:
    """Try every task of a lab's file, in this process; nothing of a lab that has no picture of its own code."""
    tried: Mapping[str, Callable[..., Iterator[Row]]] = {
        "sharding_math": _layers,
        "comm_cost": _bills,
        "pipeline_bubble": _schedules,
    }
    return tried[lab](file, *sizes) if lab in tried else iter(())


def _bills(file: str, *sizes: int) -> Iterator[Row]:
    """What lab 03's code bills a step over each of the lab's links."""
    from core.comm_cost.submission import TASK, result_of
    from runtime.files import module_at

    try:
        yield TASK, result_of(module_at(Path(file), "learner"), *sizes)
    except BaseException as error:
        yield TASK, _failure(error, file)


def _schedules(file: str, stages: int, microbatches: int) -> Iterator[Row]:
    """What each task of lab 04 gave, and its run."""
    from core.pipeline_bubble.submission import RUN, TASKS, result_of
    from runtime.files import module_at

    for task in (*TASKS, RUN):
        try:
            yield task, {"gave": result_of(task, module_at(Path(file), "learner"), stages, microbatches)}
        except BaseException as error:
            yield task, _failure(error, file)


def _layers(file: str, ranks: int) -> Iterator[Row]:
    """What each task of lab 01 computed, its ledger, and what it gave to all-reduces."""
    from core.sharding_math.submission import TASKS

    with _recorded_all_reduces() as given:
        for task in TASKS:
            given.clear()
            yield task, _try(task, file, ranks, given)


@contextmanager
def _recorded_all_reduces() -> Iterator[list[list[Any]]]:
    """Every array given to an all-reduce, in order: the learner's file imports the recording one meanwhile."""
    import numpy as np

    from core.sharding_math import collectives
    from core.sharding_math import lab as sharding_math

    given: list[list[Any]] = []
    reduce = collectives.all_reduce

    def recording(parts: Any, *args: Any, **options: Any) -> Any:
        given.append([np.asarray(part, dtype=float).tolist() for part in parts])
        return reduce(parts, *args, **options)

    collectives.all_reduce = sharding_math.all_reduce = recording
    try:
        yield given
    finally:
        collectives.all_reduce = sharding_math.all_reduce = reduce


def _try(task: str, file: str, ranks: int, given: list[list[Any]]) -> dict[str, Any]:
    """One task: its result and its ledger, or what it raised and where."""
    import numpy as np

    from core.ledger import Ledger
    from core.sharding_math.submission import given as arrays_given
    from core.sharding_math.whole import kept_whole
    from runtime.files import module_at

    arrays, ledger = arrays_given(task, ranks), Ledger()  # type: ignore[arg-type]
    try:
        module = module_at(Path(file), "learner")
        with kept_whole():
            y = getattr(module, task)(*arrays, ranks, ledger)
        y = np.asarray(y, dtype=float)
    except BaseException as error:
        return _failure(error, file)
    lines = [[entry.op, entry.payload_bytes, entry.ranks] for entry in ledger]
    return {"y": y.tolist(), "collectives": lines, "reduced": list(given)}


def _failure(error: BaseException, file: str) -> dict[str, Any]:
    """What was raised, and where in their file."""
    from core.errors import as_row, raised

    return {"error": as_row(raised(error, str(error)[:500])), "line": _line(error, file)}


def _line(error: BaseException, file: str) -> int:
    """The last line of their file on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    from runtime.files import line_in

    return line_in(Path(file), error.__traceback__)


if __name__ == "__main__":
    _repository, _file, _results, _lab, *_sizes = sys.argv[1:]
    main(_repository, _file, _results, _lab, *map(int, _sizes))
