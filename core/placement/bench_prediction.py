"""A benchmark's result beside a plan: the same requests, sent the same way, to the plan's engine."""

from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np

from core.errors import OutOfRangeError
from core.placement.plan import Plan, Question, judge
from core.placement.under_load import engine_cost
from core.remark import Remark, remark
from core.serving.arrivals import poisson_arrivals
from core.serving.bench_results import BenchResult
from core.serving.simulate import LoadResult, simulate

MOST_REQUESTS = 2000
"""Requests that a prediction sends; a benchmark of more has long been steady."""


@dataclass(frozen=True)
class BenchPrediction:
    """What a plan should have shown. `sent` is how: at a rate, so many in flight, or all at once."""

    result: BenchResult
    load: LoadResult
    sent: Remark
    requests: int


def predict_bench(
    question: Question,
    plan: Plan,
    result: BenchResult,
    rng: np.random.Generator,
    most_requests: int = MOST_REQUESTS,
) -> BenchPrediction:
    """A plan's engine under a benchmark's own load, every request as long as the benchmark's mean.

    At a rate each replica gets its share of it. With a limit on what is in flight and no rate, the client sends the
    next request when one is done, and the first token counts from there.

    Raises OutOfRangeError without the counts that lengths come from, or where the plan holds no such sequence.
    """
    prompt, output = result.mean_prompt_tokens, result.mean_output_tokens
    if prompt is None or output is None or not result.completed:
        raise OutOfRangeError(
            "total tokens", "not printed", "so the lengths of requests are unknown; paste them too"
        )
    lengths = max(1, round(prompt)), max(1, round(output))
    demand = replace(question.demand, concurrency=1, prompt_tokens=lengths[0], output_tokens=lengths[1])
    asked = replace(question, demand=demand)
    cost = engine_cost(asked, judge(asked, plan.layout))
    replicas, chunk = plan.layout.replicas, question.cluster.gpu.vllm_batched_tokens
    requests = max(1, min(most_requests, result.completed) // replicas)
    rate, limit = result.requests_per_s_asked, result.max_concurrency
    if limit is not None:
        cost = replace(cost, most_running=max(1, min(cost.most_running, limit // replicas)))
    if rate is not None and isfinite(rate) and rate > 0:
        arrivals = poisson_arrivals(rate / replicas, requests, rng)
        return BenchPrediction(
            result, simulate(cost, arrivals, chunk), remark("placement.sent_at_a_rate", rate=rate), requests
        )
    at_once = remark("placement.sent_at_once")
    sent = at_once if limit is None else remark("placement.sent_in_flight", limit=limit)
    load = simulate(cost, np.zeros(requests), chunk, closed=limit is not None)
    return BenchPrediction(result, replace(load, arrivals_per_s=inf), sent, requests)
