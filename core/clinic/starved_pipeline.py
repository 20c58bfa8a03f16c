"""A pipeline starves at low traffic: with fewer sequences in flight than stages, stages stand idle."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from core.catalog import gpu, link, model
from core.clinic.case import Bars, Case, Figure, Lines, Name, Point, Segment
from core.comm_cost.bill import all_reduces_per_step
from core.comm_cost.measured import MeasuredPoint, measured_time_s, series_of
from core.models.weights import read_weight_bytes
from core.pipeline_bubble.schedules.serving import Pipe, Traffic, filling_microbatches, random_traffic

MODEL, GPU, NETWORK, SERIES = "llama-3-70b", "h100-sxm", "ib-ndr", "h100-nccl"
GPUS, TOKENS, SEQUENCES = 4, 64, 200
RATE_PER_S = 0.2
RATES_PER_S = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)


def starved_pipeline(points: Sequence[MeasuredPoint], rng: np.random.Generator) -> Case:
    """The case: four stages under a trickle of requests, against the same four GPUs as TP=4."""
    stage_s = read_weight_bytes(model(MODEL)) / GPUS / gpu(GPU).memory_bytes_per_s
    hop_s = _hop_s()
    stage, hop = Fraction(stage_s), Fraction(hop_s)
    pipe = Pipe((stage,) * GPUS, (hop,) * (GPUS - 1), hop)
    payload_bytes = 2 * model(MODEL).hidden_size
    comm_s = all_reduces_per_step(model(MODEL), GPUS) * measured_time_s(
        series_of(points, SERIES, GPUS), payload_bytes
    )
    wide = Pipe((stage + Fraction(comm_s),))
    seed = int(rng.integers(2**31))
    seen = _traffic(pipe, RATE_PER_S, seed)
    alone_s = read_weight_bytes(model(MODEL)) / gpu(GPU).memory_bytes_per_s
    return Case(
        key="starved_pipeline",
        title="Four GPUs in a row, and no token comes sooner",
        truth="starved",
        candidates=("uneven", "links", "clocks", "starved"),
        figures=(
            Figure("gpus", GPUS, "count"),
            Figure("rate", RATE_PER_S, "per_s"),
            Figure("tokens", TOKENS, "count"),
            Figure("busy", seen.utilisation, "fraction"),
            Figure("token", seen.mean_token_time),
            Figure("stage", stage_s),
            Figure("stages", GPUS * stage_s),
            Figure("hops", (GPUS - 1) * hop_s),
            Figure("alone", alone_s),
            Figure("in_flight", RATE_PER_S * TOKENS * seen.mean_token_time, "plain"),
            Figure("filling", filling_microbatches(pipe), "count"),
            Figure("wide_token", stage_s + comm_s),
            Figure("wide_faster", (GPUS * stage_s + (GPUS - 1) * hop_s) / (stage_s + comm_s), "times"),
            Figure("full_rate", 1 / stage_s, "per_s"),
            Figure("wide_full_rate", 1 / (stage_s + comm_s), "per_s"),
        ),
        names=(Name("gpu", "H100"),),
        symptom=Bars("fraction", tuple(Segment(f"stage {s}", "whole", seen.utilisation) for s in range(GPUS))),
        model=Lines(
            "sequences arriving a second",
            "time to each next token",
            tuple(
                Point(name, rate, _traffic(layout, rate, seed).mean_token_time)
                for name, layout in (("PP=4", pipe), ("TP=4", wide))
                for rate in RATES_PER_S
            ),
        ),
        fix=Bars(
            "s",
            (
                Segment("PP=4, one sequence in it", "compute", GPUS * stage_s),
                Segment("PP=4, one sequence in it", "latency", (GPUS - 1) * hop_s),
                Segment("TP=4", "compute", stage_s),
                Segment("TP=4", "latency", comm_s),
            ),
        ),
    )


def _hop_s() -> float:
    """One hidden state over the network."""
    network = link(NETWORK)
    return network.base_s + network.latency_s + 2 * model(MODEL).hidden_size / network.bandwidth_bytes_per_s


def _traffic(pipe: Pipe, rate: float, seed: int) -> Traffic:
    """The pipe under arrivals that are the same whatever the pipe, closer together as the rate grows."""
    return random_traffic(pipe, rate, SEQUENCES, TOKENS, np.random.default_rng(seed))
