"""The clinic: eight classics of distributed serving, each with symptoms, a diagnosis to commit to, and a model."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from core.clinic.case import Case
from core.clinic.cross_node import cross_node
from core.clinic.eight_ranks import eight_ranks
from core.clinic.idle_network import idle_network
from core.clinic.kernel_off import kernel_off
from core.clinic.kv_too_small import kv_too_small
from core.clinic.silent_init import silent_init
from core.clinic.slow_rank import slow_rank
from core.clinic.starved_pipeline import starved_pipeline
from core.comm_cost.measured import MeasuredPoint
from core.errors import UnknownNameError

__all__ = ["CASES", "SEED", "Case", "examine"]

SEED = 7
"""Of every random draw of the clinic: the same patient each time."""

Points = Sequence[MeasuredPoint]

CASES: Mapping[str, Callable[[Points, np.random.Generator], Case]] = MappingProxyType(
    {
        "slow_rank": lambda points, rng: slow_rank(points),
        "cross_node": lambda points, rng: cross_node(rng),
        "starved_pipeline": starved_pipeline,
        "eight_ranks": lambda points, rng: eight_ranks(points),
        "kv_too_small": lambda points, rng: kv_too_small(),
        "idle_network": lambda points, rng: idle_network(points),
        "kernel_off": lambda points, rng: kernel_off(points),
        "silent_init": lambda points, rng: silent_init(),
    }
)
"""Each case by its key, in the order they are walked."""


def examine(key: str, points: Points) -> Case:
    """A case, computed. `points` are the measured all-reduces it may need.

    Raises UnknownNameError for a case that is not in the clinic.
    """
    if key not in CASES:
        raise UnknownNameError("case", key, CASES)
    return CASES[key](points, np.random.default_rng(SEED))
