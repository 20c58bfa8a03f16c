"""Every time that a case of the clinic shows, beside the least that its links, memory and arithmetic allow.

Measured all-reduces stay over their links' data sheets, and every step over reading its weights once.
"""

import numpy as np
import pytest

from core.catalog import gpu, link, model
from core.clinic import CASES, examine
from core.clinic.case import Case
from core.collectives.programs import hierarchical_all_reduce, program
from core.comm_cost.bill import all_reduces_per_step
from core.models.weights import read_weight_bytes
from tests.core.referee.clock import replay
from tests.core.referee.fabric import Fabric
from tests.core.referee.shown import Shown, bare, played_s
from tests.core.referee.test_pages import judged

LARGE, SMALL = "llama-3-70b", "llama-3-8b"
NOT_REPLAYED = {
    "cross_node stall": "the time after which TCP sends anew",
    "cross_node seen_one": "published",
    "cross_node seen_two": "published",
    "eight_ranks one_8_least": "measured, of hardly any bytes",
    "eight_ranks seen_4": "published",
    "eight_ranks seen_8": "published",
    "starved_pipeline rate": "what arrives",
    "eight_ranks saved": "a difference of two that are replayed",
    "eight_ranks paid": "a difference of two that are replayed",
    "idle_network waits": "a difference of two that are replayed",
    "idle_network wider_saves": "a difference of two that are replayed",
}


def read_s(key: str, gpu_key: str, ranks: int) -> float:
    return read_weight_bytes(model(key)) / ranks / gpu(gpu_key).memory_bytes_per_s


def sum_s(key: str, over: str, ranks: int, tokens: int, algorithm: str = "in_switch") -> float:
    """One all-reduce as bytes alone: a kernel's own stages are timed, not the link's hops."""
    payload = 2 * tokens * model(key).hidden_size
    one_s = played_s(Fabric(bare(link(over))), program("all_reduce", algorithm, ranks), payload)
    return one_s - link(over).latency_s


def sums_s(key: str, over: str, ranks: int, tokens: int, algorithm: str = "in_switch") -> float:
    return all_reduces_per_step(model(key), ranks) * sum_s(key, over, ranks, tokens, algorithm)


def ring_bytes_s(over: str, ranks: int, tokens: int) -> float:
    """What a ring keeps one port busy for."""
    payload = 2 * tokens * model(SMALL).hidden_size
    works = Fabric(bare(link(over))).collective(program("all_reduce", "ring", ranks), payload)
    return replay(works).busy_s["out 0"]


def across_s() -> float:
    """Two nodes of eight over 200 Gb/s: what the network carries of a step of eight sequences."""
    fabric = Fabric(bare(link("nvlink-4")), 8, bare(link("ethernet-200g")))
    works = fabric.collective(hierarchical_all_reduce(8, 2), 2 * 8 * model(LARGE).hidden_size)
    busy = replay(works).busy_s
    ports = [
        took_s
        for name, took_s in busy.items()
        if name not in {f"{way} {r}" for way in ("in", "out") for r in range(16)}
    ]
    return all_reduces_per_step(model(LARGE), 16) * max(ports, default=0.0)


def least_s() -> dict[str, float]:
    pair, box = sums_s(SMALL, "ethernet-10g", 2, 1, "ring"), sums_s(SMALL, "pcie-4", 2, 1)
    a10g = read_s(SMALL, "a10g", 2)
    slow_s = 1.25 * read_s(LARGE, "h100-sxm", 8)
    sums_8, hop_s = (
        sums_s(LARGE, "nvlink-4", 8, 8),
        2 * model(LARGE).hidden_size / link("ib-ndr").bandwidth_bytes_per_s,
    )
    wide_s = read_s(LARGE, "h100-sxm", 4) + sums_s(LARGE, "nvlink-4", 4, 1)
    rows = {
        "slow_rank step": slow_s + sums_8,
        "slow_rank step_before": slow_s / 1.25 + sums_8,
        "slow_rank comm": sums_8,
        "slow_rank others_in_kernels": sums_8 + slow_s - slow_s / 1.25,
        "slow_rank compute": slow_s / 1.25,
        "slow_rank slow_compute": slow_s,
        "slow_rank half_step": read_s(LARGE, "h100-sxm", 4) + sums_s(LARGE, "nvlink-4", 4, 8),
        "cross_node inside_step": read_s(LARGE, "h100-sxm", 8) + sums_8,
        "cross_node network_bytes_time": across_s(),
        "cross_node p50": read_s(LARGE, "h100-sxm", 16) + across_s(),
        "cross_node p99": read_s(LARGE, "h100-sxm", 16) + across_s(),
        "cross_node piped_p50": read_s(LARGE, "h100-sxm", 8) + sums_8,
        "cross_node piped_p99": read_s(LARGE, "h100-sxm", 8) + sums_8,
        "starved_pipeline stage": read_s(LARGE, "h100-sxm", 4),
        "starved_pipeline stages": read_s(LARGE, "h100-sxm", 1),
        "starved_pipeline alone": read_s(LARGE, "h100-sxm", 1),
        "starved_pipeline hops": 3 * (hop_s + link("ib-ndr").latency_s),
        "starved_pipeline token": read_s(LARGE, "h100-sxm", 1) + 3 * hop_s,
        "starved_pipeline wide_token": wide_s,
        "starved_pipeline full_rate": read_s(LARGE, "h100-sxm", 4),
        "starved_pipeline joined_rate": (read_s(LARGE, "h100-sxm", 1) + 3 * hop_s) / 5,
        "starved_pipeline wide_full_rate": wide_s / 5,
        "eight_ranks wire_time": ring_bytes_s("pcie-4", 8, 8),
        "eight_ranks step_8_both": read_s(SMALL, "l40s", 8) + sums_s(SMALL, "pcie-4", 8, 16),
        "eight_ranks rate_8_both": (read_s(SMALL, "l40s", 8) + sums_s(SMALL, "pcie-4", 8, 16)) / 16,
        "eight_ranks rate_two_4": (read_s(SMALL, "l40s", 4) + sums_s(SMALL, "pcie-4", 4, 8)) / 16,
        "idle_network one": sum_s(SMALL, "ethernet-10g", 2, 1, "ring"),
        "idle_network one_bytes": 2 * model(SMALL).hidden_size / link("ethernet-10g").bandwidth_bytes_per_s,
        "idle_network bytes_time": 64 * 2 * model(SMALL).hidden_size / link("ethernet-10g").bandwidth_bytes_per_s,
        "idle_network comm": pair,
        "idle_network compute": a10g,
        "idle_network alone": 2 * a10g,
        "idle_network step": a10g + pair,
        "idle_network wider_step": a10g + pair / 10,
        "idle_network box_step": a10g + box,
        "idle_network box_one": sum_s(SMALL, "pcie-4", 2, 1),
        "kernel_off comm": sums_s(SMALL, "pcie-4", 4, 1),
        "kernel_off step": read_s(SMALL, "l40s", 4) + sums_s(SMALL, "pcie-4", 4, 1),
        "kernel_off nccl": sums_s(SMALL, "nvlink-4", 4, 1),
        "kernel_off custom": sums_s(SMALL, "nvlink-4", 4, 1),
        "kernel_off rate": (read_s(SMALL, "l40s", 4) + sums_s(SMALL, "pcie-4", 4, 2)) / 2,
        "kernel_off pairs_rate": (read_s(SMALL, "l40s", 2) + sums_s(SMALL, "pcie-4", 2, 1)) / 2,
        "kernel_off many_rate": (read_s(SMALL, "l40s", 4) + sums_s(SMALL, "pcie-4", 4, 32)) / 32,
        "kernel_off pairs_many_rate": (read_s(SMALL, "l40s", 2) + sums_s(SMALL, "pcie-4", 2, 16)) / 32,
        "silent_init with_p2p": sums_s(SMALL, "pcie-4", 2, 2048, "ring"),
        "silent_init without_least": sums_s(SMALL, "pcie-4", 2, 2048, "ring"),
        "silent_init without_most": sums_s(SMALL, "pcie-4", 2, 2048, "ring"),
    }
    for size in (1, 2, 4, 8):
        rows[f"eight_ranks compute_{size}"] = read_s(SMALL, "l40s", size)
        sums = sums_s(SMALL, "pcie-4", size, 8) if size > 1 else 0.0
        rows[f"eight_ranks step_{size}"] = read_s(SMALL, "l40s", size) + sums
        if size > 1:
            rows[f"eight_ranks comm_{size}"] = sums
            rows[f"eight_ranks one_{size}"] = sum_s(SMALL, "pcie-4", size, 8)
    return rows


def timed(cases: dict[str, Case]) -> dict[str, float]:
    """Every figure that is a time, and every rate as the time of one."""
    return {
        f"{case.key} {figure.name}": figure.value if figure.unit == "s" else 1 / figure.value
        for case in cases.values()
        for figure in case.figures
        if figure.unit in ("s", "per_s")
    }


def test_no_case_of_the_clinic_beats_its_links_or_its_memory():
    """All of their times, by the cases themselves: one that is new must say what it can be at the least."""
    told, least = timed({key: examine(key) for key in CASES}), least_s()
    assert set(told) == set(least) | set(NOT_REPLAYED)
    assert judged(Shown("clinic", name, name, told[name], floor_s) for name, floor_s in least.items()) == len(least)


@pytest.mark.parametrize("key", ["cross_node", "starved_pipeline"])
@pytest.mark.parametrize("seed", range(3))
def test_a_case_drawn_anew_beats_them_no_more(key, seed):
    told, least = timed({key: CASES[key](np.random.default_rng(seed))}), least_s()
    assert judged(Shown("clinic", name, name, told[name], least[name]) for name in told if name in least) > 5
