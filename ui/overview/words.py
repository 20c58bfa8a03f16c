"""The overview: the labs' own numbers, whatever the scenario is now."""

from collections.abc import Mapping

from core.comm_cost.bill import Bill, Step, bill
from core.pipeline_bubble.bubble import bubble_fraction, microbatches_for_budget
from core.scenario import Scenario
from core.steps.model import decode_step_s
from core.two_way_tp import MINI_GPT, weights_per_rank
from runtime.quantities import grouped

LABS_OWN = Scenario()
STAGES, MICROBATCHES, BUDGET = 8, 16, "0.10"
DRAWN_STAGES, DRAWN_MICROBATCHES = 4, 8


def lab_bills() -> tuple[Bill, Bill]:
    """One decode step of the labs' model at TP=2: inside the node, and across."""
    model, gpu = LABS_OWN.model_spec, LABS_OWN.gpu_spec
    step = Step(model, LABS_OWN.tp, compute_s=decode_step_s(model, gpu))
    return bill(step, LABS_OWN.link_spec), bill(step, LABS_OWN.network_spec)


def rank_weights() -> list[str]:
    """What each of lab 02's two ranks holds, in bytes."""
    return [f"{grouped(weights_per_rank(MINI_GPT, 2).bytes)} B"] * 2


def fields() -> Mapping[str, object]:
    """Every number of the overview, from core."""
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
