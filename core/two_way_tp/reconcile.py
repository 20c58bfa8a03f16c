"""Each line of a run beside what labs 01 and 03 say it must be."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import Remark, remark
from core.models.kv_cache import heads_on_rank, kv_bytes_per_token_per_rank
from core.models.parameters import dtype_bytes, padded_vocab_size, total_parameters
from core.specs import ModelSpec
from core.two_way_tp.predictions import (
    all_gather_payload_bytes,
    all_reduce_bytes_per_token,
    all_reduce_payload_bytes,
    all_reduces_per_token,
    token_time_s,
    weights_per_rank,
)
from core.two_way_tp.result import RunResult
from core.two_way_tp.run_log import LogLine, RunLog

TIME_TOLERANCE_FRACTION = 0.2
"""How far two medians of one busy machine may lie apart before the difference wants a reason."""

Verdict = Literal["ok", "off", "unexplained"]
Unit = Literal["count", "bytes", "s"]


@dataclass(frozen=True)
class Reading:
    """One line: the field that is read from it, the formula, what it predicts, what was logged."""

    line: LogLine
    topic: str
    field: str
    formula: Remark | None
    predicted: float
    logged: float
    unit: Unit

    @property
    def exact(self) -> bool:
        """Whether it must be met: a count or bytes, and no time."""
        return self.unit != "s"

    @property
    def residual_fraction(self) -> float:
        """(logged - predicted) / predicted"""
        return (self.logged - self.predicted) / self.predicted if self.predicted else 0.0

    @property
    def verdict(self) -> Verdict:
        """`ok` when met; else `off`, or `unexplained` where the prediction is a sum of terms."""
        if self.logged == self.predicted or (
            not self.exact and abs(self.residual_fraction) <= TIME_TOLERANCE_FRACTION
        ):
            return "ok"
        return "unexplained" if self.topic == "token" else "off"

    @property
    def parts(self) -> tuple[str, str, str]:
        """The line as printed, cut around the field that is read."""
        value = json.loads(self.line.text)[self.field]
        before, value_text, after = self.line.text.partition(f"{json.dumps(self.field)}: {json.dumps(value)}")
        return before, value_text, after


@dataclass(frozen=True)
class TokenParts:
    """Where one token's time went: compute as it would divide, collectives as they were measured, and the rest."""

    compute_s: float
    all_reduce_s: float
    all_gather_s: float
    unexplained_s: float

    @property
    def total_s(self) -> float:
        return self.compute_s + self.all_reduce_s + self.all_gather_s + self.unexplained_s


def reconcile(log: RunLog) -> tuple[Reading, ...]:
    """Every line that has a prediction, in the order they were printed."""
    return tuple(sorted(_readings(log), key=lambda reading: reading.line.number))


def slowdown(log: RunLog) -> float:
    """How many times as long a token takes on all ranks as on one."""
    return log.token_s / log.single_token_s


def token_parts(log: RunLog) -> TokenParts:
    """One token at TP=N, taken apart."""
    compute_s = log.single_token_s / log.tp_size
    sums_s = log.all_reduces_per_token * log.all_reduce_s
    rest_s = log.token_s - compute_s - sums_s - log.all_gather_s
    return TokenParts(compute_s, sums_s, log.all_gather_s, max(0.0, rest_s))


def by_hand_s(log: RunLog) -> float:
    """A token in s by the numbers that the question tells: divided work, sums as timed at rest, and the gather.

    Of the digits that stand there, so that the sum on the page is right as it is written.
    """
    single_s, sum_s, gather_s = (float(f"{s:.3g}") for s in (log.single_token_s, log.sweep_s, log.all_gather_s))
    return single_s / log.tp_size + log.all_reduces_per_token * sum_s + gather_s


def reading_s(model: ModelSpec, result: RunResult) -> float | None:
    """Every weight read once at the rate the run timed; None where it timed none."""
    rate = result.memory_bytes_per_s
    return total_parameters(model) * dtype_bytes(model.weight_dtype) / rate if rate else None


def unexplained_undivided_s(log: RunLog, result: RunResult) -> float | None:
    """What a token's parts leave over, were only the reading of weights divided; None where that was not timed."""
    read_s, parts = reading_s(log.model, result), token_parts(log)
    if read_s is None:
        return None
    return max(0.0, parts.unexplained_s - (log.single_token_s - read_s) * (1 - 1 / log.tp_size))


def dearer(log: RunLog) -> str:
    """What a token at TP=N pays for most: `sums` that cost more than the model, or `waiting` around them."""
    return "sums" if token_parts(log).all_reduce_s > log.single_token_s else "waiting"


def padding(log: RunLog) -> int:
    """Parameters that a vocabulary adds to the cut matrices as it is filled up until it divides."""
    rank = weights_per_rank(log.model, log.tp_size)
    return rank.sharded * log.tp_size + rank.whole - total_parameters(log.model)


def _readings(log: RunLog) -> Iterator[Reading]:
    model, ranks, rank = log.model, log.tp_size, weights_per_rank(log.model, log.tp_size)
    count, row_bytes = all_reduces_per_token(model, ranks), all_reduce_payload_bytes(model)
    width, heads = dtype_bytes(model.weight_dtype), heads_on_rank(model.num_key_value_heads, ranks)

    def line(event: str, index: int = 0) -> LogLine:
        return [line for line in log.lines if line.event == event][index]

    def formula(name: str, **terms: Any) -> Remark:
        return remark(f"two_way_tp.{name}", **terms)

    yield Reading(line("world"), "world", "tp_size", None, len(log.weights_bytes), ranks, "count")

    cut = rank.sharded * ranks
    of_weights = formula("weights", cut=cut, ranks=ranks, whole=rank.whole, width=rank.bytes_per_element)
    for number, held in enumerate(log.weights_bytes):
        yield Reading(line("weights", number), "weights", "bytes", of_weights, rank.bytes, held, "bytes")

    of_cache = formula("kv", kept=2, model=model, heads=heads, width=width)
    cache_bytes = kv_bytes_per_token_per_rank(model, ranks, model.weight_dtype)
    for number, held in enumerate(log.kv_bytes_per_token):
        yield Reading(line("kv", number), "kv", "bytes_per_token", of_cache, cache_bytes, held, "bytes")

    sums, of_sums = log.all_reduces_per_token, formula("collectives", a_layer=2, model=model, embedding=1)
    yield Reading(line("collectives"), "collectives", "all_reduces_per_token", of_sums, count, sums, "count")
    sent, of_bytes = log.all_reduce_bytes_per_token, formula("bytes", count=count, row=row_bytes)
    due = all_reduce_bytes_per_token(model, ranks)
    yield Reading(line("collectives"), "bytes", "bytes_per_token", of_bytes, due, sent, "bytes")

    sent, of_row = log.all_reduce_payload_bytes, formula("row", entries=model.hidden_size, width=width)
    yield Reading(line("all_reduce"), "payload", "payload_bytes", of_row, row_bytes, sent, "bytes")
    of_sweep = formula("sweep", row=sent)
    yield Reading(line("all_reduce"), "all_reduce", "median_us", of_sweep, log.sweep_s, log.all_reduce_s, "s")

    of_scores = formula("row", entries=padded_vocab_size(model.vocab_size, ranks), width=width)
    sent, due = log.all_gather_payload_bytes, all_gather_payload_bytes(model, ranks)
    yield Reading(line("all_gather"), "gather", "payload_bytes", of_scores, due, sent, "bytes")

    single_s, sum_s, gather_s = log.single_token_s, log.all_reduce_s, log.all_gather_s
    of_token = formula("token", single_s=single_s, ranks=ranks, count=count, sum_s=sum_s, gather_s=gather_s)
    due_s = token_time_s(single_s, ranks, count, sum_s, gather_s)
    yield Reading(line("token", -1), "token", "median_ms", of_token, due_s, log.token_s, "s")

    yield Reading(line("tokens"), "tokens", "identical", formula("tokens"), log.prompts, log.identical, "count")
