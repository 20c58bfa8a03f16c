"""The plans of a placement that are worth showing: a large cluster has thousands, and most of them are refused."""

from dataclasses import replace

from core.placement.plan import Plan
from core.placement.planner import Placement

MOST_PLANS = 160
"""Up to so many are kept as they are."""
MOST_FITTING, MOST_REFUSED = 24, 40
"""Of a larger placement: the plans that give most, as many that are quickest, and the first that are refused."""


def shortlist(placement: Placement) -> Placement:
    """A placement with what follows from all of its plans worked out, and no more plans than are shown.

    Kept are the plans on the front, the one taken, those that its reasons name, and some of each kind.
    """
    placement.recommended, placement.front, placement.min_tp, placement.nearest, placement.roomiest  # noqa: B018 - kept once asked for
    if len(placement.plans) <= MOST_PLANS:
        return placement
    fitting = [index for index in _worth(placement) if placement.plans[index].fits]
    refused = [index for index in _worth(placement) if not placement.plans[index].fits]
    kept = sorted({*fitting, *refused})
    renumbered = {old: new for new, old in enumerate(kept)}
    short = replace(
        placement,
        plans=tuple(placement.plans[index] for index in kept),
        at_rate={renumbered[index]: rated for index, rated in placement.at_rate.items() if index in renumbered},
        left_out=(
            len(placement.fitting) - len(set(fitting)),
            len(placement.plans) - len(placement.fitting) - len(set(refused)),
        ),
    )
    # what was worked out of all plans stands where a cached property would put what it makes of these
    vars(short).update(
        recommended=None if placement.recommended is None else renumbered[placement.recommended],
        nearest=None if placement.nearest is None else renumbered[placement.nearest],
        roomiest=None if placement.roomiest is None else renumbered[placement.roomiest],
        min_tp=placement.min_tp,
        front=tuple(replace(point, plan=renumbered[point.plan]) for point in placement.front),
        curves={
            renumbered[index]: tuple(replace(point, plan=renumbered[index]) for point in placement.curves[index])
            for index in placement.fitting
            if index in renumbered
        },
    )
    return short


def _worth(placement: Placement) -> list[int]:
    """The plans that are kept, some of them named twice."""
    timing = placement.timing
    most = sorted(placement.fitting, key=lambda index: -timing(index).sustained_tokens_per_s)[:MOST_FITTING]
    quickest = sorted(placement.fitting, key=lambda index: timing(index).itl_s)[:MOST_FITTING]
    refused = [index for index, plan in enumerate(placement.plans) if not plan.fits][:MOST_REFUSED]
    named = [index for index in (placement.recommended, placement.nearest, placement.roomiest) if index is not None]
    return [*(point.plan for point in placement.front), *most, *quickest, *refused, *named, *_beside(placement)]


def _beside(placement: Placement) -> list[int]:
    """The plan taken with half its ranks and twice its replicas; where none holds a sequence, the one near it."""
    places = range(len(placement.plans))
    if placement.taken is not None:
        return [index for index in places if is_split_of(placement.plans[index], placement.taken)][:1]
    return [] if placement.roomiest is not None else [max(places, key=lambda index: placement.plans[index].longest)]


def is_split_of(plan: Plan, chosen: Plan) -> bool:
    """Whether a plan is the chosen one with half the TP and twice the replicas."""
    one, other = chosen.layout, plan.layout
    same = one.pp_size == other.pp_size and one.dp_size == other.dp_size
    return same and other.tp_size * 2 == one.tp_size and other.replicas == 2 * one.replicas
