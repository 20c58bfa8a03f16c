"""Questions with a student's own numbers: drawn from a seed, answered by the functions the labs are about.

Two students seldom share a number, so an answer that goes round answers nobody else's question. The seed comes from
the student, the lab and a word of the instructor's, so the same student is always asked the same.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import TypeVar

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
from core.pipeline_bubble.bubble import (
    bubble_fraction,
    bubble_overhead,
    fill_drain,
    microbatches_for_budget,
    run_on_ticks,
)
from core.quantity import read_quantity
from core.specs import LinkSpec, ModelSpec
from core.two_way_tp.predictions import GPTS, padded_vocab_size
from core.units import KIB

TOLERANCE = 0.01
"""Relative: room for rounding in the working, for no other formula."""

_LINE = re.compile(r"([qQ]\d)\s?[:=.)]\s?(?:=\s?)?(\S.*)")
_SPLIT = ("llama-3-8b", "llama-3-70b", "qwen2.5-7b", "qwen3-14b", "qwen3-32b")


@dataclass(frozen=True)
class Question:
    """One question: what is asked, in which unit, and the answer. A `whole` answer has no tolerance."""

    key: str
    ask: str
    unit: str
    answer: float
    whole: bool = False

    @property
    def text(self) -> str:
        """As a student reads it."""
        return f"{self.key}. {self.ask} Answer in {self.unit}."


@dataclass(frozen=True)
class Answered:
    """A question, what was said, and whether it is right; `remark` says why not."""

    question: Question
    said: str
    remark: str = ""

    @property
    def right(self) -> bool:
        """Whether it earns its points."""
        return not self.remark


Draw = np.random.Generator
T = TypeVar("T")


def seed_of(student: str, lab: Lab, word: str) -> int:
    """The seed of one student's inputs and questions; `word` is the instructor's and nobody else's.

    Raises OutOfRangeError without a word: whoever knows the seed knows what will be asked.
    """
    if not word.strip():
        raise OutOfRangeError("word", repr(word), "is empty: a grade needs the instructor's secret word")
    text = "\x1f".join((word.strip(), lab.key, student.strip().casefold()))
    return int.from_bytes(sha256(text.encode()).digest()[:8])


def questions(lab: Lab, seed: int) -> tuple[Question, ...]:
    """The lab's questions with the numbers of a seed."""
    rng = np.random.default_rng(seed)
    drawn = _QUESTIONS[lab.key](rng)
    return tuple(Question(f"q{number}", *row) for number, row in enumerate(drawn, 1))


def points_each(lab: Lab) -> float:
    """What one question of a lab is worth."""
    return QUESTION_POINTS / len(_QUESTIONS[lab.key](np.random.default_rng(0)))


def answers_in(text: str) -> Mapping[str, str]:
    """`q1 = 6.82 ms`, a line each, by question; the last line of a question counts. Anything else is left alone.

    Behind the question may stand an equals sign, a colon, a point or a bracket.
    """
    rows = (_LINE.match(line.strip()[:100]) for line in text[:10_000].splitlines())
    return MappingProxyType({row[1].lower(): row[2] for row in rows if row})


def judge(question: Question, said: str | None) -> Answered:
    """Whether what was said is the answer, to the tolerance and in the unit."""
    if said is None:
        return Answered(question, "", "There is no answer.")
    quantity = read_quantity(said)
    if quantity is None:
        return Answered(question, said, f"This is no number in {question.unit}.")
    unit = read_quantity(f"1 {question.unit}")
    assert unit is not None
    if quantity.unit and quantity.unit != question.unit and quantity.dimension != (unit.dimension or ""):
        return Answered(question, said, f"The unit is {question.unit}, not {quantity.unit}.")
    value = quantity.value / unit.value if quantity.dimension else quantity.value
    room = 0.0 if question.whole else TOLERANCE * abs(question.answer)
    close = abs(value - question.answer) <= room
    return Answered(question, said, "" if close else "This is not the answer.")


Row = tuple[str, str, float] | tuple[str, str, float, bool]


def _of_sharding(rng: Draw) -> list[Row]:
    model, tp_size = _model(rng), _pick(rng, 2, 4, 8)
    layers, tokens = int(rng.integers(20, 120)), int(rng.integers(2, 200))
    width = 128 * int(rng.integers(8, 80))
    return [
        (
            f"A model of {layers} layers runs at TP={tp_size}, attention and MLP one after the other. How many"
            " all-reduces does one step of its layers take?",
            "all-reduces",
            float(all_reduces_per_step(replace(model, num_hidden_layers=layers), tp_size)),
            True,
        ),
        (
            f"A row-parallel layer makes {tokens} rows of {width} values in 2 bytes each. What does its all-reduce"
            " carry?",
            "KiB",
            allreduce_payload_bytes(tokens, width) / KIB,
        ),
        (
            f"A token of {model.key} leaves keys and values in bf16. How much of them does one rank of TP={tp_size}"
            " keep?",
            "KiB",
            kv_bytes_per_token_per_rank(model, tp_size) / KIB,
        ),
        (
            f"How many all-reduces do the layers of {model.key} take for {tokens} tokens written one at a time at"
            f" TP={tp_size}, batch 1?",
            "all-reduces",
            float(tokens * all_reduces_per_step(model, tp_size)),
            True,
        ),
    ]


def _of_two_ranks(rng: Draw) -> list[Row]:
    features, outputs = 64 * int(rng.integers(4, 60)), 64 * int(rng.integers(4, 60))
    tp_size, vocab = _pick(rng, 2, 4, 8), int(rng.integers(1_000, 60_000))
    model = GPTS[_pick(rng, *GPTS)]
    rows = padded_vocab_size(vocab, tp_size) // tp_size
    return [
        (
            f"A column-parallel layer of {features} inputs and {outputs} outputs has a bias. How many parameters"
            f" does a rank of TP={tp_size} hold?",
            "parameters",
            float((features + 1) * outputs // tp_size),
            True,
        ),
        (
            f"The same layer cut by its inputs instead, its bias whole on every rank. How many parameters does a"
            f" rank of TP={tp_size} hold?",
            "parameters",
            float(features * outputs // tp_size + outputs),
            True,
        ),
        (
            f"A vocabulary of {vocab} is cut over {tp_size} ranks. How many rows has each?",
            "rows",
            float(rows),
            True,
        ),
        (
            f"A decode step of {model.num_hidden_layers} layers, its embedding cut too, batch 1, at TP=2: how many"
            " all-reduces?",
            "all-reduces",
            float(all_reduces_per_step(model, 2) + 1),
            True,
        ),
    ]


def _of_the_bill(rng: Draw) -> list[Row]:
    model, wire, tp_size = _model(rng), _link(rng), _pick(rng, 2, 4, 8)
    tokens, step_ms = int(rng.integers(1, 40)), float(rng.integers(30, 200)) / 10
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    comm_s = tp_comm_time_per_step(model, tokens, tp_size, wire)
    told = f"{wire.latency_s * 1e6:g} µs a hop and {wire.bandwidth_bytes_per_s / 1e9:g} GB/s one way"
    return [
        (
            f"{model.key} in bf16 activations, {tokens} tokens a step: what does one all-reduce carry?",
            "KiB",
            payload / KIB,
        ),
        (
            f"It runs at TP={tp_size} on a ring of links with {told}, no launch cost. How long is one all-reduce?",
            "µs",
            1e6 * allreduce_time_s(payload, tp_size, wire),
        ),
        ("How long are all of the step's together, the two of each layer?", "ms", 1e3 * comm_s),
        (
            f"The step computes for {step_ms:g} ms beside them. What share of the wall clock is communication?",
            "%",
            100 * comm_fraction(comm_s, step_ms / 1e3),
        ),
    ]


def _of_the_bubble(rng: Draw) -> list[Row]:
    stages, microbatches = int(rng.integers(3, 30)), int(rng.integers(5, 200))
    budget = int(rng.integers(2, 30))
    last_tick = max(span.end for span in run_on_ticks(fill_drain(stages, microbatches), stages))
    told = f"{stages} stages and {microbatches} microbatches, fill and drain"
    return [
        (f"{told}: what share of the time stands idle?", "%", 100 * float(bubble_fraction(stages, microbatches))),
        (
            f"{told}: by how much is the run longer than its work?",
            "%",
            100 * float(bubble_overhead(stages, microbatches)),
        ),
        (f"{told}, a tick an action: when does the last one end?", "ticks", float(last_tick), True),
        (
            f"{stages} stages may stand idle {budget} % of the time at the most. How many microbatches does that"
            " take?",
            "microbatches",
            float(microbatches_for_budget(stages, f"0.{budget:02d}")),
            True,
        ),
    ]


_QUESTIONS: Mapping[str, Callable[[Draw], list[Row]]] = MappingProxyType(
    {"lab-01": _of_sharding, "lab-02": _of_two_ranks, "lab-03": _of_the_bill, "lab-04": _of_the_bubble}
)


def _pick(rng: Draw, *options: T) -> T:
    return options[int(rng.integers(len(options)))]


def _model(rng: Draw) -> ModelSpec:
    return MODELS[_pick(rng, *_SPLIT)]


def _link(rng: Draw) -> LinkSpec:
    """A link that is nobody's: its two numbers are the student's own."""
    latency_us, gb_s = int(rng.integers(2, 80)), int(rng.integers(2, 400))
    return LinkSpec("own", "a link of your own", latency_us * 1e-6, gb_s * 1e9)
