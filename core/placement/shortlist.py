"""The plans of a placement that are worth showing: a large cluster has thousands, and most of them are refused."""

from dataclasses import replace

from core.placement.planner import Placement, Plan

MOST_PLANS = 160
"""Up to so many are kept as they are."""
MOST_FITTING, MOST_REFUSED = 24, 40
"""Of a larger placement: the plans that give most, as many that are quickest, and the first that are refused."""


def shortlist(found: Placement) -> Placement:
    """A placement with what follows from all of its plans worked out, and no more plans than are shown.

    Kept are the plans on the front, the one taken, those that its reasons name, and some of each kind.
    """
    found.recommended, found.front, found.min_tp, found.nearest, found.roomiest  # noqa: B018 - kept once asked for
    if len(found.plans) <= MOST_PLANS:
        return found
    fitting = [index for index in _worth(found) if found.plans[index].fits]
    refused = [index for index in _worth(found) if not found.plans[index].fits]
    kept = sorted({*fitting, *refused})
    place = {old: new for new, old in enumerate(kept)}
    short = replace(
        found,
        plans=tuple(found.plans[index] for index in kept),
        at_rate={place[index]: rated for index, rated in found.at_rate.items() if index in place},
        left_out=(
            len(found.fitting) - len(set(fitting)),
            len(found.plans) - len(found.fitting) - len(set(refused)),
        ),
    )
    # what was worked out of all plans stands where a cached property would put what it makes of these
    vars(short).update(
        recommended=None if found.recommended is None else place[found.recommended],
        nearest=None if found.nearest is None else place[found.nearest],
        roomiest=None if found.roomiest is None else place[found.roomiest],
        min_tp=found.min_tp,
        front=tuple(replace(point, plan=place[point.plan]) for point in found.front),
        curves={
            place[index]: tuple(replace(point, plan=place[index]) for point in found.curves[index])
            for index in found.fitting
            if index in place
        },
    )
    return short


def _worth(found: Placement) -> list[int]:
    """The plans that are kept, some of them named twice."""
    timing = found.timing
    most = sorted(found.fitting, key=lambda index: -timing(index).sustained_tokens_per_s)[:MOST_FITTING]
    quickest = sorted(found.fitting, key=lambda index: timing(index).itl_s)[:MOST_FITTING]
    refused = [index for index, plan in enumerate(found.plans) if not plan.fits][:MOST_REFUSED]
    named = [index for index in (found.recommended, found.nearest, found.roomiest) if index is not None]
    return [*(point.plan for point in found.front), *most, *quickest, *refused, *named, *_beside(found)]


def _beside(found: Placement) -> list[int]:
    """The plan taken with half its ranks and twice its replicas; where none holds a sequence, the one near it."""
    places = range(len(found.plans))
    if found.recommended is not None:
        chosen = found.plans[found.recommended]
        return [index for index in places if is_split_of(found.plans[index], chosen)][:1]
    return [] if found.roomiest is not None else [max(places, key=lambda index: found.plans[index].longest)]


def is_split_of(plan: Plan, chosen: Plan) -> bool:
    """Whether a plan is the chosen one with half the TP and twice the replicas."""
    one, other = chosen.layout, plan.layout
    same = one.pp_size == other.pp_size and one.dp_size == other.dp_size
    return same and other.tp_size * 2 == one.tp_size and other.replicas == 2 * one.replicas
