"""The clinic: eight classics of distributed serving, each with symptoms, a diagnosis to commit to, and a model."""

from collections.abc import Callable, Mapping
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
from core.errors import UnknownNameError

__all__ = ["CASES", "SEED", "Case", "examine"]

SEED = 7
"""Of every random draw of the clinic: the same patient each time."""

CASES: Mapping[str, Callable[[np.random.Generator], Case]] = MappingProxyType(
    {
        "slow_rank": lambda rng: slow_rank(),
        "cross_node": cross_node,
        "starved_pipeline": starved_pipeline,
        "eight_ranks": lambda rng: eight_ranks(),
        "kv_too_small": lambda rng: kv_too_small(),
        "idle_network": lambda rng: idle_network(),
        "kernel_off": lambda rng: kernel_off(),
        "silent_init": lambda rng: silent_init(),
    }
)
"""Each case by its key, in the order they are walked."""


def examine(key: str) -> Case:
    """A case, computed.

    Raises UnknownNameError for a case that is not in the clinic.
    """
    if key not in CASES:
        raise UnknownNameError("case", key, CASES)
    return CASES[key](np.random.default_rng(SEED))
