"""Every lab's probes; those of labs 03 and 04, numbers and schedules, are made here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from core.comm_cost import bill
from core.course.grading.probe import Json, Probe
from core.course.grading.probes_of_layers import of_sharding, of_two_ranks
from core.course.grading.tasks import Lab
from core.pipeline_bubble import bubble
from core.pipeline_bubble.schedules.actions import Action, Span
from core.specs import LinkSpec, ModelSpec
from core.text.question import Draw, pick


def probes(lab: Lab, seed: int) -> tuple[Probe, ...]:
    """Every probe of a lab with the inputs of a seed. Their claims are the same for all seeds."""
    return tuple(_PROBES[lab.key](np.random.default_rng(seed)))


# Lab 03: numbers in, a number out


def _of_the_bill(rng: Draw) -> Iterator[Probe]:
    def link() -> LinkSpec:
        return LinkSpec("own", "own", int(rng.integers(1, 90)) * 1e-6, int(rng.integers(2, 400)) * 1e9)

    def sent(one: LinkSpec) -> Json:
        return ["link", one.latency_s, one.bandwidth_bytes_per_s]

    tokens, hidden, ranks = int(rng.integers(2, 90)), 64 * int(rng.integers(8, 130)), pick(rng, 2, 4, 8)
    payload = 1024 * int(rng.integers(1, 9000))
    yield Probe(1, "a row of activations a token", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden}, {"value": 2 * tokens * hidden})  # fmt: skip
    yield Probe(1, "of the width they are kept in", "allreduce_payload_bytes",
                {"tokens": tokens, "hidden_size": hidden, "bytes_per_element": 4},
                {"value": 4 * tokens * hidden})  # fmt: skip
    for claim, over in (("2(N-1)/N of the payload", ranks), ("one rank sends nothing", 1)):
        traffic = bill.ring_allreduce_traffic_per_rank(payload, over)
        yield Probe(2, claim, "ring_allreduce_traffic_per_rank",
                    {"payload_bytes": payload, "ranks": over}, {"value": traffic})  # fmt: skip
    cases = (
        ("every hop waits", 512, ranks),
        ("bytes take their time", 2**26, ranks),
        ("one rank waits for nobody", payload, 1),
    )
    for claim, size, over in cases:
        one = link()
        yield Probe(3, claim, "allreduce_time_s", {"payload_bytes": size, "ranks": over, "link": sent(one)},
                    {"value": bill.allreduce_time_s(size, over, one)}, 1e-9)  # fmt: skip
    for claim, over in (("two all-reduces a layer", ranks), ("one rank pays nothing", 1)):
        one, layers = link(), int(rng.integers(10, 100))
        shape = replace(_SMALL, num_hidden_layers=layers, hidden_size=hidden)
        yield Probe(4, claim, "tp_comm_time_per_step",
                    {"model": ["model", layers, hidden], "tokens": tokens, "tp_size": over, "link": sent(one)},
                    {"value": bill.tp_comm_time_per_step(shape, tokens, over, one)}, 1e-9)  # fmt: skip
    comm_s, step_s = (float(rng.integers(1, 100)) / 1e4 for _ in range(2))
    yield Probe(5, "of the whole wall clock", "comm_fraction", {"comm_s": comm_s, "step_s": step_s},
                {"value": comm_s / (comm_s + step_s)}, 1e-9)  # fmt: skip


_SMALL = ModelSpec("own", "own", 64, 1, 1, 1, 64, 64, 64, 64)


# Lab 04: actions and spans


def _of_the_bubble(rng: Draw) -> Iterator[Probe]:
    stages, microbatches = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    size = {"stages": stages, "microbatches": microbatches}
    order = bubble.fill_drain(stages, microbatches)
    yield Probe(1, "every pair, in order", "fill_drain", size, {"value": _rows(order)})
    by_stage = [[action for action in order if action.stage == stage] for stage in rng.permutation(stages)]
    mixed = [action for part in by_stage for action in part]
    spans = bubble.run_on_ticks(order, stages)
    yield Probe(2, "each starts when its input and its stage are there", "run_on_ticks",
                {"actions": ["actions", _rows(order)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    yield Probe(2, "whatever the order of the stages in the list", "run_on_ticks",
                {"actions": ["actions", _rows(mixed)], "stages": stages}, {"value": _sorted(spans)})  # fmt: skip
    backwards = [Action(stage, "F", number) for stage in range(stages) for number in reversed(range(microbatches))]
    yield Probe(2, "a stage keeps its own order", "run_on_ticks",
                {"actions": ["actions", _rows(backwards)], "stages": stages},
                {"value": _sorted(bubble.run_on_ticks(backwards, stages))})  # fmt: skip
    paused = _paused(spans, rng)
    for claim, run in (("idle cells over all cells", spans), ("of a run that no formula describes", paused)):
        yield Probe(3, claim, "counted_bubble", {"spans": ["spans", _sorted(run)], "stages": stages},
                    {"value": str(bubble.counted_bubble(run, stages))})  # fmt: skip
    large = {"stages": int(rng.integers(3, 60)), "microbatches": int(rng.integers(3, 300))}
    yield Probe(4, "in p and m alone", "bubble_fraction", large, {"value": str(bubble.bubble_fraction(**large))})
    yield Probe(
        5, "idle over working time", "bubble_overhead", large, {"value": str(bubble.bubble_overhead(**large))}
    )
    for claim, under in (("the fewest at the budget", False), ("the fewest under it", True)):
        budget, deep = Fraction(1, int(rng.integers(3, 30))), int(rng.integers(2, 40))
        yield Probe(6, claim, "microbatches_for_budget",
                    {"stages": deep, "budget": ["fraction", str(budget)], "under": under},
                    {"value": bubble.microbatches_for_budget(deep, budget, under=under)})  # fmt: skip
    wrong = int(rng.integers(1, len(spans)))
    early = replace(spans[-1], start=0, end=1)
    for claim, run, right in (
        ("a real run", spans, True),
        ("a run with pauses", paused, True),
        ("an action left out", spans[:wrong] + spans[wrong + 1 :], False),
        ("an action before its input", [*spans[:-1], early], False),
        ("an action twice", [*spans, spans[wrong]], False),
    ):
        yield Probe(7, claim, "is_valid", {"spans": ["spans", _sorted(run)], **size}, {"value": right})


def _rows(actions: list[Action]) -> Json:
    return [[stage, kind, microbatch] for stage, kind, microbatch in actions]


def _sorted(spans: list[Span]) -> Json:
    """Spans as rows, in the one order in which two lists of them can be compared."""
    return sorted([list(span.action), span.rank, span.start, span.end] for span in spans)


def _paused(spans: list[Span], rng: Draw) -> list[Span]:
    """The same run with every rank one pause behind the one before it."""
    pause = int(rng.integers(1, 4))
    return [replace(span, start=span.start + span.rank * pause, end=span.end + span.rank * pause) for span in spans]


_PROBES: Mapping[str, Callable[[Draw], Iterator[Probe]]] = MappingProxyType(
    {"lab-01": of_sharding, "lab-02": of_two_ranks, "lab-03": _of_the_bill, "lab-04": _of_the_bubble}
)
