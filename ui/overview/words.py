"""The overview: the labs' own numbers, whatever the scenario is now."""

from collections.abc import Mapping
from functools import cache

from core.comm_cost.bill import Bill
from core.course.labs_own import LABS_OWN
from core.pipeline_bubble.bubble import bubble_fraction, fill_drain, microbatches_for_budget, run_on_ticks
from core.pipeline_bubble.schedules.actions import Span
from core.steps.view import View
from core.two_way_tp.predictions import MINI_GPT, weights_per_rank
from runtime.kept import kept
from runtime.quantities import grouped

STAGES, MICROBATCHES, BUDGET = 8, 16, "0.10"
DRAWN_STAGES, DRAWN_MICROBATCHES = 4, 8


@cache
def lab_bills() -> tuple[Bill, Bill]:
    """One decode step of the labs' model at TP=2, as lab 03 prices it: inside the node, and across."""
    view = View(LABS_OWN)
    return view.price(view.link), view.price(view.network)


@cache
def drawn_schedule() -> tuple[Span, ...]:
    """A small pipeline, on ticks of one stage's work."""
    return tuple(run_on_ticks(fill_drain(DRAWN_STAGES, DRAWN_MICROBATCHES), DRAWN_STAGES))


def rank_weights() -> list[str]:
    """What each of lab 02's two ranks holds, in bytes."""
    return [f"{grouped(weights_per_rank(MINI_GPT, 2).bytes)} B"] * 2


@kept
def fields() -> Mapping[str, object]:
    inside, across = lab_bills()
    return {
        "layers": LABS_OWN.model_spec.num_hidden_layers,
        "inside": inside,
        "across": across,
        "stages": STAGES,
        "microbatches": MICROBATCHES,
        "bubble": float(bubble_fraction(STAGES, MICROBATCHES)),
        "budget": float(BUDGET),
        "budget_microbatches": microbatches_for_budget(STAGES, BUDGET),
        "rank_bytes": rank_weights()[0],
    }
