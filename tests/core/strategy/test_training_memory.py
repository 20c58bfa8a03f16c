"""Training memory: ZeRO's figure and table, Megatron's bytes a parameter, and nothing lost between the ranks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import model
from core.errors import IndivisibleError, OutOfRangeError
from core.models.parameters import total_parameters
from core.strategy.training.layout import Strategy, rank_parameters
from core.strategy.training.memory import (
    Job,
    Precision,
    gathered_bytes,
    model_states,
    training_memory,
)

GB = 1e9
TABLE_1 = {
    1: ((120, 120, 120), (2048, 2048, 2048), (16000, 16000, 16000)),
    4: ((52.5, 41.3, 30), (896, 704, 512), (7000, 5500, 4000)),
    16: ((35.6, 21.6, 7.5), (608, 368, 128), (4750, 2875, 1000)),
    64: ((31.4, 16.6, 1.88), (536, 284, 32), (4187, 2218, 250)),
    256: ((30.4, 15.4, 0.47), (518, 263, 8), (4046, 2054, 62.5)),
    1024: ((30.1, 15.1, 0.12), (513, 257, 2), (4011, 2013, 15.6)),
}
"""arXiv 1910.02054, table 1, GB a device: by number of ranks, models of 7.5B, 128B and 1T at ZeRO-1, 2 and 3."""

strategies = st.builds(
    Strategy,
    dp_size=st.sampled_from([1, 2, 8]),
    zero=st.integers(0, 3),
    reshard=st.booleans(),
    tp_size=st.sampled_from([1, 2, 4]),
    sequence_parallel=st.booleans(),
    pp_size=st.sampled_from([1, 2, 4]),
    recompute=st.sampled_from(["none", "selective", "full"]),
)


@pytest.mark.parametrize("ranks", TABLE_1)
def test_the_zero_papers_table_1_comes_out(ranks):
    """As printed: a large figure is cut to whole GB, a small one rounded to the digits shown."""
    for parameters, row in zip((7.5e9, 128e9, 1e12), TABLE_1[ranks], strict=True):
        for zero, printed in enumerate(row, start=1):
            ours = model_states(parameters, zero, ranks).total / GB
            assert 0 <= ours - printed < 1 if printed > 200 else ours == pytest.approx(printed, rel=0.005, abs=0.06)


@pytest.mark.parametrize(("zero", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_seven_and_a_half_billion_parameters_on_64_gpus(zero, gigabytes):
    """arXiv 1910.02054, figure 1: 16Ψ, 4Ψ + 12Ψ/64, 2Ψ + 14Ψ/64, 16Ψ/64."""
    assert round(model_states(7.5e9, zero, 64).total / GB, 1) == gigabytes


@pytest.mark.parametrize(
    ("precision", "alone", "spread"),
    [(Precision(gradient=4), 18, (6, 12)), (Precision(weight=4, gradient=4, optimizer=8), 16, (8, 8))],
    ids=["bf16", "fp32"],
)
def test_megatrons_bytes_a_parameter(precision, alone, spread):
    """docs/source/distrib_optimizer.md: bf16 with fp32 gradients 18, or 6 + 12/d; all fp32 16, or 8 + 8/d."""
    assert model_states(1, 0, 1, precision).total == alone
    for ranks in (2, 8, 64):
        assert model_states(1, 1, ranks, precision).total == spread[0] + spread[1] / ranks


@given(strategies)
def test_no_parameter_is_lost_or_kept_twice_but_the_norms(strategy):
    """Over stages and tensor-parallel ranks: all of Llama-3-8B, its norms once on each of t."""
    llama = model("llama-3-8b")
    held = sum(rank_parameters(llama, strategy, stage).total for stage in range(strategy.pp_size))
    norms = (2 * 32 + 1) * 4096
    assert held * strategy.tp_size == total_parameters(llama) + (strategy.tp_size - 1) * norms


@given(strategies, st.integers(1, 4))
def test_each_stage_of_zero_keeps_less_and_all_terms_are_there(strategy, microbatches):
    job = Job(sequence_tokens=1024, microbatches=microbatches)
    found = [training_memory(model("llama-3-8b"), replace(strategy, zero=zero), job) for zero in range(4)]
    states = [memory.weights + memory.gradients + memory.optimizer for memory in found]
    assert states == sorted(states, reverse=True)
    assert len({memory.activations for memory in found}) == 1
    for memory in found:
        assert memory.total == sum(
            (memory.weights, memory.gradients, memory.optimizer, memory.activations, memory.gathered)
        )


def test_a_shared_table_stands_on_both_ends_of_a_pipe():
    """Qwen2.5-0.5B shares its embedding: 136 of its 494 million parameters, held twice over two stages."""
    qwen = model("qwen2.5-0.5b")
    stages = [rank_parameters(qwen, Strategy(pp_size=2), stage) for stage in (0, 1)]
    assert sum(stage.total for stage in stages) == total_parameters(qwen) + 151_936 * 896


def test_experts_are_distributed_and_the_rest_is_whole_on_every_rank():
    """Mixtral over eight ranks: one expert of eight a layer; ZeRO has no replica of it left to spread it over."""
    mixtral = model("mixtral-8x7b")
    whole, distributed = (rank_parameters(mixtral, Strategy(dp_size=8, ep_size=ep)) for ep in (1, 8))
    assert distributed.experts == whole.experts / 8
    assert (distributed.layers, distributed.ends) == (whole.layers, whole.ends)
    states = training_memory(mixtral, Strategy(dp_size=8, zero=3, ep_size=8))
    assert states.weights == 2 * (distributed.experts + (distributed.layers + distributed.ends) / 8)


def test_fsdp_gathers_a_layer_at_a_time_or_the_larger_table():
    """Llama-3-8B: a layer has 218 million parameters, a table 525 million; undropped, all 8 billion stay."""
    llama = model("llama-3-8b")
    dropped, kept = (
        training_memory(llama, Strategy(dp_size=8, zero=3, reshard=reshard)) for reshard in (True, False)
    )
    assert dropped.gathered == 2 * 128_256 * 4096
    assert kept.gathered == 2 * total_parameters(llama)
    large = rank_parameters(model("llama-3.1-405b"), Strategy(dp_size=8, zero=3))
    assert gathered_bytes(large, Strategy(dp_size=8, zero=3), Job().precision) == 2 * large.layers / 126


def test_one_gpu_gathers_nothing_and_shards_nothing():
    llama = model("llama-3-8b")
    alone = [training_memory(llama, Strategy(zero=zero)) for zero in range(4)]
    assert {memory.gathered for memory in alone} == {0}
    assert {memory.weights + memory.gradients + memory.optimizer for memory in alone} == {
        16 * total_parameters(llama)
    }


def test_a_composition_is_written_as_the_field_writes_it():
    assert Strategy().name == "one GPU"
    assert Strategy(dp_size=8).name == "DDP × 8"
    composed = Strategy(dp_size=8, zero=3, tp_size=4, sequence_parallel=True, pp_size=2, ep_size=4)
    assert (composed.name, composed.world_size) == ("ZeRO-3 × 8, TP=4 + SP, PP=2, EP=4", 64)


@pytest.mark.parametrize(
    ("strategy", "error"),
    [
        (Strategy(tp_size=3), IndivisibleError),
        (Strategy(pp_size=5), IndivisibleError),
        (Strategy(dp_size=4, ep_size=4), OutOfRangeError),
    ],
)
def test_what_does_not_divide_is_refused(strategy, error):
    with pytest.raises(error):
        training_memory(model("llama-3-8b"), strategy)


def test_strategies_that_are_none_are_refused():
    for bad in ({"zero": 4}, {"recompute": "some"}, {"tp_size": 0}, {"dp_size": 6, "ep_size": 4}):
        with pytest.raises((OutOfRangeError, IndivisibleError)):
            Strategy(**bad)
    with pytest.raises(OutOfRangeError, match="stage=2"):
        rank_parameters(model("llama-3-8b"), Strategy(pp_size=2), 2)
