"""The small problems that the figures draw: numbers a reader can check with a pencil.

Inputs and most weights have one decimal, so every product has two and a shown sum adds up as shown.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from core.sharding.group import Group
from core.sharding.layers import column_layer, mlp_layer, row_layer
from core.sharding.numerics import Precision
from core.sharding.tensors import Array, Trace

Kind: TypeAlias = Literal["column", "row", "mlp"]

_X = (0.8, -0.9, 0.3, -1.1, 0.8, 0.5, -0.2, -1.4)
_W = (
    (1.2, -2.2, 2.3, 0.4, 0.6, 1.4, -0.5, 0.9),
    (0.1, 0.8, -0.7, -1.0, -0.6, -0.6, 0.2, 0.7),
    (1.7, -1.4, 0.2, 1.9, 0.2, -1.1, -0.8, 1.1),
    (-1.2, 0.4, -1.4, -1.2, -2.0, 0.2, 1.3, -0.8),
)
_UP = (
    (2, -1, 1, 0),
    (-1, 0, 2, 1),
    (1, 2, 0, -1),
    (0, -1, 1, -2),
    (1, 1, -1, 0),
    (-2, 1, 0, 1),
    (1, 0, -1, -1),
    (-1, -2, 1, 0),
)


FULL_WIDTH, NARROW_WIDTH = 4, 2
"""Outputs (or inputs) drawn: four where there is room, two for eight ranks or a phone."""


@dataclass(frozen=True, eq=False)
class DrawnProblem:
    """An input and the weights it meets, in the order they are used. One token."""

    x: Array
    weights: tuple[Array, ...]


def row_problem(outputs: int = 4) -> DrawnProblem:
    """x (1, 8), W (outputs, 8): eight inputs to deal over up to eight ranks."""
    return DrawnProblem(np.array([_X]), (np.array(_W)[:outputs],))


def column_problem(inputs: int = 4) -> DrawnProblem:
    """x (1, inputs), W (8, inputs): eight outputs to deal over up to eight ranks. Row problem's W, turned."""
    return DrawnProblem(np.array([_X[:inputs]]), (np.array(_W).T[:, :inputs],))


def mlp_problem(hidden: int = 4) -> DrawnProblem:
    """x (1, hidden), W1 (8, hidden), W2 (hidden, 8). W1 is of whole numbers, so h keeps one decimal."""
    up = np.array(_UP, dtype=np.float64)[:, :hidden]
    return DrawnProblem(np.array([_X[:hidden]]), (up, np.array(_W)[:hidden]))


@dataclass(frozen=True, eq=False)
class Run:
    """One computation as the ranks did it, and its dense result from one device."""

    trace: Trace
    dense: Array


def run(kind: Kind, num_ranks: int, width: int = FULL_WIDTH, fmt: Precision | None = None) -> Run:
    """A drawn problem computed on `num_ranks` ranks and on one.

    Raises IndivisibleError.
    """
    group, alone = Group(num_ranks, fmt=fmt), Group(1, fmt=fmt)
    return Run(_compute(kind, group, width), _compute(kind, alone, width).result.full())


def _compute(kind: Kind, group: Group, width: int) -> Trace:
    if kind == "row":
        problem = row_problem(width)
        row_layer(group, group.shard("x", problem.x, -1, "in_features"), problem.weights[0])
    elif kind == "column":
        problem = column_problem(width)
        column_layer(group, group.replicate("x", problem.x), problem.weights[0])
    else:
        problem = mlp_problem(width)
        mlp_layer(group, group.replicate("x", problem.x), problem.weights[0], problem.weights[1])
    return group.trace()
