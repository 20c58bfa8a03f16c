"""What a rank's weights weigh, against the figures that engines printed in public startup logs."""

import pickle
import subprocess
import sys
from collections import Counter

import pytest

from core.catalog import MODELS, model
from core.errors import IndivisibleError, OutOfRangeError, UnknownNameError
from core.models.loaded_weights import (
    Stage,
    StoredTensor,
    allocated_by_group,
    allocated_bytes,
    loaded_weight_bytes,
    rank_tensors,
    reserved_bytes,
    stages,
)
from core.models.parameters import total_parameters
from core.models.weight_formats import FORMATS
from core.units import GIB, MIB


@pytest.mark.parametrize(
    ("name", "tp_size", "logged_gib"),
    [
        ("llama-3-8b", 4, 3.7418),  # genlm/genlm-backend issue 10
        ("llama-3.1-8b", 1, 14.9888),  # vllm-project/vllm issue 10517
        ("qwen2.5-32b", 4, 15.3916),  # leadawon/structrag vllm.log
        ("qwen2-7b", 1, 14.2488),  # dennislee22/vLLM-benchmarking, one A100
        ("qwen2-7b", 2, 7.1217),  # the same, two A100
        ("qwen3-32b", 8, 7.6871),  # DaisukeTakai/eval_dataset vllm_predict.log
        ("qwen3-8b", 1, 15.2684),  # a deployment of vLLM on Ascend
        ("llama-3.1-8b", 8, 1.9028),  # mlcommons/inference issue 2267
        ("llama-3.1-405b", 32, 24.4023),  # vllm-project/vllm issue 6689: four ranks share each key-value head
    ],
)
def test_dense_bf16_weights_meet_the_log_to_four_decimals(name, tp_size, logged_gib):
    """0.004 %: half a MiB of 7 GiB is 0.007 %, and a log prints four decimals."""
    assert loaded_weight_bytes(model(name), tp_size) / GIB == pytest.approx(logged_gib, rel=4e-5)


@pytest.mark.parametrize(
    ("name", "tp_size", "dtype", "logged_gib"),
    [
        ("qwen3-30b-a3b", 4, "bf16", 14.2474),  # vllm-project/vllm issue 17469
        ("llama-3.1-8b", 1, "fp8", 8.4926),  # vLLM 0.6.3, fp8 made at loading
        ("llama-3.1-70b", 1, "int8", 67.7229),  # vllm-project/vllm pull 12569, w8a8
        ("qwen3-30b-a3b-2507", 2, "int4", 7.8951),  # hanzhizhz/prograph vllm.log, w4a16
        ("deepseek-r1", 8, "fp8", 79.41),  # HabanaAI/vllm-fork issue 809
        ("deepseek-r1", 16, "awq", 21.21),  # vllm-project/vllm pull 14447
    ],
)
def test_mixtures_and_quantised_weights_meet_it_to_a_third_of_a_percent(name, tp_size, dtype, logged_gib):
    """Scales and kernels' copies are not all counted, so these are looser than dense bf16."""
    assert loaded_weight_bytes(model(name), tp_size, dtype=dtype) / GIB == pytest.approx(logged_gib, rel=3e-3)


def test_the_two_stages_of_a_latent_attention_mixture_differ_as_logged():
    """DeepSeek-V2.5 over TP 8 and PP 2 printed 27.63 GiB on the first stage, which holds the dense layer."""
    spec = model("deepseek-v2.5")
    first, last = (loaded_weight_bytes(spec, 8, stage) / GIB for stage in stages(spec, 2))
    assert (first, last) == (pytest.approx(27.63, rel=1e-3), pytest.approx(28.48, rel=1e-3))


def test_an_allocator_hands_out_whole_two_mib_to_a_large_tensor():
    """62.5 MiB leaves 1.5 MiB of its 64, which is split off; 31.25 leaves 0.75, which is not."""
    assert allocated_bytes(125 * MIB // 2) == 125 * MIB // 2
    assert allocated_bytes(125 * MIB // 4) == 32 * MIB
    assert allocated_bytes(1) == 512


def test_sglang_prints_segments_where_vllm_prints_tensors():
    """Llama-3.1-8B: vLLM logs 14.9888 GiB, SGLang 15.02 with a rotary table twice as wide."""
    tensors = rank_tensors(model("llama-3.1-8b"), rope_bytes=4)
    assert reserved_bytes(tensors) / GIB == pytest.approx(15.02, abs=0.005)


@pytest.mark.parametrize("name", ["llama-3-8b", "qwen2.5-1.5b", "mixtral-8x7b", "opt-13b", "deepseek-v3"])
def test_one_rank_holds_every_parameter_once(name):
    """Counted, tensor by tensor, against the closed form; the rotary table and padding are what is over."""
    spec = model(name)
    held = sum(t.copies * t.size_bytes for t in rank_tensors(spec) if t.name != "rotary table")
    padded_rows = -spec.vocab_size % 64 * (1 if spec.tie_word_embeddings else 2)
    assert held == 2 * (total_parameters(spec) + padded_rows * spec.hidden_size)


def test_layers_left_over_go_to_the_stages_before_the_last():
    """61 layers over two stages print as [31, 30], 43 as [22, 21]; a hand-set partition is taken as it is."""
    spec = model("deepseek-r1")
    assert [stage.layers for stage in stages(spec, 2)] == [31, 30]
    assert [stage.layers for stage in stages(spec, 3)] == [20, 21, 20]
    assert [stage.layers for stage in stages(spec, 3, [22, 20, 19])] == [22, 20, 19]
    with pytest.raises(OutOfRangeError, match="sum to 61"):
        stages(spec, 2, [31, 31])


def test_what_does_not_divide_is_refused():
    with pytest.raises(IndivisibleError, match="num_attention_heads"):
        loaded_weight_bytes(model("qwen2-7b"), 8)
    with pytest.raises(UnknownNameError):
        loaded_weight_bytes(model("qwen2-7b"), 1, dtype="fp3")


def test_every_format_is_at_most_as_wide_as_the_one_before_training():
    """A quantised element with its scales is never wider than bf16."""
    assert all(f.linear_bytes <= 2 and f.expert_bytes <= 2 for f in FORMATS.values() if f.key != "fp32")


def test_a_stage_may_have_both_ends_whole():
    """Two middle stages of four differ from their like by an embedding and a head, and by the final norm."""
    spec = model("qwen3-30b-a3b")
    middle = stages(spec, 4)[1]
    whole = Stage(middle.first_layer, middle.layers, middle.of_layers, whole_ends=True)
    more = loaded_weight_bytes(spec, 1, whole) - loaded_weight_bytes(spec, 1, middle)
    assert more == 2 * allocated_bytes(spec.vocab_size * spec.hidden_size * 2) + spec.hidden_size * 2


def test_kernels_pad_experts_to_their_tiles():
    """2,880 wide over four ranks is 720: Marlin makes it 768 of 3,072. By one rank it is 2,944 of 3,072."""
    for tp_size, inner in ((4, 768), (1, 2944)):
        parts = {t.name: t.size_bytes for t in rank_tensors(model("gpt-oss-120b"), tp_size, dtype="mxfp4-marlin")}
        assert parts["experts down"] == 128 * inner * 3072 * 17 // 32
        assert parts["experts down bias"] == 128 * 3072 * 2


def test_segments_hold_every_copy_of_a_tensor():
    """Three of 1 MiB fill two of 2 MiB, three of 9 MiB two of 20 MiB; of 11 MiB each has 12."""
    small, middling, large = (reserved_bytes([StoredTensor("x", 3, size * MIB)]) for size in (1, 9, 11))
    assert (small, middling, large) == (4 * MIB, 40 * MIB, 36 * MIB)


@pytest.mark.parametrize("name", MODELS)
def test_a_stages_weights_by_group_are_those_of_its_tensors(name):
    spec = model(name)
    for tp_size, pp_size in ((1, 1), (2, 3), (4, 2)):
        for stage in stages(spec, pp_size):
            told = Counter()
            try:
                tensors = rank_tensors(spec, tp_size, stage, spec.weight_dtype)
            except IndivisibleError:
                with pytest.raises(IndivisibleError):
                    allocated_by_group(spec, tp_size, stage, spec.weight_dtype)
                continue
            for tensor in tensors:
                told[tensor.group] += tensor.copies * allocated_bytes(tensor.size_bytes)
            sizes = allocated_by_group(spec, tp_size, stage, spec.weight_dtype)
            assert {group: size for group, size in sizes.items() if size} == told


def test_a_model_is_the_same_key_in_a_process_whose_hashes_are_others():
    """Its hash is worked out once, and does not go along to a worker."""
    hash(model("mixtral-8x7b"))
    sent = pickle.dumps(model("mixtral-8x7b"))
    asked = "import pickle, sys; from core.catalog import model; one = pickle.load(sys.stdin.buffer); "
    asked += "print(one == model(one.key), hash(one) == hash(model(one.key)))"
    answered = subprocess.run(
        [sys.executable, "-c", asked], input=sent, capture_output=True, check=True, env={"PYTHONHASHSEED": "1"}
    )
    assert answered.stdout.split() == [b"True", b"True"]
