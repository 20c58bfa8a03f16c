"""Lab 04, the pipeline bubble: the reference. It is the code the page runs."""

from core.pipeline_bubble.bubble import (
    bubble_fraction,
    bubble_overhead,
    counted_bubble,
    fill_drain,
    is_valid,
    microbatches_for_budget,
    run_on_ticks,
)

__all__ = [
    "bubble_fraction",
    "bubble_overhead",
    "counted_bubble",
    "fill_drain",
    "is_valid",
    "microbatches_for_budget",
    "run_on_ticks",
]
