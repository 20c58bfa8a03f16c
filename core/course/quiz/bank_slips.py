"""Spot the published error: real slips, and the arithmetic that finds them. Sources are named in the prose."""

from collections.abc import Callable

from core.catalog import link, model
from core.comm_cost.bill import Step
from core.comm_cost.readings import unit_slips
from core.course.quiz.question import Choice, Draw, Number, Question, Taught, choice, number, pick
from core.models.parameters import total_parameters
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.bubble import bubble_fraction
from core.two_way_tp.spend import cost_usd, hours_for
from core.units import GB, GIB, bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

LENS = Taught("comm_cost", "break_it")
EXERCISES = Taught("startup_log", "exercises")
CLINIC = Taught("clinic", "cases")
BUBBLE = Taught("pipeline_bubble", "break_it")


def two_bubbles(rng: Draw) -> Choice:
    stages = 4
    few, many = 4, 13
    return choice(
        "two_bubbles",
        "published slips",
        BUBBLE,
        "microbatches",
        ("better", "clock", "bytes"),
        rng,
        stages=stages,
        few=few,
        many=many,
        first=percent(float(bubble_fraction(stages, few)), 0),
        second=percent(float(bubble_fraction(stages, many)), 0),
    )


def int4_weights(rng: Draw) -> Number:
    billions = 70
    answer = billions * 1e9 * 0.5
    return number(
        "int4_weights",
        "published slips",
        EXERCISES,
        answer,
        "bytes",
        {"bytes": billions * 1e9, "printed": 45e9, "bf16": billions * 2e9},
        billions=billions,
        printed=decimal_bytes(45e9),
    )


def gib_that_is_gb(rng: Draw) -> Number:
    row = model("llama-3.2-1b")
    weights = held_weight_bytes(row)
    return number(
        "gib_that_is_gb",
        "published slips",
        EXERCISES,
        weights / GIB,
        "count",
        {"decimal": weights / GB, "half": weights / GIB / 2},
        0.005,
        model=row.key,
        weights=grouped(round(weights)),
        printed=plain(weights / GB),
    )


def nvlink_both_ways(rng: Draw) -> Number:
    two_way = pick(rng, 600e9, 900e9, 1800e9)
    return number(
        "nvlink_both_ways",
        "published slips",
        LENS,
        two_way / 2,
        "bandwidth",
        {"both": two_way, "bits": two_way / 8},
        printed=bandwidth(two_way),
    )


def swiglu_matrices(rng: Draw) -> Number:
    row = model("qwen2.5-72b")
    matrix = row.hidden_size * row.intermediate_size
    answer = row.num_hidden_layers * 3 * matrix
    return number(
        "swiglu_matrices",
        "published slips",
        EXERCISES,
        answer,
        "count",
        {"two": answer * 2 / 3, "one_layer": 3 * matrix},
        0.01,
        model=row.key,
        layers=row.num_hidden_layers,
        width=row.hidden_size,
        mlp=row.intermediate_size,
        total=plain(total_parameters(row) / 1e9),
        short=plain((total_parameters(row) - row.num_hidden_layers * matrix) / 1e9),
    )


def norm_divided(rng: Draw) -> Choice:
    return choice("norm_divided", "published slips", EXERCISES, "whole", ("half", "one_rank", "none"), rng)


def two_per_cent(rng: Draw) -> Choice:
    return choice("two_per_cent", "published slips", CLINIC, "waiting", ("gpu", "cpu", "wider"), rng)


def per_rank_total(rng: Draw) -> Choice:
    return choice("per_rank_total", "published slips", EXERCISES, "rank", ("total", "half_model", "cache"), rng)


def bits_and_bytes(rng: Draw) -> Number:
    gigabits = pick(rng, 10, 25, 100, 400)
    return number(
        "bits_and_bytes",
        "units",
        LENS,
        gigabits * 1e9 / 8,
        "bandwidth",
        {"bits": gigabits * 1e9},
        gigabits=gigabits,
    )


def gib_or_gb(rng: Draw) -> Number:
    gib = pick(rng, 16, 24, 80)
    return number(
        "gib_or_gb",
        "units",
        LENS,
        gib * GIB,
        "bytes",
        {"same": gib * GB, "other_way": gib * GB * GB / GIB},
        0.005,
        gib=gib,
        exact=decimal_bytes(gib * GIB),
    )


def flipped_verdict(rng: Draw) -> Choice:
    slips = {slip.key: slip for slip in unit_slips(Step(model("llama-3-8b"), 2), link("ethernet-10g-lab"))}
    right, wrong = slips["right"].bill, slips["bits_for_bytes"].bill
    return choice(
        "flipped_verdict",
        "units",
        LENS,
        "latency",
        ("eighth", "eightfold", "flips"),
        rng,
        share=percent(right.comm_fraction),
        slipped=percent(wrong.comm_fraction),
        bytes=seconds(right.bandwidth_s),
    )


def forgotten_machine(rng: Draw) -> Number:
    rate = pick(rng, 0.7, 1.2, 2.5)
    return number(
        "forgotten_machine",
        "units",
        Taught("placement", "plan"),
        cost_usd(rate, 24),
        "usd",
        {"hour": rate, "working_day": cost_usd(rate, 8)},
        rate=f"${rate:.2f}",
        budget="$3",
        hours=plain(hours_for(3, rate)),
    )


def smallest_unit(rng: Draw) -> Choice:
    row = model("llama-3-8b")
    return choice(
        "smallest_unit",
        "units",
        LENS,
        "kib",
        ("kb", "bits", "mib"),
        rng,
        bytes=grouped(2 * row.hidden_size),
        kib=binary_bytes(2 * row.hidden_size),
        kb=decimal_bytes(2 * row.hidden_size),
    )


QUESTIONS: tuple[Callable[[Draw], Question], ...] = (
    two_bubbles,
    int4_weights,
    gib_that_is_gb,
    nvlink_both_ways,
    swiglu_matrices,
    norm_divided,
    two_per_cent,
    per_rank_total,
    bits_and_bytes,
    gib_or_gb,
    flipped_verdict,
    forgotten_machine,
    smallest_unit,
)
