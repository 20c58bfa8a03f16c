"""The one rule for which published times no figure of accuracy is about, whatever table they are in."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

from core.evidence.published_terms import Prediction, holds_weights

Reason = Literal["training_code", "set_a_constant", "no_room", "beats_the_data_sheet"]
REASONS: tuple[Reason, ...] = get_args(Reason)


def left_out(each: Prediction) -> Reason | None:
    """Why a time is in no figure of accuracy; None: it is in all of them.

        training_code          its program was made to train, and generates beside
        set_a_constant         it alone set a constant (core.steps.model.CROSSING_S), and cannot test it
        no_room                the ranks that its row names do not hold the weights: the row means more of them
        beats_the_data_sheet   it is shorter than bytes over bandwidth, or operations over FLOP/s, of what it names

    The first that holds. None of them looks at how far a prediction is off.
    """
    said = each.measurement
    if said.engine == "megatron":
        return "training_code"
    if said.group.waits_over_nodes and said.quantity != "first_token":
        return "set_a_constant"
    if not holds_weights(said):
        return "no_room"
    return "beats_the_data_sheet" if each.roofline_s > said.measured_s else None


def counted_out(predictions: Iterable[Prediction]) -> Counter[Reason]:
    """How many times are left out for each reason, in the order of the rule."""
    found = [reason for each in predictions if (reason := left_out(each))]
    return Counter({reason: found.count(reason) for reason in REASONS})
