"""A function run on a few ranks of this machine: real processes, a Gloo group, and one answer a rank.

A rank imports nothing of its parent: it is told two files, the one the function stands in and the module under
test, and loads both. So a learner's file can be graded wherever it lies.
"""

import multiprocessing
import tempfile
import traceback
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path
from typing import Any

import torch

from core.errors import Remark, raised, remark
from distributed import collectives
from runtime.files import line_in, module_at
from runtime.processes import processor_s

TIMEOUT_S, IDLE_S = 60.0, 1.0
"""How long nobody need answer, and the processor time of ranks that wait meanwhile."""


class RankError(RuntimeError):
    """What went wrong on a rank, in one line: the error, its line in the module under test, and the rank."""

    def __init__(self, said: Remark) -> None:
        super().__init__(str(said))
        self.remark = said


def run_ranks(ranks: int, file: Path, function: str, module: Path, **given: object) -> list[Any]:
    """`function(module, group, **given)` from `file` on every rank; what each returned, by rank.

    The first rank to fail ends the others.

    Raises NotImplementedError as a rank raised it, RankError for any other failure, or after TIMEOUT_S without an
    answer: of processor time while they get on, as on a busy machine one that is late is not lost.
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
            return _answers(pipes, [process.pid or 0 for process in processes])
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


def _answers(pipes: list[Connection], pids: list[int]) -> list[Any]:
    answers: dict[int, object] = {}
    alone: Any = None  # a rank that its peers left: whatever went wrong, went wrong on one of them
    while len(answers) < len(pipes):
        late = [rank for rank in range(len(pipes)) if rank not in answers]
        before_s = sum(processor_s(pids[rank]) for rank in late)
        ready = wait([pipes[rank] for rank in late], TIMEOUT_S)
        given_s = sum(processor_s(pids[rank]) for rank in late)
        gets_on = given_s - before_s > IDLE_S and given_s < TIMEOUT_S * len(late)
        if not ready and not gets_on:
            raise RankError(alone or remark("errors.raised.rank_late", wall=f"{TIMEOUT_S:.0f}"))
        for rank, pipe in enumerate(pipes):
            if pipe in ready:
                kind, answers[rank] = _answer(pipe, rank)
                alone = answers[rank] if kind == "alone" else alone
    if alone:
        raise RankError(alone)
    return [answers[rank] for rank in range(len(pipes))]


def _answer(pipe: Connection, rank: int) -> tuple[str, object]:
    try:
        kind, told = pipe.recv()
    except EOFError:
        raise RankError(remark("errors.raised.rank_ended", rank=rank)) from None
    if kind == "task":
        raise NotImplementedError(told)
    if kind == "error":
        raise RankError(told)
    return kind, told


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
        check = getattr(module_at(file, "checks"), function)
        answer.send(("answer", check(module_at(module, "graded"), group, **given)))
        collectives.leave()
    except NotImplementedError as task:
        answer.send(("task", str(task)))
    except BaseException as error:
        answer.send(_told(error, rank, module))


def _told(error: BaseException, rank: int, module: Path) -> tuple[str, Remark]:
    """An error, and whether it is only that the others did not come to a collective."""
    frames = traceback.extract_tb(error.__traceback__)
    line = line_in(module, error.__traceback__)
    alone = bool(frames) and Path(frames[-1].filename).name in ("c10d_logger.py", "distributed_c10d.py")
    message = str(error).strip().partition("\n")[0]
    said = remark("errors.raised.alone") if alone else raised(error, message)
    if line:
        said = remark("errors.raised.at_line_on_rank", error=said, at=line, file=module.name, rank=rank)
    else:
        said = remark("errors.raised.on_rank", error=said, rank=rank)
    return "alone" if alone else "error", said
