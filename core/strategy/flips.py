"""What would change the answer: the nearest changes of one input that make another kind of strategy the right one.

How far a change is counts in doublings: |log2(new / old)|. A change after which nothing fits is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log2
from typing import Any, Literal

from core.errors import Remark, remark
from core.specs import LinkSpec
from core.strategy.picker import Answer, Goal, Question, answer

STEPS = (2**0.5, 2.0, 4.0)
"""How far a continuous input is moved, up and down."""
DOUBLINGS = (2, 4)
MOST_SEQUENCES, MOST_TOKENS, MOST_CLUSTER = 4096, 131_072, 1024


@dataclass(frozen=True)
class Changed:
    """A question with one input changed; `kind` says what its values are."""

    knob: str
    kind: Literal["bytes", "bandwidth", "count", "goal"]
    before: float | Goal
    after: float | Goal
    doublings: float
    question: Question

    @property
    def input(self) -> Remark:
        return remark(f"strategy.input_{self.knob}")

    @property
    def now(self) -> Remark:
        return self._value(self.before)

    @property
    def instead(self) -> Remark:
        return self._value(self.after)

    def _value(self, value: float | Goal) -> Remark:
        return remark(f"strategy.{value}" if isinstance(value, str) else f"strategy.{self.kind}", value=value)


@dataclass(frozen=True)
class Flip:
    """A change, and the other answer that it gives."""

    changed: Changed
    other: Answer


def flips(given: Answer, most: int = 3) -> list[Flip]:
    """The nearest changes that give another kind of strategy, at most one an input, nearest first.

    Inputs move up to fourfold; an empty list says that within that, no single change does.
    """
    nearest: dict[str, Flip] = {}
    changes = (changed for knob in KNOBS for changed in knob(given.question))
    for changed in sorted(changes, key=lambda one: one.doublings):
        if len(nearest) == most:
            break
        if changed.knob in nearest:
            continue
        other = answer(changed.question)
        if other.stands and other.family != given.family:
            nearest[changed.knob] = Flip(changed, other)
    return list(nearest.values())


Knob = Callable[[Question], Iterator[Changed]]


def _nodes(asked: Question) -> Iterator[Changed]:
    nodes = asked.cluster.nodes
    for count in [nodes * times for times in DOUBLINGS] + [nodes // times for times in DOUBLINGS]:
        if count and count * asked.cluster.gpus_per_node <= max(MOST_CLUSTER, asked.cluster.gpus):
            yield _changed("nodes", "count", nodes, count, _on(asked, nodes=count))


def _memory(asked: Question) -> Iterator[Changed]:
    gpu = asked.cluster.gpu
    for times in _both_ways():
        size = round(gpu.usable_memory_bytes * times)
        # the key stays: a class of GPU has its own calibration
        other = replace(gpu, usable_memory_bytes=size, memory_bytes=round(gpu.memory_bytes * times))
        far = abs(log2(times))
        yield Changed("memory", "bytes", gpu.usable_memory_bytes, size, far, _on(asked, gpu=other))


def _wires(asked: Question) -> Iterator[Changed]:
    cluster = asked.cluster
    for knob, parts in (("network", cluster.nodes), ("link", cluster.gpus_per_node)):
        for link, rates in _faster(getattr(cluster, knob)) if parts > 1 else ():
            yield _changed(knob, "bandwidth", *rates, _on(asked, **{knob: link}))


def _load(asked: Question) -> Iterator[Changed]:
    for knob, name, most in (
        ("sequences", "sequences", MOST_SEQUENCES),
        ("tokens", "sequence_tokens", MOST_TOKENS),
    ):
        now = getattr(asked, name)
        for count in _whole(now, most):
            changed = replace(asked, **{name: count})  # type: ignore[arg-type]
            yield _changed(f"{knob}_{asked.purpose}", "count", now, count, changed)


def _goal(asked: Question) -> Iterator[Changed]:
    """The other goal: no quantity, so it stands behind every doubling that was tried."""
    other = replace(asked, goal="latency" if asked.goal == "throughput" else "throughput")
    yield Changed("goal", "goal", asked.goal, other.goal, log2(STEPS[-1]) + 1, other)


KNOBS: tuple[Knob, ...] = (_memory, _nodes, _wires, _load, _goal)


def _on(asked: Question, **changes: Any) -> Question:
    """The question on a cluster with one thing changed."""
    return replace(asked, cluster=replace(asked.cluster, **changes))


def _both_ways() -> Iterator[float]:
    for step in STEPS:
        yield step
        yield 1 / step


def _faster(link: LinkSpec) -> Iterator[tuple[LinkSpec, tuple[float, float]]]:
    """A link at other bandwidths, its measured one along with it, and the two bandwidths."""
    now = link.bandwidth_bytes_per_s
    for times in _both_ways():
        yield link.scaled(times), (now, now * times)


def _whole(now: int, most: int) -> Iterator[int]:
    for times in DOUBLINGS:
        if now * times <= most:
            yield now * times
        if now % times == 0:
            yield now // times


def _changed(
    knob: str, kind: Literal["bandwidth", "count"], before: float, after: float, question: Question
) -> Changed:
    return Changed(knob, kind, before, after, abs(log2(after / before)), question)
