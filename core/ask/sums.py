"""What decides a question about one way of serving: memory, room, sizes that split, and how fast it is."""

from dataclasses import replace

from core.ask.reading import Asked
from core.errors import Remark, remark
from core.models.checkpoint import as_served
from core.models.kv_cache import kv_bytes_per_token, state_bytes_per_sequence
from core.models.weights import held_weight_bytes
from core.placement.assumed import held_to
from core.placement.layout import Layout
from core.placement.plan import Plan, Question, judge
from core.placement.planner import WITHIN_ERROR, place
from core.placement.trace import answer, nothing_fits
from core.sharding_math.tp_sizes import check_tp_size

Lines = list[Remark]
MOST_SHOWN = 4
"""Plans that are set beside each other."""
NODE = 8
"""GPUs of the largest node that is tried before a second one is."""
MOST_NODES = 8


def which_tp(asked: Asked) -> Lines:
    """The plan to take on these GPUs, the sizes that split, and what the other plans give."""
    placement = place(asked.question())
    lines = [*answer(placement), _sizes_that_split(asked)]
    others = [placement.plans[index] for index in placement.lost[:MOST_SHOWN]]
    lines += [_given(plan) for plan in others]
    return lines


def fits(asked: Asked) -> Lines:
    """Whether it fits: the sum of one rank, and the room that is left, or what is short."""
    question = asked.question()
    placement = place(question)
    if placement.taken is None:
        return [remark("ask.fits_not", question=question, gpus=asked.gpus), *nothing_fits(placement)]
    return [
        remark("ask.fits", question=question, plan=placement.taken, name=placement.taken.layout.name),
        _sum_of(placement.taken),
        remark("ask.room", plan=placement.taken, demand=question.demand),
        *([_too_long(asked)] if _beyond(asked) else []),
    ]


def fits_context(asked: Asked) -> Lines:
    """The same for a length, with what it takes of the cache and the longest that fits."""
    question = asked.question()
    placement = place(question)
    plan = placement.taken or max(placement.plans, key=lambda one: one.longest)
    lines = fits(asked)
    if plan.ranks:
        cache = max(rank.sequence_bytes(question.demand.sequence_tokens) for rank in plan.ranks)
        lines.insert(1, remark("ask.cache_of", demand=question.demand, cache=cache))
        if plan.longest:
            told = remark("ask.longest", plan=plan, name=plan.layout.name)
            lines.insert(len(lines) if asked.context_tokens else 0, told)
    return lines


def oom(asked: Asked) -> Lines:
    """Why memory ran out: what a rank was asked to hold at the size that was said, and the fewest that hold it."""
    question = asked.question()
    placement = place(question)
    size = asked.tp_sizes[0] if asked.tp_sizes else asked.gpus_per_node
    plan = judge(question, Layout(size)) if size <= asked.gpus else None
    lines = [_sum_of(plan)] if plan and plan.ranks else []
    lines += [remark("ask.oom_remedies")]
    if placement.taken is None:
        return [*lines, *nothing_fits(placement)]
    return [*lines, remark("ask.fits", question=question, plan=placement.taken, name=placement.taken.layout.name)]


def how_many_gpus(asked: Asked) -> Lines:
    """The fewest such GPUs that hold it: in one node, then in several."""
    sizes = [(gpus, 1) for gpus in range(1, NODE + 1)] + [(NODE, nodes) for nodes in range(2, MOST_NODES + 1)]
    weights = remark(
        "ask.weights", model=asked.model, dtype=asked.width, weights=held_weight_bytes(asked.model, asked.width)
    )
    for gpus, nodes in sizes:
        placement = place(replace(asked, gpus_per_node=gpus, nodes=nodes).question())
        if placement.taken is not None:
            plan = min((placement.plans[index] for index in placement.by_rate), key=lambda one: one.layout.gpus)
            told = remark("ask.fewest", gpus=plan.layout.gpus, asked=asked, name=plan.layout.name)
            return [weights, told, _sum_of(plan), remark("ask.room", plan=plan, demand=placement.question.demand)]
    return [weights, remark("ask.fewest_none", gpus=NODE * MOST_NODES, asked=asked)]


def users(asked: Asked) -> Lines:
    """How many sequences of the length fit at once, and how fast a full house is.

    Of plans whose room is as good as equal the one that is fastest with it full.
    """
    question = asked.question()
    placement = place(question)
    most = max(one.max_concurrency for one in placement.plans)
    if not most:
        return nothing_fits(placement)
    roomy = [one for one in placement.plans if one.max_concurrency >= (1 - WITHIN_ERROR) * most]
    full = {id(one): judge(asked.question(one.max_concurrency), one.layout) for one in roomy}
    best = max(roomy, key=lambda one: _sustained(full[id(one)]))
    return [
        remark("ask.users", plan=best, name=best.layout.name, demand=question.demand),
        _sum_of(best),
        _given(full[id(best)]),
    ]


def _sustained(plan: Plan) -> float:
    """Tokens a second that a plan keeps up; 0 of one that is not timed."""
    return plan.timing.sustained_tokens_per_s if plan.timing else 0.0


def kv_tokens(asked: Asked) -> Lines:
    """What a token takes of the cache, and how many tokens the recommended plan holds."""
    question = asked.question()
    placement = place(question)
    each = kv_bytes_per_token(asked.model, question.demand.kv_dtype)
    lines = [remark("ask.kv_each", model=asked.model, kv=each, kv_dtype=question.demand.kv_dtype)]
    if states := state_bytes_per_sequence(asked.model):
        lines.append(remark("ask.kv_states", states=states))
    if placement.taken is None:
        return [*lines, *nothing_fits(placement)]
    lines.append(remark("ask.kv_held", plan=placement.taken, name=placement.taken.layout.name))
    return [*lines, _sum_of(placement.taken)]


def heads(asked: Asked) -> Lines:
    """Which sizes split the model, and the equation that those which were said break."""
    served = as_served(asked.model, asked.width)
    lines = [_sizes_that_split(asked)]
    for size in asked.tp_sizes or (asked.gpus_per_node,):
        found = check_tp_size(served, size)
        if found.broken:
            lines.append(remark("ask.heads_broken", tp=size, equations=tuple(found.broken)))
        else:
            lines.append(remark("ask.heads_hold", tp=size, model=asked.model))
    return [*lines, *which_tp(asked)[:2]]


def tokens_per_s(asked: Asked) -> Lines:
    """What the recommended plan gives one sequence and a full house, and how far such figures are off."""
    one = place(asked.question(1))
    if one.taken is None:
        return nothing_fits(one)
    full = min(max(asked.at_once or 32, 1), max(1, one.taken.max_concurrency))
    many = place(asked.question(full))
    lines = [remark("ask.alone", name=one.taken.layout.name, timing=one.taken.timing)]
    if many.taken is not None and full > 1:
        lines.append(remark("ask.together", name=many.taken.layout.name, timing=many.taken.timing, at_once=full))
    band = one.question.band
    return [*lines, *held_to(asked.gpu, asked.model), remark("ask.band", low=band.low, high=band.high)]


def first_token(asked: Asked) -> Lines:
    """What reading a prompt takes on the plans that fit, the quickest first, and what it is made of."""
    placement = place(asked.question())
    if placement.taken is None:
        return nothing_fits(placement)
    demand = placement.question.demand
    order = sorted(placement.fitting, key=lambda index: placement.timing(index).ttft_s)
    lines = [remark("ask.first_of", demand=demand)]
    for index in order[:MOST_SHOWN]:
        plan = placement.plans[index]
        lines.append(remark("ask.first", name=plan.layout.name, timing=plan.timing))
    return [*lines, remark("ask.first_remedies")]


def hang_interface(asked: Asked) -> Lines:
    """NCCL on an interface that no other host can reach, or that ends at the host."""
    return [remark("ask.hang_interface"), remark("ask.hang_log")]


def hang_p2p(asked: Asked) -> Lines:
    """Copies between two GPUs that never arrive: all is well until the first all-reduce."""
    return [remark("ask.hang_p2p", gpu=asked.gpu), remark("ask.hang_log")]


def hang(asked: Asked) -> Lines:
    """A start that waits, and nothing that says for what."""
    return [remark("ask.hang_unknown"), remark("ask.hang_log")]


def _sum_of(plan: Plan) -> Remark:
    """The identity of the rank that has least room."""
    rank = min(plan.ranks, key=lambda one: one.kv_bytes)
    return remark("ask.sum", name=plan.layout.name, rank=rank, left=rank.kv_bytes)


def _given(plan: Plan) -> Remark:
    """What a plan gives, or why it does not run."""
    if plan.timing is None:
        return remark("ask.given_not", name=plan.layout.name, why=plan.reason)
    return remark("ask.given", name=plan.layout.name, timing=plan.timing, plan=plan)


def _sizes_that_split(asked: Asked) -> Remark:
    served = as_served(asked.model, asked.width)
    sizes = tuple(
        size for size in range(1, max(16, asked.gpus_per_node) + 1) if not check_tp_size(served, size).broken
    )
    return remark("ask.sizes", model=asked.model, sizes=sizes)


def _beyond(asked: Asked) -> bool:
    return (asked.context_tokens or 0) > asked.model.max_position_embeddings


def _too_long(asked: Asked) -> Remark:
    return remark("ask.too_long", model=asked.model, tokens=asked.context_tokens)


def given(question: Question, layout: Layout) -> Remark:
    """One layout judged, in a line."""
    return _given(judge(question, layout))
