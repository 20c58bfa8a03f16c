"""What the pages say of one step of one model, held against one another, over every model of the catalog."""

from dataclasses import replace
from math import inf

import pytest

from core.catalog import MODELS, gpu, link
from core.clinic.three_waits import Knob
from core.comm_cost.bill import Step, weight_streaming_s
from core.comm_cost.journey import journey
from core.course.start_here import forward_pass
from core.models.weights import held_weight_bytes, read_weight_bytes, step_weight_bytes
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.layouts import Cluster, layout
from core.scenario import Scenario
from core.sharding_math.step_ledger import step_ledger
from core.steps.batch_sweep import batched_decode_step_s, ridge_batch
from core.steps.model import (
    MFU,
    TensorGroup,
    decode_step_s,
    decode_terms,
    prefill_flops,
    prefill_step_s,
)
from core.steps.narrow import peak_flops
from core.steps.speculation import speculation
from core.two_way_tp.replicas import duels
from tests.each import each

H200, LINK, NETWORK = gpu("h200-sxm"), link("nvlink-4"), link("ib-ndr")
ALONE = TensorGroup(1, LINK)
BATCHES = (1, 64)


@each("key", MODELS)
def test_a_step_reads_the_same_weights_on_every_page(key):
    """Start here and the planner read what a step must; lab 03 the same and the tables that are looked up besides.

    The tables are no part of a mixture's experts, so what is between the pages is the same at any batch.
    """
    row = MODELS[key]
    dtype = row.weight_dtype
    looked_up_s = (held_weight_bytes(row, dtype) - read_weight_bytes(row, dtype, inf)) / H200.memory_bytes_per_s
    for batch in BATCHES:
        planner = decode_terms(row, H200, ALONE, batch, 0, dtype)
        assert forward_pass(row, H200, batch, dtype).memory_s == pytest.approx(planner.weights_s)
        assert forward_pass(row, H200, batch).arithmetic_s == pytest.approx(
            decode_terms(row, H200, ALONE, batch, 0).arithmetic_s
        )
        lab = decode_step_s(row, H200, dtype, batch)
        assert lab == pytest.approx(planner.weights_s + looked_up_s)
        assert lab <= held_weight_bytes(row, dtype) / H200.memory_bytes_per_s * (1 + 1e-12)
        if row.moe is None:
            assert step_weight_bytes(row, dtype, batch) == held_weight_bytes(row, dtype)


@each("key", MODELS)
def test_a_step_takes_as_long_in_lab_03_lab_04_the_clinic_and_on_the_journey(key):
    row = MODELS[key]
    dtype = row.weight_dtype
    for batch in BATCHES:
        lab = batched_decode_step_s(row, H200, batch, dtype)
        asked = Scenario(model=key, gpu=H200.key, weight_dtype=dtype, batch=batch, tp=1)
        assert Knob(asked).compute_s * 2 == pytest.approx(lab)
        trip = journey(Step(row, 2, batch, lab, divided=True), LINK)
        assert trip.total_s == pytest.approx(trip.bill.total_s)
        assert Knob(replace(asked, link=LINK.key)).comm_s == pytest.approx(trip.bill.comm_s)
        assert trip.layers * (trip.attention_s + trip.mlp_s) + trip.ends_s == pytest.approx(lab / 2)
    one = layout(row, Cluster(H200, LINK, NETWORK), 1, 1, sequences=64, prompt_tokens=2048, dtype=dtype)
    assert one.itl_alone_s == pytest.approx(batched_decode_step_s(row, H200, 1, dtype))
    assert one.itl_full_s == pytest.approx(batched_decode_step_s(row, H200, 64, dtype))
    assert one.ttft_s == pytest.approx(prefill_step_s(row, H200, 2048, dtype=dtype))
    plain = speculation(
        Step(row, 1, 1, decode_step_s(row, H200, dtype), divided=True), H200, LINK, 0, 0.7, 0.1, dtype
    )
    assert plain.token_s == pytest.approx(one.itl_alone_s)
    assert plain.read_bytes == read_weight_bytes(row, dtype)


@each("key", MODELS)
def test_lab_01_and_lab_03_count_the_same_sums(key):
    row = MODELS[key]
    ledger = step_ledger(row, 1, 2)
    assert ledger.count("all_reduce") == Step(row, 2).all_reduces
    assert {entry.payload_bytes for entry in ledger} == {Step(row, 2).payload_bytes}


def test_a_mixture_reads_the_experts_that_are_met_and_not_all_of_them():
    """Mixtral routes a token to 2 of 8 experts: 25.8 GB with the tables, not 93.4; 64 tokens meet all of them."""
    row = MODELS["mixtral-8x7b"]
    assert held_weight_bytes(row) / 1e9 == pytest.approx(93.4, abs=0.05)
    assert step_weight_bytes(row) / 1e9 == pytest.approx(2 * 12_879_925_248 / 1e9, rel=1e-3)
    assert step_weight_bytes(row, tokens=64) == pytest.approx(held_weight_bytes(row))
    assert weight_streaming_s(row, H200, counted="step") == decode_step_s(row, H200)


@pytest.mark.parametrize("key", ["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "llama-3-8b"])
def test_from_the_ridge_on_arithmetic_is_longer_than_reading(key):
    row = MODELS[key]
    ridge = ridge_batch(row, H200, row.weight_dtype)
    step_s = decode_step_s(row, H200, row.weight_dtype, ridge)
    below, above = (batched_decode_step_s(row, H200, round(part * ridge), row.weight_dtype) for part in (0.5, 2))
    assert below == decode_step_s(row, H200, row.weight_dtype, round(ridge / 2))
    assert above == pytest.approx(2 * step_s, rel=1e-2)


def test_a_prompt_in_8_bits_is_multiplied_in_8_bits_where_the_gpu_does():
    """The planner counts so; lab 03 and lab 04 divided by the bf16 rate."""
    row = MODELS["deepseek-v3"]
    assert peak_flops(H200, "fp8") == 2 * H200.bf16_flops
    assert MFU * prefill_step_s(row, H200, 8192, dtype="fp8") == prefill_flops(row, 8192) / (2 * H200.bf16_flops)


def test_replicas_of_a_mixture_read_the_experts_that_their_half_meets():
    """Of 64 tokens a replica's 32 meet fewer of 256 experts; one token needs what one GPU would read, in both."""
    row, h200 = MODELS["qwen3-30b-a3b"], gpu("h200-sxm")
    one, many = (
        next(duel for duel in duels(row, h200, LINK, batch=batch) if duel.kind == "same batch") for batch in (1, 64)
    )
    assert one.allowed_s == pytest.approx(decode_step_s(row, h200) / 2)
    half, whole = (decode_step_s(row, h200, batch=tokens) for tokens in (32, 64))
    assert many.allowed_s == pytest.approx(half - whole / 2)


def test_lab_04_has_the_scenario_s_width_of_weights():
    """Its compositions were of bf16 weights whatever the panel said."""
    wide, narrow = (Compositions(Scenario(weight_dtype=dtype)).one for dtype in ("bf16", "int4"))
    assert narrow.itl_alone_s < 0.4 * wide.itl_alone_s
