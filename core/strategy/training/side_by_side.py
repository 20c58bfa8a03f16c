"""The strategies side by side: what each holds on a rank of the same GPUs, and what it sends for that."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd

from core.errors import ShardlabError
from core.ledger import Op
from core.specs import ModelSpec
from core.strategy.training.choice import fullest_rank
from core.strategy.training.layout import Recompute, Strategy
from core.strategy.training.memory import Job, TrainingMemory, model_states
from core.strategy.training.traffic import Axis, training_traffic
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
class SentASequence:
    """Bytes of one kind that all ranks together send for each sequence of a step."""

    axis: Axis
    op: Op
    why: str
    crosses_nodes: bool
    sent_bytes: float


@dataclass(frozen=True)
class Side:
    """One strategy: its fullest rank, the sequences of its step, and what is sent for each, inside the node first.

    Steps differ in how many sequences they take, as data-parallel ranks do: what they send is compared by one.
    """

    name: str
    memory: TrainingMemory
    sequences: int
    sent: tuple[SentASequence, ...]

    @property
    def sent_bytes(self) -> float:
        """What all ranks together send for one sequence."""
        return sum(one.sent_bytes for one in self.sent)


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
        sequences = one.dp_size * asked.job.microbatches * asked.job.sequences
        yield Side(name, memory, sequences, _sent_a_sequence(asked, one, sequences))


def _sent_a_sequence(asked: Held, strategy: Strategy, sequences: int) -> tuple[SentASequence, ...]:
    """Every rank's traffic of a step, stage by stage, over its sequences; what stays in a node comes first."""
    alike = strategy.tp_size * strategy.dp_size
    sent: dict[tuple[bool, Axis, Op, str], float] = {}
    for stage in range(strategy.pp_size):
        for one in training_traffic(asked.model, strategy, asked.job, stage):
            kind = one.crosses_nodes(asked.gpus_per_node), one.axis, one.op, one.why
            sent[kind] = sent.get(kind, 0.0) + alike * one.sent_bytes / sequences
    inside_first = sorted(sent.items(), key=lambda item: item[0][0])
    return tuple(SentASequence(*kind[1:], kind[0], sent_bytes) for kind, sent_bytes in inside_first)


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
