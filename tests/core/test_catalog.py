"""The catalog resolves the names people and logs use, and every row is usable and sourced."""

import pytest

from core.catalog import GPUS, LINKS, MODELS, gpu, link, model
from core.errors import UnknownNameError
from core.specs import DTYPE_BYTES


@pytest.mark.parametrize(
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
    ],
)
def test_a_model_is_found_by_key_repository_variant_or_path(name, key):
    assert model(name).key == key


@pytest.mark.parametrize("name", ["", "/", "llama", "meta-llama", "llama-3-9b", "instruct", "-instruct"])
def test_a_name_that_is_no_model_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownNameError, match="llama-3-8b"):
        model(name)


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
    """A card sold as "80 GB" holds about 79 GiB: nearer to 85e9 bytes than to 80e9."""
    for row in GPUS.values():
        assert 0.9 * row.memory_bytes < row.usable_memory_bytes < row.memory_bytes * 2**30 / 1e9
    assert gpu("a100-80gb-sxm").usable_memory_bytes == pytest.approx(85e9, rel=0.001)


def test_no_link_was_measured_faster_than_its_wire():
    """A busbw above the wire is no wire speed: in-switch reductions print one."""
    for row in LINKS.values():
        assert row.measured_bytes_per_s is None or row.measured_bytes_per_s <= row.bandwidth_bytes_per_s
        assert (row.measured_bytes_per_s is None) == (row.measured_note == "")


def test_every_model_keeps_its_weights_in_a_known_width():
    assert {row.weight_dtype for row in MODELS.values()} <= DTYPE_BYTES.keys()
