"""A placed plan under a trace: requests at their own times and lengths, distributed to its engines in turn."""

from dataclasses import replace
from functools import cache

from core.errors import OutOfRangeError
from core.placement.plan import Plan, Question, judge
from core.placement.under_load import engine_cost
from core.remark import Remark, remark
from core.serving.arrivals import Requests
from core.serving.simulate import LoadResult, simulate
from core.serving.trace import Trace


def run_trace(question: Question, plan: Plan, trace: Trace, chunk_tokens: int) -> LoadResult:
    """The first engine's share of a trace, every replica getting each so many-th request.

    A prompt is priced at its own length, between powers of two by a straight line; a decode step at the mean
    context. Raises OutOfRangeError where the trace has fewer requests than the plan has engines, or one that no
    engine holds.
    """
    engines = plan.layout.replicas
    if trace.requests < engines:
        raise OutOfRangeError("requests in the trace", trace.requests, f"are fewer than the {engines} engines")
    prompt, output = max(1, round(trace.mean_prompt)), max(1, round(trace.mean_output))
    asked = replace(
        question, demand=replace(question.demand, concurrency=1, prompt_tokens=prompt, output_tokens=output)
    )
    mean = judge(asked, plan.layout)
    cost = replace(engine_cost(asked, mean), most_running=question.cluster.gpu.vllm_sequences)
    one = replace(plan.layout, replicas=1)
    share = cost.prefill_s / (cost.prefill_s + cost.prefill_delay_s)

    @cache
    def alone_s(tokens: int) -> float:
        return share * replace(asked, demand=replace(asked.demand, prompt_tokens=tokens)).timing(one, 1).ttft_s

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
