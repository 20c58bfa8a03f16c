"""Lab 03, the communication bill: the reference. It is the code the page runs."""

from core.comm_cost.bill import (
    allreduce_payload_bytes,
    allreduce_time_s,
    comm_fraction,
    ring_allreduce_traffic_per_rank,
    tp_comm_time_per_step,
)
from core.comm_cost.choice import cheapest_offer, crossing_payload_bytes, fit_link
from core.comm_cost.wire import ring_all_reduce, time_of_hops

__all__ = [
    "allreduce_payload_bytes",
    "allreduce_time_s",
    "cheapest_offer",
    "comm_fraction",
    "crossing_payload_bytes",
    "fit_link",
    "ring_all_reduce",
    "ring_allreduce_traffic_per_rank",
    "time_of_hops",
    "tp_comm_time_per_step",
]
