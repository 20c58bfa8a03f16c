"""vLLM's custom all-reduce, held against what its sources say at named releases and what real logs print."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collectives.custom_all_reduce import (
    RULES,
    SYMMETRIC_MEMORY_CAPS,
    Machine,
    decide,
    max_bytes,
)
from core.collectives.releases import RELEASES_READ
from core.collectives.who_sums import who_sums
from core.errors import OutOfRangeError
from core.units import KIB, MIB
from tests.each import each

CASES = os.environ.get("SHARDLAB_CASES")


def kernel(machine: Machine, payload_bytes: int) -> str:
    return who_sums(machine, payload_bytes).kernel


def stopped(machine: Machine) -> str | None:
    rule = decide(machine).stopped_by
    return rule.key if rule else None


@given(st.sampled_from(RELEASES_READ), st.integers(1, 20))
def test_two_four_six_and_eight_ranks_are_served_in_every_release(release, world_size):
    """One rank has nothing to reduce: off, without a word in the log. Sixteen came with 0.28, for gathers alone."""
    machine = Machine(release, world_size)
    served = {2, 4, 6, 8} | ({16} if machine.version >= (0, 28) else set())
    assert decide(machine).enabled == (world_size in served)
    assert bool(decide(machine).logged) == (world_size not in served | {1})
    assert world_size <= 8 or kernel(machine, 8 * KIB) == "NCCL"
    assert decide(machine).reduces == (world_size in {2, 4, 6, 8})


@pytest.mark.parametrize(("release", "enabled"), [("0.25.0", False), ("0.28.0", True), ("0.33.0", True)])
def test_sixteen_ranks_are_served_from_0_28_on(release, enabled):
    assert decide(Machine(release, 16)).enabled is enabled


@each(
    ("release", "machine", "rule"),
    [
        ("0.3.3", {"full_nvlink": False}, None),
        ("0.4.1", {"full_nvlink": False}, "nvlink"),
        ("0.4.3", {"nodes": 2}, None),
        ("0.5.0", {"nodes": 2}, "one_node"),
        ("0.8.1", {"p2p": False, "rocm": True}, "p2p"),
        ("0.8.3", {"p2p": False, "rocm": True}, None),
        ("0.25.0", {"p2p": False}, "p2p"),
        ("0.10.0", {"p2p": False, "driver_p2p": True}, "p2p"),
        ("0.10.1", {"p2p": False, "driver_p2p": True}, None),
        ("0.4.0", {"p2p": False, "driver_p2p": True}, None),
        ("0.25.0", {"nodes": 2, "nvlink_domain": True, "compute_capability": "10.0"}, "one_node"),
        ("0.28.0", {"nodes": 2, "nvlink_domain": True, "compute_capability": "10.0"}, None),
        ("0.33.0", {"nodes": 2, "compute_capability": "10.0"}, "nvlink_domain"),
        ("0.28.0", {"nodes": 2, "nvlink_domain": True, "compute_capability": "9.0"}, "nvlink_domain"),
        ("0.29.0", {"nodes": 2, "nvlink_domain": True, "compute_capability": "9.0"}, "nvlink_gpus"),
        ("0.33.0", {"nodes": 2, "full_nvlink": False, "compute_capability": "10.0"}, "nvlink_domain"),
    ],
)
def test_a_rule_holds_from_its_release_on(release, machine, rule):
    """The releases on both sides of each change, as their source packages read."""
    assert stopped(Machine(release, 4, **machine)) == rule


def test_the_first_rule_that_fails_is_the_one_named():
    """Sixteen ranks over two nodes break two rules; since 0.5.0 the nodes are asked first."""
    assert stopped(Machine("0.4.3", 16, nodes=2)) == "world_size"
    assert stopped(Machine("0.5.0", 16, nodes=2)) == "one_node"
    assert len(decide(Machine("0.5.0", 16, nodes=2)).checks) == 1
    assert stopped(Machine("0.33.0", 12, nodes=2)) == "world_size"
    assert "[2, 4, 6, 8, 16]" in decide(Machine("0.33.0", 12)).logged


def test_two_pcie_gpus_may_and_four_may_not():
    pair = Machine("0.9.2", 2, full_nvlink=False)
    assert decide(pair).enabled
    assert kernel(pair, 8 * KIB) == "one stage"
    assert kernel(Machine("0.9.2", 4, full_nvlink=False), 8 * KIB) == "NCCL"


@pytest.mark.parametrize(
    ("world_size", "payload", "expected"),
    [
        (2, 8 * MIB - 16, "one stage"),
        (4, 512 * KIB - 16, "one stage"),
        (4, 512 * KIB, "two stages"),
        (8, 256 * KIB - 16, "one stage"),
        (8, 256 * KIB, "two stages"),
        (8, 8 * MIB, "NCCL"),
        (8, 8 * KIB + 8, "NCCL"),
    ],
)
def test_stages_and_cap_by_payload_before_symmetric_memory(world_size, payload, expected):
    """0.10.0: 8 MiB itself is no longer taken, nor a payload that is no multiple of 16 bytes."""
    assert kernel(Machine("0.10.0", world_size), payload) == expected


def test_just_the_cap_was_taken_until_0_6_1():
    assert kernel(Machine("0.6.1", 8), 8 * MIB) == "two stages"
    assert kernel(Machine("0.6.2", 8), 8 * MIB) == "NCCL"


def test_four_pcie_gpus_of_the_first_releases_met_in_a_butterfly():
    old = Machine("0.3.0", 4, full_nvlink=False)
    assert kernel(old, 512 * KIB) == "half butterfly"
    assert kernel(old, 512 * KIB + 16) == "NCCL"
    assert kernel(Machine("0.3.0", 8, full_nvlink=False), 16) == "NCCL"


def test_symmetric_memory_lowers_the_cap_from_0_11_by_default():
    """Hopper at eight ranks: 256 KiB is 32 rows of a model 4096 wide. In 0.10.2 it must be asked for."""
    assert max_bytes(Machine("0.10.1", 8)) == max_bytes(Machine("0.10.2", 8)) == 8 * MIB
    assert max_bytes(Machine("0.10.2", 8, symmetric_memory=True)) == 256 * KIB == 32 * 4096 * 2
    assert max_bytes(Machine("0.11.0", 8)) == 256 * KIB
    assert max_bytes(Machine("0.11.0", 8, symmetric_memory=False)) == 8 * MIB
    assert kernel(Machine("0.11.0", 8), 256 * KIB) == "symmetric memory"


@pytest.mark.parametrize(("capability", "world_size", "most"), [("9.0", 4, 32), ("9.0", 8, 64), ("10.0", 2, 8)])
def test_symmetric_memory_has_a_cap_of_its_own(capability, world_size, most):
    """Above it NCCL."""
    machine = Machine("0.33.0", world_size, compute_capability=capability, flashinfer=False)
    assert kernel(machine, most * MIB) == "symmetric memory"
    assert kernel(machine, most * MIB + 16) == "NCCL"


def test_over_nodes_the_kernel_gathers_and_leaves_the_sum_to_others():
    """One NVLink domain over two nodes: the collectives are on, an all-reduce is not theirs."""
    machine = Machine("0.33.0", 8, nodes=2, nvlink_domain=True, compute_capability="10.0")
    assert decide(machine).enabled
    assert kernel(machine, 8 * KIB) == "NCCL"


def test_a_cap_never_exceeds_the_buffer():
    """Hopper at two ranks prints 64 MiB in the table; the buffer holds 8."""
    assert SYMMETRIC_MEMORY_CAPS["9.0"][2] == 64 * MIB
    assert max_bytes(Machine("0.11.0", 2)) == 8 * MIB


def test_an_architecture_outside_the_table_keeps_eight_mebibytes():
    assert max_bytes(Machine("0.20.0", 8, compute_capability="8.0")) == 8 * MIB
    assert max_bytes(Machine("0.18.0", 8, compute_capability="10.3")) == 8 * MIB
    assert max_bytes(Machine("0.19.0", 8, compute_capability="10.3")) == 4 * MIB


@pytest.mark.parametrize("release", ["0.2.7", "0.34.0", "1.0", "latest", "", "0", "0.9.2.1.1", "٠.٩.٢", "0.x.1"])
def test_a_release_that_was_not_read_is_refused(release):
    with pytest.raises(OutOfRangeError):
        Machine(release, 2)


def test_a_post_release_reads_as_its_release():
    assert Machine("v0.6.3.post1", 2).version == (0, 6, 3)


def told(line):
    """The rules whose words, which all releases share, stand in a line."""
    return [rule.key for rule in RULES if rule.told_by in " ".join(line.split())]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_a_rule_is_found_again_in_the_line_it_logs(rule):
    assert told(rule.logs)[0] == rule.key


@pytest.mark.skipif(not CASES, reason="needs the folder of real cases")
def test_every_disabled_line_of_real_logs_names_a_rule():
    """A line cut by a terminal's width may keep only the start of its reason."""
    lines = [
        line
        for path in Path(str(CASES), "logs").rglob("*.txt")
        for line in path.read_text(errors="replace").splitlines()
        if "Custom allreduce is disabled" in line
    ]
    assert lines
    named = {key for line in lines if "because" in line for key in told(line)[:1]}
    assert named >= {"nvlink", "one_node", "p2p"}
