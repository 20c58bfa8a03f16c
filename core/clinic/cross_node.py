"""TP over the node boundary melts p99: every layer sends over the network, so a rare stall is a common one."""

import numpy as np

from core.catalog import gpu, link, model
from core.clinic.case import Bin, Case, Figure, Histogram, Name, Term, bars
from core.collectives.cost import as_measured
from core.comm_cost.bill import Bill, Step
from core.comm_cost.kernels import picked_bill
from core.comm_cost.node_boundary import NodeBill, node_bill
from core.models.weights import read_weight_bytes
from core.pipeline_bubble.layouts import HANDED_OVER, hand_over
from core.steps.jitter import drawn_of, histogram_shares, hit_fraction

MODEL, GPU, INSIDE, NETWORK = "llama-3-70b", "h100-sxm", "nvlink-4", "ethernet-200g"
GPUS_PER_NODE, NODES, BATCH = 8, 2, 8
STALL_S = 0.2
"""A segment lost on TCP is sent anew no sooner: Linux waits TCP_RTO_MIN, 200 ms. Source: include/net/tcp.h."""
STALL_CHANCE = 3e-6
"""How often a message stalls: an assumption, of the size of a loss seldom enough that nobody's test sees it."""
SPREAD = 0.02
"""Mean of a step's ordinary scatter, as a share of the step: an assumption, to give the histogram a width."""
SEEN_S = (12.99e-3, 43.8e-3)
"""A token of Qwen2-7B, TP=2, ten prompts at once: in one node, over two. Source: dennislee22/vLLM-benchmarking."""
SAMPLES = 40_000
EDGES_S = np.geomspace(6e-3, 0.6, 61)


def cross_node(rng: np.random.Generator) -> Case:
    """The case: decode steps of TP=16 over two nodes, against TP=8 in each and a pipeline across."""
    wide = _bill(GPUS_PER_NODE * NODES)
    inside = picked_bill(_step(GPUS_PER_NODE), link(INSIDE)).bill
    hop_s = hand_over(inside.step.payload_bytes, link(NETWORK)).total_s
    piped_s = inside.total_s + hop_s
    messages = wide.network.cost.steps * wide.gpus_per_node * wide.nodes  # every GPU sends one at each step
    piped_messages = HANDED_OVER * GPUS_PER_NODE * (NODES - 1)
    steps = _steps(wide.whole.total_s, messages, rng)
    piped = _steps(piped_s, piped_messages, rng)
    tail, mended = drawn_of(steps), drawn_of(piped)
    return Case(
        key="cross_node",
        truth="messages",
        candidates=("bandwidth", "messages", "preemption", "slow_rank"),
        figures=(
            Figure("ranks", wide.whole.step.tp_size, "count"),
            Figure("nodes", wide.nodes, "count"),
            Figure("batch", BATCH, "count"),
            Figure("p50", tail.p50_s),
            Figure("p99", tail.p99_s),
            Figure("inside_step", inside.total_s),
            Figure("network_bytes_time", wide.network.bandwidth_s),
            Figure("network_share", wide.network.comm_s / wide.whole.total_s, "fraction"),
            Figure("network_bytes_share", wide.network.bandwidth_s / wide.whole.total_s, "fraction"),
            Figure("messages", messages, "count"),
            Figure("stall", STALL_S),
            Figure("one_in", 1 / STALL_CHANCE, "count"),
            Figure("hit", hit_fraction(STALL_CHANCE, messages), "fraction"),
            Figure("piped_messages", piped_messages, "count"),
            Figure("piped_hit", hit_fraction(STALL_CHANCE, piped_messages), "fraction"),
            Figure("piped_p50", mended.p50_s),
            Figure("piped_p99", mended.p99_s),
            Figure("seen_one", SEEN_S[0]),
            Figure("seen_two", SEEN_S[1]),
        ),
        names=(Name("gpu", "H100"), Name("network", link(NETWORK).name.partition(",")[0])),
        symptom=_histogram({"across": steps}),
        model=bars("s", {"inside": _parts(inside), "across": _parts(wide.whole)}),
        fix=_histogram({"across": steps, "piped": piped}),
    )


def _bill(tp_size: int) -> NodeBill:
    links = (as_measured(link(key)) for key in (INSIDE, NETWORK))
    return node_bill(_step(tp_size), GPUS_PER_NODE, *links)


def _step(tp_size: int) -> Step:
    step_s = read_weight_bytes(model(MODEL)) / gpu(GPU).memory_bytes_per_s
    return Step(model(MODEL), tp_size, BATCH, step_s, divided=True)


def _steps(usual_s: float, messages: int, rng: np.random.Generator) -> np.ndarray:
    """Times of many steps: the usual one, its scatter, and a stall where a message was lost."""
    scatter = 1 + rng.exponential(SPREAD, SAMPLES)
    stalled = rng.random(SAMPLES) < hit_fraction(STALL_CHANCE, messages)
    return usual_s * scatter + STALL_S * stalled


def _histogram(series: dict[str, np.ndarray]) -> Histogram:
    return Histogram(
        tuple(
            Bin(name, float(low), float(high), float(share))
            for name, times in series.items()
            for low, high, share in zip(EDGES_S[:-1], EDGES_S[1:], histogram_shares(times, EDGES_S), strict=True)
            if share
        )
    )


def _parts(bill: Bill) -> dict[Term, float]:
    return {"compute": bill.step.rank_compute_s, "latency": bill.waiting_s, "bandwidth": bill.bandwidth_s}
