"""No two numbers of one comparison may differ in what they batch: every figure that is drawn, and how its rows do.

A figure is compared by what its rows batch, which is counted here by Little's law or by what was sent; or it has no
rows that could differ, and says why. The list is complete by the referee's own list of figures.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import product

import pytest

from core.catalog import gpu, link, model
from core.clinic import CASES, examine
from core.comm_cost.decode_attention import Attention
from core.pipeline_bubble.layouts import Cluster, layouts
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.strategy.entrants import entrants
from core.strategy.race import race
from core.strategy.training.layout import Strategy
from core.strategy.training.memory import Job
from core.strategy.training.side_by_side import Held, side_by_side
from core.strategy.training.traffic import training_traffic
from tests.core.referee.replayed import HELD, UNTIMED

ONE = "its rows are of one token, prompt, message, layer or round"
PARTS = "its rows are the parts of one step, or the ranks of one"
AXIS = "what is batched is its axis"
ITSELF = "each row stands beside a time of the same run"
NOTHING = "nothing is batched: sizes, counts or memory of one model"
FEW = 1e-6

Batches = Iterable[tuple[str, list[float]]]
"""Comparisons by a name, each with what its rows batch."""


def asked(key: str, nodes: int = 1, **demand: int) -> Question:
    row = gpu("h100-sxm")
    cluster = replace(usual_cluster(row, 8, nodes), network=link("ib-ndr"))
    return Question(model(key), cluster, measured_budget(row), Demand(**demand))


def plans() -> Batches:
    """Sequences in flight, by Little's law: tokens a second times the time between a sequence's tokens."""
    for key, nodes, at_once in product(("llama-3-8b", "mixtral-8x7b"), (1, 2), (1, 7, 64)):
        question = asked(key, nodes, concurrency=at_once)
        timings = [plan.timing for plan in place(question).plans if plan.timing]
        yield f"{key} {nodes} {at_once}", [one.tokens_per_s * one.itl_s for one in timings]


def compositions() -> Batches:
    cluster = Cluster(gpu("h100-sxm"), link("nvlink-4"), link("ib-ndr"))
    for sequences in (1, 8, 64):
        found = layouts(model("llama-3-8b"), cluster, 8, sequences=sequences, prompt_tokens=2048)
        yield f"{sequences}", [one.tokens_per_s * one.itl_full_s for one in found]


def lanes() -> Batches:
    """Requests that each entrant of a race answers; all come at the same times."""
    question = asked("llama-3-8b", 2, prompt_tokens=1024, output_tokens=16)
    run = race(entrants(question), 2.0, 2048, requests=40)
    yield "requests", [float(lane.requests) for lane in run.lanes]
    yield "their arrivals", [sum(lane.ways.arrived) for lane in run.lanes]


STRATEGIES: Mapping[str, Strategy] = {
    "DDP": Strategy(dp_size=64), "FSDP": Strategy(dp_size=64, zero=3), "TP=8": Strategy(dp_size=8, tp_size=8),
    "PP=8": Strategy(dp_size=8, pp_size=8),
}  # fmt: skip


def strategies() -> Batches:
    """Sequences that each strategy's bytes are of: what a step sends in all, over what is told."""
    for microbatches in (1, 8):
        job = Job(microbatches=microbatches)
        told = side_by_side(Held(model("llama-3-8b"), 64, 8, 80e9, job, "selective"))
        step = {
            name: sum(
                one.tp_size * one.dp_size * sent.sent_bytes
                for stage in range(one.pp_size)
                for sent in training_traffic(model("llama-3-8b"), replace(one, recompute="selective"), job, stage)
            )
            for name, one in STRATEGIES.items()
        }
        yield (
            f"{microbatches}",
            [
                step[one.name] / one.sent_bytes / (STRATEGIES[one.name].dp_size * microbatches * job.sequences)
                for one in told
                if one.name in step
            ],
        )


def caches() -> Batches:
    """Sequences that all ranks of a way read the keys of together, each once."""
    for sequences in (8, 64):
        ways = Attention("deepseek-v3", 8, sequences).ways(gpu("h100-sxm"), link("nvlink-4"))
        yield f"{sequences}", [one.cache_bytes * one.ranks / one.copies for one in ways]


def rates_of_a_case() -> Batches:
    """A rate times its step is what a layout serves at once: of the clinic's two remedies as many."""
    case = examine("eight_ranks")
    named = {figure.name: figure.value for figure in case.figures}
    yield "eight_ranks", [named["rate_8_both"] * named["step_8_both"], named["rate_two_4"] * named["step_4"]]
    off = examine("kernel_off")
    rated = {figure.name: figure.value for figure in off.figures}
    for few, names in (("few", ("rate", "pairs_rate")), ("many", ("many_rate", "pairs_many_rate"))):
        bar = ("four", "pairs") if few == "few" else ("four_many", "pairs_many")
        yield f"kernel_off {few}", [rated[one] * off.fix.total(at) for one, at in zip(names, bar, strict=True)]
    starved = {figure.name: figure.value for figure in examine("starved_pipeline").figures}
    around_s = starved["stages"] + starved["hops"] + starved["hops"] / 3
    yield "starved_pipeline", [starved["joined_rate"] * around_s, starved["filling"]]


RATES = {
    "eight_ranks": {"rate_8_both", "rate_two_4"},
    "kernel_off": {"rate", "pairs_rate", "many_rate", "pairs_many_rate"},
    "starved_pipeline": {"rate", "full_rate", "joined_rate", "wide_full_rate"},
}
"""All rates that cases tell; the first of *Starved pipeline* is what arrives, the second a full pipe's."""

BATCHED: Mapping[str, str | Callable[[], Batches]] = {
    "placement#plans": plans,
    "placement#case_*": plans,
    "placement#race": lanes,
    "pipeline_bubble#compositions": compositions,
    "strategy#saved_and_paid": strategies,
    "comm_cost:attention": caches,
    "clinic#*_fix": rates_of_a_case,
    **dict.fromkeys(("clinic#*_symptom", "clinic#*_model"), rates_of_a_case),
    **dict.fromkeys(
        (
            *("placement#front", "placement#load_*", "comm_cost#batch", "comm_cost:batch", "strategy#handoff"),
            *("pipeline_bubble#throughput", "pipeline_bubble#token_time", "pipeline_bubble#bubble_against_m"),
            *("comm_cost:prefill apart", "pipeline_bubble#held", "pipeline_bubble#serving", "pipeline_bubble#flow"),
        ),
        AXIS,
    ),
    **dict.fromkeys(
        (
            *("placement#predicted_against_published", "placement#planners", "placement#served_off"),
            *("comm_cost#misses_*", "comm_cost#own_*", "comm_cost:your table", "comm_cost:residuals"),
            *(
                "two_way_tp#two_arms",
                "two_way_tp#two_hosts",
                "startup_log#*",
                "comm_cost#average",
                "cluster#rounds",
            ),
        ),
        ITSELF,
    ),
    **dict.fromkeys(
        (
            *("start_here#*", "comm_cost#bill", "comm_cost#bill_*", "comm_cost#wire", "comm_cost#all_reduce"),
            *("comm_cost#readings", "comm_cost#two_way", "comm_cost#busbw", "comm_cost#bench", "comm_cost#kernels"),
            *(
                "comm_cost#bills_by_ranks",
                "comm_cost#links",
                "comm_cost#units",
                "comm_cost#gpus",
                "overview#journey",
            ),
            *("comm_cost#remedies", "comm_cost#nodes", "comm_cost#node_shares", "comm_cost#experts"),
            *("comm_cost#ends", "comm_cost:your link", "comm_cost:kernels", "comm_cost:constants"),
            *("comm_cost:units", "comm_cost:GPUs", "comm_cost:what to buy", "comm_cost:nodes", "comm_cost:experts"),
            *("comm_cost:ends", "comm_cost:drafts", "two_way_tp#width", "two_way_tp#wires", "two_way_tp#replicas"),
            *("strategy#collectives_ring", "puzzles#puzzles"),
        ),
        ONE,
    ),
    **dict.fromkeys(
        (
            *("pipeline_bubble#revealed_run", "pipeline_bubble#run", "pipeline_bubble#counted_run"),
            *("pipeline_bubble#bench_run", "pipeline_bubble#pair", "pipeline_bubble#broken"),
            *("pipeline_bubble#deadlock", "pipeline_bubble#learner_run", "pipeline_bubble#slips"),
            *("two_way_tp#one_token", "two_way_tp#one_letter", "two_way_tp#letters", "two_way_tp#slow_rank"),
            *("clinic#straggler_*", "clinic#responses", "clinic#largest", "clinic#payloads"),
        ),
        PARTS,
    ),
    **dict.fromkeys(
        (
            *("sharding_math#*", "placement#memory", "strategy#memory", "strategy#kinds", "quiz#score"),
            *("startup_log#startup_log", "startup_log#weights_rules"),
        ),
        NOTHING,
    ),
}
CHECKED = tuple(dict.fromkeys(one for one in BATCHED.values() if callable(one)))


def unlike(batches: Batches) -> list[tuple[str, list[float]]]:
    """The comparisons whose rows batch unalike."""
    return [(name, rows) for name, rows in batches if max(rows) > min(rows) * (1 + FEW)]


@pytest.mark.parametrize("batches", CHECKED, ids=lambda one: one.__name__)
def test_what_is_compared_batches_alike(batches):
    compared = list(batches())
    assert all(len(rows) > 1 for _, rows in compared)
    assert unlike(compared) == []


def test_every_figure_says_how_its_rows_batch():
    """A figure that is new has to be looked at: what do its rows batch?"""
    figures = [name for name in (*HELD, *UNTIMED) if "#" in name or ":" in name]

    def said(name: str) -> bool:
        family = f"{name.partition('#')[0]}#*"
        return name in BATCHED or family in BATCHED

    assert [name for name in figures if not said(name)] == []
    known = {*figures, *(f"{name.partition('#')[0]}#*" for name in figures)}
    assert set(BATCHED) <= known


def test_every_rate_of_a_case_is_one_of_those_that_are_compared():
    told = {key: {one.name for one in examine(key).figures if one.unit == "per_s"} for key in CASES}
    assert {key: names for key, names in told.items() if names} == RATES


def test_bytes_of_steps_that_batch_unalike_are_caught():
    """What the strategies' page once compared: 379 GB of a step of 512 sequences beside 64 GB of one of 64."""
    sides = side_by_side(Held(model("llama-3-8b"), 64, 8, 80e9, Job(microbatches=8), "selective"))
    steps = [float(one.sequences) for one in sides if one.name in ("FSDP", "TP=8")]
    assert unlike([("a step", steps)]) == [("a step", [512.0, 64.0])]
