"""The small problems that the figures draw: numbers a reader can check with a pencil.

Inputs and most weights have one decimal, so every product has two and a shown sum adds up as shown.
"""

from dataclasses import dataclass

import numpy as np

from core.sharding_math.tensors import Array

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

_WQ = ((0.8, 0.2, -1.4, 0.1), (0.6, -1.3, -1.3, -1.4), (1.5, -1.2, 0.4, -0.6), (-0.9, 0.9, -1.2, -0.8))
_WK = ((-0.3, -0.8, -0.4, -0.5), (-1.0, 0.7, 0.4, 0.9))
_WV = ((1.3, 1.3, 1.5, 1.1), (1.5, 1.4, 0.5, 0.4))
_WO = ((-0.6, -0.8, -0.2, 1.2), (-0.5, -1.0, -1.4, 0.9), (-1.3, -0.5, 1.0, -0.7), (-1.4, 0.2, 0.4, 1.0))
_CACHED_KEYS = ((-0.2, -1.0), (0.0, -1.3))
_CACHED_VALUES = ((-1.2, -0.8), (-1.4, -0.5))
"""Two tokens' keys and values for two KV heads. Chosen so that sums shown to two decimals add up as shown."""

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


def square_mlp_problem() -> DrawnProblem:
    """The MLP problem with a hidden row as wide as x: W1 and W2 (4, 4). Every order of cuts fits in one picture."""
    up, down = mlp_problem().weights
    return DrawnProblem(np.array([_X[:4]]), (up[:4], down[:, :4]))


@dataclass(frozen=True, eq=False)
class AttentionProblem:
    """One decode token: x (1, hidden), four query heads over two KV heads, head_dim 1, two tokens cached."""

    x: Array
    Wq: Array
    Wk: Array
    Wv: Array
    Wo: Array
    cached_keys: Array
    cached_values: Array


def attention_problem(hidden: int = 4) -> AttentionProblem:
    """Wq (4, hidden), Wk and Wv (2, hidden), Wo (hidden, 4), cached keys and values (2, 2)."""
    Wq, Wk, Wv, Wo = (np.array(weight) for weight in (_WQ, _WK, _WV, _WO))
    cache = np.array(_CACHED_KEYS), np.array(_CACHED_VALUES)
    return AttentionProblem(
        np.array([_X[:hidden]]), Wq[:, :hidden], Wk[:, :hidden], Wv[:, :hidden], Wo[:hidden], *cache
    )


def embedding_problem(hidden: int = 4) -> tuple[Array, Array]:
    """Two token ids and a table (8, hidden)."""
    return np.array([5, 2]), np.array(_W).T[:, :hidden]


def sequence_problem(outputs: int = 2) -> DrawnProblem:
    """x (4, 8): four tokens, each the row problem's x turned one further; W (outputs, 8)."""
    return DrawnProblem(np.array([np.roll(_X, token) for token in range(4)]), (np.array(_W)[:outputs],))
