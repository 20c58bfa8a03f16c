"""Every page's prices over a grid of scenarios: none beats a link, a roofline or Little's law; compared times batch
alike.

The controls put back faults that pages had once: each must be caught.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, product

import pytest

from core.catalog import LINKS, gpu, link, model
from core.comm_cost.bill import Step, weight_streaming_s
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.placement.under_load import engine_cost
from core.scenario import Scenario
from core.serving.arrivals import poisson_arrivals, seeded
from core.serving.simulate import simulate
from core.steps.model import TensorGroup
from core.steps.view import View
from core.strategy import disaggregation
from core.strategy.disaggregation import Request
from core.strategy.training.choice import cuts
from core.strategy.training.memory import Job
from tests.core.referee import shown
from tests.core.referee.shown import Shown

NETWORKS = [key for key in LINKS if link(key).reach == "network"]
LLAMAS = ("llama-3-8b", "llama-3-70b")


def judged(rows: Iterable[Shown]) -> int:
    """How many rows there are; fails for those that beat what is possible, and figures whose rows batch unalike."""
    seen, in_flight = 0, defaultdict(set)
    for row in rows:
        seen += 1
        assert not row.beats, f"{row.page}, {row.figure}, {row.row}: {row.told_s:.3g} s beats {row.least_s:.3g} s"
        if row.in_flight:
            in_flight[row.page, row.figure].add(round(row.in_flight, 6))
    assert all(len(batches) == 1 for batches in in_flight.values()), in_flight
    return seen


def handed(keys: Iterable[str], ranks=(1, 2, 8, 16), prompts=(128, 8192)) -> Iterable[Shown]:
    for key, tp, tokens, over in product(LLAMAS, ranks, prompts, keys):
        group = TensorGroup(tp, link("nvlink-4"), 8, link("ib-ndr"))
        yield from shown.handed_over(Request(model(key), gpu("h100-sxm"), group, tokens), link(over))


@pytest.mark.slow
def test_no_bill_beats_its_link():
    rows = (
        chain(
            shown.bills(model("llama-3-8b"), tp, tokens, link(over)),
            shown.experts(model("mixtral-8x7b"), tokens, tp, link(over)),
        )
        for tp, tokens, over in product((2, 4, 8), (1, 2048), LINKS)
    )
    assert judged(chain.from_iterable(rows)) > 500


@pytest.mark.slow
def test_no_all_reduce_over_nodes_beats_the_nodes_port():
    rows = (
        shown.over_nodes(model("llama-3-70b"), tp, tokens, 8, link(inside), link(over))
        for tp, tokens, inside, over in product((8, 16), (1, 2048), ("nvlink-4", "pcie-4"), NETWORKS)
    )
    assert judged(chain.from_iterable(rows)) > 100


def test_no_hand_over_beats_a_port_that_its_ranks_share():
    assert judged(handed(["nvlink-4", *NETWORKS], ranks=(2, 8, 16))) > 200


@pytest.mark.slow
@pytest.mark.parametrize("gpu_key", ["h100-sxm", "rtx-3090", "gb200"])
def test_no_plan_beats_its_pipeline_on_the_clock_and_all_plans_serve_as_many(gpu_key):
    grid = product(
        ("llama-3-70b", "mixtral-8x7b", "qwen3-30b-a3b"), ((8, 1), (8, 2)), ("ethernet-10g-lab", "ib-ndr")
    )
    seen = 0
    for key, (each, nodes), network in grid:
        cluster = replace(usual_cluster(gpu(gpu_key), each, nodes), network=link(network))
        for demand in (Demand(concurrency=7), Demand(concurrency=64, prompt_tokens=16384, dtype="fp8")):
            question = Question(
                model(key), cluster, measured_budget(gpu(gpu_key)), demand, context_parallel=demand.concurrency > 7
            )
            seen += judged(shown.plans(question, place(question).plans))
    assert seen > 100


@pytest.mark.slow
def test_no_gradient_beats_the_ports_of_its_nodes():
    grid = product(("ethernet-10g-lab", "ib-ndr", "efa-p4d"), (None, 1))
    for network, nics in grid:
        cluster = replace(usual_cluster(gpu("h100-sxm"), 8, 2), network=link(network), nics_per_node=nics)
        for cut, zero in product(cuts(model("llama-3-8b"), 16), (0, 3)):
            judged(shown.transfers(model("llama-3-8b"), replace(cut, zero=zero), cluster, Job()))


@pytest.mark.slow
def test_no_composition_of_lab_04_beats_its_roofline_and_all_serve_as_many():
    """128 sequences are more than an RTX 3090 multiplies while it reads its weights."""
    grid = product(("llama-3-8b", "mixtral-8x7b"), ("rtx-3090", "h100-sxm", "l4"), (1, 8, 64, 128), (16, 8192))
    for key, gpu_key, sequences, prompt in grid:
        links = link("nvlink-4"), link("ethernet-10g-lab")
        judged(shown.compositions(model(key), gpu(gpu_key), *links, 8, sequences, prompt))


@pytest.mark.parametrize("key", ["llama-3-8b", "llama-3-70b", "mixtral-8x7b"])
def test_no_step_of_lab_03_beats_its_roofline(key):
    for gpu_key, batch, prompt in product(("a100-80gb-sxm", "rtx-3090", "l4"), (1, 64, 512, 4096), (1, 64, 8192)):
        asked = Scenario(model=key, gpu=gpu_key, batch=batch, prompt_tokens=prompt)
        for phase, prompts in (("decode", 0), ("prefill", batch)):
            told = View(asked, phase).step
            assert judged([shown.step(asked.model_spec, asked.gpu_spec, told, prompts)])


def test_an_engine_under_load_obeys_littles_law():
    """Requests in it are their rate times their stay; it completes no more than its capacity."""
    gpu_spec = gpu("h100-sxm")
    question = Question(
        model("llama-3-8b"), usual_cluster(gpu_spec, 8), measured_budget(gpu_spec), Demand(concurrency=8)
    )
    cost = engine_cost(question, next(plan for plan in place(question).plans if plan.fits))
    for share in (0.2, 0.7, 1.5):
        arrivals = poisson_arrivals(share * cost.capacity_per_s, 400, seeded(3))
        result = simulate(cost, arrivals)
        span_s = result.requests * cost.output_tokens / result.tokens_per_s
        stay = result.requests / span_s * result.sojourn_mean_s
        assert result.mean_running + result.mean_waiting == pytest.approx(stay, rel=1e-6)
        assert result.requests / span_s <= cost.capacity_per_s * (1 + 1e-9)


def test_a_port_that_is_charged_to_one_rank_alone_is_caught(monkeypatch):
    """The fault that *Prefill apart* had: eight ranks over 10 GbE in an eighth of the port's time."""
    monkeypatch.setattr(disaggregation, "shared", lambda over, gpus: over)
    with pytest.raises(AssertionError, match="strategy, hand-over"):
        judged(handed(["ethernet-10g-lab"]))


def test_a_step_without_its_arithmetic_is_caught():
    """The fault that lab 03 had: 4,096 sequences in the time of one."""
    row, gpu_spec = model("llama-3-8b"), gpu("a100-80gb-sxm")
    told = Step(row, 2, 4096, weight_streaming_s(row, gpu_spec), divided=True, sequences=4096)
    with pytest.raises(AssertionError, match="beats"):
        judged([shown.step(row, gpu_spec, told)])


def test_a_comparison_of_unlike_batches_is_caught():
    """The fault that *Starved pipeline* had: a full pipe beside one sequence."""
    rows = [Shown("clinic", "rates", name, 1.0, 0.5, in_flight) for name, in_flight in (("PP=4", 4), ("TP=4", 1))]
    with pytest.raises(AssertionError, match="clinic"):
        judged(rows)
