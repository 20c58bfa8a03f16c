"""The custom all-reduce is off: which rule of which release, what it would have been worth, and what to do."""

from core.catalog import gpu, link, model
from core.clinic.case import Case, Figure, Name, Term, bars, step_parts
from core.collectives.cost import CollectiveCost, as_measured
from core.collectives.custom_all_reduce import Machine, decide
from core.comm_cost.bill import Step, bill
from core.comm_cost.kernels import sums_of
from core.models.weights import read_weight_bytes

MODEL, GPU, LINK, RELEASE = "llama-3-8b", "l40s", "pcie-4", "0.9.2"
OTHER_LINK = "nvlink-4"
MACHINE = Machine(RELEASE, 4, full_nvlink=False, compute_capability="8.9")
FEW, MANY = 2, 32
"""Sequences that two replicas share, or that one group takes as one batch."""


def kernel_off() -> Case:
    """The case: four PCIe GPUs in one host, a copy between any two of them arriving."""
    four, two = (read_weight_bytes(model(MODEL)) / ranks / gpu(GPU).memory_bytes_per_s for ranks in (4, 2))
    comm = _sums(4).total_s
    pairs = {sequences: two + _sums(2, sequences // 2).total_s for sequences in (FEW, MANY)}
    whole = {sequences: four + _sums(4, sequences).total_s for sequences in (FEW, MANY)}
    nccl = bill(Step(model(MODEL), 4), as_measured(link(OTHER_LINK))).comm_s
    custom = _sums(4, over=OTHER_LINK).total_s
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
                "four": _parts(four, 4, FEW),
                "pairs": _parts(two, 2, FEW // 2),
                "four_many": _parts(four, 4, MANY),
                "pairs_many": _parts(two, 2, MANY // 2),
            },
        ),
    )


def _parts(compute_s: float, ranks: int, sequences: int) -> dict[Term, float]:
    sums = _sums(ranks, sequences)
    return step_parts(compute_s, sums.waiting_s, sums.total_s)


def _sums(ranks: int, sequences: int = 1, over: str = LINK) -> CollectiveCost:
    """The all-reduces of a step, by what this release picks."""
    return sums_of(model(MODEL), ranks, sequences, link(over), RELEASE)
