"""Plans of the same GPUs that can race: which of a question's plans, and what each of their engines costs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from core.errors import ShardlabError
from core.placement.layout import Layout, layouts
from core.placement.plan import Plan, Question, judge
from core.placement.under_load import engine_cost
from core.serving.load import EngineCost
from core.strategy.disaggregation import Request, handoff

Kind = Literal["tensor", "stages", "replicas", "experts", "apart"]


@dataclass(frozen=True)
class Entrant:
    """A plan in the race: `engines` of one layout, of which `readers` only prefill; 0 where all do both.

    The cache of one engine holds `cache_sequences`; it runs fewer at once where its scheduler stops before.
    """

    kind: Kind
    layout: Layout
    engines: int
    cost: EngineCost
    cache_sequences: int
    readers: int = 0
    transfer_s: float = 0.0

    @property
    def writers(self) -> int:
        """Engines that write answers: all but those that only read prompts."""
        return self.engines - self.readers

    @property
    def slots(self) -> int:
        """Sequences that run at once, over all engines that decode."""
        return self.writers * self.cost.most_running

    @property
    def reader(self) -> EngineCost:
        """An engine that only reads: a request is done with its first token, and no step decodes beside it."""
        return replace(self.cost, output_tokens=1, added_fraction=1.0)

    @property
    def writer(self) -> EngineCost:
        """An engine that only writes: what it is sent has been read."""
        return replace(self.cost, prompt_tokens=1, prefill_s=0.0, prefill_delay_s=0.0)

    @property
    def capacity_per_s(self) -> float:
        """Requests a second that all its engines complete together."""
        if not self.readers:
            return self.engines * self.cost.capacity_per_s
        carried_per_s = min(self.readers, self.writers) / self.transfer_s
        return min(
            self.readers * self.reader.capacity_per_s, self.writers * self.writer.capacity_per_s, carried_per_s
        )

    @property
    def alone_s(self) -> float:
        """A request that meets nobody, from its arrival to its last token."""
        return self.cost.alone_s + self.transfer_s


def entrants(asked: Question, judged: Iterable[Plan] = ()) -> tuple[Entrant, ...]:
    """The plans of a question that race, each kind at most once, and none that uses fewer GPUs than another.

    TP over as many as fit, within an NVLink domain where it can be; TP × PP; replicas of as few GPUs as hold the
    model; experts with data-parallel attention; those replicas, divided into readers and writers so that both keep
    up. Who has placed the question before gives the plans that were `judged`; of the others only those are that
    could still race.
    """
    question = replace(asked, expert_parallel=True, context_parallel=False)
    known = {plan.layout: plan for plan in judged}

    def fitting(layout: Layout) -> Plan | None:
        if layout not in known:
            known[layout] = judge(question, layout)
        return known[layout] if known[layout].fits else None

    ways = sorted(layouts(question.model, question.cluster), key=lambda layout: -layout.gpus)
    for _, most in groupby(ways, key=lambda layout: layout.gpus):
        alike = list(most)
        best = _best(alike, question.cluster.domain, fitting)
        if best or any(map(fitting, alike)):
            entered = [_entrant(question, kind, plan) for kind, plan in best.items()]
            apart = _apart(question, entered)
            return (*entered, *([apart] if apart else []))
    return ()


def _best(ways: Sequence[Layout], domain: int, fitting: Callable[[Layout], Plan | None]) -> dict[Kind, Plan]:
    """The plan of each kind, of layouts of as many GPUs; what comes first in a kind is tried first."""

    def first(some: Iterable[Layout], order: Callable[[Layout], Any]) -> Plan | None:
        plans = map(fitting, sorted(some, key=order, reverse=True))
        return next((plan for plan in plans if plan is not None), None)

    whole = [one for one in ways if one.dp_size == 1]
    found: dict[Kind, Plan | None] = {}
    for among in ([one for one in whole if one.tp_size <= domain], whole):
        plain = [one for one in among if one.pp_size == 1]
        found["tensor"] = first(plain, lambda one: one.tp_size)
        found["stages"] = first((one for one in among if one.pp_size > 1), lambda one: (-one.replicas, one.tp_size))
        found["replicas"] = first(plain, lambda one: one.replicas)
        if any(found.values()):
            break
    copied = (one for one in ways if one.dp_size > 1 and one.pp_size == 1)
    found["experts"] = first(copied, lambda one: (one.ep_size, one.dp_size))
    if found["replicas"] is found["tensor"]:
        del found["replicas"]
    return {kind: plan for kind, plan in found.items() if plan is not None}


def _entrant(question: Question, kind: Kind, plan: Plan) -> Entrant:
    return Entrant(
        kind=kind,
        layout=plan.layout,
        engines=plan.layout.replicas,
        cost=engine_cost(question, plan),
        cache_sequences=plan.max_concurrency // plan.layout.replicas,
    )


def _apart(question: Question, entered: Sequence[Entrant]) -> Entrant | None:
    """The smallest engines that entered, some of which only read: as many as complete most.

    None of one engine, or of stages, or where a prompt's first token is all that is asked.
    """
    engine = max(
        (one for one in entered if one.kind in ("tensor", "replicas")), key=lambda one: one.engines, default=None
    )
    if engine is None or engine.engines < 2 or question.demand.output_tokens == 1:
        return None
    model, cluster, demand = question.model, question.cluster, question.demand
    request = Request(
        model,
        cluster.gpu,
        cluster.group(engine.layout.tp_size),
        demand.prompt_tokens,
        demand.output_tokens,
        kv_dtype=demand.kv_dtype,
    )
    try:
        transfer_s = handoff(request, cluster.slowest_link(cluster.gpus)).transfer_s
    except ShardlabError:
        return None
    apart = replace(engine, kind="apart", transfer_s=transfer_s)
    split = (replace(apart, readers=readers) for readers in range(1, engine.engines))
    return max(split, key=lambda one: one.capacity_per_s)
