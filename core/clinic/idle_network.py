"""A network at two per cent, and still the bottleneck: it waits, it does not carry."""

from collections.abc import Sequence

from core.catalog import gpu, link, model
from core.clinic.case import Bars, Case, Figure, Name, Segment
from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import all_reduces_per_step, allreduce_payload_bytes
from core.comm_cost.measured import MeasuredPoint, measured_time_s, series_of
from core.models.weights import read_weight_bytes

MODEL, GPU, NETWORK, SERIES = "llama-3-8b", "a10g", "ethernet-10g", "a10g-tcp"
RANKS, WIDER, ONE_BOX = 2, 10, "l40s-nccl"


def idle_network(points: Sequence[MeasuredPoint]) -> Case:
    """The case: two machines with one GPU each over 10 GbE, TP=2, and what each purchase would change."""
    count = all_reduces_per_step(model(MODEL), RANKS)
    payload_bytes = allreduce_payload_bytes(1, model(MODEL).hidden_size)
    compute_s = read_weight_bytes(model(MODEL)) / RANKS / gpu(GPU).memory_bytes_per_s
    one_s = measured_time_s(series_of(points, SERIES, RANKS), payload_bytes)
    bytes_s = count * ring_all_reduce(payload_bytes, RANKS, link(NETWORK)).bandwidth_s
    waits_s = count * one_s - bytes_s
    box_s = count * measured_time_s(series_of(points, ONE_BOX, RANKS), payload_bytes)
    step_s = compute_s + bytes_s + waits_s
    wider_s = step_s - bytes_s * (1 - 1 / WIDER)
    return Case(
        key="idle_network",
        truth="waiting",
        candidates=("gpu", "bandwidth", "elsewhere", "waiting"),
        figures=(
            Figure("utilisation", bytes_s / step_s, "fraction"),
            Figure("step", step_s),
            Figure("compute", compute_s),
            Figure("alone", RANKS * compute_s),
            Figure("comm", count * one_s),
            Figure("comm_share", count * one_s / step_s, "fraction"),
            Figure("bytes_time", bytes_s),
            Figure("waits", waits_s),
            Figure("one", one_s),
            Figure("one_bytes", bytes_s / count),
            Figure("all_reduces", count, "count"),
            Figure("payload", payload_bytes, "bytes"),
            Figure("wider", WIDER, "count"),
            Figure("wider_step", wider_s),
            Figure("wider_saves", step_s - wider_s),
            Figure("box_step", compute_s + box_s),
            Figure("box_one", box_s / count),
            Figure("box_faster", step_s / (compute_s + box_s), "times"),
        ),
        names=(Name("gpu", "A10G"), Name("box_gpu", "L40S"), Name("wire", link(NETWORK).name.partition(",")[0])),
        symptom=Bars(
            "fraction",
            (Segment("network", "whole", bytes_s / step_s), Segment("gpu", "whole", compute_s / step_s)),
        ),
        model=Bars("s", _parts("step", compute_s, waits_s, bytes_s)),
        fix=Bars(
            "s",
            (
                *_parts("found", compute_s, waits_s, bytes_s),
                *_parts("wider", compute_s, waits_s, bytes_s / WIDER),
                *_parts("box", compute_s, box_s, 0.0),
            ),
        ),
    )


def _parts(name: str, compute_s: float, waits_s: float, bytes_s: float) -> tuple[Segment, ...]:
    parts = (
        Segment(name, "compute", compute_s),
        Segment(name, "latency", waits_s),
        Segment(name, "bandwidth", bytes_s),
    )
    return tuple(part for part in parts if part.amount)
