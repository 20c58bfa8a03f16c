"""A large cluster's placement as a page has it: fewer plans, and every answer as of all of them."""

import pytest

from core.errors import OutOfRangeError
from core.placement import shortlist as shortlists
from core.placement.planner import Placement
from core.placement.shortlist import shortlist
from core.placement.topology import MOST_GPUS_A_NODE, read_node
from core.placement.trace import decisions, why_it_lost
from core.placement.under_load import place_under_load
from runtime.prose import worded
from tests.core.placement.test_sizing import asked

DEMANDS = {
    "free": {"concurrency": 256},
    "target": {"concurrency": 64, "slo_itl_s": 0.02},
    "rate": {"concurrency": 64, "requests_per_s": 20.0},
    "nothing fits": {"concurrency": 65536, "prompt_tokens": 4096, "output_tokens": 4096},
}


def names(found: Placement) -> list[str]:
    return [plan.layout.name for plan in found.plans]


@pytest.mark.parametrize("demand", DEMANDS.values(), ids=DEMANDS)
def test_a_shortlist_answers_as_all_plans_do(demand, monkeypatch):
    """The plan taken, its reasons, the front, the counts, and why each listed plan lost: in the same words."""
    monkeypatch.setattr(shortlists, "MOST_PLANS", 8)
    monkeypatch.setattr(shortlists, "MOST_FITTING", 3)
    monkeypatch.setattr(shortlists, "MOST_REFUSED", 4)
    whole = place_under_load(asked("deepseek-v2-lite", gpus=16, **demand))
    short = shortlist(whole)
    assert len(short.plans) < len(whole.plans)
    assert short.in_all == len(whole.plans)
    assert short.refused == len(whole.plans) - len(whole.fitting)
    assert len(short.fitting) + short.left_out[0] == len(whole.fitting)
    assert [worded(one) for one in decisions(short)] == [worded(one) for one in decisions(whole)]
    for listed, name in enumerate(names(short)):
        place = names(whole).index(name)
        assert short.plans[listed] == whole.plans[place]
        if listed != short.recommended and (whole.fitting or not short.plans[listed].fits):
            assert why_it_lost(short, listed) == why_it_lost(whole, place)
    drawn = [
        [(names(found)[point.plan], point.concurrency, point.itl_s) for point in found.front]
        for found in (short, whole)
    ]
    assert drawn[0] == drawn[1]


def test_a_small_placement_is_kept_as_it_is():
    whole = place_under_load(asked())
    assert shortlist(whole) is whole
    assert whole.in_all == len(whole.plans)


def test_a_node_is_no_larger_than_the_planner_asks_for():
    count = MOST_GPUS_A_NODE + 1
    heads = "\t".join(f"GPU{gpu}" for gpu in range(count))
    rows = (
        f"GPU{gpu}\t" + "\t".join("X" if gpu == other else "NV18" for other in range(count)) for gpu in range(count)
    )
    with pytest.raises(OutOfRangeError):
        read_node("\n".join([f"\t{heads}", *rows]))
