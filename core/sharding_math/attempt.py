"""What a learner's lab 01 code computed, judged against the reference and told as a trace.

The code itself runs elsewhere; this reads its results: an array, the ledger's lines, what was given to each
all-reduce, or an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from core.ledger import Collective, Ledger
from core.sharding_math.lab import column_parallel, mlp_tp, row_parallel
from core.sharding_math.problems import DrawnProblem, column_problem, mlp_problem, row_problem
from core.sharding_math.tensors import Array, Partial, Replicate, Shard, ShardedTensor, Trace, split

Task: TypeAlias = Literal["column_parallel", "row_parallel", "mlp_tp"]
TASKS: tuple[Task, ...] = ("column_parallel", "row_parallel", "mlp_tp")
ROUNDING = 1e-9
"""The drawn numbers are of order one and the sums of eight terms: a larger difference is no rounding."""


@dataclass(frozen=True)
class CodeError:
    """An exception of the learner's code, or a limit it met. `line` is in their file, 0 where there is none."""

    message: str
    line: int = 0


@dataclass(frozen=True, eq=False)
class Attempt:
    """One task as the learner's code did it."""

    task: Task
    num_ranks: int
    y: Array | None = None
    collectives: tuple[Collective, ...] = ()
    reduced: tuple[tuple[Array, ...], ...] = ()
    error: CodeError | None = None


@dataclass(frozen=True)
class Judgement:
    """An attempt against the reference: `right` when nothing is left to say."""

    right: bool
    wrong: int
    entries: int
    collectives: int
    due: int
    expected_shape: tuple[int, ...]
    shape: tuple[int, ...] | None
    first_wrong: int = 0

    @property
    def can_be_drawn(self) -> bool:
        """There is a result of the right shape."""
        return self.shape == self.expected_shape


def problem_of(task: Task) -> DrawnProblem:
    """The arrays a task is tried on: those of the figures."""
    return {"column_parallel": column_problem, "row_parallel": row_problem, "mlp_tp": mlp_problem}[task]()


_REFERENCE: Mapping[Task, Callable[..., Array]] = MappingProxyType(
    {"column_parallel": column_parallel, "row_parallel": row_parallel, "mlp_tp": mlp_tp}
)


def reference(task: Task, num_ranks: int) -> tuple[Array, Ledger]:
    """What a task should give and send."""
    problem, ledger = problem_of(task), Ledger()
    return _REFERENCE[task](problem.x, *problem.weights, num_ranks, ledger), ledger


def judge(attempt: Attempt) -> Judgement:
    """Entries that differ by more than rounding, and the count of collectives."""
    due, ledger = reference(attempt.task, attempt.num_ranks)
    shape = None if attempt.y is None else attempt.y.shape
    wrong = np.ones(due.shape, bool)
    if attempt.y is not None and shape == due.shape:
        wrong = ~(np.abs(attempt.y - due) <= ROUNDING)  # so that NaN is wrong
    count = len(attempt.collectives)
    return Judgement(
        right=attempt.error is None and not wrong.any() and count == len(ledger),
        wrong=int(wrong.sum()),
        entries=due.size,
        collectives=count,
        due=len(ledger),
        expected_shape=due.shape,
        shape=shape,
        first_wrong=int(np.argmax(wrong)),
    )


def attempt_trace(attempt: Attempt) -> Trace:
    """The learner's computation as a trace: our cut of what was given, their terms, their ledger, their result.

    The attempt must have a result of the right shape.
    """
    assert attempt.y is not None
    problem, ranks = problem_of(attempt.task), attempt.num_ranks
    given: list[ShardedTensor] = []
    if attempt.task == "row_parallel":
        given.append(ShardedTensor("x", split("in_features", problem.x, ranks, -1), Shard(-1)))
        given.append(ShardedTensor("W", split("in_features", problem.weights[0], ranks, 1), Shard(1)))
    else:
        first = "W1" if attempt.task == "mlp_tp" else "W"
        given.append(ShardedTensor("x", (problem.x,) * ranks, Replicate()))
        given.append(ShardedTensor(first, split("out_features", problem.weights[0], ranks, 0), Shard(0)))
    if attempt.task == "mlp_tp":
        given.append(ShardedTensor("W2", split("in_features", problem.weights[1], ranks, 1), Shard(1)))
    if attempt.task == "column_parallel":
        parts = split("out_features", attempt.y, ranks, -1)
        result = ShardedTensor("y", parts, Shard(-1), "linear", ("x", "W"))
        return Trace(ranks, (*given, *attempt.collectives, result))
    return Trace(ranks, (*given, *_terms(attempt), *attempt.collectives, _result(attempt)))


def _terms(attempt: Attempt) -> list[ShardedTensor]:
    """What was given to the last all-reduce, where it was one full-shaped array a rank."""
    if attempt.y is None or not attempt.reduced:
        return []
    parts = attempt.reduced[-1]
    if len(parts) != attempt.num_ranks or any(part.shape != attempt.y.shape for part in parts):
        return []
    return [ShardedTensor("partial y", parts, Partial(), "claimed", ("x",))]


def _result(attempt: Attempt) -> ShardedTensor:
    assert attempt.y is not None
    sources = ("partial y",) if _terms(attempt) else ("x",)
    return ShardedTensor("y", (attempt.y,) * attempt.num_ranks, Replicate(), "claimed", sources)
