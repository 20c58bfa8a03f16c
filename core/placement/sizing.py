"""How many GPUs a rate takes, and what rate GPUs take: whole engines, or prefill and decode on engines apart.

λ requests a second. An engine of a shape keeps the targets up to r; ⌈λ/r⌉ of them keep them at λ. Apart, x engines
that only read and y that only write keep min(x·r_read, y·r_write); a prompt's keys and values cross a link between,
and an engine sends or takes no more of them a second than its ports carry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import ceil

from core.collectives.cost import as_measured
from core.errors import Remark, remark
from core.models.kv_cache import sequence_bytes
from core.placement.cluster import MOST_GPUS
from core.placement.layout import Layout, layouts
from core.placement.plan import Plan, Question, judge
from core.placement.under_load import REQUESTS, chunk_tokens, engine_cost
from core.serving.curve import Promise, most_kept_per_s
from core.specs import LinkSpec

MOST_SHAPES = 12
"""Shapes of an engine that are judged, the smallest first: each is run fifteen times."""
NO_PREFILL_S = 1e-9
"""What a prompt takes of an engine that only writes: the simulator asks for more than nothing."""


@dataclass(frozen=True)
class Shape:
    """An engine that fits, and the rates at which it keeps the targets: as a whole, only reading, only writing.

    As a whole it reads `chunk_tokens` of prompts a step: no more than its target between tokens leaves time for.
    """

    layout: Layout
    chunk_tokens: int
    whole_per_s: float
    reads_per_s: float
    writes_per_s: float


@dataclass(frozen=True)
class Sized:
    """Engines of one shape that keep the targets up to `kept_per_s` together."""

    layout: Layout
    kept_per_s: float
    chunk_tokens: int

    @property
    def gpus(self) -> int:
        return self.layout.gpus

    @property
    def name(self) -> str:
        return self.layout.name


@dataclass(frozen=True)
class Apart:
    """x engines that read and y that write; `transfer_s` is what a prompt's keys and values take on the link."""

    prefill: Layout
    decode: Layout
    kept_per_s: float
    transfer_s: float

    @property
    def gpus(self) -> int:
        return self.prefill.gpus + self.decode.gpus

    @property
    def name(self) -> str:
        """As it is written: `2P3D: TP=2 ×2 → TP=4 ×3`."""
        return f"{self.prefill.replicas}P{self.decode.replicas}D: {self.prefill.name} → {self.decode.name}"


@dataclass(frozen=True)
class Sizing:
    """What keeps a question's targets, best first: the fewest GPUs at its rate, else the most on its own."""

    question: Question
    shapes: tuple[Shape, ...]

    @cached_property
    def together(self) -> tuple[Sized, ...]:
        """Whole engines, one way a shape."""
        return tuple(sorted(self._together(), key=self._rank))

    @cached_property
    def apart(self) -> tuple[Apart, ...]:
        """Prefill and decode apart, the best way of each pair of shapes."""
        return tuple(sorted(self._apart(), key=self._rank))

    def _rank(self, way: Sized | Apart) -> tuple[float, float]:
        """Fewest GPUs first where a rate is asked, else the highest rate."""
        fewest = self.question.demand.requests_per_s is not None
        return (way.gpus, -way.kept_per_s) if fewest else (-way.kept_per_s, way.gpus)

    def _together(self) -> Iterator[Sized]:
        rate, cluster = self.question.demand.requests_per_s, self.question.cluster
        for shape in self.shapes:
            gpus, kept = shape.layout.gpus, shape.whole_per_s
            engines = ceil(rate / kept) if rate and kept else cluster.gpus // gpus
            if kept and 1 <= engines <= MOST_GPUS // gpus:
                yield Sized(replace(shape.layout, replicas=engines), engines * kept, shape.chunk_tokens)

    def _apart(self) -> Iterator[Apart]:
        for reader in self.shapes:
            for writer in self.shapes:
                if reader.reads_per_s and writer.writes_per_s:
                    yield from self._pair(reader, writer)

    def _pair(self, reader: Shape, writer: Shape) -> Iterator[Apart]:
        """The fewest of both for the rate asked, or the most of both that the cluster has room for."""
        rate, gpus = self.question.demand.requests_per_s, self.question.cluster.gpus
        read, write = reader.reads_per_s, writer.writes_per_s
        sizes = reader.layout.gpus, writer.layout.gpus
        if rate is not None:
            ways = [(ceil(rate / read), ceil(rate / write))]
            gpus = MOST_GPUS
        else:
            even = gpus / (sizes[0] + sizes[1] * read / write)
            readers = {max(1, int(even)), max(1, ceil(even))}
            ways = [(count, (gpus - count * sizes[0]) // sizes[1]) for count in sorted(readers)]
        fitting = [way for way in ways if min(way) >= 1 and way[0] * sizes[0] + way[1] * sizes[1] <= gpus]
        if fitting:
            first, second = max(fitting, key=lambda way: min(way[0] * read, way[1] * write))
            layouts = replace(reader.layout, replicas=first), replace(writer.layout, replicas=second)
            kept = min(first * read, second * write)
            yield Apart(*layouts, kept, transfer_s(self.question, *layouts))


def sized(question: Question) -> Sizing:
    """Every shape of an engine that fits, held to the question's targets as whole, reader and writer."""
    alone = replace(question, demand=replace(question.demand, concurrency=1))
    ways = layouts(question.model, question.cluster, question.expert_parallel, question.context_parallel)
    shapes = sorted({replace(layout, replicas=1) for layout in ways}, key=lambda one: (one.gpus, one.name))
    plans = (judge(alone, shape) for shape in shapes)
    fitting = islice((plan for plan in plans if plan.fits and plan.max_concurrency), MOST_SHAPES)
    return Sizing(question, tuple(_shape(alone, plan) for plan in fitting))


def sizing_remark(sizing: Sizing) -> Remark:
    """The best way of each kind in a sentence."""
    demand, cluster = sizing.question.demand, sizing.question.cluster
    code = "placement.sized_at_rate" if demand.requests_per_s else "placement.sized_on_gpus"
    return remark(
        code,
        demand=demand,
        gpus=cluster.gpus,
        together=_best(sizing.together),
        apart=_best(sizing.apart),
    )


def _best(ways: Sequence[Sized] | Sequence[Apart]) -> Remark:
    if not ways:
        return remark("placement.sized_none")
    best = ways[0]
    return remark("placement.sized_best", name=best.name, gpus=best.gpus, kept_per_s=best.kept_per_s)


def _shape(question: Question, plan: Plan) -> Shape:
    """One engine's three rates.

    What only reads has its first token after a prompt has crossed the link; what only writes meets no prompt. Both
    are as slow as their ports.
    """
    demand, cost = question.demand, engine_cost(question, plan)
    crossing_s = transfer_s(question, plan.layout, plan.layout)
    first_s = None if demand.slo_ttft_s is None else demand.slo_ttft_s - crossing_s
    reading = replace(cost, output_tokens=1)
    writing = replace(cost, prefill_s=NO_PREFILL_S, prefill_delay_s=0.0)
    ports_per_s = 1 / _bytes_s(question, plan.layout)
    usual, percentile = question.cluster.gpu.vllm_batched_tokens, demand.percentile
    chunk = chunk_tokens(question, cost)
    return Shape(
        plan.layout,
        chunk,
        most_kept_per_s(cost, Promise(demand.slo_ttft_s, demand.slo_itl_s, percentile), REQUESTS, chunk),
        min(ports_per_s, most_kept_per_s(reading, Promise(first_s, None, percentile), REQUESTS, usual)),
        min(ports_per_s, most_kept_per_s(writing, Promise(None, demand.slo_itl_s, percentile), REQUESTS, usual)),
    )


def transfer_s(question: Question, prefill: Layout, decode: Layout) -> float:
    """A prompt's keys and values from the ranks that made them to those that use them, after all of them are made.

        α + S · kv bytes a token and rank / (stages · β)

    Over the network where the cluster has nodes, else over the slowest link of the node. The side with fewer ranks
    sets the pace. Ignored: queueing for the link, and layers that leave as soon as they are made.
    """
    link = _between(question)
    return link.base_s + link.latency_s + max(_bytes_s(question, side) for side in (prefill, decode))


def _between(question: Question) -> LinkSpec:
    cluster = question.cluster
    return cluster.port if cluster.nodes > 1 else cluster.inner


def _bytes_s(question: Question, side: Layout) -> float:
    """How long a prompt's keys and values keep the ports of an engine busy, all its ranks at once."""
    sent = sequence_bytes(question.model, side.tp_size, question.demand.prompt_tokens, question.demand.kv_dtype)
    return sent / side.pp_size / side.dcp_size / as_measured(_between(question)).bandwidth_bytes_per_s
