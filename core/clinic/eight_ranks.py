"""TP=8 slower than TP=4: the compute shrinks by half once more, and the all-reduces grow by more than that."""

from collections.abc import Sequence

from core.catalog import gpu, link, model
from core.clinic.case import Bars, Case, Figure, Name, Segment
from core.comm_cost.bill import all_reduces_per_step
from core.comm_cost.measured import MeasuredPoint, measured_latency_s, measured_time_s, series_of
from core.models.kv_cache import kv_heads_per_rank
from core.models.weights import read_weight_bytes

MODEL, GPU, SERIES = "llama-3-8b", "l40s", "l40s-nccl"
BATCH, SIZES = 8, (1, 2, 4, 8)
SEEN_S = (494.0e-3, 588.2e-3)
"""A token of Llama-2-7B on four and on eight Raspberry Pi 4B over Gigabit Ethernet. Source: distributed-llama."""


def eight_ranks(points: Sequence[MeasuredPoint]) -> Case:
    """The case: a decode step at each TP size on eight L40S, its all-reduces at the times measured there."""
    compute = {size: read_weight_bytes(model(MODEL)) / size / gpu(GPU).memory_bytes_per_s for size in SIZES}
    payload_bytes = BATCH * model(MODEL).hidden_size * 2
    comm = {size: _comm_s(points, size, payload_bytes) for size in SIZES}
    latency = {size: _latency_s(points, size) for size in SIZES}
    step = {size: compute[size] + comm[size] for size in SIZES}
    one = {size: comm[size] / all_reduces_per_step(model(MODEL), size) for size in SIZES[1:]}
    both_comm_s = _comm_s(points, 8, 2 * payload_bytes)
    both_s = compute[8] + both_comm_s
    return Case(
        key="eight_ranks",
        truth="all_reduces",
        candidates=("memory", "all_reduces", "heads", "wire"),
        figures=(
            Figure("batch", BATCH, "count"),
            *(Figure(f"step_{size}", step[size]) for size in SIZES),
            *(Figure(f"compute_{size}", compute[size]) for size in SIZES),
            *(Figure(f"comm_{size}", comm[size]) for size in SIZES[1:]),
            *(Figure(f"one_{size}", one[size]) for size in SIZES[1:]),
            Figure("all_reduces", all_reduces_per_step(model(MODEL), 8), "count"),
            Figure("saved", compute[4] - compute[8]),
            Figure("paid", comm[8] - comm[4]),
            Figure("weights_8", read_weight_bytes(model(MODEL)) / 8, "bytes"),
            Figure("kv_heads_4", kv_heads_per_rank(model(MODEL), 4), "count"),
            Figure("kv_heads_8", kv_heads_per_rank(model(MODEL), 8), "count"),
            Figure("payload", payload_bytes, "bytes"),
            Figure("wire_time", 2 * 7 / 8 * payload_bytes / link("pcie-4").bandwidth_bytes_per_s),
            Figure("one_8_least", latency[8] / all_reduces_per_step(model(MODEL), 8)),
            Figure("both", 2 * BATCH, "count"),
            Figure("step_8_both", both_s),
            Figure("rate_8_both", 2 * BATCH / both_s, "per_s"),
            Figure("rate_two_4", 2 * BATCH / step[4], "per_s"),
            Figure("gain", both_s / step[4], "times"),
            Figure("seen_4", SEEN_S[0]),
            Figure("seen_8", SEEN_S[1]),
        ),
        names=(Name("gpu", "L40S"),),
        symptom=Bars("s", tuple(Segment(f"TP={size}", "whole", step[size]) for size in SIZES)),
        model=Bars(
            "s",
            tuple(
                segment
                for size in SIZES
                for segment in _parts(f"TP={size}", compute[size], latency[size], comm[size])
                if segment.amount
            ),
        ),
        fix=Bars(
            "s",
            (
                *_parts("eight", compute[8], latency[8], both_comm_s),
                *_parts("replicas", compute[4], latency[4], comm[4]),
            ),
        ),
    )


def _parts(name: str, compute_s: float, latency_s: float, comm_s: float) -> tuple[Segment, ...]:
    return (
        Segment(name, "compute", compute_s),
        Segment(name, "latency", latency_s),
        Segment(name, "bandwidth", comm_s - latency_s),
    )


def _comm_s(points: Sequence[MeasuredPoint], tp_size: int, payload_bytes: int) -> float:
    """A step's all-reduces as they were measured."""
    if tp_size == 1:
        return 0.0
    one_s = measured_time_s(series_of(points, SERIES, tp_size), payload_bytes)
    return all_reduces_per_step(model(MODEL), tp_size) * one_s


def _latency_s(points: Sequence[MeasuredPoint], tp_size: int) -> float:
    """What as many all-reduces of hardly any bytes take."""
    if tp_size == 1:
        return 0.0
    return all_reduces_per_step(model(MODEL), tp_size) * measured_latency_s(series_of(points, SERIES, tp_size))
