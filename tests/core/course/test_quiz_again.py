"""Every number of the quiz a second time: from the figures that a question shows, with no function of core's."""

import re
from collections.abc import Callable
from math import ceil, comb, exp, log

import pytest

from core.course.quiz import Choice, Number, paper
from runtime import content
from tests.each import each
from tests.said import fields_of

PAPERS = [paper(seed) for seed in range(40)]
UNITS = {
    "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 1e3, "MB": 1e6, "GB": 1e9,
    "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "s": 1, "ms": 1e-3, "µs": 1e-6, "%": 0.01, "": 1,
}  # fmt: skip
FIGURE = re.compile(r"\$?(\d+(?:\.\d+)?) ?([A-Za-zµ]+(?:/s)?|%|)")


class Asked:
    """The fields of a question as numbers in SI, by their names."""

    def __init__(self, question: Number | Choice) -> None:
        self.fields = question.fields

    def __getattr__(self, name: str) -> float:
        if self.fields[name] == "no time":
            return 0.0
        found = FIGURE.fullmatch(self.fields[name].replace("\u202f", "").replace("\u00a0", " "))
        assert found, self.fields[name]
        return float(found[1]) * UNITS[found[2]]


def _llama(q: Asked, heads: float, kv_heads: float) -> float:
    """Untied tables, per layer q and o, k and v, three matrices of a gated MLP and two norms, and the last norm."""
    attention = 2 * q.width * heads * q.head_dim + 2 * q.width * kv_heads * q.head_dim
    return 2 * q.vocabulary * q.width + q.layers * (attention + 3 * q.width * q.mlp + 2 * q.width) + q.width


def _bytes_share(tokens: float, q: Asked) -> float:
    moved = tokens * q.width * 2 / q.bandwidth
    return moved / (moved + 2 * q.hop)


ZERO = {1: (4, 12), 2: (2, 14), 3: (0, 16)}
"""Bytes a parameter of weights (2), gradients (2), master weights and moments (12): whole on each rank, and cut."""

NUMBERS: dict[str, Callable[[Asked], float]] = {
    "row_parallel_bias": lambda q: q.ranks,
    "replicated_kv": lambda q: max(1, q.heads / q.size),
    "vocabulary_padding": lambda q: ceil(q.rows / 64) * 64,
    "counting_parameters": lambda q: _llama(q, q.heads, q.kv_heads),
    "decode_payload": lambda q: q.batch * q.width * 2,
    "prefill_payload": lambda q: q.tokens * q.width * 2,
    "all_reduces_a_step": lambda q: 2 * q.layers,
    # half of 12 d² weights of two bytes saved, against the two sums of a layer
    "crossover": lambda q: (2 * q.wait * q.memory / 12) ** 0.5,
    "startup_lines": lambda q: (q.whole + q.twice) / 2,
    "ring_hops": lambda q: 2 * (q.ranks - 1),
    "ring_traffic": lambda q: 2 * (q.ranks - 1) / q.ranks * q.payload,
    "balance": lambda q: q.ranks * q.hop * q.bandwidth,
    "bytes_share": lambda q: _bytes_share(q.tokens, q),
    "streaming": lambda q: (q.weights - q.table) / q.memory,
    "ethernet_bill": lambda q: q.count * (2 * q.hop + q.payload / 1.25e9),
    "the_fraction": lambda q: q.comm / (q.comm + q.step),
    "hidden_communication": lambda q: max(q.comm * (1 - q.share), q.comm - q.step),
    # halves by halves: within a node every GPU keeps its share, and two nodes send all of it once
    "over_the_boundary": lambda q: 2 * (1 - q.gpus / q.ranks) / q.gpus,
    "rare_stall": lambda q: 1 - exp(q.messages * log(1 - 1 / q.one_in)),
    "slow_rank": lambda q: q.compute * (1 + q.slow) + q.comm,
    "late_at_random": lambda q: q.mean * sum(1 / k for k in range(1, int(q.ranks) + 1)),
    "bubble": lambda q: (q.stages - 1) / (q.microbatches + q.stages - 1),
    "microbatches_for": lambda q: next(
        m for m in range(1, 10**5) if (q.stages - 1) < q.budget * (m + q.stages - 1) * (1 - 1e-12)
    ),
    "filling": lambda q: ceil(q.stages * (1 + q.hop)),
    "steady_rate": lambda q: min(q.in_flight, q.stages) / (q.stages * q.stage),
    "chunked_prefill": lambda q: (q.chunks + q.stages - 1) * q.chunk,
    "kv_a_token": lambda q: 2 * q.layers * q.kv_heads * q.head_dim * 2,
    "blocks_at_two": lambda q: q.room // (q.one / 2 * q.block),
    "sequences_that_fit": lambda q: q.room / (q.token * q.length),
    "experts_read": lambda q: 1 - (1 - q.chosen / q.experts) ** q.batch,
    "ranks_reached": lambda q: (
        q.ranks
        * (1 - comb(int(q.experts - q.experts / q.ranks), int(q.chosen)) / comb(int(q.experts), int(q.chosen)))
    ),
    "zero_memory": lambda q: q.billions * 1e9 * (ZERO[int(q.zero)][0] + ZERO[int(q.zero)][1] / q.ranks),
    "int4_weights": lambda q: q.billions * 1e9 / 2,
    "gib_that_is_gb": lambda q: q.weights / 2**30,
    "nvlink_both_ways": lambda q: q.printed / 2,
    "swiglu_matrices": lambda q: 3 * q.layers * q.width * q.mlp,
    "bits_and_bytes": lambda q: q.gigabits * 1e9 / 8,
    "gib_or_gb": lambda q: q.gib * 2**30,
    "forgotten_machine": lambda q: 24 * q.rate,
}
LAB_S, HOP_S, ROW = 8e-3, 50e-6, 4096 * 2
"""The labs' own step, hop and row of activations, as their pages state them."""


def _lab_comm(bandwidth: float, hop_s: float = HOP_S) -> float:
    """64 sums of one row over two ranks."""
    return 64 * (2 * hop_s + ROW / bandwidth)


def _share(comm_s: float) -> float:
    return comm_s / (LAB_S + comm_s)


TOLD: dict[str, dict[str, Callable[[Asked], float]]] = {
    "ten_times_as_wide": {
        "comm": lambda q: 64 * 2 * (q.ranks - 1) * (HOP_S + ROW / q.ranks / q.bandwidth),
        "bytes": lambda q: 64 * 2 * (q.ranks - 1) * ROW / q.ranks / q.bandwidth,
        "count": lambda q: 2 * 32,
    },
    "hop_or_round_trip": {
        "whole": lambda q: _share(_lab_comm(1.25e9, q.hop)),
        "half": lambda q: _share(_lab_comm(1.25e9, q.hop / 2)),
    },
    "flipped_verdict": {
        "share": lambda q: _share(_lab_comm(1.25e9)),
        "slipped": lambda q: _share(_lab_comm(10e9)),
        "bytes": lambda q: 64 * ROW / 1.25e9,
    },
    "one_shot_or_ring": {
        "ratio": lambda q: (14 * 2e-6 + 14 / 8 * q.small / 450e9) / (2e-6 + 7 * q.small / 450e9),
        "more": lambda q: 7 / (14 / 8),
    },
    "two_bubbles": {
        "first": lambda q: (q.stages - 1) / (q.few + q.stages - 1),
        "second": lambda q: (q.stages - 1) / (q.many + q.stages - 1),
    },
    "larger_model": {"payload": lambda q: 8192 / 4096, "sums": lambda q: 80 / 32},
    "smallest_unit": {"kib": lambda q: q.bytes, "kb": lambda q: q.bytes},
}
"""What the words of a choice tell in figures."""


@each("key", [q.key for q in PAPERS[0] if isinstance(q, Number)])
def test_an_answer_comes_out_of_the_figures_that_the_question_shows(key):
    """Within what those were rounded to."""
    for (question,) in ([q for q in asked if q.key == key] for asked in PAPERS):
        assert isinstance(question, Number)
        assert NUMBERS[key](Asked(question)) == pytest.approx(
            question.answer, rel=max(question.tolerance, 1e-9) / 2
        )


@pytest.mark.parametrize("key", TOLD)
def test_what_a_choice_tells_in_figures_comes_out_again(key):
    for (question,) in ([q for q in asked if q.key == key] for asked in PAPERS):
        asked = Asked(question)
        for name, again in TOLD[key].items():
            assert again(asked) == pytest.approx(getattr(asked, name), rel=0.015), name


def test_a_figure_that_a_question_needs_is_among_its_words():
    """Nothing is solved by what a reader does not see."""
    words = content.load("quiz")
    for question in PAPERS[0]:
        if isinstance(question, Number):
            seen = fields_of(words[f"{question.key}.asks"])
            asked = Asked(question)
            asked.fields = {name: text for name, text in question.fields.items() if name in seen}
            needed = {"ethernet_bill": {}, "startup_lines": {"twice": question.fields.get("twice", "")}}
            asked.fields |= needed.get(question.key, {})
            NUMBERS[question.key](asked)
