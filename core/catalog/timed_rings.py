"""All-reduces over a link that ranks share, as they were timed: NCCL's, by the ranks and by the payload.

Two GPUs of an L40S server meet at one root port, four send through several, and a ring of eight crosses both
sockets. A ring's own formula has one bandwidth for all three, and is up to 13 times too fast at eight. The rows are
those of `l40s-nccl` in data/measured_all_reduce.csv; a test holds the two together.
"""

from core.specs import Rings

_L40S_US = {
    2: (
        7.74, 5.96, 6.31, 6.46, 8.09, 7.54, 9.1, 12.56, 18.76,
        30.67, 50.02, 74.76, 120.7, 221.5, 428.9, 850.4, 1689.3, 3358.8,
    ),
    4: (
        11.89, 11.96, 12.47, 12.36, 12.98, 16.13, 20.07, 32.2, 57.72,
        109.7, 163, 268.3, 622.1, 1235.4, 2458.8, 4922.3, 9836.6, 19699,
    ),
    8: (
        22.6, 22.42, 23.3, 25.76, 32.51, 41.68, 90.3, 164.5, 279.9,
        426, 502.6, 863.2, 2618.2, 5149.2, 9987.8, 19376, 38854, 55412,
    ),
}  # fmt: skip
"""Of 512 bytes, and of each power of two up to 64 MiB."""

L40S = tuple(
    Rings(ranks, tuple((2**power, us * 1e-6) for power, us in enumerate(times, start=9)))
    for ranks, times in _L40S_US.items()
)
"""NCCL 2.27.3 on a node of eight L40S. Source: ai-dynamo/aiconfigurator silicon data (Apache-2.0)."""
