"""A placed plan under load, and a benchmark's result beside it."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from core.catalog import gpu, model
from core.errors import OutOfRangeError
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.measured_load import MOST_REQUESTS, predict_bench
from core.placement.plan import Question, judge
from core.placement.rank_memory import measured_budget
from core.placement.under_load import engine_cost
from core.serving.bench_results import BenchResult, Clocked
from runtime.prose import worded

A100 = gpu("a100-80gb-sxm")
QUESTION = Question(
    model("llama-3-8b"),
    usual_cluster(A100, 8),
    measured_budget(A100),
    Demand(16, prompt_tokens=1024, output_tokens=256),
)
VLLM_QWEN2 = BenchResult(
    line=1,
    model="Qwen2-7B-Instruct",
    completed=50,
    duration_s=21.7,
    input_tokens=50_977,
    output_tokens=51_119,
    requests_per_s=2.30,
    ttft=Clocked(2.58058),
    tpot=Clocked(0.01847),
)
"""Qwen2-7B, half of an A100, 50 prompts at once. Source: github.com/dennislee22/vLLM-benchmarking, test 5."""


def rng():
    return np.random.default_rng(0)


def cost_of(layout, question=QUESTION):
    return engine_cost(question, judge(question, layout))


@pytest.mark.parametrize("layout", [Layout(1), Layout(8), Layout(2, 2, 2), Layout(1, 4)])
def test_an_engine_s_cost_is_its_plan_s_timing(layout):
    """Decode at one sequence and at sixteen a replica, and a first token that meets nobody."""
    cost, one = cost_of(layout), replace(layout, replicas=1)
    assert cost.decode_at(1) == QUESTION.timing(one, 1).itl_s
    assert cost.decode_at(16) == QUESTION.timing(one, 16).itl_s
    assert cost.prefill_s + cost.prefill_delay_s == pytest.approx(QUESTION.timing(one, 1).ttft_s)


def test_replicas_do_not_change_an_engine():
    """Two half nodes are two engines of four GPUs, each with a cost of its own."""
    assert cost_of(Layout(4, replicas=2)) == cost_of(Layout(4))


def test_a_pipeline_reads_a_prompt_in_each_stage():
    """Four stages: a prompt holds each of them for a quarter of its first token's time."""
    cost = cost_of(Layout(1, 4))
    assert cost.prefill_delay_s == pytest.approx(3 * cost.prefill_s)


def test_an_engine_runs_no_more_than_memory_or_the_engine_s_limit():
    plan = judge(QUESTION, Layout(1))
    assert engine_cost(QUESTION, plan).most_running == min(
        QUESTION.cluster.gpu.vllm_sequences, plan.max_concurrency
    )
    few = replace(QUESTION.cluster, gpu=replace(QUESTION.cluster.gpu, vllm_sequences=10))
    assert engine_cost(replace(QUESTION, cluster=few), plan).batches == (1, 2, 4, 8, 10)


def test_a_plan_that_does_not_fit_has_no_load():
    question = replace(QUESTION, model=model("llama-3-70b"))
    with pytest.raises(OutOfRangeError, match="no room"):
        cost_of(Layout(1), question)


def half_memory():
    budget = measured_budget(A100, utilisation=0.5)
    return Question(model("qwen2-7b"), usual_cluster(A100, 1), budget, Demand(1, 1024, 1024))


def test_fifty_prompts_at_once_on_vllm_are_met_within_a_tenth_between_tokens():
    """Published: 18.47 ms between tokens, 2.58 s to the first on average.

    The first token comes out a fifth too early: a server also takes requests in, splits their words and streams.
    Steps that paid weights and launches twice, for the prompt and for the tokens beside it, had made up for that.
    """
    found = predict_bench(half_memory(), judge(half_memory(), Layout()), VLLM_QWEN2, rng())
    assert (worded(found.sent), found.requests, found.load.arrivals_per_s) == ("all at once", 50, inf)
    assert found.load.itl_mean_s == pytest.approx(0.01847, rel=0.1)
    assert 0.75 * 2.58 < found.load.ttft_mean_s < 2.58


def test_a_limit_in_flight_bounds_the_batch_and_counts_from_sending():
    result = replace(VLLM_QWEN2, max_concurrency=4)
    found = predict_bench(half_memory(), judge(half_memory(), Layout()), result, rng())
    burst = predict_bench(half_memory(), judge(half_memory(), Layout()), VLLM_QWEN2, rng())
    assert worded(found.sent) == "4 in flight"
    assert found.load.mean_running <= 4
    assert found.load.ttft_mean_s < 0.3 < burst.load.ttft_mean_s


def test_a_rate_is_sent_at_that_rate_and_shared_by_replicas():
    """4 requests a second over two engines, each asked for two."""
    result = replace(VLLM_QWEN2, requests_per_s_asked=4.0, completed=4000)
    question = replace(half_memory(), cluster=usual_cluster(A100, 2))
    found = predict_bench(question, judge(question, Layout(replicas=2)), result, rng())
    assert worded(found.sent) == "4 requests a second"
    assert found.requests == MOST_REQUESTS // 2
    assert found.load.arrivals_per_s == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("lacking", ["input_tokens", "output_tokens", "completed"])
def test_without_the_counts_there_is_nothing_to_send(lacking):
    with pytest.raises(OutOfRangeError, match="lengths of requests are unknown"):
        predict_bench(half_memory(), judge(half_memory(), Layout()), replace(VLLM_QWEN2, **{lacking: None}), rng())
