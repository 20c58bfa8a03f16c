"""Searches, races, traces, journeys, drafts and shared caches put to the referee, drawn at random and over a grid.

The controls put back faults that were found here: each must be caught.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog import gpu, link, model
from core.comm_cost.bill import Step, weight_streaming_s
from core.placement import sizing
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.measured_load import run_trace
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.placement.sizing import sized
from core.placement.under_load import place_under_load
from core.serving.trace import Trace
from core.strategy.entrants import Entrant, entrants
from core.strategy.race import race
from tests.core.referee import searched, shown
from tests.core.referee.test_pages import judged

LINKS = ("ethernet-10g-lab", "ib-ndr", "efa-p4d")


def asked(key="llama-3-8b", gpu_key="h100-sxm", gpus=4, nodes=1, network="ib-ndr", **demand) -> Question:
    cluster = replace(usual_cluster(gpu(gpu_key), gpus, nodes), network=link(network))
    return Question(model(key), cluster, measured_budget(gpu(gpu_key)), Demand(**demand), context_parallel=True)


CASES = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["llama-3-8b", "mixtral-8x7b"]),
        "gpu_key": st.sampled_from(["h100-sxm", "a100-80gb-sxm", "l40s"]),
        "nodes": st.sampled_from([1, 2]),
        "network": st.sampled_from(LINKS),
        "prompt_tokens": st.sampled_from([128, 2048, 16384]),
        "output_tokens": st.sampled_from([2, 256]),
    }
)


@settings(max_examples=4)
@given(CASES, st.sampled_from([0.0, 0.9]), st.sampled_from([0, 3]), st.sampled_from([1, 64]))
def test_no_plan_with_drafts_or_a_cached_prefix_beats_its_roofline(case, prefix, drafts, concurrency):
    question = asked(**case, prefix_fraction=prefix, draft_tokens=drafts, concurrency=concurrency)
    assert judged(shown.plans(question, place(question).plans)) >= 0


def counted(**case) -> int:
    return judged(searched.searched(sized(asked(**case, slo_itl_s=0.1, slo_ttft_s=20.0))))


def test_no_search_for_gpus_beats_a_port_or_its_arithmetic():
    """Two nodes over 10 GbE: a prompt of 4,096 tokens is 512 MiB, and two ports carry no more than 2.3 a second."""
    assert counted(gpus=2, nodes=2, network="ethernet-10g-lab", prompt_tokens=4096, output_tokens=64) > 10


@pytest.mark.slow
@settings(max_examples=5)
@given(CASES, st.sampled_from([None, 4.0]))
def test_no_search_drawn_at_random_beats_a_port_or_its_arithmetic(case, rate):
    assert counted(**case, gpus=2, requests_per_s=rate) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1.0, 20.0])
def test_no_plan_at_a_rate_beats_its_roofline(rate):
    for gpu_key, prompt in product(("h100-sxm", "l40s"), (128, 8192)):
        question = asked(gpu_key=gpu_key, prompt_tokens=prompt, requests_per_s=rate)
        assert judged(searched.judged_at_rate(question, place_under_load(question))) > 5


@lru_cache
def entered(network: str) -> tuple[Question, tuple[Entrant, ...]]:
    question = replace(
        asked(nodes=2, network=network, prompt_tokens=4096, output_tokens=32), context_parallel=False
    )
    return question, entrants(question)


@pytest.mark.parametrize("network", LINKS)
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_no_lane_of_a_race_beats_its_link_or_its_arithmetic(network, share):
    question, lanes = entered(network)
    rate = share * max(one.capacity_per_s for one in lanes)
    assert judged(searched.raced(question, race(lanes, rate, 2048, requests=60))) > 8


@pytest.mark.parametrize(("key", "gpu_key"), [("llama-3-8b", "h100-sxm"), ("mixtral-8x7b", "a100-80gb-sxm")])
def test_no_trace_beats_its_roofline_and_littles_law_holds(key, gpu_key):
    """Requests in the engine are their rate times their stay."""
    question = asked(key=key, gpu_key=gpu_key)
    trace = Trace(tuple(0.05 * n for n in range(40)), (700,) * 40, (30,) * 40, 0, 0)
    plan = next(plan for plan in place(question).plans if plan.fits and plan.layout.replicas == 1)
    run = run_trace(question, plan, trace, 2048)
    assert judged(searched.traced(question, plan.layout, run, 30)) == 2
    stay = run.requests * run.sojourn_mean_s * run.tokens_per_s / (run.requests * 30)
    assert run.mean_running + run.mean_waiting == pytest.approx(stay, rel=1e-6)


STEPS = st.tuples(
    st.sampled_from(["llama-3-8b", "llama-3-70b"]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([1, 32, 512]),
    st.sampled_from(["nvlink-4", "pcie-4", "ethernet-10g-lab"]),
)


def step_of(key: str, tp_size: int, sequences: int) -> Step:
    row, gpu_spec = model(key), gpu("h100-sxm")
    computed = max(
        weight_streaming_s(row, gpu_spec), shown.decode_least_s(row, gpu_spec, sequences, 0, 1, "bf16", "bf16")
    )
    return Step(row, tp_size, sequences, computed, divided=True, sequences=sequences)


@settings(max_examples=25)
@given(STEPS)
def test_no_journey_and_no_draft_beats_its_roofline_or_its_link(drawn):
    key, tp_size, sequences, over = drawn
    step = step_of(key, tp_size, sequences)
    assert judged(searched.walked(step, gpu("h100-sxm"), link(over))) == 2
    assert judged(searched.drafted(step, gpu("h100-sxm"), link(over), range(9), 0.7)) == 9


@settings(max_examples=25)
@given(
    st.sampled_from(["llama-3-8b", "llama-3-70b", "deepseek-r1"]),
    st.sampled_from([2, 8, 16]),
    st.sampled_from([1, 5, 64]),
    st.sampled_from([512, 65536]),
    st.sampled_from(["nvlink-4", "pcie-4"]),
)
def test_no_way_to_share_a_cache_beats_reading_it_once_and_all_serve_as_many(key, ranks, sequences, context, over):
    rows = searched.shared_caches(model(key), gpu("h200-sxm"), link(over), ranks, sequences, context)
    assert judged(rows) == 6


def test_engines_apart_that_share_a_port_as_if_each_had_it_are_caught(monkeypatch):
    """The fault that the search had: 136 requests a second over ports that carry 2.3."""
    monkeypatch.setattr(sizing, "_bytes_s", lambda question, side: 1e-9)
    with pytest.raises(AssertionError, match="placement, engines apart"):
        counted(gpus=2, nodes=2, network="ethernet-10g-lab", prompt_tokens=4096, output_tokens=64)


def test_a_race_whose_prompts_cross_one_link_all_at_once_is_caught(monkeypatch):
    """The fault that the race had: each prompt as if nobody else sent."""
    question, lanes = entered("ethernet-10g-lab")
    quick = [replace(one, transfer_s=one.transfer_s / 50) if one.readers else one for one in lanes]
    with pytest.raises(AssertionError, match="a race's link"):
        judged(searched.raced(question, race(quick, 20.0, 2048, requests=60)))
