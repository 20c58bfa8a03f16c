"""Published rows read as times, and the terms of what they say was run."""

from dataclasses import replace

import pytest

from core.catalog import gpu, link, model
from core.errors import UnknownNameError
from core.evidence.published import read_published
from core.evidence.published_names import published_dtype, published_gpu, published_model
from core.evidence.published_terms import _most_resident, fits, prediction
from core.models.kv_cache import kv_bytes_per_token
from core.models.parameters import total_parameters
from core.models.weights import read_weight_bytes
from core.steps.model import Efficiency, TensorGroup, decode_terms, prefill_terms
from tests.core.evidence.published_rows import GPT_FAST, QWQ, SATURATED
from tests.each import each


def read(row):
    table = read_published([row])
    assert not table.skipped, table.skipped[0].reason
    return table.measurements[0]


def reason(row):
    return read_published([row]).skipped[0].reason


def test_a_decode_rate_is_a_time_a_token():
    """104.9 tokens/s at batch 1 are 9.53 ms."""
    found = read(GPT_FAST)
    assert found.measured_s == pytest.approx(9.533e-3, rel=1e-4)
    assert (found.quantity, found.arrival, found.model.key) == ("decode", "static", "llama-2-7b")


@pytest.mark.parametrize(
    ("metric", "value", "quantity", "seconds"),
    [
        ("ITL ms", "18.58", "decode", 18.58e-3),
        ("mean TPOT ms", "12.99", "decode", 12.99e-3),
        ("first token latency ms", "16", "first_token", 16e-3),
        ("latency s", "6.07", "run", 6.07),
        ("latency ms", "509.47", "run", 0.50947),
        ("tokens/s/user", "50", "decode", 0.02),
        ("output tokens/s", "400", "run", 0.5),
        ("throughput tokens/s (input + output)", "420", "run", 0.5),
        ("decode ms/token", "29", "decode", 29e-3),
    ],
)
def test_each_metric_has_its_quantity_and_unit(metric, value, quantity, seconds):
    """One sequence of 10 tokens in and 200 out."""
    found = read(replace(GPT_FAST, in_len="10", out_len="200", metric=metric, value=value))
    assert (found.quantity, found.measured_s) == (quantity, pytest.approx(seconds))


@pytest.mark.parametrize(
    ("metric", "value", "tokens_per_s"),
    [("output tokens/s", "5000", 5000), ("requests/s", "5", 10_240), ("tokens/s per GPU", "700", 1400)],
)
def test_a_full_server_s_rates_are_times_of_one_output_token(metric, value, tokens_per_s):
    found = read(replace(SATURATED, tp="2", metric=metric, value=value))
    assert (found.quantity, found.batch) == ("saturated", None)
    assert 1 / found.measured_s == pytest.approx(tokens_per_s)


def test_a_rate_beside_the_time_of_its_run_is_counted_once():
    rate = replace(QWQ, metric="output tokens/s", value="528")
    table = read_published([QWQ, rate])
    assert [found.printed for found in table.measurements] == ["6.07 latency s"]
    assert table.skipped[0].metric == rate.metric
    assert len(read_published([rate]).measurements) == 1


@each(
    ("changed", "said"),
    [
        ({"gpu": "TPU v4"}, "no GPU named"),
        ({"model": "PaLM-540B"}, "no model named"),
        ({"dtype": "ternary"}, "no dtype named"),
        ({"batch": "low"}, "batch is not stated"),
        ({"tp": "0"}, "tp is not stated"),
        ({"in_len": ""}, "in_len is not stated"),
        ({"value": "nan"}, "no measurement"),
        ({"value": "fast"}, "no measurement: fast"),
        ({"metric": "p99 ITL ms"}, "not a mean time"),
        ({"metric": "memory bandwidth GB/s per GPU"}, "not a mean time"),
        ({"metric": "joules"}, "not read"),
        ({"metric": "TTFT ms", "batch": "25"}, "a queue, not a prefill"),
        ({"metric": "TTFT ms", "note": "batch = number of prompts sent at once"}, "cached prefix"),
        ({"tp": "2", "gpu": "A100-80GB, two nodes"}, "network is not named"),
        ({"tp": "16"}, "network is not named"),
        ({"gpu": "H100 NVL 94GB"}, "no GPU named"),
        ({"note": "speculative decoding, draft 1B"}, "guessed ahead"),
    ],
)
def test_what_cannot_be_held_against_a_step_model_says_why(changed, said):
    assert said in reason(replace(GPT_FAST, **changed))


def test_sequences_that_sglang_sets_aside_are_no_step():
    """Gemma 4 31B on an MI300X, 1,000 in and 1,000 out: 64 fit, 4,096 do not, and vLLM lets those wait outside."""
    row = replace(
        GPT_FAST,
        source="SGLang",
        model="gemma-4-31b",
        gpu="MI300X",
        in_len="1000",
        out_len="1000",
        metric="TPOT ms",
    )
    assert read(replace(row, batch="64", value="62.93")).engine == "sglang"
    assert "set aside" in reason(replace(row, batch="4096", value="1524.16"))
    assert read(replace(row, batch="4096", value="1524.16", source="vLLM")).quantity == "decode"


def test_a_cached_prefix_is_told_by_the_data_sheet():
    """Qwen2-7B, 1,024 tokens, in 36 ms on an A100: at 312 TFLOPS its arithmetic alone takes 43."""
    prefill = prefill_terms(model("qwen2-7b"), gpu("a100"), TensorGroup(1, link("nvlink-3")), 1024)
    assert prefill.arithmetic_s == pytest.approx(43.5e-3, rel=0.02)
    assert prefill.roofline_s > 36.46e-3


def test_ranks_over_nodes_take_the_network_that_is_named():
    row = replace(GPT_FAST, model="Megatron-530B", gpu="A100-80GB SXM (nodes on 8x200 Gb/s IB)", tp="16")
    group = read(row).group
    assert (group.tp_size, group.gpus_per_node, group.network.key) == (16, 8, "ib-hdr")


def test_expert_ranks_multiply_the_tensor_ranks():
    """Mixtral on one GPU of 40 GB would be faster than its memory: the note says EP 4."""
    assert read(replace(QWQ, note="EP 4 TensorRT-LLM")).group.tp_size == 8


@pytest.mark.parametrize(
    ("name", "key", "over"),
    [
        ("A100 (40 GB class)", "a100-40gb-sxm", "nvlink-3"),
        ("A100-40G", "a100-40gb-sxm", "nvlink-3"),
        ("A100-80GB (330 W, hybrid cube mesh)", "a100-80gb-sxm", "nvlink-3"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm", "nvlink-4"),
        ("H100 PCIe", "h100-pcie", "pcie-5"),
        ("A100 80GB PCIe", "a100-80gb-pcie", "pcie-4"),
        ("GB200 NVL72", "gb200", "nvlink-5"),
        ("4x NVIDIA L4", "l4", "pcie-4"),
        ("GeForce RTX 4090", "rtx-4090", "pcie-4-no-p2p"),
        ("8x MI300X", "mi300x", "xgmi-mi300x"),
    ],
)
def test_a_gpu_is_known_by_what_tables_call_it(name, key, over):
    found, its_link = published_gpu(name)
    assert (found.key, its_link.key) == (key, over)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("fp16", "fp16"),
        ("BF16", "bf16"),
        ("FP8 (E4M3)", "fp8"),
        ("int4-g32", "int4-g32"),
        ("AWQ", "int4-g128"),
        ("fp4", "nvfp4"),
    ],
)
def test_a_dtype_is_known_by_what_tables_call_it(name, dtype):
    assert published_dtype(name) == dtype


def test_gpt_fast_keeps_zero_points_in_16_bits():
    assert read(replace(GPT_FAST, dtype="int4-g32")).dtype == "int4-g32-z16"
    assert read(replace(QWQ, dtype="int4-g32")).dtype == "int4-g32"


@pytest.mark.parametrize(
    ("name", "billions"),
    [("GPT-175B", 174.6), ("GPT-89B", 87.6), ("Megatron-530B", 529.6), ("Falcon-180B", 179.5), ("QwQ-32B", 32.8)],
)
def test_shapes_that_stand_in_tables_alone_have_the_parameters_they_are_called_by(name, billions):
    """GPT-89B is 87.6: 48 layers of 12,288, as its guide prints them."""
    assert total_parameters(published_model(name)) / 1e9 == pytest.approx(billions, abs=0.05)


def test_an_unknown_model_is_refused():
    with pytest.raises(UnknownNameError):
        published_model("GPT-5")


def test_a_decode_is_one_step_at_its_average_context():
    """gpt-fast's 200 tokens behind a prompt of five: 105 on average."""
    found = prediction(read(GPT_FAST))
    step = decode_terms(model("llama-2-7b"), gpu("a100"), TensorGroup(1, link("nvlink-3")), 1, 105)
    assert found.terms == step
    assert found.roofline_s == step.roofline_s < 9.533e-3


def test_a_static_run_is_its_prompts_and_then_its_steps():
    """16 sequences of one token in and 200 out: one prefill, and 199 steps of all at 101 tokens."""
    group = TensorGroup(2, link("nvlink-3"))
    shape = model("qwen2.5-32b"), gpu("a100"), group
    whole = prefill_terms(*shape, 1, 16).plus(decode_terms(*shape, 16, 101).times(199))
    assert prediction(read(QWQ)).terms.work_s == pytest.approx(whole.work_s)


def test_a_batch_that_does_not_fit_runs_in_rounds():
    """Llama-2-7B in 40 GB: 64 sequences of 4,096 tokens want 137 GB of keys and values, and there are some 20."""
    row = replace(QWQ, model="Llama-2-7B", gpu="A100 40GB", tp="1", batch="64", in_len="2048", out_len="2048")
    small = read(row)
    assert not fits(small)
    assert fits(read(replace(row, gpu="H200", tp="2")))
    alone = prediction(read(replace(row, batch="1"))).terms
    assert prediction(small).terms.weights_s > 5 * alone.weights_s


def test_other_prompts_lengthen_a_step_in_a_closed_loop_and_half_as_much_in_a_burst():
    """25 users, 500 tokens each: every step 24/500 of a prompt is read between; of a burst, half."""
    row = replace(GPT_FAST, in_len="5000", out_len="500", batch="25", metric="ITL ms", value="38.75", gpu="H200")
    closed = read(row)
    burst = read(replace(row, note="batch = number of prompts sent at once"))
    prompt = prefill_terms(closed.model, closed.gpu, closed.group, 5000).arithmetic_s
    between = prediction(closed).terms.arithmetic_s - prediction(burst).terms.arithmetic_s
    assert between == pytest.approx(24 / 500 * prompt / 2)


def test_floats_of_tensorrt_llm_keep_an_eight_bit_cache():
    """In 16 bits the L40S would have been 7 % faster than its memory."""
    found = read(SATURATED)
    assert found.kv_dtype == "fp8"
    assert prediction(found).roofline_s < found.measured_s < prediction(replace(found, kv_dtype="bf16")).roofline_s


@pytest.mark.parametrize(("note", "width"), [("fp8 KV cache", "fp8"), ("kv cache int8", "int8"), ("bf16", "bf16")])
def test_a_note_names_the_cache_s_width(note, width):
    assert read(replace(GPT_FAST, note=note)).kv_dtype == width


def test_what_ran_out_of_memory_does_not_fit_by_our_count():
    """gpt-fast: Llama-2-70B in bf16 on one A100; on two it ran."""
    row = replace(GPT_FAST, model="Llama-2-70B", value="OOM")
    table = read_published([row, replace(row, tp="2", value="21.32")])
    assert [fits(found) for found in (*table.out_of_memory, *table.measurements)] == [False, True]


def test_a_prediction_is_never_under_its_roofline():
    found = prediction(read(SATURATED))
    assert found.predicted_s(Efficiency(1.0, 0.0)) >= found.roofline_s


def test_the_most_that_run_at_once_have_half_of_their_answers_behind_them():
    """Llama-3-8B on one H100: what its weights leave of the driver's memory, in caches of 1,000 + 500 tokens."""
    spec, device = model("llama-3-8b"), gpu("h100-sxm")
    asked = replace(
        read(SATURATED), model=spec, gpu=device, group=TensorGroup(1, link("nvlink-4")), pp_size=1,
        dtype="bf16", kv_dtype="bf16", batch=None, prompt_tokens=1000, output_tokens=1000,
    )  # fmt: skip
    free_bytes = device.usable_memory_bytes - read_weight_bytes(spec, "bf16", 1e9)
    assert _most_resident(asked) == pytest.approx(free_bytes / (1500 * kv_bytes_per_token(spec)))
