"""Plans of the same GPUs that can race: which of a question's plans, and what each of their engines costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.errors import ShardlabError
from core.placement.layout import Layout
from core.placement.plan import Plan, Question
from core.placement.planner import Placement, place
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
    roofline_itl_s: float
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
        """An engine that only reads: a request is done with its first token."""
        return replace(self.cost, output_tokens=1)

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


def entrants(asked: Question, placed: Callable[[Question], Placement] = place) -> tuple[Entrant, ...]:
    """The plans of a question that race, each kind at most once, and none that uses fewer GPUs than another.

    TP over as many as fit, within an NVLink domain where it can be; TP × PP; replicas of as few GPUs as hold the
    model; experts with data-parallel attention; those replicas, divided into readers and writers so that both keep
    up. Who has placed the question before gives what was `placed`, every plan of it.
    """
    question = replace(asked, expert_parallel=True, context_parallel=False)
    plans = [plan for plan in placed(question).plans if plan.fits]
    most = max((plan.layout.gpus for plan in plans), default=0)
    plans = [plan for plan in plans if plan.layout.gpus == most]
    whole = [plan for plan in plans if plan.layout.dp_size == 1]
    whole = [plan for plan in whole if plan.layout.tp_size <= question.cluster.domain] or whole
    best: dict[Kind, Plan | None] = {
        "tensor": _last(_of(whole, pp=False), lambda layout: layout.tp_size),
        "stages": _last(_of(whole, pp=True), lambda layout: (-layout.replicas, layout.tp_size)),
        "replicas": _last(_of(whole, pp=False), lambda layout: layout.replicas),
        "experts": _last(
            [plan for plan in plans if plan.layout.dp_size > 1 and plan.layout.pp_size == 1],
            lambda layout: (layout.ep_size, layout.dp_size),
        ),
    }
    if best["replicas"] is best["tensor"]:
        best["replicas"] = None
    entered = [_entrant(question, kind, plan) for kind, plan in best.items() if plan is not None]
    smallest = best["replicas"] or best["tensor"]
    apart = None if smallest is None else _apart(question, smallest)
    return (*entered, *([apart] if apart else []))


def _of(plans: Sequence[Plan], pp: bool) -> list[Plan]:
    return [plan for plan in plans if (plan.layout.pp_size > 1) == pp]


def _last(plans: Sequence[Plan], order: Callable[[Layout], Any]) -> Plan | None:
    return max(plans, key=lambda plan: order(plan.layout), default=None)


def _entrant(question: Question, kind: Kind, plan: Plan) -> Entrant:
    layout = plan.layout
    one = replace(layout, replicas=1)
    return Entrant(
        kind=kind,
        layout=layout,
        engines=layout.replicas,
        cost=engine_cost(question, plan),
        roofline_itl_s=question.timing(one, 1).roofline_itl_s,
        cache_sequences=plan.max_concurrency // layout.replicas,
    )


def _apart(question: Question, plan: Plan) -> Entrant | None:
    """A plan's engines, some of which only read: as many as complete most.

    None of one engine, or of stages, or where a prompt's first token is all that is asked.
    """
    engine = _entrant(question, "apart", plan)
    if engine.engines < 2 or question.demand.output_tokens == 1:
        return None
    model, cluster, demand = question.model, question.cluster, question.demand
    request = Request(
        model,
        cluster.gpu,
        cluster.group(plan.layout.tp_size),
        demand.prompt_tokens,
        demand.output_tokens,
        kv_dtype=demand.kv_dtype,
    )
    try:
        transfer_s = handoff(request, cluster.slowest_link(cluster.gpus)).transfer_s
    except ShardlabError:
        return None
    split = (replace(engine, readers=readers, transfer_s=transfer_s) for readers in range(1, engine.engines))
    return max(split, key=lambda one: one.capacity_per_s)
