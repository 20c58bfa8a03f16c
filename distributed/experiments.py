"""What can be seen only on real ranks: where a step's time goes, one slow rank, and a sum done wrong.

Each experiment runs on every rank in lockstep; rank 0 says what came of it.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor

from distributed.collectives import Group
from distributed.decode import greedy
from distributed.decoder import Decoder
from distributed.job import Job
from distributed.layers import RowParallelLinear
from distributed.measure import Arm
from distributed.progress import ms, say

SLOW_RANK = 1
DELAY_S = 0.005
SLOWED_STEPS = 40
BROKEN_PROMPTS = 3
BROKEN_STEPS = 28
TRACED_STEPS = 18


def everyone(group: Group, mine: object) -> list[Any]:
    """What every rank has to tell, by rank."""
    told: list[Any] = [None] * group.size
    dist.all_gather_object(told, mine, group=group.peers)
    return told


def trace(model: Decoder, job: Job) -> None:
    """Decode the first prompt once more and say, for every step, when each rank was inside a collective.

    Microseconds since the first rank began the step: ranks of one host share a monotonic clock.
    """
    model.group.forget()
    decoded = greedy(model, job.prompts[0], TRACED_STEPS, job.end)
    calls = [(call.start_s, call.end_s) for call in model.group.calls]
    told = everyone(model.group, (decoded.start_s, decoded.end_s, calls))
    if model.group.rank:
        return
    for number, token in enumerate(decoded.tokens):
        zero_s = min(starts[number] for starts, _, _ in told)
        ranks = [_step_of_rank(number, zero_s, *one) for one in told]
        say("step", number=number, token=job.text([token]) or "\n", ranks=ranks)


def _step_of_rank(
    number: int, zero_s: float, starts: list[float], ends: list[float], calls: list[tuple[float, float]]
) -> dict[str, object]:
    """One rank's step: begin, end, and [begin, end] of each collective in it, in whole microseconds."""

    def since_zero(at_s: float) -> int:
        return round(1e6 * (at_s - zero_s))

    inside = [call for call in calls if starts[number] <= call[0] <= ends[number]]
    return {
        "began_us": since_zero(starts[number]),
        "ended_us": since_zero(ends[number]),
        "collectives_us": [[since_zero(begin), since_zero(end)] for begin, end in inside],
    }


def slow_one_rank(model: Decoder, job: Job) -> None:
    """Let one rank sleep before every step; say what each rank's step took, and how much of it stood in sums."""
    hook = model.register_forward_pre_hook(lambda *_: time.sleep(DELAY_S))
    if model.group.rank != SLOW_RANK:
        hook.remove()
    model.group.forget()
    step_s: list[float] = []
    while len(step_s) < SLOWED_STEPS:
        step_s += greedy(model, job.prompts[0], SLOWED_STEPS, job.end).step_s
    hook.remove()
    inside_s = sum(model.group.decode_all_reduces_s) / len(step_s)
    told = everyone(model.group, (statistics.fmean(step_s), inside_s))
    if model.group.rank == 0:
        token_ms, sums_ms = ([ms(one[i]) for one in told] for i in range(2))
        say("slowed", rank=SLOW_RANK, delay_ms=ms(DELAY_S), token_ms=token_ms, all_reduce_ms=sums_ms)


def bias_on_every_rank(layer: RowParallelLinear, x: Tensor) -> Tensor:
    """Wrong: the bias is added before the sum, and arrives once a rank."""
    return layer.group.all_reduce(F.linear(x, layer.weight, layer.bias))


def sum_left_out(layer: RowParallelLinear, x: Tensor) -> Tensor:
    """Wrong: each rank goes on with its own term."""
    return F.linear(x, layer.weight, layer.bias)


def break_layers(model: Decoder, job: Job, right: Arm) -> None:
    """Run the wrong variants on real ranks; say what becomes of the sentences and of the first token's logits."""
    for wrong in (bias_on_every_rank, sum_left_out):
        with_variant(model, wrong)
        decoded = [greedy(model, given, BROKEN_STEPS, job.end) for given in job.prompts[:BROKEN_PROMPTS]]
        with_variant(model, None)
        if model.group.rank == 0:
            answers = [job.text(one.tokens) for one in decoded]
            pairs = list(zip(decoded, right.tokens, right.logits, strict=False))
            same = sum(one.tokens == tokens for one, tokens, _ in pairs)
            apart = max(float((one.logits[0] - logits[0]).abs().max()) for one, _, logits in pairs)
            figures = {"identical": same, "of": BROKEN_PROMPTS, "max_logit_difference": round(apart, 4)}
            say("broken", how=wrong.__name__, **figures, answers=answers)


def with_variant(model: Decoder, wrong: Callable[[RowParallelLinear, Tensor], Tensor] | None) -> None:
    """Put `wrong` in place of every row-parallel layer's forward; None restores what the class says."""
    for layer in model.modules():
        if isinstance(layer, RowParallelLinear):
            layer.__dict__.pop("forward", None)
            if wrong is not None:
                layer.__dict__["forward"] = partial(wrong, layer)
