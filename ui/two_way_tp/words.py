"""Lab 02: the numbers its prose is filled with, all of them from a run, its manifest, or core."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import TypeVar

from core.comm_cost.bill import all_reduces_per_step, allreduce_payload_bytes
from core.models.parameters import padded_vocab_size, total_parameters
from core.specs import ModelSpec
from core.two_way_tp.predictions import all_reduce_payload_bytes, all_reduces_per_token
from core.two_way_tp.reconcile import (
    by_hand_s,
    padding,
    reading_s,
    slowdown,
    token_parts,
    unexplained_undivided_s,
)
from core.two_way_tp.result import RunResult
from core.two_way_tp.run_log import RunLog
from core.two_way_tp.scaling import fitted_link, step_comm_s
from runtime.prose import said
from runtime.quantities import in_a_row, local, plain, seconds, significant
from ui.two_way_tp.rows_runs import hardware, recorded_model

_SAID_OF = {"gloo": "Gloo over TCP", "nccl": "NCCL", "shm": "One-shot sums over shared memory"}
BACKENDS = {"TCP": "gloo", "shared memory": "shm"}
BETWEEN = {"gloo": "TCP", "nccl": "NCCL", "shm": "shared memory"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
T = TypeVar("T")
WRONGS = {"one rank slow": "slow", "bias on every rank": "bias_on_every_rank", "sum left out": "sum_left_out"}


def run_name(log: RunLog) -> str:
    """A run by what is sent over what: the model's name, and what lies between its ranks."""
    sharing = said("two_way_tp", "says.ranks_gpu", ranks_per_gpu=log.ranks_per_gpu) if log.ranks_per_gpu > 1 else ""
    return f"{log.model.name.partition('-')[0]}, {BETWEEN.get(log.backend, log.backend)}{sharing}"


def _or(missing: str, value: T | None, write: Callable[[T], str]) -> str:
    return said("two_way_tp", missing) if value is None else write(value)


def by_size(log: RunLog) -> tuple[int, str]:
    """The order in which runs are listed: small models first, TCP before shared memory."""
    return total_parameters(log.model), log.backend


def fields(
    log: RunLog,
    result: RunResult,
    token: int,
    shipped: Sequence[RunLog],
    model: ModelSpec,
    repeats: Mapping[str, Sequence[RunResult]],
) -> Mapping[str, object]:
    """What the page's prose names, core's rows among it.

    `shipped` are the recorded runs, for comparison; `model` is the scenario's, whose bill their links are asked.
    `repeats` are all runs of the smallest model at rest, by backend.
    """
    manifest, times, token_s = result.manifest, slowdown(log), by_hand_s(log)
    return {
        "log": log,
        "manifest": manifest,
        "parts": token_parts(log),
        "parameters": total_parameters(log.model),
        "parameters_millions": total_parameters(log.model) / 1e6,
        "backend": _SAID_OF.get(log.backend, log.backend),
        "between": BETWEEN.get(log.backend, log.backend),
        "times": times,
        "speed": 1 / times,
        "by_hand_s": token_s,
        "by_hand_speed": log.single_token_s / token_s,
        "cores": said("two_way_tp", "says.cores", cores=manifest.cores),
        "load_average": _or("says.not_noted", manifest.load_average, lambda load: plain(load, 2)),
        "reading": _or("says.not_timed", reading_s(log.model, result), seconds),
        "unexplained_undivided": _or("says.not_timed", unexplained_undivided_s(log, result), seconds),
        "p95_times": result.per_token.p95_s / result.per_token.median_s,
        **_spread_fields(repeats),
        "all_reduces": all_reduces_per_token(log.model, log.tp_size),
        "payload": all_reduce_payload_bytes(log.model),
        "logit_difference": _scientific(result.max_logit_difference),
        "hardware": hardware(manifest),
        "date": manifest.date[:10],
        "load": said("two_way_tp", "says.run_ahead_other_work") if manifest.priority != "normal" else "",
        **_large_fields(shipped),
        **_link_fields(shipped, model),
        "work_s": median(step.ranks[0].working_s for step in log.steps[1:]),
        "sum_median_s": median(log.sums_s),
        "sum_mean_s": fmean(log.sums_s),
        "padded_vocabulary": padded_vocab_size(log.model.vocab_size, log.tp_size),
        "padding": padding(log),
        **_step_fields(log, token),
        **_slowed_fields(log),
        **_broken_fields(log),
    }


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{local(mantissa)} · 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def _spread_fields(repeats: Mapping[str, Sequence[RunResult]]) -> dict[str, object]:
    """From the least to the largest slowdown of runs of one command, on either link."""
    filled: dict[str, object] = {"spread_runs": max(map(len, repeats.values()), default=0)}
    for name, backend in (("tcp", "gloo"), ("memory", "shm")):
        times = [run.per_token.median_s / run.single_per_token.median_s for run in repeats.get(backend, ())]
        ends = {"least": significant(min(times)), "most": significant(max(times))} if times else {}
        filled[f"spread_{name}"] = said("two_way_tp", "says.to_2" if times else "says.not_recorded", **ends)
    return filled


def _large_fields(shipped: Sequence[RunLog]) -> dict[str, str]:
    """The largest recorded model on each link: a token at TP=N as a share of TP=1, and over TCP those of all."""
    by_model = sorted(shipped, key=lambda log: total_parameters(log.model))
    largest = by_model[-1].model
    shares = {log.backend: local(f"{round(100 * slowdown(log))} %") for log in shipped if log.model == largest}
    times = [significant(slowdown(log), 2) for log in by_model if log.backend == "gloo"]
    return {
        "sizes_tcp": said("two_way_tp", "says.and", join=in_a_row(times[:-1]), times=times[-1])
        if len(times) > 1
        else "".join(times),
        "large_name": recorded_model(largest.name),
        "large_tcp": shares.get("gloo", said("two_way_tp", "says.not_recorded")),
        "large_memory": shares.get("shm", said("two_way_tp", "says.not_recorded")),
    }


def _link_fields(shipped: Sequence[RunLog], model: ModelSpec) -> dict[str, object]:
    """Each recorded link: what a sum waits, and what the scenario's model would pay it in a decode step."""
    filled: dict[str, object] = {
        "bill_model": model.key,
        "bill_payload": allreduce_payload_bytes(1, model.hidden_size),
        "bill_count": all_reduces_per_step(model, 2),
    }
    for name, backend in (("tcp", "gloo"), ("memory", "shm")):
        fit = next((fit for log in shipped if log.backend == backend and (fit := fitted_link(log))), None)
        filled[f"{name}_hop"] = _or("says.not_recorded", fit, lambda fit: f"{plain(fit.alpha_us or 0, 2)} µs")
        filled[f"{name}_bill"] = _or("says.not_recorded", fit, lambda fit: seconds(step_comm_s(fit, model)))
    return filled


def _step_fields(log: RunLog, token: int) -> dict[str, object]:
    step = log.steps[token]
    work_s, steps_s = step.ranks[0].working_s, [one.whole_s for one in log.steps]
    return {
        "given": log.answers[0].given,
        "written": "".join(one.token for one in log.steps[: token + 1]).replace("\n", " ↵"),
        "step_work_s": work_s,
        "step": step,
        "step_least_s": min(steps_s),
        "step_most_s": max(steps_s),
        "step_median_s": median(steps_s),
        "step_inside_share": 1 - work_s / step.whole_s,
    }


def _slowed_fields(log: RunLog) -> dict[str, object]:
    if log.slowed is None:
        return {}
    slow = log.slowed.rank
    fast = next(rank for rank in range(log.tp_size) if rank != slow)
    token_s, sums_s = log.slowed.token_s, log.slowed.all_reduce_s
    traced_s = fmean(step.whole_s for step in log.steps)
    return {
        "fast_rank": fast,
        "slow_token_s": token_s[slow],
        "fast_token_s": token_s[fast],
        "traced_token_s": traced_s,
        "sleep_costs_s": token_s[fast] - traced_s,
        "fast_waits_more_s": sums_s[fast] - sums_s[slow],
    }


def _broken_fields(log: RunLog) -> dict[str, object]:
    """Each wrong variant by its name, and by how much its logits are off."""
    off = {f"{one.how}_difference": significant(one.max_logit_difference, 2) for one in log.broken}
    return {**{one.how: one for one in log.broken}, **off}
