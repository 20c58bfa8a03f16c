"""What a sum takes in an engine's step beyond its kernel alone in a loop: its ranks arrive apart.

Each of N ranks comes to a sum later than the first by a delay of its own, and the sum begins with the last. Of
exponential delays the last is H_N - 1 means behind an average one (core.steps.jitter), so it takes

    delay · (H_N - 1)

A sum's own price is its kernel's as it was timed, one after another in a graph, whose ranks stay together.
"""

from core.steps.jitter import harmonic

RANK_DELAY_S = 7.7e-6
"""Of one sum, on a rank. Fitted with ten others on 1,400 served times (core.evidence.served_fit)."""


def apart(ranks: int) -> float:
    """How many delays one sum of N ranks waits; none alone."""
    return harmonic(ranks) - 1
