"""Who makes an all-reduce, release by release, as the wheels of those releases read."""

import pytest

from core.catalog import LINKS, link
from core.collectives.custom_all_reduce import Machine
from core.collectives.releases import RELEASES_READ
from core.collectives.who_sums import FLASHINFER_MOST, flashinfer_most, kernel_over, machine_over, who_sums
from core.units import KIB, MIB
from tests.each import each


@each(
    ("payload_bytes", "kernel"),
    [
        (16 * KIB, "FlashInfer"),
        (256 * KIB, "FlashInfer"),
        (MIB // 2, "FlashInfer"),
        (MIB // 2 + 16, "symmetric memory"),
        (MIB, "symmetric memory"),
        (64 * MIB, "symmetric memory"),
        (64 * MIB + 16, "NCCL"),
    ],
)
def test_eight_h100_of_0_33_ask_flashinfer_first_then_the_switch(payload_bytes, kernel):
    """`FI_ALLREDUCE_FUSION_MAX_SIZE_MB` has 0.5 for eight ranks of 9.0, more than the custom kernel's 256 KiB."""
    assert who_sums(Machine("0.33.0", 8), payload_bytes).kernel == kernel


@each(
    ("release", "kernel"),
    [("0.16.0", "one stage"), ("0.17.0", "FlashInfer"), ("0.28.0", "FlashInfer"), ("0.29.0", "FlashInfer")],
)
def test_flashinfer_makes_sums_with_their_norm_from_0_17_and_all_from_0_29(release, kernel):
    """`fuse_allreduce_rms` is off in 0.16.0's optimization levels, and set by the machine in 0.17.0's."""
    found = who_sums(Machine(release, 8), 16 * KIB)
    assert (found.kernel, found.release) == (kernel, release)
    assert ("allreduce_rms_fusion" in found.said_by) == (release in ("0.17.0", "0.28.0"))


@each(
    "machine",
    [
        Machine("0.33.0", 6),
        Machine("0.33.0", 8, compute_capability="8.0"),
        Machine("0.33.0", 2, full_nvlink=False, compute_capability="9.0"),
        Machine("0.33.0", 8, nodes=2),
        Machine("0.33.0", 8, rocm=True),
        Machine("0.33.0", 8, flashinfer=False),
    ],
)
def test_flashinfer_is_off_for_other_ranks_architectures_and_nodes(machine):
    assert flashinfer_most(machine) == 0
    assert who_sums(machine, 16 * KIB).kernel != "FlashInfer"


def test_blackwell_s_tuned_multicast_takes_more_as_releases_go_on():
    """10.3 at eight ranks: 2 MiB to 0.28.0, 4 from 0.29.0, 64 where multicast is chosen, from 0.32.0."""
    most = [flashinfer_most(Machine(name, 8, compute_capability="10.3")) for name in ("0.28.0", "0.29.0", "0.32.0")]
    assert most == [2 * MIB, 4 * MIB, 64 * MIB]
    assert flashinfer_most(Machine("0.33.0", 8, compute_capability="10.0")) == 128 * MIB
    assert flashinfer_most(Machine("0.32.0", 8, compute_capability="10.0")) == FLASHINFER_MOST["10.0"][8] == MIB


@pytest.mark.parametrize("release", [name for name in RELEASES_READ if name >= "0.3"][::4])
def test_every_answer_names_the_file_that_says_so(release):
    for ranks in (2, 4, 6, 8):
        for payload_bytes in (512, 8 * KIB, MIB, 32 * MIB):
            found = who_sums(Machine(release, ranks), payload_bytes)
            assert ".py, " in found.said_by or ".cuh, " in found.said_by


def test_a_link_says_what_its_gpus_are_and_others_are_nccl_s():
    assert machine_over(link("nvlink-4"), 8).compute_capability == "9.0"
    assert all(row.capability for row in LINKS.values() if row.family == "nvlink" and row.kernel_s)
    for key in ("ib-ndr", "ethernet-10g", "pcie-4-no-p2p", "xgmi-mi300x", "nvlink-lab"):
        assert kernel_over(link(key), 2, 8 * KIB) == "NCCL"
    assert kernel_over(link("pcie-4"), 2, 8 * KIB) == "one stage"
    assert kernel_over(link("pcie-4"), 4, 8 * KIB) == "NCCL"
