"""Lab 03, the communication bill: the reference. It is the code the page runs."""

from core.comm_cost.bill import (
    allreduce_payload_bytes,
    allreduce_time_s,
    comm_fraction,
    ring_allreduce_traffic_per_rank,
    tp_comm_time_per_step,
)

__all__ = [
    "allreduce_payload_bytes",
    "allreduce_time_s",
    "comm_fraction",
    "ring_allreduce_traffic_per_rank",
    "tp_comm_time_per_step",
]
