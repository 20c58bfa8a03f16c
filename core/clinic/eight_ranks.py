"""TP=8 slower than TP=4: the compute shrinks by half once more, and the all-reduces grow by more than that."""

from core.catalog import gpu, link, model
from core.clinic.case import Case, Figure, Name, bars, step_parts
from core.comm_cost.bill import Step
from core.comm_cost.kernels import sums_of
from core.models.kv_cache import heads_on_rank
from core.models.weights import read_weight_bytes

MODEL, GPU, LINK = "llama-3-8b", "l40s", "pcie-4"
BATCH, SIZES = 8, (1, 2, 4, 8)
SEEN_S = (494.0e-3, 588.2e-3)
"""A token of Llama-2-7B on four and on eight Raspberry Pi 4B over Gigabit Ethernet. Source: distributed-llama."""


def eight_ranks() -> Case:
    """The case: a decode step at each TP size on eight L40S, its all-reduces by the times measured there."""
    compute = {size: read_weight_bytes(model(MODEL)) / size / gpu(GPU).memory_bytes_per_s for size in SIZES}
    steps = {size: Step(model(MODEL), size, BATCH) for size in SIZES}
    sums = {size: sums_of(model(MODEL), size, BATCH, link(LINK)) for size in SIZES}
    comm = {size: sums[size].total_s for size in SIZES}
    latency = {size: sums[size].waiting_s for size in SIZES}
    step = {size: compute[size] + comm[size] for size in SIZES}
    one = {size: comm[size] / steps[size].all_reduces for size in SIZES[1:]}
    both = sums_of(model(MODEL), 8, 2 * BATCH, link(LINK))
    both_s = compute[8] + both.total_s
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
            Figure("all_reduces", steps[8].all_reduces, "count"),
            Figure("saved", compute[4] - compute[8]),
            Figure("paid", comm[8] - comm[4]),
            Figure("weights_8", read_weight_bytes(model(MODEL)) / 8, "bytes"),
            Figure("kv_heads_4", heads_on_rank(model(MODEL).num_key_value_heads, 4), "count"),
            Figure("kv_heads_8", heads_on_rank(model(MODEL).num_key_value_heads, 8), "count"),
            Figure("payload", steps[8].payload_bytes, "bytes"),
            Figure("wire_time", 2 * 7 / 8 * steps[8].payload_bytes / link(LINK).bandwidth_bytes_per_s),
            Figure("one_8_least", latency[8] / steps[8].all_reduces),
            Figure("both", 2 * BATCH, "count"),
            Figure("step_8_both", both_s),
            Figure("rate_8_both", 2 * BATCH / both_s, "per_s"),
            Figure("rate_two_4", 2 * BATCH / step[4], "per_s"),
            Figure("gain", both_s / step[4], "times"),
            Figure("seen_4", SEEN_S[0]),
            Figure("seen_8", SEEN_S[1]),
        ),
        names=(Name("gpu", "L40S"),),
        symptom=bars("s", {f"TP={size}": {"whole": step[size]} for size in SIZES}),
        model=bars("s", {f"TP={size}": step_parts(compute[size], latency[size], comm[size]) for size in SIZES}),
        fix=bars(
            "s",
            {
                "eight": step_parts(compute[8], both.waiting_s, both.total_s),
                "replicas": step_parts(compute[4], latency[4], comm[4]),
            },
        ),
    )
