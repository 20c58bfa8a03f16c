"""Each line of a run beside what labs 01 and 03 say it must be."""

import json
from dataclasses import dataclass
from typing import Literal

from core.models.kv_cache import kv_bytes_per_token_per_rank, kv_heads_per_rank
from core.models.parameters import dtype_bytes
from core.remark import Remark, remark
from core.specs import ModelSpec
from core.two_way_tp.predictions import (
    all_gather_payload_bytes,
    all_reduce_bytes_per_token,
    all_reduce_payload_bytes,
    all_reduces_per_token,
    padded_vocab_size,
    token_time_s,
    weights_per_rank,
)
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
    exact: bool

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
    model = log.model
    readings = [_world(log), *_weights(log, model), *_kv(log, model), *_collectives(log, model)]
    readings += [_payload(log, model), _all_reduce(log), _gather(log, model), _token(log, model), _tokens(log)]
    return tuple(sorted(readings, key=lambda reading: reading.line.number))


def slowdown(log: RunLog) -> float:
    """How many times as long a token takes on all ranks as on one."""
    return log.token_s / log.single_token_s


def token_parts(log: RunLog) -> TokenParts:
    """One token at TP=N, taken apart."""
    compute_s = log.single_token_s / log.tp_size
    sums_s = log.all_reduces_per_token * log.all_reduce_s
    rest_s = log.token_s - compute_s - sums_s - log.all_gather_s
    return TokenParts(compute_s, sums_s, log.all_gather_s, max(0.0, rest_s))


def _line(log: RunLog, event: str, index: int = 0) -> LogLine:
    return [line for line in log.lines if line.event == event][index]


def _world(log: RunLog) -> Reading:
    line = _line(log, "world")
    return Reading(line, "world", "tp_size", None, len(log.weights_bytes), log.tp_size, "count", True)


def _weights(log: RunLog, model: ModelSpec) -> list[Reading]:
    rank = weights_per_rank(model, log.tp_size)
    formula = remark(
        "two_way_tp.weights",
        cut=rank.sharded * log.tp_size,
        ranks=log.tp_size,
        whole=rank.whole,
        width=rank.bytes_per_element,
    )
    return [
        Reading(_line(log, "weights", i), "weights", "bytes", formula, rank.bytes, logged, "bytes", True)
        for i, logged in enumerate(log.weights_bytes)
    ]


def _kv(log: RunLog, model: ModelSpec) -> list[Reading]:
    heads, width = kv_heads_per_rank(model, log.tp_size), dtype_bytes(model.weight_dtype)
    predicted = kv_bytes_per_token_per_rank(model, log.tp_size, model.weight_dtype)
    formula = remark("two_way_tp.kv", kept=2, model=model, heads=heads, width=width)
    return [
        Reading(_line(log, "kv", i), "kv", "bytes_per_token", formula, predicted, logged, "bytes", True)
        for i, logged in enumerate(log.kv_bytes_per_token)
    ]


def _collectives(log: RunLog, model: ModelSpec) -> list[Reading]:
    line, count = _line(log, "collectives"), all_reduces_per_token(model, log.tp_size)
    sent = all_reduce_bytes_per_token(model, log.tp_size)
    row = all_reduce_payload_bytes(model)
    return [
        Reading(
            line,
            "collectives",
            "all_reduces_per_token",
            remark("two_way_tp.collectives", a_layer=2, model=model, embedding=1),
            count,
            log.all_reduces_per_token,
            "count",
            True,
        ),
        Reading(
            line,
            "bytes",
            "bytes_per_token",
            remark("two_way_tp.bytes", count=count, row=row),
            sent,
            log.all_reduce_bytes_per_token,
            "bytes",
            True,
        ),
    ]


def _payload(log: RunLog, model: ModelSpec) -> Reading:
    line, width = _line(log, "all_reduce"), dtype_bytes(model.weight_dtype)
    formula = remark("two_way_tp.row", entries=model.hidden_size, width=width)
    predicted, logged = all_reduce_payload_bytes(model), log.all_reduce_payload_bytes
    return Reading(line, "payload", "payload_bytes", formula, predicted, logged, "bytes", True)


def _all_reduce(log: RunLog) -> Reading:
    formula = remark("two_way_tp.sweep", row=log.all_reduce_payload_bytes)
    line = _line(log, "all_reduce")
    return Reading(line, "all_reduce", "median_us", formula, log.sweep_s, log.all_reduce_s, "s", False)


def _gather(log: RunLog, model: ModelSpec) -> Reading:
    line, width = _line(log, "all_gather"), dtype_bytes(model.weight_dtype)
    formula = remark("two_way_tp.row", entries=padded_vocab_size(model.vocab_size, log.tp_size), width=width)
    predicted, logged = all_gather_payload_bytes(model, log.tp_size), log.all_gather_payload_bytes
    return Reading(line, "gather", "payload_bytes", formula, predicted, logged, "bytes", True)


def _token(log: RunLog, model: ModelSpec) -> Reading:
    count = all_reduces_per_token(model, log.tp_size)
    predicted = token_time_s(log.single_token_s, log.tp_size, count, log.all_reduce_s, log.all_gather_s)
    formula = remark(
        "two_way_tp.token",
        single_s=log.single_token_s,
        ranks=log.tp_size,
        count=count,
        sum_s=log.all_reduce_s,
        gather_s=log.all_gather_s,
    )
    return Reading(_line(log, "token", -1), "token", "median_ms", formula, predicted, log.token_s, "s", False)


def _tokens(log: RunLog) -> Reading:
    line, formula = _line(log, "tokens"), remark("two_way_tp.tokens")
    return Reading(line, "tokens", "identical", formula, log.prompts, log.identical, "count", True)
