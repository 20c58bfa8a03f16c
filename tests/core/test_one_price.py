"""One payload over one link among so many ranks has one price, whoever asks: labs, planner, clinic and commands."""

from dataclasses import replace
from itertools import product

import pytest

from core.catalog import GPUS, LINKS, gpu, link, model
from core.clinic import examine
from core.clinic.three_waits import Knob
from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.bill import Step
from core.comm_cost.decode_attention import decode_attention
from core.comm_cost.journey import journey
from core.comm_cost.kernels import picked_all_reduce, picked_bill, picked_kernel, sums_of
from core.pipeline_bubble.layouts import Cluster, hand_over, layout
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from core.scenario import Scenario
from core.steps.model import TensorGroup, decode_terms
from core.steps.speculation import speculation
from core.steps.view import View
from tests.each import each

ROW = model("llama-3-8b")
INSIDE = [key for key, row in LINKS.items() if row.reach == "node" and row.base_s]
GRID = list(product(INSIDE, (2, 4, 8), (1, 8, 64, 2048)))


def gpu_of(key: str):
    return next((row for row in GPUS.values() if row.link_key == key), gpu("l40s"))


@each(("key", "ranks", "tokens"), GRID)
def test_a_step_s_sums_cost_the_same_in_every_lab_in_the_planner_and_in_the_clinic(key, ranks, tokens):
    over, on = link(key), gpu_of(key)
    step = Step(ROW, ranks, tokens)
    one_s = picked_all_reduce(step.payload_bytes, ranks, over).total_s
    told = {
        "lab 03": picked_bill(step, over).bill.comm_s,
        "journey": journey(replace(step, divided=True), over).bill.comm_s,
        "clinic": sums_of(ROW, ranks, tokens, over).total_s,
        "planner's group": 64 * TensorGroup(ranks, over).all_reduce_s(step.payload_bytes),
        "planner's step": decode_terms(ROW, on, TensorGroup(ranks, over), tokens, 0).comm_s,
        "attention": 2 * decode_attention(ROW, on, over, "heads", ranks, tokens, 512).cost.total_s,
        "lab 04": layout(ROW, Cluster(on, over, link("ib-ndr")), ranks, 1).all_reduce_s if tokens == 1 else None,
    }
    if tokens <= 64:
        asked = Scenario(model=ROW.key, gpu=on.key, link=key, tp=ranks, batch=tokens)
        told |= {"page": View(asked).price(over).comm_s, "straggler": Knob(asked).comm_s}
        cluster = ClusterSpec(on, over, link("ib-ndr"), 8)
        question = Question(ROW, cluster, measured_budget(on), Demand(concurrency=tokens))
        told["plan"] = question.timing(Layout(ranks), tokens).comm_s
    if tokens == 1:
        plain = speculation(Step(ROW, ranks, 1, 8e-3, divided=True), on, over, 0, 0.7, 0.1)
        told["drafts"] = plain.bill.comm_s
    assert {name: time_s for name, time_s in told.items() if time_s is not None} == pytest.approx(
        {name: 64 * one_s for name, time_s in told.items() if time_s is not None}
    )


def test_four_more_gpus_cost_in_the_clinic_what_the_planner_s_sums_do():
    """Eight sequences on L40S: 64 sums of 64 KiB, 2.06 ms over four and 10.5 over eight, as NCCL was timed."""
    case = examine("eight_ranks")
    cluster = ClusterSpec(gpu("l40s"), link("pcie-4"), link("ib-ndr"), 8)
    question = Question(ROW, cluster, measured_budget(gpu("l40s")), Demand(concurrency=8))
    for ranks, sum_us in ((4, 32.2), (8, 164.5)):
        told_s = question.timing(Layout(ranks), 8).comm_s
        assert told_s == pytest.approx(case.figure(f"comm_{ranks}").value) == pytest.approx(64e-6 * sum_us)


def test_a_prompt_s_first_token_is_never_before_its_sums():
    """Llama 3 8B on eight L40S: 64 sums of 16 MiB alone are 315 ms at TP=4 and 1.24 s at TP=8."""
    cluster = ClusterSpec(gpu("l40s"), link("pcie-4"), link("ib-ndr"), 8)
    question = Question(ROW, cluster, measured_budget(gpu("l40s")), Demand(concurrency=8, prompt_tokens=2048))
    for ranks, sum_us in ((2, 850.4), (4, 4922.3), (8, 19376)):
        assert question.timing(Layout(ranks), 8).ttft_s > 64e-6 * sum_us


@each("key", [key for key, row in LINKS.items() if row.base_s])
def test_a_hand_over_costs_the_same_in_lab_04_and_in_the_planner(key):
    over = link(key)
    cluster = ClusterSpec(gpu("h100-sxm"), over, over, 8, 1) if over.reach == "node" else ClusterSpec(
        gpu("h100-sxm"), link("nvlink-4"), over, 1, 2
    )  # fmt: skip
    question = Question(ROW, cluster, measured_budget(gpu("h100-sxm")), Demand(concurrency=1))
    [hop] = [one for one in question.timing(Layout(1, 2), 1).bill if one.what == "hand-overs"]
    assert hop.time_s == pytest.approx(hand_over(8192, question.cluster.hop(1, 0)).total_s)
    assert hop.messages == 2, "activations, and the residual"


def test_a_kernel_and_its_price_are_of_one_answer():
    """Llama 70B, 64 sequences, eight H100: 1 MiB is summed in the switch, in the lab, the bill and the planner."""
    large = model("llama-3-70b")
    over, on = link("nvlink-4"), gpu("h100-sxm")
    view = View(Scenario(model=large.key, gpu=on.key, link=over.key, tp=8, batch=64))
    cluster = ClusterSpec(on, over, link("ib-ndr"), 8)
    question = Question(large, cluster, measured_budget(on), Demand(concurrency=64))
    [sums] = question.timing(Layout(8), 64).bill
    assert sums.payload_bytes == 2**20
    assert sums.kernel == view.kernel(over) == picked_kernel(2**20, 8, over) == "symmetric memory"
    assert sums.time_s / 160 < ring_all_reduce(2**20, 8, as_measured(over)).total_s
