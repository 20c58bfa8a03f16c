"""A function run on a few ranks of this machine: real processes, a Gloo group, and one answer a rank.

A rank imports nothing of its parent: it is told two files, the one the function stands in and the module under
test, and loads both. So a learner's file can be graded wherever it lies.
"""

import importlib.util
import multiprocessing
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from distributed import collectives

TIMEOUT_S = 60.0


class RankError(RuntimeError):
    """What went wrong on a rank, with its traceback."""


def run_ranks(ranks: int, file: Path, function: str, module: Path, **given: object) -> list[Any]:
    """`function(module, group, **given)` from `file` on every rank; what each returned, by rank.

    The first rank to fail ends the others.

    Raises NotImplementedError as a rank raised it, RankError for any other failure or after TIMEOUT_S.
    """
    context = _context()
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = (Path(folder) / "store").as_uri()
        pipes, processes = [], []
        for rank in range(ranks):
            ours, theirs = context.Pipe(duplex=False)
            task = (rank, ranks, rendezvous, file, function, module, theirs, given)
            process = context.Process(target=_rank_main, args=task, daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        try:
            return _answers(pipes)
        finally:
            for process in processes:
                process.kill()
                process.join()


def _context() -> SpawnContext | ForkServerContext:
    """Ranks forked from a server that has torch loaded, in 30 ms; started afresh where there is no fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["distributed.local_ranks"])
    return context


def _answers(pipes: list[Connection]) -> list[Any]:
    answers: dict[int, object] = {}
    while len(answers) < len(pipes):
        ready = wait([pipe for rank, pipe in enumerate(pipes) if rank not in answers], TIMEOUT_S)
        if not ready:
            raise RankError(f"a rank did not answer within {TIMEOUT_S:.0f} s")
        for rank, pipe in enumerate(pipes):
            if pipe in ready:
                answers[rank] = _answer(pipe)
    return [answers[rank] for rank in range(len(pipes))]


def _answer(pipe: Connection) -> object:
    try:
        kind, told = pipe.recv()
    except EOFError:
        raise RankError("a rank ended without an answer") from None
    if kind == "task":
        raise NotImplementedError(told)
    if kind == "error":
        raise RankError(told)
    return told


def _rank_main(
    rank: int,
    ranks: int,
    rendezvous: str,
    file: Path,
    function: str,
    module: Path,
    answer: Connection,
    given: dict[str, object],
) -> None:
    torch.set_num_threads(1)
    try:
        group = collectives.join("gloo", TIMEOUT_S, rendezvous, rank=rank, world_size=ranks)
        check = getattr(_load(file, "checks"), function)
        answer.send(("answer", check(_load(module, "graded"), group, **given)))
        collectives.leave()
    except NotImplementedError as task:
        answer.send(("task", str(task)))
    except BaseException:
        answer.send(("error", f"on rank {rank}:\n{traceback.format_exc()}"))


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
