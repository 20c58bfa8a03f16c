"""The strategies side by side: what each holds on a rank of the same GPUs, and what it sends for that."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd

from core.errors import ShardlabError
from core.specs import ModelSpec
from core.strategy.training.choice import fullest_rank
from core.strategy.training.layout import Recompute, Strategy
from core.strategy.training.memory import Job, TrainingMemory, model_states
from core.strategy.training.traffic import Transfer, training_traffic
from core.units import GB

PAPER_PARAMETERS, PAPER_RANKS = 7.5e9, 64
"""The ZeRO paper's own example. Source: Rajbhandari et al. 2020, arXiv 1910.02054, figure 1."""


@dataclass(frozen=True)
class Held:
    """What is compared: a model on so many ranks, in nodes of `gpus_per_node`, and the work of each."""

    model: ModelSpec
    ranks: int
    gpus_per_node: int
    capacity_bytes: float
    job: Job
    recompute: Recompute


@dataclass(frozen=True)
class Side:
    """One strategy: its fullest rank, and what a rank of the first stage sends in a step, inside the node first."""

    name: str
    memory: TrainingMemory
    transfers: tuple[Transfer, ...]


@lru_cache(maxsize=64)
def side_by_side(asked: Held) -> tuple[Side, ...]:
    """The strategies over all ranks, those that split the model so."""
    return tuple(_sides(asked))


def _sides(asked: Held) -> Iterator[Side]:
    for name, one in _compositions(asked):
        try:
            memory = fullest_rank(asked.model, one, asked.job)
        except ShardlabError:
            continue
        sent = training_traffic(asked.model, one, asked.job)
        yield Side(name, memory, tuple(sorted(sent, key=lambda each: each.crosses_nodes(asked.gpus_per_node))))


def _compositions(asked: Held) -> Iterator[tuple[str, Strategy]]:
    ranks, node = asked.ranks, min(asked.ranks, asked.gpus_per_node)
    for zero, name in enumerate(("DDP", "ZeRO-1", "ZeRO-2", "FSDP")):
        yield name, Strategy(dp_size=ranks, zero=zero, recompute=asked.recompute)
    if ranks == 1:
        return
    yield "FSDP, kept", Strategy(dp_size=ranks, zero=3, reshard=False, recompute=asked.recompute)
    tensor = Strategy(dp_size=ranks // node, tp_size=node, recompute=asked.recompute)
    yield f"TP={node}", tensor
    yield f"TP={node} + SP", replace(tensor, sequence_parallel=True)
    yield f"PP={node}", Strategy(dp_size=ranks // node, pp_size=node, recompute=asked.recompute)
    stages = min(ranks // node, 4)
    if stages > 1:
        both = replace(tensor, dp_size=ranks // (node * stages), pp_size=stages, sequence_parallel=True)
        yield f"TP={node}, PP={stages}", replace(both, zero=1 if both.dp_size > 1 else 0)
    if asked.model.moe is not None and (experts := gcd(ranks, asked.model.moe.num_experts)) > 1:
        yield f"EP={experts}, ZeRO-1", Strategy(dp_size=ranks, zero=1, ep_size=experts, recompute=asked.recompute)


def paper_gb(zero: int) -> float:
    return model_states(PAPER_PARAMETERS, zero, PAPER_RANKS).total / GB


def paper_slips() -> dict[str, float]:
    """The stages before it, that are taken for the last one, by their names in room.md."""
    return {name: paper_gb(zero) for zero, name in enumerate(("whole", "states_alone", "weights_whole"))}
