"""What a learner's lab 01 code computed, judged against the reference and told as a trace.

The code itself runs elsewhere; this reads its results: an array, the ledger's lines, what was given to each
all-reduce, or an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from core.errors import CodeError
from core.ledger import Collective, Ledger
from core.sharding_math.examples import layer_arrays, mlp_arrays
from core.sharding_math.group import Group
from core.sharding_math.lab import column_parallel, mlp_tp, row_parallel
from core.sharding_math.tensors import Array, Partial, Replicate, Shard, ShardedTensor, Trace, split
from core.sharding_math.whole import Whole

Task: TypeAlias = Literal["column_parallel", "row_parallel", "mlp_tp"]
TASKS: tuple[Task, ...] = ("column_parallel", "row_parallel", "mlp_tp")
ROUNDING = 1e-9
"""The drawn numbers are of order one and the sums of eight terms: a larger difference is no rounding."""


@dataclass(frozen=True, eq=False)
class Submission:
    """One task as the learner's code did it."""

    task: Task
    num_ranks: int
    y: Array | None = None
    collectives: tuple[Collective, ...] = ()
    reduced: tuple[tuple[Array, ...], ...] = ()
    error: CodeError | None = None


@dataclass(frozen=True)
class Judgement:
    """A submission against the reference: `right` when nothing is left to say."""

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


_REFERENCE: Mapping[Task, tuple[Callable[..., Array], Callable[[], tuple[Array, ...]]]] = MappingProxyType(
    {
        "column_parallel": (column_parallel, layer_arrays),
        "row_parallel": (row_parallel, layer_arrays),
        "mlp_tp": (mlp_tp, mlp_arrays),
    }
)


def arrays_of(task: Task) -> tuple[Array, ...]:
    """The input and the weights a task is tried on: those of the figures."""
    return _REFERENCE[task][1]()


def given(task: Task, num_ranks: int) -> tuple[Array | Whole, ...]:
    """Copies of them as a learner's code gets them: what no rank holds all of can only be cut."""
    x, *weights = (array.copy() for array in arrays_of(task))
    by_inputs, alone = task == "row_parallel", task == "column_parallel"
    whole = [
        Whole(f"W{number if weights[1:] else ''}", W, num_ranks, int(by_inputs or number > 1), side_by_side=alone)
        for number, W in enumerate(weights, 1)
    ]
    return (Whole("x", x, num_ranks, 1) if by_inputs else x, *whole)


def reference(task: Task, num_ranks: int) -> tuple[Array, Ledger]:
    """What a task should give and send."""
    ledger = Ledger()
    return _REFERENCE[task][0](*arrays_of(task), num_ranks, ledger), ledger


def judge(submission: Submission) -> Judgement:
    """Entries that differ by more than rounding, and the count of collectives."""
    due, ledger = reference(submission.task, submission.num_ranks)
    shape = None if submission.y is None else submission.y.shape
    wrong = np.ones(due.shape, bool)
    if submission.y is not None and shape == due.shape:
        wrong = ~(np.abs(submission.y - due) <= ROUNDING)  # so that NaN is wrong
    count = len(submission.collectives)
    return Judgement(
        right=submission.error is None and not wrong.any() and count == len(ledger),
        wrong=int(wrong.sum()),
        entries=due.size,
        collectives=count,
        due=len(ledger),
        expected_shape=due.shape,
        shape=shape,
        first_wrong=int(np.argmax(wrong)),
    )


def submitted_trace(submission: Submission) -> Trace:
    """The learner's computation as a trace: our cut of what was given, their terms, their ledger, their result.

    The submission must have a result of the right shape.
    """
    assert submission.y is not None
    group = Group(submission.num_ranks)
    ranks, (x, W, *second) = submission.num_ranks, arrays_of(submission.task)
    if submission.task == "row_parallel":
        group.shard("x", x, -1, "in_features")
        group.shard("W", W, 1, "in_features")
    else:
        group.replicate("x", x)
        group.shard("W1" if second else "W", W, 0, "out_features")
    for W2 in second:
        group.shard("W2", W2, 1, "in_features")
    given = group.trace().entries
    if submission.task == "column_parallel":
        parts = split("out_features", submission.y, ranks, -1)
        result = ShardedTensor("y", parts, Shard(-1), "linear", ("x", "W"))
        return Trace(ranks, (*given, *submission.collectives, result))
    return Trace(ranks, (*given, *_terms(submission), *submission.collectives, _result(submission)))


def _terms(submission: Submission) -> list[ShardedTensor]:
    """What was given to the last all-reduce, where it was one full-shaped array a rank."""
    if submission.y is None or not submission.reduced:
        return []
    parts = submission.reduced[-1]
    if len(parts) != submission.num_ranks or any(part.shape != submission.y.shape for part in parts):
        return []
    return [ShardedTensor("partial y", parts, Partial(), "claimed", ("x",))]


def _result(submission: Submission) -> ShardedTensor:
    assert submission.y is not None
    sources = ("partial y",) if _terms(submission) else ("x",)
    return ShardedTensor("y", (submission.y,) * submission.num_ranks, Replicate(), "claimed", sources)
