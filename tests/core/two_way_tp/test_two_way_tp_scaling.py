"""Where TP begins to pay on a machine, and when two replicas do better: worked by hand on round numbers."""

import json
from dataclasses import replace
from itertools import count

import pytest

from core.catalog import gpu, link, model
from core.comm_cost.bill import tp_comm_time_per_step
from core.comm_cost.break_even import crossover_hidden_size
from core.errors import OutOfRangeError
from core.models.kv_cache import kv_bytes_per_token
from core.models.weights import held_weight_bytes, read_weight_bytes
from core.two_way_tp.predictions import WIDTHS, gpt
from core.two_way_tp.replicas import duels
from core.two_way_tp.run_log import RunLogError
from core.two_way_tp.scaling import crossover, curve, predicted, read_scaling


def written(fixed_us=100.0, memory=10e9, together=10e9, points=((64, 0.2), (4096, 170.0))):
    """A run of two ranks whose sums take fixed + n/(10 GB/s), half as long at best and twice as long at worst."""
    times = {"min": 0.5, "median": 1.0, "p95": 2.0, "mean": 1.1}
    sizes = (256, 8192, 32768, 131072, 524288, 1048576)
    took = {size: (fixed_us + size / 10e9 * 1e6) / 1e6 for size in sizes}
    return {
        "world_size": 2,
        "backend": "gloo",
        "sweep": [
            {"payload_bytes": size, "took_s": {name: share * took[size] for name, share in times.items()}}
            for size in sizes
        ],
        "memory_bytes_per_s": memory,
        "memory_together_bytes_per_s": together,
        "points": [
            {
                "hidden_size": width,
                "single_per_token_s": {name: share * one_ms / 1e3 for name, share in times.items()},
                "per_token_s": {name: share * one_ms / 2e3 for name, share in times.items()},
            }
            for width, one_ms in points
        ],
        "manifest": {
            "command": "torchrun",
            "date": "2026-01-31T12:00:00Z",
            "weights": "random, seed 7",
            "seed": 7,
            "threads_per_rank": 1,
            "load_average": 0.1,
            "hardware": {"cpu": "a CPU", "cores": 2, "gpus": []},
            "versions": {"python": "3.11", "torch": "2.13", "system": "Linux"},
        },
    }


def scaling(**changes):
    return read_scaling(json.dumps(written(**changes)))


def test_a_wide_model_streams_weights_and_five_sums():
    """d=4096: (24·4096² + 512·4096)·4 B = 1.619 GB: 161.9 ms alone, 80.95 ms halved.
    Five sums of 16 KiB at 100 + 1.64 µs and a gather of 2 KiB at 100.2 µs are 0.608 ms more."""
    both = predicted(scaling(), 4096)
    assert both.single_s == pytest.approx(161.9e-3, rel=1e-3)
    assert both.token_s == pytest.approx(80.95e-3 + 0.608e-3, rel=1e-3)


def test_a_narrow_model_is_launches_whatever_the_ranks():
    """d=64 streams 0.5 MB in 0.05 ms, less than the 0.2 ms a step takes to launch: TP=2 saves nothing and pays."""
    both = predicted(scaling(), 64)
    assert both.single_s == 0.2e-3
    assert both.token_s == pytest.approx(0.2e-3 + 6 * 100e-6, rel=1e-2)


def test_the_curves_weights_are_those_of_the_models_that_are_decoded():
    """The formula leaves out biases and norms: less than a hundredth from d=256 on."""
    for width, spec in WIDTHS.items():
        if width >= 256:
            formula = (24 * width**2 + 512 * width) * 4
            assert formula == pytest.approx(read_weight_bytes(spec, "fp32"), rel=1e-2)
        assert gpt(spec.key) == spec


def test_the_crossover_is_the_closed_form_where_only_sums_and_weights_count():
    """Without launches, per layer two sums: d* = sqrt(t·BW/(3b)). Two layers pay 6 collectives where it counts 4.

    sqrt(1.5 · 100e-6 · 10e9 / 12) = 354; the small table moves it by some percent.
    """
    run = scaling(points=((64, 1e-6),))
    closed = crossover_hidden_size(1.5 * 100e-6, 10e9, 2, 4)
    assert closed == pytest.approx(354, abs=1)
    assert crossover(run).usual == pytest.approx(closed, rel=0.05)


def test_the_band_comes_from_the_fastest_and_the_slowest_sums():
    """Half and twice the sum: the width goes with the root of it, 1/1.41 and 1.41."""
    found = crossover(scaling(points=((64, 1e-6),)))
    assert found.fast < found.usual < found.slow
    assert found.slow / found.fast == pytest.approx(2, rel=0.1)


def test_ranks_that_share_one_memory_never_gain():
    """Two processes with half of the bandwidth each stream no faster than one."""
    found = crossover(scaling(together=5e9))
    assert (found.usual, found.fast, found.slow) == (None, None, None)


def test_the_curve_runs_over_the_four_widths():
    drawn = curve(scaling(), steps=6)
    assert [round(point.hidden_size) for point in drawn] == [64, 128, 256, 512, 1024, 2048, 4096]


def test_a_width_is_two_layers_with_a_vocabulary_of_512():
    """The models that `distributed.run_curve` decodes: almost all of a step is layers."""
    assert {(spec.num_hidden_layers, spec.vocab_size) for spec in WIDTHS.values()} == {(2, 512)}
    assert [spec.num_attention_heads for spec in WIDTHS.values()] == [2, 4, 16, 64]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"points": []}', '{"world_size": 2}'])
def test_a_text_that_is_no_curve_is_refused(text):
    with pytest.raises(RunLogError, match=r"not a result of distributed\.run_curve"):
        read_scaling(text)


NVLINK, ETHERNET = link("nvlink-lab"), link("ethernet-10g-lab")
PAIR = model("llama-3-8b"), gpu("a100-80gb-sxm")


def test_on_nvlink_one_model_over_both_gpus_decodes_more():
    """Same batch: c = 0.386 ms below W/(2·BW) = 3.94 ms. 7.88 / (3.94 + 0.386) = 1.82 times as many tokens."""
    found = {duel.kind: duel for duel in duels(*PAIR, NVLINK)}
    assert found["same batch"].comm_s == pytest.approx(0.386e-3, rel=1e-2)
    assert found["same batch"].allowed_s == pytest.approx(3.94e-3, rel=1e-2)
    assert found["same batch"].gain == pytest.approx(1.82, abs=0.01)
    assert found["full memory"].tp_wins


def test_on_ethernet_two_replicas_do():
    """c = 6.82 ms against 3.94 ms; and a memory full of sequences sends a payload that many times as large."""
    found = {duel.kind: duel for duel in duels(*PAIR, ETHERNET)}
    assert not any(duel.tp_wins for duel in found.values())
    assert found["same batch"].gain == pytest.approx(7.88 / (3.94 + 6.82), rel=1e-2)


def test_a_full_memory_sums_as_many_sequences_as_fit_beside_the_weights():
    """Of 2,048 tokens each, in what two GPUs hold beyond one copy of the weights; one more would not fit."""
    spec, gpu_key = PAIR
    comm_s = next(duel for duel in duels(*PAIR, NVLINK) if duel.kind == "full memory").comm_s
    cache_bytes = 2 * gpu_key.usable_memory_bytes - held_weight_bytes(spec)
    sequences = next(n for n in count(1) if (n + 1) * 2048 * kv_bytes_per_token(spec) > cache_bytes)
    assert comm_s == tp_comm_time_per_step(spec, sequences, 2, NVLINK)
    assert comm_s != tp_comm_time_per_step(spec, sequences + 1, 2, NVLINK)


@pytest.mark.parametrize("over", [NVLINK, ETHERNET])
def test_prompts_are_arithmetic_which_replicas_divide_as_well_and_for_nothing(over):
    """T against T + 2c: whatever the link, c is paid for nothing."""
    prompts = duels(*PAIR, over)[-1]
    assert prompts.kind == "prompts"
    assert prompts.allowed_s == 0
    assert not prompts.tp_wins


def test_a_duel_is_won_exactly_where_the_sums_take_less_than_is_allowed():
    """On every link of the catalog: the gain and the threshold of core.comm_cost.break_even say the same."""
    for over in (replace(NVLINK, latency_s=alpha) for alpha in (1e-6, 1e-5, 3e-5, 6e-5, 1e-4, 1e-3)):
        for duel in duels(*PAIR, over)[:2]:
            assert duel.tp_wins == (duel.comm_s < duel.allowed_s)


def test_where_one_gpu_cannot_hold_the_model_there_are_no_replicas():
    """A 70B model in bf16 is 141 GB."""
    with pytest.raises(OutOfRangeError, match=r"does not fit in 8.* GB; TP=2 is the only way"):
        duels(model("llama-3-70b"), gpu("a100-80gb-sxm"), NVLINK)
    with pytest.raises(OutOfRangeError, match=r"weights=1.34 TB does not fit .* two GPUs are too few"):
        duels(model("deepseek-v3"), gpu("a100-80gb-sxm"), NVLINK)
