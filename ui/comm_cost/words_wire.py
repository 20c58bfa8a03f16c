"""Lab 03's wire: the numbers its reading and its notes are filled with."""

from collections.abc import Mapping
from dataclasses import replace

from core.units import binary_bytes, percent, plain, seconds
from ui.comm_cost.rows import short_name
from ui.comm_cost.rows_wire import ALGORITHMS, Wire, races


def fields(wire: Wire) -> Mapping[str, str]:
    """The three courses in numbers, and what a slow port adds to each."""
    found = dict(zip(ALGORITHMS, races(wire), strict=True))
    alike = dict(zip(ALGORITHMS, races(replace(wire, slowdown=1.0)), strict=True))
    names = {"ring": "ring", "binomial_tree": "tree", "one_shot": "one_shot"}
    ring = found["ring"]
    byte_share = ring.bandwidth_s / ring.end_s
    return {
        "wire_payload": binary_bytes(wire.payload_bytes),
        "wire_link": short_name(wire.link),
        "ring_wait_share": percent(1 - byte_share),
        "ring_byte_share": percent(byte_share),
        "slow_rank": f"r{wire.ranks - 1}",
        "slow_factor": plain(wire.slowdown),
        **{f"{name}_total": seconds(found[key].end_s) for key, name in names.items()},
        **{f"{name}_rounds": str(len(found[key].rounds)) for key, name in names.items()},
        **{f"{name}_traffic": binary_bytes(_traffic(alike[key].bandwidth_s, wire)) for key, name in names.items()},
        **{f"slow_{name}": seconds(found[key].end_s - alike[key].end_s) for key, name in names.items()},
    }


def _traffic(bandwidth_s: float, wire: Wire) -> float:
    """The bytes that pour through a port in a time."""
    return bandwidth_s * wire.link.bandwidth_bytes_per_s
