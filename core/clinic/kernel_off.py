"""The custom all-reduce is off: which rule of which release, what it would have been worth, and what to do."""

from collections.abc import Sequence

from core.catalog import gpu, model
from core.clinic.case import Case, Figure, Name, bars, step_parts
from core.collectives.custom_all_reduce import Machine, decide
from core.comm_cost.bill import Step
from core.comm_cost.measured import MeasuredPoint, measured_bill, measured_waits_s
from core.models.weights import read_weight_bytes

MODEL, GPU, SERIES, RELEASE = "llama-3-8b", "l40s", "l40s-nccl", "0.9.2"
MACHINE = Machine(RELEASE, 4, full_nvlink=False, compute_capability="8.9")
FEW, MANY = 2, 32
"""Sequences that two replicas share, or that one group takes as one batch."""


def kernel_off(points: Sequence[MeasuredPoint]) -> Case:
    """The case: four PCIe GPUs in one host, a copy between any two of them arriving."""
    four, two = (read_weight_bytes(model(MODEL)) / ranks / gpu(GPU).memory_bytes_per_s for ranks in (4, 2))
    comm = _comm_s(points, SERIES, 4)
    pairs = {sequences: two + _comm_s(points, SERIES, 2, sequences // 2) for sequences in (FEW, MANY)}
    whole = {sequences: four + _comm_s(points, SERIES, 4, sequences) for sequences in (FEW, MANY)}
    nccl, custom = _comm_s(points, "h100-nccl", 4), _comm_s(points, "h100-vllm-graph", 4)
    waits = {ranks: measured_waits_s(points, SERIES, Step(model(MODEL), ranks)) for ranks in (4, 2)}
    decision = decide(MACHINE)
    return Case(
        key="kernel_off",
        truth=decision.stopped_by.key if decision.stopped_by else "",
        candidates=("p2p", "one_node", "nvlink", "world_size"),
        figures=(
            Figure("ranks", MACHINE.world_size, "count"),
            Figure("comm", comm),
            Figure("step", four + comm),
            Figure("share", comm / (four + comm), "fraction"),
            Figure("nccl", nccl),
            Figure("custom", custom),
            Figure("worth", nccl / custom, "times"),
            Figure("few", FEW, "count"),
            Figure("rate", FEW / whole[FEW], "per_s"),
            Figure("pairs_rate", FEW / pairs[FEW], "per_s"),
            Figure("many", MANY, "count"),
            Figure("many_rate", MANY / whole[MANY], "per_s"),
            Figure("pairs_many_rate", MANY / pairs[MANY], "per_s"),
        ),
        names=(Name("gpu", "L40S"), Name("other_gpu", "H100")),
        log=(
            f"Initializing an LLM engine (v{RELEASE}) with config: … tensor_parallel_size={MACHINE.world_size}, …",
            f"[custom_all_reduce.py] {decision.logged.partition(' because ')[0]} because …",
        ),
        model=bars("s", {"custom": {"latency": custom}, "nccl": {"latency": nccl}, "pcie": {"latency": comm}}),
        fix=bars(
            "s",
            {
                "four": step_parts(four, waits[4], whole[FEW] - four),
                "pairs": step_parts(two, waits[2], pairs[FEW] - two),
                "four_many": step_parts(four, waits[4], whole[MANY] - four),
                "pairs_many": step_parts(two, waits[2], pairs[MANY] - two),
            },
        ),
    )


def _comm_s(points: Sequence[MeasuredPoint], series: str, ranks: int, sequences: int = 1) -> float:
    return measured_bill(points, series, Step(model(MODEL), ranks, sequences)).comm_s
