"""The program that runs a learner's file, in a process of its own: limits first, then their code, a task at a time.

    python -I learner_process.py <repository> <file> <ranks> <results>

Results are written as one JSON line a task, so that what was done before a limit is met is kept. The learner's
own prints go to standard output, which nobody reads.
"""

import importlib.util
import json
import sys
import traceback
from pathlib import Path
from typing import Any

CPU_S = 5
MEMORY_BYTES = 2 * 2**30


def limit(cpu_s: int = CPU_S) -> None:
    """Bound processor time and memory, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main(repository: str, file: str, ranks: int, results: str) -> None:
    """Try every task of the file."""
    sys.path.insert(0, repository)
    from core.sharding_math.submission import TASKS
    from runtime.processes import end_with_parent

    end_with_parent()
    limit()
    given = _record_all_reduces()
    with open(results, "w", encoding="utf-8") as out:
        for task in TASKS:
            given.clear()
            print(json.dumps({"task": task, **_try(task, file, ranks, given)}), file=out, flush=True)


def _record_all_reduces() -> list[list[Any]]:
    """Every array given to an all-reduce, in order: the learner's file imports the recording one."""
    import numpy as np

    from core.sharding_math import collectives
    from core.sharding_math import lab as sharding_math

    given: list[list[Any]] = []
    reduce = collectives.all_reduce

    def recording(parts: Any, *args: Any, **options: Any) -> Any:
        given.append([np.asarray(part, dtype=float).tolist() for part in parts])
        return reduce(parts, *args, **options)

    collectives.all_reduce = sharding_math.all_reduce = recording
    return given


def _try(task: str, file: str, ranks: int, given: list[list[Any]]) -> dict[str, Any]:
    """One task: its result and its ledger, or what it raised and where."""
    import numpy as np

    from core.ledger import Ledger
    from core.sharding_math.submission import given as arrays_given

    arrays, ledger = arrays_given(task, ranks), Ledger()  # type: ignore[arg-type]
    try:
        module = load(file)
        y = getattr(module, task)(*arrays, ranks, ledger)
        y = np.asarray(y, dtype=float)
    except BaseException as error:
        return failure(error, file)
    lines = [[entry.op, entry.payload_bytes, entry.ranks] for entry in ledger]
    return {"y": y.tolist(), "collectives": lines, "reduced": given}


def load(file: str) -> Any:
    """The learner's file as a module."""
    spec = importlib.util.spec_from_file_location("learner", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failure(error: BaseException, file: str) -> dict[str, Any]:
    """What was raised, and where in their file."""
    return {"error": _message(error), "line": _line(error, file)}


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _line(error: BaseException, file: str) -> int:
    """The last line of their file on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if Path(frame.filename) == Path(file)), 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
