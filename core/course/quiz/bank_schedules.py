"""Questions on pipelines, on serving from one, and on what a rank's memory holds."""

from fractions import Fraction

from core.catalog import gpu, model
from core.comm_cost.expert_parallel import expected_distinct_ranks
from core.course.quiz.bank_layers import shape
from core.models.kv_cache import (
    BLOCK_TOKENS,
    kv_blocks,
    kv_bytes_per_token,
    kv_bytes_per_token_per_rank,
    kv_tokens,
    max_concurrency,
)
from core.models.parameters import distinct_expert_fraction
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.bubble import bubble_fraction, bubble_overhead, microbatches_for_budget
from core.pipeline_bubble.schedules.serving import Pipe, chunked_prefill_time, filling_microbatches, steady_decode
from core.strategy.training.memory import model_states
from core.text.question import Bank, Choice, Draw, Number, Taught, choice, number, pick
from core.units import GB, GIB, binary_bytes, decimal_bytes, grouped, percent, plain, seconds

COUNT, SEE, BREAK, BENCH = (Taught("pipeline_bubble", scene) for scene in ("count", "see", "break_it", "bench"))
FIT = Taught("start_here", "bottlenecks")
FORMULAS = Taught("startup_log", "formulas")
CLINIC = Taught("clinic", "cases")
PLAN, COMPARE = Taught("placement", "plan"), Taught("placement", "compare")
BANK = Bank()


@BANK.asks("pipelines", COUNT)
def bubble(rng: Draw) -> Number:
    stages, microbatches = pick(rng, 4, 8, 16), pick(rng, 8, 16, 32)
    share = float(bubble_fraction(stages, microbatches))
    slips = {
        "overhead": float(bubble_overhead(stages, microbatches)),
        "all_stages": stages / (microbatches + stages - 1),
    }
    return number(share, "share", slips, 0.01, stages=stages, microbatches=microbatches)


@BANK.asks("pipelines", BENCH)
def microbatches_for(rng: Draw) -> Number:
    stages, percent_allowed = pick(rng, 4, 8), pick(rng, 10, 20)
    budget = Fraction(percent_allowed, 100)
    answer = microbatches_for_budget(stages, budget, under=True)
    slips = {"just": microbatches_for_budget(stages, budget), "overhead": float((stages - 1) / budget)}
    return number(answer, "count", slips, stages=stages, budget=percent(float(budget), 0))


@BANK.asks("pipelines", BENCH)
def one_f_one_b(rng: Draw) -> Choice:
    return choice("memory", ("bubble", "bytes", "order"), rng)


@BANK.asks("serving", SEE)
def pipeline_latency(rng: Draw) -> Choice:
    return choice("not_sooner", ("stages", "half", "batch"), rng)


@BANK.asks("serving", BENCH)
def filling(rng: Draw) -> Number:
    stages, hop = pick(rng, 4, 8), pick(rng, Fraction(0), Fraction(1, 2))
    pipe = Pipe((Fraction(1),) * stages, (hop,) * (stages - 1), hop)
    answer = filling_microbatches(pipe)
    return number(answer, "count", {"no_hops": stages, "flush": 63}, stages=stages, hop=plain(float(hop)))


@BANK.asks("serving", BENCH)
def steady_rate(rng: Draw) -> Number:
    stages, in_flight, stage_ms = 4, pick(rng, 1, 2, 8), pick(rng, 5, 10)
    pipe = Pipe((Fraction(stage_ms, 1000),) * stages)
    rate = float(steady_decode(pipe, in_flight).items_per_time)
    slips = {"full": 1000 / stage_ms, "one": 1000 / stage_ms / stages}
    return number(rate, "count", slips, 0.01, stages=stages, in_flight=in_flight, stage=seconds(stage_ms / 1000, 2))


@BANK.asks("serving", BENCH)
def chunked_prefill(rng: Draw) -> Number:
    stages, chunks, chunk_s = pick(rng, 4, 8), pick(rng, 8, 16), 1e-2
    answer = float(chunked_prefill_time(stages, chunks, Fraction(1, 100)))
    slips = {"one_piece": stages * chunks * chunk_s, "no_fill": chunks * chunk_s}
    return number(answer, "time", slips, stages=stages, chunks=chunks, chunk=seconds(chunk_s, 2))


@BANK.asks("memory", FORMULAS)
def kv_a_token(rng: Draw) -> Number:
    row = model(pick(rng, "llama-3-8b", "llama-3-70b", "qwen2.5-7b", "qwen3-32b"))
    answer = kv_bytes_per_token(row)
    slips = {
        "query_heads": answer * row.num_attention_heads / row.num_key_value_heads,
        "keys_alone": answer / 2,
        "one_layer": answer / row.num_hidden_layers,
    }
    return number(answer, "bytes", slips, **shape(row))


@BANK.asks("memory", FORMULAS)
def blocks_at_two(rng: Draw) -> Number:
    row, room = model("llama-3-8b"), pick(rng, 4, 8, 16) * GIB
    answer = kv_blocks(room, row, 2)
    slips = {"one_rank": kv_blocks(room, row, 1), "halved": kv_blocks(room / 2, row, 1)}
    return number(
        answer,
        "count",
        slips,
        model=row.key,
        room=binary_bytes(room),
        one=binary_bytes(kv_bytes_per_token_per_rank(row, 1)),
        block=BLOCK_TOKENS,
    )


@BANK.asks("memory", FORMULAS)
def sequences_that_fit(rng: Draw) -> Number:
    row, room, length = model("llama-3-8b"), pick(rng, 4, 8, 16) * GIB, pick(rng, 4096, 8192, 32_768)
    answer = max_concurrency(room, row, 1, length)
    return number(
        answer,
        "count",
        {"decimal": kv_tokens(room * GB / GIB, row, 1) / length, "keys_alone": 2 * answer},
        0.01,
        model=row.key,
        room=binary_bytes(room),
        token=binary_bytes(kv_bytes_per_token(row)),
        length=grouped(length),
    )


@BANK.asks("memory", CLINIC)
def nine_tenths(rng: Draw) -> Choice:
    return choice("budget", ("rounding", "heads", "leak"), rng)


@BANK.asks("memory", COMPARE)
def two_by_four(rng: Draw) -> Choice:
    row = model("llama-3-70b")
    return choice(
        "once", ("faster", "network", "same"), rng, model=row.key, weights=decimal_bytes(held_weight_bytes(row))
    )


@BANK.asks("memory", FIT)
def does_it_fit(rng: Draw) -> Choice:
    row, gpu_spec = model("llama-3-70b"), gpu("a100-80gb-sxm")
    return choice(
        "barely",
        ("half", "no", "easily"),
        rng,
        model=row.key,
        gpu=gpu_spec.name,
        weights=decimal_bytes(held_weight_bytes(row), 4),
        usable=decimal_bytes(2 * gpu_spec.usable_memory_bytes, 4),
    )


@BANK.asks("mixtures", Taught("comm_cost", "bench"))
def experts_read(rng: Draw) -> Number:
    row, batch = model("mixtral-8x7b"), pick(rng, 2, 4, 8)
    assert row.moe is not None
    experts, chosen = row.moe.num_experts, row.moe.num_experts_per_tok
    share = distinct_expert_fraction(row, batch)
    slips = {"one_token": chosen / experts, "sum": batch * chosen / experts}
    return number(share, "share", slips, model=row.key, experts=experts, chosen=chosen, batch=batch)


@BANK.asks("mixtures", Taught("comm_cost", "bench"))
def ranks_reached(rng: Draw) -> Number:
    row, ranks = model("deepseek-v3"), pick(rng, 8, 32)
    assert row.moe is not None
    answer = expected_distinct_ranks(row.moe, ranks)
    return number(
        answer,
        "count",
        {"all_apart": float(row.moe.num_experts_per_tok)},
        0.02,
        model=row.key,
        experts=row.moe.num_experts,
        chosen=row.moe.num_experts_per_tok,
        ranks=ranks,
    )


@BANK.asks("training", PLAN)
def zero_memory(rng: Draw) -> Number:
    billions, ranks, zero = pick(rng, 7.5, 13.0), pick(rng, 16, 64), pick(rng, 1, 2, 3)
    totals = [model_states(billions * 1e9, level, ranks).total for level in range(4)]
    slips = {"replicated": totals[0], "another": totals[3 if zero < 3 else 2]}
    return number(totals[zero], "bytes", slips, billions=plain(billions), ranks=ranks, zero=zero)


@BANK.asks("training", PLAN)
def fsdp_traffic(rng: Draw) -> Choice:
    return choice("half_more", ("same", "twice", "less"), rng)
