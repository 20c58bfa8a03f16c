"""The strategy page: what each strategy holds on a rank, what that saves against DDP, and what it sends for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import gcd

from core.errors import ShardlabError
from core.specs import ModelSpec
from core.strategy.training.choice import fullest_rank
from core.strategy.training.layout import Recompute, Strategy
from core.strategy.training.memory import Job, TrainingMemory, model_states
from core.strategy.training.traffic import Transfer, training_traffic
from core.units import GB
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import decimal_bytes
from runtime.rows import Row, stacked, table

PARTS = ("weights", "gradients", "optimizer", "activations", "gathered")
RANKS = tuple(2**power for power in range(11))
PAPER_PARAMETERS, PAPER_RANKS = 7.5e9, 64
"""The ZeRO paper's own example. Source: Rajbhandari et al. 2020, arXiv 1910.02054, figure 1."""
INSIDE, ACROSS = "inside the node", "across nodes"


@dataclass(frozen=True)
class Held:
    """What is compared: a model on so many ranks, in nodes of `gpus_per_node`, and the work of each."""

    model: ModelSpec
    ranks: int
    gpus_per_node: int
    capacity_bytes: float
    job: Job
    recompute: Recompute


def paper_gb(zero: int) -> float:
    return model_states(PAPER_PARAMETERS, zero, PAPER_RANKS).total / GB


def paper_slips() -> dict[str, float]:
    """The stages before it, that are taken for the last one, by their names in room.md."""
    return {name: paper_gb(zero) for zero, name in enumerate(("whole", "states_alone", "weights_whole"))}


def compared(asked: Held) -> list[tuple[str, Strategy]]:
    """The strategies side by side, each over all ranks, those that split the model so."""
    return [(name, one) for name, one in _compositions(asked) if _splits(asked, one)]


def _compositions(asked: Held) -> Iterator[tuple[str, Strategy]]:
    ranks, node = asked.ranks, min(asked.ranks, asked.gpus_per_node)
    for zero, name in enumerate(("DDP", "ZeRO-1", "ZeRO-2", "FSDP")):
        yield name, Strategy(dp_size=ranks, zero=zero, recompute=asked.recompute)
    if ranks == 1:
        return
    yield (
        said("strategy", "says.fsdp_kept"),
        Strategy(dp_size=ranks, zero=3, reshard=False, recompute=asked.recompute),
    )
    tensor = Strategy(dp_size=ranks // node, tp_size=node, recompute=asked.recompute)
    yield f"TP={node}", tensor
    yield said("strategy", "says.tp_sp", node=node), replace(tensor, sequence_parallel=True)
    yield f"PP={node}", Strategy(dp_size=ranks // node, pp_size=node, recompute=asked.recompute)
    stages = min(ranks // node, 4)
    if stages > 1:
        both = replace(tensor, dp_size=ranks // (node * stages), pp_size=stages, sequence_parallel=True)
        yield f"TP={node}, PP={stages}", replace(both, zero=1 if both.dp_size > 1 else 0)
    if asked.model.moe is not None and (experts := gcd(ranks, asked.model.moe.num_experts)) > 1:
        yield (
            said("strategy", "says.ep_zero", experts=experts),
            Strategy(dp_size=ranks, zero=1, ep_size=experts, recompute=asked.recompute),
        )


def _splits(asked: Held, one: Strategy) -> bool:
    try:
        return fullest_rank(asked.model, one, asked.job) is not None
    except ShardlabError:
        return False


def memory_of(asked: Held, one: Strategy) -> TrainingMemory:
    return fullest_rank(asked.model, one, asked.job)


@kept
def memory_parts(asked: Held) -> list[Row]:
    """Every strategy's bar, part after part."""
    return table(
        "strategy part start_gb end_gb",
        (
            (name, *part)
            for name, one in compared(asked)
            for held in [memory_of(asked, one)]
            for part in stacked((part, getattr(held, part) / GB) for part in PARTS)
        ),
    )


@kept
def memory_ends(asked: Held) -> list[Row]:
    """Where each bar ends, and whether that is past the capacity."""
    totals = [(name, memory_of(asked, one).total) for name, one in compared(asked)]
    return table(
        "strategy end_gb in_words short",
        ((name, total / GB, decimal_bytes(total), total > asked.capacity_bytes) for name, total in totals),
    )


def transfers_of(asked: Held, one: Strategy) -> tuple[Transfer, ...]:
    """What a rank of the first stage sends in a step, inside the node before across nodes."""
    transfers = training_traffic(asked.model, one, asked.job)
    return tuple(sorted(transfers, key=lambda transfer: transfer.crosses_nodes(asked.gpus_per_node)))


@kept
def saved_and_paid(asked: Held) -> list[Row]:
    """Every strategy but DDP: what it saves to the left of zero; what every one sends to the right."""
    strategies = compared(asked)
    most = memory_of(asked, strategies[0][1]).total
    rows: list[tuple[object, ...]] = []
    for name, one in strategies:
        saved = (most - memory_of(asked, one).total) / GB
        rows.append((name, "saved", -saved, 0.0, said("strategy", "says.memory_that_ddp_would")))
        for sent, start, end in stacked((each, each.sent_bytes / GB) for each in transfers_of(asked, one)):
            where = ACROSS if sent.crosses_nodes(asked.gpus_per_node) else INSIDE
            why = f"{sent.axis.upper()} {sent.op.replace('_', '-')}: {named('strategy', sent.why)}"
            rows.append((name, where, start, end, why))
    return table("strategy what start_gb end_gb why", rows)


@kept
def sums(asked: Held) -> list[Row]:
    """What stands at both ends of each strategy's bars."""
    rows = saved_and_paid(asked)
    totals = []
    for name in dict.fromkeys(row.strategy for row in rows):
        own = [row for row in rows if row.strategy == name]
        left, right = min(0.0, *(row.start_gb for row in own)), max(row.end_gb for row in own)
        totals.append((name, left, right, decimal_bytes(-left * GB), decimal_bytes(right * GB)))
    return table("strategy left_gb right_gb saved paid", totals)
