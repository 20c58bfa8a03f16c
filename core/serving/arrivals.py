"""What an engine is sent: when requests arrive, and how long each is where they differ."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError, remark, require_non_negative, require_positive

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Requests:
    """Requests whose lengths differ, in the order in which they arrive. `prefill_s` is what reading each takes.

    `room_tokens` is what the engine's cache holds: a request begins when its prompt and its output have room.
    """

    prompts: tuple[int, ...]
    outputs: tuple[int, ...]
    prefill_s: tuple[float, ...]
    room_tokens: int

    def __post_init__(self) -> None:
        if not len(self.prompts) == len(self.outputs) == len(self.prefill_s):
            raise OutOfRangeError("requests", len(self.prompts), "output_and_time")
        require_positive(prompt_tokens=min(self.prompts), output_tokens=min(self.outputs))
        longest = max(map(sum, zip(self.prompts, self.outputs, strict=True)))
        if longest > self.room_tokens:
            raise OutOfRangeError(remark("errors.tokens_of_a_request"), longest, "over_room", room=self.room_tokens)


def seeded(seed: int) -> np.random.Generator:
    """The generator that a seed means, for those that ask a learner for one.

    Raises OutOfRangeError for a seed below 0.
    """
    require_non_negative(seed=seed)
    return np.random.default_rng(seed)


def poisson_arrivals(arrivals_per_s: float, requests: int, rng: np.random.Generator) -> Floats:
    """When each of `requests` arrives, in seconds, at random with a mean rate."""
    require_positive(arrivals_per_s=arrivals_per_s, requests=requests)
    return np.cumsum(rng.exponential(1 / arrivals_per_s, requests))
