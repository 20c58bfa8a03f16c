"""The numbers the labs are known by, each out of core, with the assumption it needs.

The bill's own are in test_comm_cost.py; here stand the rest, and the ones that tie two labs together.
"""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import GPUS, LINKS, MODELS, gpu, link, model
from core.comm_cost.bill import Step, bill
from core.comm_cost.break_even import TwoGpus, crossover_hidden_size
from core.errors import OutOfRangeError
from core.models.kv_cache import kv_blocks, kv_bytes_per_token, kv_tokens, max_concurrency
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.bubble import bubble_fraction, bubble_overhead, microbatches_for_budget
from core.pipeline_bubble.schedules.serving import Pipe, chunked_prefill_time, steady_decode
from core.text.question import shown
from core.two_way_tp.spend import HOURS_A_DAY, cost_usd, hours_for
from core.units import GB, GIB, percent


@given(st.sampled_from(list(MODELS.values())), st.sampled_from(list(LINKS.values())))
def test_every_catalog_model_is_priced(row, over):
    """Every all-reduce of the row, two a layer in most, on every link, and dearer with more ranks."""
    two, eight = (bill(Step(row, ranks), over) for ranks in (2, 8))
    assert two.step.all_reduces == row.all_reduces == (row.all_reduces if row.kinds else 2 * row.num_hidden_layers)
    assert two.step.payload_bytes == 2 * row.hidden_size
    assert 0 < two.comm_s < eight.comm_s
    assert 0 < two.comm_fraction < 1


def test_a_70b_pays_twice_the_payload_for_nearly_nine_times_the_weights():
    """hidden 8192 against 4096, 70.55 against 8.03 billion parameters: so its fraction falls."""
    small, large = model("llama-3-8b"), model("llama-3-70b")
    assert large.hidden_size == 2 * small.hidden_size
    assert held_weight_bytes(large) / held_weight_bytes(small) == pytest.approx(8.8, abs=0.05)


def test_a_tenth_of_the_pipe_idles_at_exactly_63_microbatches():
    """7 / 70 is a tenth exactly: 63 meets the budget, and only 64 is under it. 1 - 63/70 is not 0.1 in floats."""
    assert bubble_fraction(8, 63) == Fraction(1, 10)
    assert 1 - 63 / 70 != 0.1
    assert microbatches_for_budget(8, "0.1") == 63
    assert microbatches_for_budget(8, "0.1", under=True) == 64
    assert bubble_overhead(8, 63) == Fraction(1, 9)


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
def test_steady_decode_fills_the_pipe_with_as_many_microbatches_as_stages(stages):
    """Equal stages, free links: m* = p. More microbatches in flight only wait longer."""
    pipe = Pipe((1,) * stages)
    full, more = steady_decode(pipe, stages), steady_decode(pipe, 2 * stages)
    assert full.items_per_time == more.items_per_time == 1
    assert more.cycle == 2 * full.cycle


def test_chunked_prefill_is_what_a_pipeline_gains_in_latency():
    """np / (n+p-1): 8 chunks on 4 stages take 11 chunk times instead of 32."""
    assert chunked_prefill_time(4, 8, 1) == 11
    assert Fraction(8 * 4, chunked_prefill_time(4, 8, 1)) == Fraction(32, 11)


def test_a_1b_model_is_2_47_gb_and_2_30_gib():
    """Half of it is 1.24 GB, not GiB: "1.24 + 1.24 = 2.48 GiB" is a slip in the unit."""
    weights = held_weight_bytes(model("llama-3.2-1b"))
    assert weights / GB == pytest.approx(2.472, abs=5e-4)
    assert weights / GIB == pytest.approx(2.302, abs=5e-4)
    assert weights / 2 / GB == pytest.approx(1.236, abs=5e-4)


def test_kv_blocks_more_than_double_at_tp_2():
    """A block is half as large on each rank, and half the weights make room besides."""
    row, usable = model("llama-3-8b"), 0.9 * gpu("a100-40gb-sxm").usable_memory_bytes
    one = kv_blocks(usable - held_weight_bytes(row), row, 1)
    two = kv_blocks(usable - held_weight_bytes(row) / 2, row, 2)
    assert two > 2 * one


def test_a_startup_log_of_qwen3_14b_comes_out():
    """6.51 GiB available at TP=1, as a vLLM log printed it: 163,840 B a token, 42,656 tokens, 1.30 x 32,768."""
    row = model("qwen3-14b")
    assert kv_bytes_per_token(row) == 163_840
    assert kv_tokens(6.51 * GIB, row, 1) == pytest.approx(42_656, abs=16)
    assert max_concurrency(6.51 * GIB, row, 1, 32_768) == pytest.approx(1.30, abs=0.005)


def test_two_rtx_4090_have_no_nvlink():
    assert not GPUS["rtx-4090"].nvlink
    assert GPUS["h100-sxm"].nvlink


def test_a_forgotten_gpu_costs_16_80_a_day_and_three_dollars_last_4_29_hours():
    assert cost_usd(0.70, HOURS_A_DAY) == pytest.approx(16.80)
    assert hours_for(3, 0.70) == pytest.approx(4.29, abs=0.005)


@pytest.mark.parametrize(("width", "all_reduce_us"), [(1024, 6.2), (2048, 25)])
def test_the_width_where_two_4090s_start_to_pay(width, all_reduce_us):
    """fp16 at 1.008 TB/s: widths of 1024 to 2048 mean all-reduces of 6.2 to 25 µs."""
    speed = gpu("rtx-4090").memory_bytes_per_s
    assert crossover_hidden_size(1e-6 * all_reduce_us, speed, 2) == pytest.approx(width, rel=0.01)


def test_at_two_ranks_the_crossover_is_the_root_of_t_bw_over_3b():
    assert crossover_hidden_size(3e-6, 2e12, 2) == pytest.approx((3e-6 * 2e12 / (3 * 2)) ** 0.5)
    with pytest.raises(OutOfRangeError, match="tp_size=1"):
        crossover_hidden_size(3e-6, 2e12, 1)


def throughput(room_bytes: float, step_s: float, kv_bytes: float) -> float:
    return room_bytes / kv_bytes / step_s


@pytest.mark.parametrize("comm_share", [0.9, 1.1])
def test_tp_or_two_replicas_turns_at_the_formula_when_memory_is_full(comm_share):
    """Both fill their GPUs and stream all of it each step: count tokens/s on either side of the threshold."""
    weights, usable, speed, kv = 16.06e9, 79e9, 2.039e12, 1e9
    pair = TwoGpus(weights, usable, speed)
    comm_s = comm_share * pair.comm_at_full_memory_s()
    replicas = 2 * throughput(usable - weights, usable / speed, kv)
    sharded = throughput(2 * usable - weights, usable / speed + comm_s, kv)
    assert (sharded > replicas) == (comm_share < 1)


@pytest.mark.parametrize("comm_share", [0.9, 1.1])
def test_tp_or_two_replicas_turns_at_the_formula_at_the_same_batch(comm_share):
    """Eight sequences of 1 GB: two replicas of four, or eight over two ranks."""
    weights, speed, kv = 16.06e9, 2.039e12, 1e9
    comm_s = comm_share * weights / (2 * speed)
    replica_step_s = (weights + 4 * kv) / speed
    sharded_step_s = (weights + 8 * kv) / (2 * speed) + comm_s
    assert (sharded_step_s < replica_step_s) == (comm_share < 1)


def test_on_nvlink_the_labs_model_wants_tp_and_on_ethernet_replicas():
    """W / 2BW is 3.94 ms: a bill of 0.386 ms is below it, one of 6.82 ms above."""
    row, gpu_spec = model("llama-3-8b"), gpu("a100-80gb-sxm")
    turn_s = held_weight_bytes(row) / (2 * gpu_spec.memory_bytes_per_s)
    inside, across = (bill(Step(row, 2), link(key)) for key in ("nvlink-lab", "ethernet-10g-lab"))
    assert inside.comm_s < turn_s < across.comm_s


def test_where_one_gpu_cannot_hold_the_model_there_are_no_replicas():
    with pytest.raises(OutOfRangeError, match="TP=2 is the only way"):
        TwoGpus(141e9, 79e9, 2e12).comm_at_full_memory_s()


@pytest.mark.parametrize(
    ("fraction", "decimals", "written"),
    [(0.46, 1, "46.0 %"), (0.001, 1, "0.1 %"), (0.00095, 1, "0.095 %"), (0.0099, 0, "0.99 %"), (0, 1, "0.0 %")],
)
def test_a_share_below_its_last_decimal_is_written_in_two_figures(fraction, decimals, written):
    assert percent(fraction, decimals).replace("\u00a0", " ") == written


def test_a_count_is_written_whole_where_it_is_whole():
    assert [shown(value, "count") for value in (8192.0, 2.5)] == ["8\u202f192", "2.5"]
