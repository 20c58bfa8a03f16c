"""A placed plan under load: the cost of its engine's steps, and what one of its replicas is asked."""

from core.errors import OutOfRangeError
from core.placement.layout import Layout
from core.placement.planner import Plan, Question
from core.serving.load import EngineCost

MOST_SEQUENCES = 256
"""Sequences that run at once where memory would hold more. Source: vLLM's default max_num_seqs."""


def engine_cost(question: Question, plan: Plan, most_sequences: int = MOST_SEQUENCES) -> EngineCost:
    """What the steps of one of a plan's engines take, at the lengths that the question asks.

    Decode is timed at 1, 2, 4, … sequences up to what its memory holds. A pipeline reads a prompt in each of its
    stages at once, and data-parallel attention one in each copy: they hold the engine for that share of a first
    token's time, and the rest is delay.

    Raises OutOfRangeError for a plan that does not fit.
    """
    layout, demand = plan.layout, question.demand
    one = Layout(layout.tp_size, layout.pp_size, 1, layout.dp_size)
    most_running = min(most_sequences, plan.max_concurrency // layout.replicas)
    if most_running < 1:
        raise OutOfRangeError("max_concurrency", plan.max_concurrency, "leaves no room for one sequence")
    batches = tuple(sorted({min(2**power, most_running) for power in range(most_running.bit_length() + 1)}))
    ttft_s = question.timing(one, 1).ttft_s
    prefill_s = ttft_s / (layout.pp_size * layout.dp_size)
    return EngineCost(
        prompt_tokens=demand.prompt_tokens,
        output_tokens=demand.output_tokens,
        prefill_s=prefill_s,
        batches=batches,
        decode_s=tuple(question.timing(one, batch).itl_s for batch in batches),
        most_running=most_running,
        prefill_delay_s=ttft_s - prefill_s,
    )
