"""Questions with a student's own numbers: drawn from a seed, answered by the functions the labs are about.

Two students seldom share a number, so an answer that goes round answers nobody else's question. The seed comes from
the student, the lab and a secret of the instructor's, so the same student is always asked the same.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType

import numpy as np

from core.catalog import MODELS
from core.comm_cost.bill import (
    all_reduces_per_step,
    allreduce_payload_bytes,
    allreduce_time_s,
    comm_fraction,
    tp_comm_time_per_step,
)
from core.course.grading.tasks import QUESTION_POINTS, Lab
from core.errors import OutOfRangeError
from core.models.kv_cache import kv_bytes_per_token_per_rank
from core.models.parameters import padded_vocab_size
from core.pipeline_bubble.bubble import (
    bubble_fraction,
    bubble_overhead,
    microbatches_for_budget,
)
from core.specs import LinkSpec, ModelSpec
from core.text.quantity import Dimension
from core.text.question import Draw, Number, number, pick
from core.two_way_tp.predictions import GPTS

TOLERANCE = 0.01
"""Relative: room for rounding in the working, for no other formula."""

_LINE = re.compile(r"([qQ]\d)\s?[:=.)]\s?(?:=\s?)?(\S.*)")
_SPLIT = ("llama-3-8b", "llama-3-70b", "qwen2.5-7b", "qwen3-14b", "qwen3-32b")


def seed_of(student: str, lab: Lab, secret: str) -> int:
    """The seed of one student's inputs and questions; `secret` is the instructor's and nobody else's.

    Raises OutOfRangeError without a secret: whoever knows the seed knows what will be asked.
    """
    if not secret.strip():
        raise OutOfRangeError("seed", repr(secret), "no_secret")
    name = unicodedata.normalize("NFC", student.strip()).casefold()
    return int.from_bytes(sha256("\x1f".join((secret.strip(), lab.key, name)).encode()).digest()[:8])


def questions(lab: Lab, seed: int) -> tuple[Number, ...]:
    """The lab's questions with the numbers of a seed; a student knows them as q1, q2, …"""
    drawn = _QUESTIONS[lab.key](np.random.default_rng(seed))
    return tuple(replace(question, key=key) for key, question in drawn.items())


def points_each(lab: Lab) -> float:
    return QUESTION_POINTS / len(_QUESTIONS[lab.key](np.random.default_rng(0)))


def answers_in(text: str) -> Mapping[str, str]:
    """`q1 = 6.82 ms`, a line each, by question; the last line of a question counts. Anything else is left alone.

    Behind the question may stand an equals sign, a colon, a point or a bracket.
    """
    rows = (_LINE.match(line.strip()[:100]) for line in text[:10_000].splitlines())
    return MappingProxyType({row[1].lower(): row[2] for row in rows if row})


def _counted(answer: float, unit: str, slips: Mapping[str, float], **fields: object) -> Number:
    return number(answer, "count", slips, None, unit, **fields)


def _measured(
    answer: float, dimension: Dimension, unit: str, slips: Mapping[str, float], **fields: object
) -> Number:
    return number(answer, dimension, slips, TOLERANCE, unit, **fields)


def _of_sharding(rng: Draw) -> dict[str, Number]:
    model, tp_size = _model(rng), pick(rng, 2, 4, 8)
    layers, tokens = int(rng.integers(20, 120)), int(rng.integers(2, 200))
    width = 128 * int(rng.integers(8, 80))
    payload = allreduce_payload_bytes(tokens, width)
    kept, whole = (kv_bytes_per_token_per_rank(model, ranks) for ranks in (tp_size, 1))
    sums = all_reduces_per_step(model, tp_size)
    layered = all_reduces_per_step(replace(model, num_hidden_layers=layers), tp_size)
    return {
        "step_sums": _counted(layered, "all-reduces", {"one_a_layer": layers}, layers=layers, tp=tp_size),
        "row_payload": _measured(payload, "bytes", "KiB", {"values": payload / 2}, tokens=tokens, width=width),
        "rank_cache": _measured(kept, "bytes", "KiB", {"whole": whole}, model=model.key, tp=tp_size),
        "written_sums": _counted(
            tokens * sums, "all-reduces", {"one_step": sums}, model=model.key, tokens=tokens, tp=tp_size
        ),
    }


def _of_two_ranks(rng: Draw) -> dict[str, Number]:
    features, outputs = 64 * int(rng.integers(4, 60)), 64 * int(rng.integers(4, 60))
    tp_size, vocab = pick(rng, 2, 4, 8), int(rng.integers(1_000, 60_000))
    model = GPTS[pick(rng, *GPTS)]
    matrix = features * outputs // tp_size
    column, row = matrix + outputs // tp_size, matrix + outputs
    sums = all_reduces_per_step(model, 2)
    return {
        "column_parameters": _counted(
            column,
            "parameters",
            {"no_bias": matrix, "whole_bias": row},
            features=features,
            outputs=outputs,
            tp=tp_size,
        ),
        "row_parameters": _counted(row, "parameters", {"cut_bias": column, "no_bias": matrix}, tp=tp_size),
        "table_rows": _counted(
            padded_vocab_size(vocab, tp_size) // tp_size,
            "rows",
            {"below": vocab // tp_size},
            vocab=vocab,
            tp=tp_size,
        ),
        "embedded_sums": _counted(
            sums + 1, "all-reduces", {"layers_only": sums}, layers=model.num_hidden_layers, tp=2, batch=1
        ),
    }


def _of_the_bill(rng: Draw) -> dict[str, Number]:
    model, link, tp_size = _model(rng), _link(rng), pick(rng, 2, 4, 8)
    tokens, step_ms = int(rng.integers(1, 40)), float(rng.integers(30, 200)) / 10
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    one_s = allreduce_time_s(payload, tp_size, link)
    comm_s, step_s = tp_comm_time_per_step(model, tokens, tp_size, link), step_ms / 1e3
    return {
        "step_payload": _measured(payload, "bytes", "KiB", {"values": payload / 2}, model=model.key, tokens=tokens),
        "one_sum": _measured(
            one_s,
            "time",
            "µs",
            {"latency_alone": 2 * (tp_size - 1) * link.latency_s},
            tp=tp_size,
            hop_us=f"{link.latency_s * 1e6:g}",
            gb_s=f"{link.bandwidth_bytes_per_s / 1e9:g}",
        ),
        "all_sums": _measured(comm_s, "time", "ms", {"one_a_layer": comm_s / 2}),
        "comm_share": _measured(
            comm_fraction(comm_s, step_s), "share", "%", {"of_compute": comm_s / step_s}, step_ms=f"{step_ms:g}"
        ),
    }


def _of_the_bubble(rng: Draw) -> dict[str, Number]:
    stages, microbatches = int(rng.integers(3, 40)), int(rng.integers(5, 400))
    budget = int(rng.integers(2, 30))
    ticks = stages + microbatches - 1  # as the run of every action ends, of which large ones take a second
    idle, longer = (float(of(stages, microbatches)) for of in (bubble_fraction, bubble_overhead))
    run = {"stages": stages, "microbatches": microbatches}
    return {
        "idle_share": _measured(idle, "share", "%", {"of_work": longer}, **run),
        "longer_by": _measured(longer, "share", "%", {"of_time": idle}, **run),
        "last_tick": _counted(float(ticks), "ticks", {"no_idle": round(float(ticks) * (1 - idle))}, **run),
        "for_budget": _counted(
            float(microbatches_for_budget(stages, f"0.{budget:02d}")),
            "microbatches",
            {},
            stages=stages,
            budget=budget,
        ),
    }


_QUESTIONS: Mapping[str, Callable[[Draw], dict[str, Number]]] = MappingProxyType(
    {"lab-01": _of_sharding, "lab-02": _of_two_ranks, "lab-03": _of_the_bill, "lab-04": _of_the_bubble}
)


def _model(rng: Draw) -> ModelSpec:
    return MODELS[pick(rng, *_SPLIT)]


def _link(rng: Draw) -> LinkSpec:
    """A link that is nobody's: its two numbers are the student's own."""
    latency_us, gb_s = int(rng.integers(2, 80)), int(rng.integers(2, 400))
    return LinkSpec("own", "a link of your own", latency_us * 1e-6, gb_s * 1e9)
