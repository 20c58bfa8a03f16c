"""The catalog resolves the names people and logs use, and every row is usable and sourced."""

import re

import pytest

from core.catalog import GPUS, LINKS, MODELS, gpu, link, model
from core.catalog.measured_link import measured_link
from core.errors import OutOfRangeError, UnknownNameError
from core.specs import DTYPE_BYTES
from tests.each import each


@each(
    ("name", "key"),
    [
        ("llama-3-8b", "llama-3-8b"),
        ("LLAMA-3-8B", "llama-3-8b"),
        ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"),
        ("/data/models/Meta-Llama-3.1-8B-Instruct-AWQ-INT4/", "llama-3.1-8b"),
        (r"C:\\models\\Meta-Llama-3-70B", "llama-3-70b"),
        ("/root/.cache/huggingface/hub/models--meta-llama--Llama-3.2-1B/snapshots/4e20de3", "llama-3.2-1b"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ", "mixtral-8x7b"),
        ("Qwen/Qwen2.5-14B-Instruct", "qwen2.5-14b"),
        ("deepseek-ai/DeepSeek-V3", "deepseek-v3"),
        ("Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b-fp8"),
        ("/models/vllm-ascend/Qwen3-235B-A22B-W8A8", "qwen3-235b-a22b"),
        ("/models/Qwen3-30B-A3B-Instruct-2507-Int4-W4A16", "qwen3-30b-a3b-2507"),
        ("mistralai/Mistral-7B-Instruct-v0.1", "mistral-7b"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"),
        ("/tmp/CodeLlama-13b-Instruct-hf", "codellama-13b"),
        ("meta-llama/Llama-2-13b-chat-hf", "llama-2-13b"),
        ("neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", "llama-3.1-70b"),
        ("bartowski/Qwen2.5-7B-Instruct-Q4_K_M", "qwen2.5-7b"),
        ("deepseek-ai/DeepSeek-R1-AWQ", "deepseek-r1"),
        ("google/gemma-3-12b-it", "gemma-3-12b"),
        ("google/gemma-3-27b-it", "gemma-3-27b"),
    ],
)
def test_a_model_is_found_by_key_repository_variant_or_path(name, key):
    assert model(name).key == key


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "llama",
        "meta-llama",
        "llama-3-9b",
        "instruct",
        "-instruct",
        "Qwen3-32B-Eagle3",
        "Qwen2.5-7B-Instruct-1M",
    ],
)
def test_a_name_that_is_no_model_is_refused_with_three_that_are(name):
    with pytest.raises(UnknownNameError, match=r"the nearest: [\w.-]+, [\w.-]+, [\w.-]+$") as refused:
        model(name)
    assert all(key in MODELS for key in str(refused.value).partition("nearest: ")[2].split(", "))


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Qwen/Qwen3.8-2.4T-A95B", "qwen3.5-122b-a10b"),
        ("zai-org/GLM-5.3", "glm-5.2"),
        ("mistralai/Mistral-Medium-3.5-128B", "mistral-nemo-12b"),
        ("meta-llama/Lama-3-8B", "llama-3-8b"),
    ],
)
def test_a_model_of_no_row_is_told_the_nearest_of_its_makers(name, near):
    """No config of these was found, and a shape is not guessed."""
    with pytest.raises(UnknownNameError, match=re.escape(near)):
        model(name)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("deepseek-ai/DeepSeek-V4-Flash-0731", "deepseek-v4-flash"),
        ("deepseek-v4-flash-20260731", "deepseek-v4-flash"),
        ("DeepSeek-V4-Flash-2026-07-31-NVFP4", "deepseek-v4-flash"),
        ("openai/gpt-oss-120b-2508", "gpt-oss-120b"),
        ("Qwen/Qwen3-4B-Instruct-2507", "qwen3-4b-2507"),
        ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-0905"),
        ("moonshotai/Kimi-K3", "kimi-k3"),
        ("Qwen/Qwen3-VL-30B-A3B-Instruct-FP8", "qwen3-vl-30b-a3b"),
        ("Qwen/Qwen3.5-9B", "qwen3.5-9b"),
        ("Qwen/Qwen3.8-27B-FP8", "qwen3.5-27b"),
        ("RedHatAI/GLM-5.3-Flash-NVFP4", "glm-5.3-flash"),
        ("mistralai/Mistral-Large-3-675B-Instruct-2512-NVFP4", "mistral-large-3"),
        ("stepfun-ai/Step-3.5-Flash-FP8", "step-3.5-flash"),
    ],
)
def test_a_dated_release_is_its_row_and_a_row_of_its_own_comes_first(name, key):
    assert model(name).key == key


@pytest.mark.parametrize("name", ["llama-3-8b-1399", "qwen3-8b-9901", "opt-13b-0000"])
def test_four_digits_that_are_no_date_are_no_release(name):
    with pytest.raises(UnknownNameError):
        model(name)


def test_the_catalog_covers_what_the_labs_and_tools_name():
    """Between them the course, the planner and real startup logs name these families and parts."""
    families = "llama-2 llama-3 llama-3.1 llama-3.2 llama-3.3 qwen2 qwen2.5 qwen3 mistral mixtral gemma-2 gemma-3"
    for family in [*families.split(), "deepseek-v2.5", "deepseek-v3", "gpt-oss", "opt"]:
        assert any(key.startswith(f"{family}-") or key == family for key in MODELS), family
    assert len(MODELS) >= 25
    gpus = "a100-80gb-sxm a100-40gb-sxm h100-sxm h200-sxm b200-sxm gb200 l40s l4 a10g rtx-3090 rtx-4090 rtx-5090"
    more = "b300-sxm gb300 h20-sxm gh200 a100-80gb-pcie v100-sxm2 l20 a6000 mi300x mi325x mi355x"
    assert {*gpus.split(), *more.split()} <= GPUS.keys()
    inside = "nvlink-2 nvlink-3 nvlink-4 nvlink-5 pcie-3 pcie-4 pcie-5 pcie-6 xgmi-mi300x nvlink-lab"
    network = "ib-edr ib-hdr ib-ndr ib-xdr roce-400g efa-p4d efa-p5 slingshot-11 ethernet-10g-lab"
    ethernet = [f"ethernet-{speed}g" for speed in (1, 10, 25, 40, 50, 100, 400)]
    assert all(LINKS[key].reach == "node" for key in inside.split())
    assert all(LINKS[key].reach == "network" for key in [*network.split(), *ethernet])


@pytest.mark.parametrize("key", ["nvlink-4", "ib-ndr", "efa-p5", "ethernet-10g"])
def test_bandwidths_are_one_way_in_bytes(key):
    """900 GB/s two-way halved; 400 Gb/s, 3,200 Gb/s and 10 Gb/s over eight."""
    expected = {"nvlink-4": 450e9, "ib-ndr": 50e9, "efa-p5": 400e9, "ethernet-10g": 1.25e9}
    assert link(key).bandwidth_bytes_per_s == expected[key]


@pytest.mark.parametrize(("key", "owner"), [("ib-ndr", "gpu"), ("nvlink-4", "gpu"), ("efa-p5", "node")])
def test_a_link_says_whose_bandwidth_it_is(key, owner):
    assert link(key).scope == owner


def test_gpus_and_links_are_found_by_their_other_names():
    assert gpu("NVIDIA A100-SXM4-80GB").key == "a100-80gb-sxm"
    assert gpu("H100").key == "h100-sxm"
    assert link("NVLink-4").key == "nvlink-4"
    with pytest.raises(UnknownNameError, match="a100-80gb-sxm"):
        gpu("a1000")
    with pytest.raises(UnknownNameError, match="nvlink-lab"):
        link("token-ring")


@pytest.mark.parametrize("rows", [MODELS, GPUS, LINKS], ids=["models", "gpus", "links"])
def test_every_row_has_a_source_and_no_two_rows_share_a_name(rows):
    names = [name.lower() for row in rows.values() for name in {row.key, *row.aliases}]
    assert len(names) == len(set(names))
    assert all(len(row.source) > 20 for row in rows.values())
    assert all(key == row.key == key.lower() for key, row in rows.items())


def test_the_napkin_links_are_the_labs_constants():
    """3 µs a hop and 300 GB/s; 50 µs a hop and 1.25 GB/s; neither has a launch cost."""
    nvlink, ethernet = link("nvlink-lab"), link("ethernet-10g-lab")
    assert (nvlink.latency_s, nvlink.bandwidth_bytes_per_s, nvlink.base_s) == (3e-6, 300e9, 0)
    assert (ethernet.latency_s, ethernet.bandwidth_bytes_per_s, ethernet.base_s) == (50e-6, 1.25e9, 0)
    assert (nvlink.reach, ethernet.reach, ethernet.scope) == ("node", "network", "node")


def test_usable_memory_is_below_the_capacity_sold_in_binary_units():
    """A GPU sold as "80 GB" holds about 79 GiB: nearer to 85e9 bytes than to 80e9."""
    for row in GPUS.values():
        assert 0.98 * row.memory_bytes < row.usable_memory_bytes < row.memory_bytes * 2**30 / 1e9
    assert gpu("a100-80gb-sxm").usable_memory_bytes == pytest.approx(85e9, rel=0.001)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("a100", (2048, 256)),
        ("rtx-4090", (2048, 256)),
        ("h100", (8192, 1024)),
        ("h200", (8192, 1024)),
        ("rtx-pro-6000", (8192, 1024)),
        ("b200", (16384, 1024)),
        ("b300", (16384, 1024)),
    ],
)
def test_a_server_s_own_limits_go_by_memory_and_an_a100_s_are_the_small_ones(name, limits):
    """Source: vllm/engine/arg_utils.py, get_batch_defaults, of release 0.28 on."""
    assert (gpu(name).vllm_batched_tokens, gpu(name).vllm_sequences) == limits


def test_figures_that_are_easily_taken_from_another_gpu():
    """The Server Edition's memory, not the Workstation's; a GeForce's FP4; the Python model's tokens."""
    assert gpu("rtx-pro-6000").memory_bytes_per_s == 1597e9
    assert gpu("rtx-5090").fp4_flops == 1676e12
    # the stock driver grants no peer access: NVIDIA/nccl#1637, tinygrad/open-gpu-kernel-modules#29
    assert {gpu(f"rtx-{name}").link_key[-6:] for name in ("3090", "4090", "5090")} == {"no-p2p"}
    assert gpu("a100-pcie").memory_bytes_per_s == 1935e9
    assert model("codellama/CodeLlama-13b-Python-hf").vocab_size == 32000
    assert model("codellama/CodeLlama-13b-Instruct-hf").vocab_size == 32016


def test_no_link_was_measured_faster_than_its_link():
    """A busbw above the link is no link speed: in-switch reductions print one."""
    for row in LINKS.values():
        assert row.measured_bytes_per_s is None or row.measured_bytes_per_s <= row.bandwidth_bytes_per_s
        assert row.measured_bytes_per_s is None or row.measured_note


def test_every_model_keeps_its_weights_in_a_known_width():
    assert {row.weight_dtype for row in MODELS.values()} <= DTYPE_BYTES.keys()


def test_a_link_of_ones_own_is_its_key():
    """7.26 µs once, 3.12 µs a hop, 409 GB/s at 8 ranks: read back from the key alone, the same each time."""
    own = measured_link(3.1234e-6, 409.04e9, 7.2641e-6, 8)
    assert own.key == "own_3.123_409_7.264_8"
    assert link(own.key.upper()) == own
    assert (own.latency_s, own.bandwidth_bytes_per_s, own.measured_ranks) == (pytest.approx(3.123e-6), 409e9, 8)


@pytest.mark.parametrize("backend", ["gloo", "shm", "nccl"])
def test_a_link_of_this_machine_is_named_by_what_it_is(backend):
    own = measured_link(120e-6, 1.9e9, 0.0, 2, backend)
    assert (own.key, own.name) == (f"own_120_1.9_0_2_{backend}", f"this machine ({backend})")
    assert link(own.key) == own


@pytest.mark.parametrize(
    "key",
    [
        "own_",
        "own_1_2_3_8_tcp",
        "own_1_2_3",
        "own_1_0_0_8",
        "own_1_2_3_1",
        "own_1_2_3_999999",
        "own_-1_2_3_8",
        "own_1e3_2_3_8",
    ],
)
def test_a_key_that_holds_no_link_is_refused(key):
    with pytest.raises(UnknownNameError):
        link(key)


@pytest.mark.parametrize(("name", "value"), [("bandwidth", 0.0), ("latency_us", -1e-6), ("base_us", float("nan"))])
def test_numbers_that_are_no_links_are_refused(name, value):
    numbers = {"latency_us": 1e-6, "bandwidth": 1e9, "base_us": 0.0} | {name: value}
    with pytest.raises(OutOfRangeError, match=name):
        measured_link(numbers["latency_us"], numbers["bandwidth"], numbers["base_us"], 8)


@pytest.mark.parametrize(("name", "key"), [("RTX 4090", "rtx-4090"), ("rtx_6000 ada", "rtx-6000-ada")])
def test_a_name_may_be_written_with_spaces(name, key):
    assert gpu(name).key == key


@pytest.mark.parametrize(
    ("printed", "key"),
    [
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA H100 NVL", "h100-nvl"),
        ("NVIDIA H200 NVL", "h200-nvl"),
        ("NVIDIA H800", "h800-sxm"),
        ("NVIDIA A800-SXM4-80GB", "a800-80gb-sxm"),
        ("NVIDIA H20-3e", "h20-3e-sxm"),
        ("NVIDIA L40", "l40"),
        ("NVIDIA A40", "a40"),
        ("NVIDIA A30", "a30"),
        ("Tesla T4", "t4"),
        ("AMD Instinct MI250X", "mi250x"),
    ],
)
def test_gpus_that_people_have_are_found_by_what_their_driver_prints(printed, key):
    assert gpu(printed) is gpu(key)


def test_a_tensor_core_figure_is_dense_and_of_one_gpu():
    """NVIDIA's sheet has 1,671 TFLOPS of an H100 NVL, sparse; AMD's 383 of an MI250X, of both dies."""
    assert gpu("h100-nvl").bf16_flops == 835.5e12
    assert gpu("mi250x").bf16_flops == 191.5e12
    assert gpu("t4").fp8_flops is None


def test_links_of_the_china_editions_are_eight_of_each_generation():
    """400 GB/s two-way: eight links of 25 GB/s one way."""
    assert link("nvlink-4-h800").bandwidth_bytes_per_s == link("nvlink-3-a800").bandwidth_bytes_per_s == 8 * 25e9
