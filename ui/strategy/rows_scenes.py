"""The strategy page's other scenes: flips of a choice, collectives on a clock, prefill apart from decode."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from core.collectives.clock import Course, timed_rounds
from core.placement.plan import Plan
from core.placement.planner import Placement
from core.specs import LinkSpec
from core.strategy.disaggregation import Handoff, Request, handoff
from core.strategy.flips import Flip
from core.strategy.picker import Answer, layout_family, strategy_family
from core.strategy.rooms import Played, played
from core.strategy.training.choice import TrainingChoice, TrainingPlan
from runtime.catalog_words import short_name, told
from runtime.kept import kept, kept_of
from runtime.prose import named, worded
from runtime.prose import said as phrase
from runtime.quantities import binary_bytes, grouped, plain, seconds
from runtime.rows import Row, table

PROMPTS = tuple(2**power for power in range(7, 18))


MOST_KINDS = 9


@kept_of
def kinds(given: Answer) -> list[Row]:
    """Of every kind of strategy the plan that gives most, in the order of what they give; then the refused."""
    judged = _trained(given.judged) if isinstance(given.judged, TrainingChoice) else _served(given.judged)
    best: dict[str, _Judged] = {}
    for plan in judged:
        known = best.get(plan.kind)
        if known is None or (plan.taken, plan.tokens_per_s) > (known.taken, known.tokens_per_s):
            best[plan.kind] = plan
    shown = sorted(best.values(), key=lambda plan: -plan.tokens_per_s)[:MOST_KINDS]
    return table(
        "strategy composition tokens_per_s in_words taken",
        [
            (named("strategy", one.kind), told(one.name), one.tokens_per_s, one.in_words(), one.taken)
            for one in shown
        ],
    )


class _Judged(NamedTuple):
    """A plan of its kind; how what it gives is put into words, which only the best of a kind are."""

    kind: str
    name: str
    tokens_per_s: float
    in_words: Callable[[], str]
    taken: bool


def _trained(choice: TrainingChoice) -> Iterator[_Judged]:
    for plan in choice.plans:
        rate = plan.step.tokens_per_s if plan.step is not None else 0.0
        in_words = partial(_trained_words, plan, rate)
        yield _Judged(strategy_family(plan.strategy), plan.strategy.name, rate, in_words, plan is choice.taken)


def _trained_words(plan: TrainingPlan, rate: float) -> str:
    return phrase("strategy", "says.tokens_s", rate=grouped(round(rate))) if rate else _refusal(plan)


def _refusal(plan: TrainingPlan) -> str:
    split = plan.memory is not None
    return phrase("strategy", "says.does_not_fit_rank" if split else "says.does_not_split", plan.memory)


def _served(placement: Placement) -> Iterator[_Judged]:
    for index, plan in enumerate(placement.plans):
        rate = 0.0 if plan.timing is None else plan.timing.sustained_tokens_per_s
        kind, taken = layout_family(plan.layout), index == placement.recommended
        yield _Judged(kind, plan.layout.name, rate, partial(_served_words, plan), taken)


def _served_words(plan: Plan) -> str:
    if plan.timing is None:
        return phrase("strategy", "says.does_not_fit" if plan.splits else "says.does_not_split")
    rate, itl_s = grouped(round(plan.timing.sustained_tokens_per_s)), seconds(plan.timing.itl_s)
    return phrase("strategy", "says.tokens_s_itl", rate=rate, itl_s=itl_s)


@kept
def timed(op: str, ranks: int, payload_bytes: float, link: LinkSpec) -> list[Row]:
    """Every algorithm of a collective over one link: its course on the clock, and in words what a rank sends."""
    return [_timed(one, payload_bytes, link) for one in played(op, ranks)]


def _timed(one: Played, payload_bytes: float, link: LinkSpec) -> Row:
    course = Course(one.program, timed_rounds(one.program, payload_bytes, link), one.held)
    rounds, sent = phrase("strategy", "says.rounds", count=len(course.rounds)), one.sent_fraction * payload_bytes
    return Row(
        name=named("strategy", one.algorithm),
        detail=phrase("strategy", "says.up_rank", rounds=rounds, sent_fraction=binary_bytes(sent)),
        played=one,
        course=course,
        payload_bytes=payload_bytes,
    )


def port_rows(timed: Sequence[Row]) -> list[dict[str, object]]:
    """Each algorithm as a line of a table: its rounds, and what passes a rank's port."""
    return [
        {
            "algorithm": one.name,
            "rounds": len(one.course.rounds),
            "most_a_rank_sends": binary_bytes(one.played.sent_fraction * one.payload_bytes),
            "in_payloads": plain(one.played.sent_fraction),
            "one_after_another": binary_bytes(one.played.port_fraction * one.payload_bytes),
            "time": seconds(one.course.end_s),
        }
        for one in timed
    ]


PREFILL, STALL = "prefill", "stalls saved"


@kept
def handoff_curves(request: Request, links: Sequence[LinkSpec]) -> list[Row]:
    """Prefill, the stalls that a sequence is spared, and the transfer over each link, by prompt length."""
    rows = []
    for tokens in PROMPTS:
        handoffs = [handoff(replace(request, prompt_tokens=tokens), link) for link in links]
        rows.append(Row(what=PREFILL, prompt_tokens=tokens, time_ms=1e3 * handoffs[0].prefill_s))
        if handoffs[0].stall_s:
            rows.append(Row(what=STALL, prompt_tokens=tokens, time_ms=1e3 * handoffs[0].stall_s))
        rows += [
            Row(what=link_name(link), prompt_tokens=tokens, time_ms=1e3 * one.transfer_s)
            for link, one in zip(links, handoffs, strict=True)
        ]
    return rows


def link_name(link: LinkSpec) -> str:
    """A transfer's line: the link's name without its remark."""
    return phrase("strategy", "says.over_2", value=short_name(link))


@kept
def handoffs(request: Request, links: Sequence[LinkSpec]) -> list[Handoff]:
    return [handoff(request, link) for link in links]


@kept_of
def flip_rows(flips: Sequence[Flip]) -> list[dict[str, str]]:
    return [
        {name: worded(getattr(flip.changed, name)) for name in ("input", "now", "instead")}
        | {"strategy": named("strategy", flip.other.family), "composition": told(flip.other.name)}
        for flip in flips
    ]
