"""Spot the published error: real slips, and the arithmetic that finds them. Sources are named in the prose."""

from core.catalog import link, model
from core.comm_cost.bill import Step
from core.comm_cost.readings import unit_slips
from core.course.quiz.bank_layers import shape
from core.models.parameters import total_parameters
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.bubble import bubble_fraction
from core.text.question import Bank, Choice, Draw, Number, Taught, choice, number, pick
from core.two_way_tp.spend import cost_usd, hours_for
from core.units import GB, GIB, bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

LENS = Taught("comm_cost", "break_it")
EXERCISES = Taught("startup_log", "exercises")
CLINIC = Taught("clinic", "cases")
BUBBLE = Taught("pipeline_bubble", "break_it")
BANK = Bank()


@BANK.asks("published slips", BUBBLE)
def two_bubbles(rng: Draw) -> Choice:
    stages = 4
    few, many = 4, 13
    return choice(
        "microbatches",
        ("better", "clock", "bytes"),
        rng,
        stages=stages,
        few=few,
        many=many,
        first=percent(float(bubble_fraction(stages, few)), 0),
        second=percent(float(bubble_fraction(stages, many)), 0),
    )


@BANK.asks("published slips", EXERCISES)
def int4_weights(rng: Draw) -> Number:
    billions = 70
    answer = billions * 1e9 * 0.5
    return number(
        answer,
        "bytes",
        {"bytes": billions * 1e9, "printed": 45e9, "bf16": billions * 2e9},
        billions=billions,
        printed=decimal_bytes(45e9),
    )


@BANK.asks("published slips", EXERCISES)
def gib_that_is_gb(rng: Draw) -> Number:
    row = model("llama-3.2-1b")
    weights = held_weight_bytes(row)
    return number(
        weights / GIB,
        "count",
        {"decimal": weights / GB, "half": weights / GIB / 2},
        0.005,
        model=row.key,
        weights=grouped(round(weights)),
        printed=plain(weights / GB),
    )


@BANK.asks("published slips", LENS)
def nvlink_both_ways(rng: Draw) -> Number:
    two_way = pick(rng, 600e9, 900e9, 1800e9)
    return number(two_way / 2, "bandwidth", {"both": two_way, "bits": two_way / 8}, printed=bandwidth(two_way))


@BANK.asks("published slips", EXERCISES)
def swiglu_matrices(rng: Draw) -> Number:
    row = model("qwen2.5-72b")
    matrix = row.hidden_size * row.intermediate_size
    answer = row.num_hidden_layers * 3 * matrix
    return number(
        answer,
        "count",
        {"two": answer * 2 / 3, "one_layer": 3 * matrix},
        0.01,
        **shape(row),
        total=plain(total_parameters(row) / 1e9),
        short=plain((total_parameters(row) - row.num_hidden_layers * matrix) / 1e9),
    )


@BANK.asks("published slips", EXERCISES)
def norm_divided(rng: Draw) -> Choice:
    return choice("whole", ("half", "one_rank", "none"), rng)


@BANK.asks("published slips", CLINIC)
def two_per_cent(rng: Draw) -> Choice:
    return choice("waiting", ("gpu", "cpu", "wider"), rng)


@BANK.asks("published slips", EXERCISES)
def per_rank_total(rng: Draw) -> Choice:
    return choice("rank", ("total", "half_model", "cache"), rng)


@BANK.asks("units", LENS)
def bits_and_bytes(rng: Draw) -> Number:
    gigabits = pick(rng, 10, 25, 100, 400)
    return number(gigabits * 1e9 / 8, "bandwidth", {"bits": gigabits * 1e9}, gigabits=gigabits)


@BANK.asks("units", LENS)
def gib_or_gb(rng: Draw) -> Number:
    gib = pick(rng, 16, 24, 80)
    return number(
        gib * GIB,
        "bytes",
        {"same": gib * GB, "other_way": gib * GB * GB / GIB},
        0.005,
        gib=gib,
        exact=decimal_bytes(gib * GIB),
    )


@BANK.asks("units", LENS)
def flipped_verdict(rng: Draw) -> Choice:
    slips = {slip.key: slip for slip in unit_slips(Step(model("llama-3-8b"), 2), link("ethernet-10g-lab"))}
    right, wrong = slips["right"].bill, slips["bits_for_bytes"].bill
    return choice(
        "latency",
        ("eighth", "eightfold", "flips"),
        rng,
        share=percent(right.comm_fraction),
        slipped=percent(wrong.comm_fraction),
        bytes=seconds(right.bandwidth_s),
    )


@BANK.asks("units", Taught("placement", "plan"))
def forgotten_machine(rng: Draw) -> Number:
    rate = pick(rng, 0.7, 1.2, 2.5)
    return number(
        cost_usd(rate, 24),
        "usd",
        {"hour": rate, "working_day": cost_usd(rate, 8)},
        rate=f"${rate:.2f}",
        budget="$3",
        hours=plain(hours_for(3, rate)),
    )


@BANK.asks("units", LENS)
def smallest_unit(rng: Draw) -> Choice:
    row = model("llama-3-8b")
    return choice(
        "kib",
        ("kb", "bits", "mib"),
        rng,
        bytes=grouped(2 * row.hidden_size),
        kib=binary_bytes(2 * row.hidden_size),
        kb=decimal_bytes(2 * row.hidden_size),
    )
