"""A pipeline starves at low traffic: with fewer sequences in flight than stages, stages stand idle.

Weights are read once a step whatever its batch, so both layouts batch what is in flight and pay no compute for it.
"""

from fractions import Fraction

import numpy as np

from core.catalog import gpu, link, model
from core.clinic.case import Case, Figure, Lines, Name, Point, bars
from core.comm_cost.bill import Step, weight_streaming_s
from core.comm_cost.kernels import sums_of
from core.pipeline_bubble.layouts import hand_over
from core.pipeline_bubble.schedules.serving import Pipe, filling_microbatches, random_traffic

MODEL, GPU, LINK, NETWORK = "llama-3-70b", "h100-sxm", "nvlink-4", "ib-ndr"
GPUS, TOKENS, SEQUENCES = 4, 64, 200
RATE_PER_S = 0.2
RATES_PER_S = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)


def starved_pipeline(rng: np.random.Generator) -> Case:
    """The case: four stages under a trickle of requests, against the same four GPUs as TP=4."""
    alone_s = weight_streaming_s(model(MODEL), gpu(GPU), counted="read")
    stage_s, hop_s = alone_s / GPUS, hand_over(Step(model(MODEL), GPUS).payload_bytes, link(NETWORK)).total_s
    stage, hop = Fraction(stage_s), Fraction(hop_s)
    pipe = Pipe((stage,) * GPUS, (hop,) * (GPUS - 1), hop)
    seen = random_traffic(pipe, RATE_PER_S, SEQUENCES, TOKENS, np.random.default_rng(int(rng.integers(2**31))))
    filling = filling_microbatches(pipe)
    comm_s, full_comm_s = _comm_s(1), _comm_s(filling)
    return Case(
        key="starved_pipeline",
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
            Figure("filling", filling, "count"),
            Figure("wide_token", stage_s + comm_s),
            Figure("wide_faster", (GPUS * stage_s + (GPUS - 1) * hop_s) / (stage_s + comm_s), "times"),
            Figure("full_rate", 1 / stage_s, "per_s"),
            Figure("joined_rate", filling / (GPUS * (stage_s + hop_s)), "per_s"),
            Figure("wide_full_rate", filling / (stage_s + full_comm_s), "per_s"),
        ),
        names=(Name("gpu", "H100"),),
        symptom=bars("fraction", {f"stage {s}": {"whole": seen.utilisation} for s in range(GPUS)}),
        model=Lines(
            "arrivals",
            "token_time",
            tuple(
                Point(name, rate, token_s)
                for rate in RATES_PER_S
                for name, token_s in (
                    ("PP=4", GPUS * stage_s + (GPUS - 1) * hop_s),
                    ("TP=4", _batched_s(stage_s, rate)),
                )
            ),
        ),
        fix=bars(
            "s",
            {
                "pipeline": {"compute": GPUS * stage_s, "latency": (GPUS - 1) * hop_s},
                "TP=4": {"compute": stage_s, "latency": comm_s},
            },
        ),
    )


def _comm_s(sequences: int) -> float:
    """The all-reduces of a TP step that decodes so many sequences together, by the kernel an engine picks."""
    return sums_of(model(MODEL), GPUS, sequences, link(LINK)).total_s


def _batched_s(stage_s: float, rate_per_s: float) -> float:
    """A TP step over all sequences in flight, of which there are rate · tokens · step by Little's law."""
    step_s = stage_s + _comm_s(1)
    in_flight = max(1, round(rate_per_s * TOKENS * step_s))
    return stage_s + _comm_s(in_flight)
