"""A placed plan under what somebody measured: a benchmark's load, or a trace's requests at their own times."""

from dataclasses import dataclass, replace
from functools import cache
from math import inf, isfinite

import numpy as np

from core.catalog import model as find_model
from core.errors import OutOfRangeError, Remark, UnknownNameError, remark
from core.placement.plan import Plan, Question, judge
from core.placement.under_load import engine_cost
from core.serving.arrivals import Requests, poisson_arrivals
from core.serving.bench_results import BenchResult
from core.serving.simulate import LoadResult, simulate
from core.serving.trace import Trace
from core.specs import ModelSpec

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
        raise OutOfRangeError(remark("errors.total_tokens"), remark("errors.not_printed"), "lengths_unknown")
    asked = _of_lengths(question, prompt, output)
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


def _of_lengths(question: Question, prompt: float, output: float) -> Question:
    """The same of one sequence, as long as the mean of what was sent."""
    prompt_tokens, output_tokens = max(1, round(prompt)), max(1, round(output))
    mean = replace(question.demand, concurrency=1, prompt_tokens=prompt_tokens, output_tokens=output_tokens)
    return replace(question, demand=mean)


def run_trace(question: Question, plan: Plan, trace: Trace, chunk_tokens: int) -> LoadResult:
    """The first engine's share of a trace, every replica getting each so many-th request.

    A prompt is priced at its own length, between powers of two by a straight line; a decode step at the mean
    context. Raises OutOfRangeError where the trace has fewer requests than the plan has engines, or one that no
    engine holds.
    """
    engines = plan.layout.replicas
    if trace.requests < engines:
        raise OutOfRangeError(remark("errors.requests_in_trace"), trace.requests, "fewer", engines=engines)
    asked = _of_lengths(question, trace.mean_prompt, trace.mean_output)
    mean = judge(asked, plan.layout)
    cost = replace(engine_cost(asked, mean), most_running=question.cluster.gpu.vllm_sequences)
    one = replace(plan.layout, replicas=1)
    share = cost.prefill_s / (cost.prefill_s + cost.prefill_delay_s)

    @cache
    def alone_s(tokens: int) -> float:
        return share * replace(asked, demand=replace(asked.demand, prompt_tokens=tokens)).steps(one).ttft_s

    def prefill_s(tokens: int) -> float:
        low = 1 << (tokens.bit_length() - 1)
        along = (tokens - low) / low
        return (1 - along) * alone_s(low) + (along * alone_s(2 * low) if along else 0.0)

    prompts, outputs = trace.prompts[::engines], trace.outputs[::engines]
    requests = Requests(prompts, outputs, tuple(prefill_s(tokens) for tokens in prompts), mean.kv_tokens)
    return simulate(cost, trace.arrivals_s[::engines], chunk_tokens, requests=requests)


def trace_remark(trace: Trace, plan: Plan, run: LoadResult) -> Remark:
    """What was sent, and whether all of it."""
    left = remark("placement.trace_left_out", trace=trace) if trace.left_out or trace.unread else None
    cut = remark("placement.trace_cut", run=run) if run.cut else None
    end = remark("placement.trace_open_end") if trace.open_end else None
    return remark("placement.trace_sent", trace=trace, engines=plan.layout.replicas, left=left, cut=cut, end=end)


def is_another(name: str, model: ModelSpec) -> bool:
    """Whether a name means another model; a name that is unknown may be anything, and is not blamed."""
    try:
        return find_model(name).key != model.key
    except UnknownNameError:
        return False
