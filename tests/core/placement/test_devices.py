"""GPUs as tools print them: each form of each tool, names that are cut, memory that says which of two is meant."""

import pytest

from core.catalog import GPUS
from core.placement.devices import known_gpu, read_devices
from core.units import MIB
from tests.core.strategy.recorded import MACHINES, printed

SEEN = {
    "h100-8": (8, "NVIDIA H100 80GB HBM3", 81_559, "535.183.01"),
    "a100-40-8": (8, "NVIDIA A100-SXM4-40GB", 40_960, "550.54.15"),
    "l40s-4": (4, "NVIDIA L40S", 46_068, "550.90.07"),
    "rtx4090-2": (2, "NVIDIA GeForce RTX 4090", 24_564, "560.35.03"),
    "t4-6": (6, "Tesla T4", 15_360, "535.161.08"),
    "gh200-1": (1, "NVIDIA GH200 480GB", 97_871, "570.86.15"),
    "gb10-1": (1, "NVIDIA GB10", None, "580.126.09"),
    "mi300x-8": (8, "AMD Instinct MI300X", 196_592, None),
    "mi325x-8": (8, "AMD Instinct MI325X", 262_128, "6.14.14"),
    "mi355x-8": (8, "AMD Instinct MI355X", 294_896, None),
    "a100-mig": (1, "NVIDIA A100-SXM4-80GB", 81_920, "550.54.15"),
    "b200-8": (8, "NVIDIA B200", 183_359, "570.133.20"),
    "wsl-1": (1, "NVIDIA GeForce RTX 40...", 24_564, "560.81"),
}


@pytest.mark.parametrize("machine", SEEN)
def test_every_gpu_of_a_machine_is_read(machine):
    gpus, name, mib, driver = SEEN[machine]
    found = read_devices(printed(machine))
    assert [one.index for one in found.gpus] == list(range(gpus))
    assert {one.name for one in found.gpus} == {name}
    assert {one.memory_bytes for one in found.gpus} == {None if mib is None else mib * MIB}
    assert (found.driver, found.failure) == (driver, None)


def test_gpus_of_two_kinds_keep_their_names():
    found = read_devices(printed("mixed-3"))
    assert [one.name.rpartition(" ")[2] for one in found.gpus] == ["3090", "3090", "1650"]
    assert found.gpus[2].used_bytes == 512 * MIB


@pytest.mark.parametrize(
    ("machine", "said"), [("no-driver", "NVIDIA-SMI has failed"), ("no-devices", "No devices")]
)
def test_a_tool_that_finds_none_is_quoted(machine, said):
    found = read_devices(printed(machine))
    assert not found.gpus
    assert found.failure.startswith(said)


def test_instances_are_no_gpus():
    (one,) = read_devices(printed("a100-mig")).gpus
    assert (one.mig, one.memory_bytes) == (True, 81_920 * MIB)


@pytest.mark.parametrize("before", ["> ", "\x1b[32m"])
@pytest.mark.parametrize("machine", ["h100-8", "a100-40-8", "mi300x-8"])
def test_a_quoted_or_coloured_paste_is_read_as_well(machine, before):
    text = "\n".join(before + line for line in printed(machine).splitlines())
    assert len(read_devices(text).gpus) == 8


def test_jsons_of_both_tools_are_read():
    rocm = (
        '{"card0": {"Card Series": "AMD Instinct MI300X", "VRAM Total Memory (B)": "206141652992"},'
        ' "card1": {"Card Series": "AMD Instinct MI300X", "VRAM Total Memory (B)": "206141652992"}}'
    )
    assert [(one.index, one.spec.key) for one in read_devices(rocm).gpus] == [(0, "mi300x"), (1, "mi300x")]


@pytest.mark.parametrize(
    ("name", "mib", "key"),
    [
        ("NVIDIA A100-SXM4-80GB", 81_920, "a100-80gb-sxm"),
        ("NVIDIA A100-SXM4-40GB", 40_960, "a100-40gb-sxm"),
        ("NVIDIA A100-SXM...", 40_960, "a100-40gb-sxm"),
        ("NVIDIA A100 80GB PCIe", 81_920, "a100-80gb-pcie"),
        ("NVIDIA H200", 143_771, "h200-sxm"),
        ("NVIDIA GeForce RTX 4090", 24_564, "rtx-4090"),
        ("NVIDIA GeForce RTX 40...", 24_564, "rtx-4090"),
        ("AMD Instinct MI300X OAM", 196_592, "mi300x"),
        ("AMD Instinct MI300X VF", 196_288, "mi300x"),
        ("NVIDIA H20", 97_871, "h20-sxm"),
        ("NVIDIA B200", None, "b200-sxm"),
        ("Tesla V100-SXM2-32GB", 32_768, "v100-sxm2"),
    ],
)
def test_a_drivers_name_is_a_row_of_the_catalog(name, mib, key):
    assert known_gpu(name, None if mib is None else mib * MIB).key == key


@pytest.mark.parametrize(
    ("name", "mib"),
    [("Tesla V100-SXM2-16GB", 16_384), ("NVIDIA GeForce GTX 1650", 4_096), ("", 81_920), ("GPU", None)],
)
def test_another_memory_is_another_gpu(name, mib):
    """A V100 of 16 GB is not the row of 32: its name alone would plan with twice what it has."""
    found = known_gpu(name, None if mib is None else mib * MIB)
    assert found is None or abs(mib * MIB / found.usable_memory_bytes - 1) < 0.06


def test_every_rows_own_driver_name_is_found():
    for row in GPUS.values():
        for alias in row.aliases:
            if alias.startswith(("NVIDIA", "AMD", "Tesla")):
                assert known_gpu(alias, row.usable_memory_bytes) == row


@pytest.mark.parametrize("text", ["", "nothing", "INFO 01-01 a log | with | pipes | in it", "0, 1, 2\n3, 4, 5"])
def test_a_text_of_no_tool_names_no_gpu(text):
    assert read_devices(text).is_empty


def test_machines_are_ten_kinds_and_more():
    assert len(MACHINES) >= 10
