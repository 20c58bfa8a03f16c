"""What would change the answer: the nearest changes of one input that make another kind of strategy the right one.

How far a change is counts in doublings: |log2(new / old)|. A change after which nothing fits is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log2

from core.specs import LinkSpec
from core.strategy.picker import Answer, Question, answer
from core.units import bandwidth, decimal_bytes, grouped

STEPS = (2**0.5, 2.0, 4.0)
"""How far a continuous input is moved, up and down."""
DOUBLINGS = (2, 4)
MOST_SEQUENCES, MOST_TOKENS, MOST_CLUSTER = 4096, 131_072, 1024


@dataclass(frozen=True)
class Changed:
    """A question with one input changed, and that input in words."""

    knob: str
    before: str
    after: str
    doublings: float
    question: Question


@dataclass(frozen=True)
class Flip:
    """A change, and the other answer that it gives."""

    changed: Changed
    other: Answer


def flips(given: Answer, most: int = 3) -> list[Flip]:
    """The nearest changes that give another kind of strategy, at most one an input, nearest first.

    Inputs move up to fourfold; an empty list says that within that, no single change does.
    """
    found: dict[str, Flip] = {}
    changes = (changed for knob in KNOBS for changed in knob(given.question))
    for changed in sorted(changes, key=lambda one: one.doublings):
        if len(found) == most:
            break
        if changed.knob in found:
            continue
        other = answer(changed.question)
        if other.stands and other.family != given.family:
            found[changed.knob] = Flip(changed, other)
    return list(found.values())


Knob = Callable[[Question], Iterator[Changed]]


def _nodes(asked: Question) -> Iterator[Changed]:
    nodes = asked.cluster.nodes
    for count in [nodes * times for times in DOUBLINGS] + [nodes // times for times in DOUBLINGS]:
        if count and count * asked.cluster.gpus_per_node <= max(MOST_CLUSTER, asked.cluster.gpus):
            cluster = replace(asked.cluster, nodes=count)
            yield _changed("nodes", nodes, count, replace(asked, cluster=cluster))


def _memory(asked: Question) -> Iterator[Changed]:
    gpu = asked.cluster.gpu
    for times in _both_ways():
        size = round(gpu.usable_memory_bytes * times)
        # the key stays: a class of GPU has its own calibration
        own = replace(gpu, usable_memory_bytes=size, memory_bytes=round(gpu.memory_bytes * times))
        words = decimal_bytes(gpu.usable_memory_bytes), decimal_bytes(size)
        yield Changed(
            "usable memory of a GPU",
            *words,
            abs(log2(times)),
            replace(asked, cluster=replace(asked.cluster, gpu=own)),
        )


def _network(asked: Question) -> Iterator[Changed]:
    if asked.cluster.nodes > 1:
        for own, words, far in _faster(asked.cluster.network):
            yield Changed(
                "network bandwidth", *words, far, replace(asked, cluster=replace(asked.cluster, network=own))
            )


def _link(asked: Question) -> Iterator[Changed]:
    if asked.cluster.gpus_per_node > 1:
        for own, words, far in _faster(asked.cluster.link):
            yield Changed(
                "bandwidth inside a node", *words, far, replace(asked, cluster=replace(asked.cluster, link=own))
            )


def _sequences(asked: Question) -> Iterator[Changed]:
    name = "sequences in a step" if asked.purpose == "train" else "sequences at once"
    for count in _whole(asked.sequences, MOST_SEQUENCES):
        yield _changed(name, asked.sequences, count, replace(asked, sequences=count))


def _tokens(asked: Question) -> Iterator[Changed]:
    name = "tokens of a sequence" if asked.purpose == "train" else "tokens of a prompt"
    for count in _whole(asked.sequence_tokens, MOST_TOKENS):
        yield _changed(name, asked.sequence_tokens, count, replace(asked, sequence_tokens=count))


def _goal(asked: Question) -> Iterator[Changed]:
    """The other goal: no quantity, so it stands behind every doubling that was tried."""
    other = replace(asked, goal="latency" if asked.goal == "throughput" else "throughput")
    yield Changed("goal", asked.goal, other.goal, log2(STEPS[-1]) + 1, other)


KNOBS: tuple[Knob, ...] = (_memory, _nodes, _network, _link, _sequences, _tokens, _goal)


def _both_ways() -> Iterator[float]:
    for step in STEPS:
        yield step
        yield 1 / step


def _faster(link: LinkSpec) -> Iterator[tuple[LinkSpec, tuple[str, str], float]]:
    """A link at other bandwidths, its measured one along with it."""
    now = link.bandwidth_bytes_per_s
    for times in _both_ways():
        measured = None if link.measured_bytes_per_s is None else link.measured_bytes_per_s * times
        own = replace(link, bandwidth_bytes_per_s=now * times, measured_bytes_per_s=measured)
        yield own, (bandwidth(now), bandwidth(now * times)), abs(log2(times))


def _whole(now: int, most: int) -> Iterator[int]:
    for times in DOUBLINGS:
        if now * times <= most:
            yield now * times
        if now % times == 0:
            yield now // times


def _changed(knob: str, before: int, after: int, question: Question) -> Changed:
    return Changed(knob, grouped(before), grouped(after), abs(log2(after / before)), question)
