"""What decides between two ways of serving: each judged, and the term by which they differ."""

from collections.abc import Sequence
from dataclasses import replace

from core.ask.reading import USUAL_GPUS, Asked
from core.ask.sums import Lines, given
from core.catalog import link as find_link
from core.errors import Remark, remark
from core.evidence.slower import timed_slower
from core.models.parameters import active_parameters, total_parameters
from core.placement.layout import Layout
from core.placement.plan import Plan, judge
from core.placement.planner import WITHIN_ERROR

MANY = 32
"""Sequences at once of a busy engine."""


def tp_slower(asked: Asked) -> Lines:
    """The time between tokens at both sizes: what more ranks save of reading, and what they pay in all-reduces.

    Of two sizes n and m, with reading w and what no rank divides f:

        t(n) = w/n + f      f = (m·t(m) - n·t(n)) / (m - n)
    """
    fewer, more = _two_sizes(asked)
    question = _large_enough(asked, more).question()
    plans = [judge(question, Layout(size)) for size in (fewer, more)]
    timed = timed_slower(asked.model, asked.gpu, more, question.demand.concurrency)
    lines = [] if timed is None else [remark("ask.timed_slower", pair=timed, model=asked.model, gpu=asked.gpu)]
    lines += [_divided(plan) for plan in plans]
    if any(plan.timing is None for plan in plans):
        return [*lines, remark("ask.cannot_compare", fewer=fewer, more=more)]
    few, many = (plan.timing for plan in plans)
    assert few is not None
    assert many is not None
    saved_s = (few.itl_s - few.comm_s) - (many.itl_s - many.comm_s)
    paid_s = many.comm_s - few.comm_s
    ratio = few.itl_s / many.itl_s
    code = "ask.slower_pays" if ratio > 1 + WITHIN_ERROR else "ask.slower_even"
    code = "ask.slower_loses" if paid_s > saved_s else code
    messages = sum(bill.messages for bill in many.bill)
    lines.append(
        remark(code, fewer=fewer, more=more, saved_s=saved_s, paid_s=paid_s, ratio=ratio, tie=WITHIN_ERROR)
    )
    lines.append(remark("ask.slower_why", messages=messages, more=more, link=question.cluster.slowest_link(more)))
    floor_s = (more * (many.itl_s - many.comm_s) - fewer * (few.itl_s - few.comm_s)) / (more - fewer)
    if not question.cluster.crosses(more):  # over a network other work goes on while a sum waits
        lines.append(remark("ask.slower_floor", floor_s=max(0.0, floor_s), model=asked.model))
    if asked.model.moe is not None:
        active, parameters = active_parameters(asked.model), total_parameters(asked.model)
        lines.append(remark("ask.slower_active", active=active, parameters=parameters))
    return [*lines, *([remark("ask.slower_but")] if saved_s > paid_s else [])]


def width_speed(asked: Asked) -> Lines:
    """The same plan in the checkpoint's own width and in the narrower one: what is read, and how long it takes."""
    own = asked.model.weight_dtype
    narrow = asked.dtype if asked.dtype not in (None, own) else "fp8" if own != "fp8" else "bf16"
    size = asked.tp_sizes[0] if asked.tp_sizes else _fewest(asked)
    assert narrow is not None
    lines = []
    for dtype in (own, narrow):
        plan = judge(_large_enough(asked, size).question(dtype=dtype), Layout(size))
        weights = plan.weights_bytes or 0.0
        lines.append(remark("ask.in_width", dtype=dtype, weights=weights, what=_one_line(plan)))
    busy = [judge(_large_enough(asked, size).question(MANY, dtype=one), Layout(size)) for one in (own, narrow)]
    lines += [
        remark("ask.in_width_busy", dtype=dtype, what=_one_line(plan), at_once=MANY)
        for dtype, plan in zip((own, narrow), busy, strict=True)
    ]
    narrow_flops = asked.gpu.fp8_flops is not None
    return [*lines, remark("ask.width_why" if narrow_flops else "ask.width_why_not", gpu=asked.gpu)]


def pp_over_nodes(asked: Asked) -> Lines:
    """Stages over nodes with TP inside each, TP over all, and an engine a node."""
    over = _over_nodes(asked)
    inside, nodes = over.gpus_per_node, over.nodes
    ways = (Layout(inside, nodes), Layout(inside * nodes), Layout(inside, 1, nodes))
    return [*_beside(over, ways), _crossing(over), remark("ask.pp_why", nodes=nodes, inside=inside)]


def tp_over_nodes(asked: Asked) -> Lines:
    """The same three, for whoever asks whether TP may cross."""
    return pp_over_nodes(asked)


def pp_or_tp(asked: Asked) -> Lines:
    """All GPUs on one layer, or a stage each: for one sequence, and for many."""
    size = _size_of(asked)
    return [*_beside(asked, (Layout(size), Layout(1, size))), remark("ask.pp_or_tp_why", size=size)]


def replicas_or_tp(asked: Asked) -> Lines:
    """One engine on all GPUs, or two on half each: how fast, and how much room."""
    size = _size_of(asked)
    ways = (Layout(size), Layout(max(1, size // 2), 1, 2))
    return [*_beside(asked, ways), *_room(asked, ways), remark("ask.replicas_why")]


def tp_or_dp(asked: Asked) -> Lines:
    """Attention cut over all ranks, or repeated with whole experts distributed: the tokens that each keeps.

    A dense model's copies are whole engines.
    """
    size = _size_of(asked)
    copies = Layout(1, 1, 1, size) if asked.model.moe else Layout(1, 1, size)
    ways = (Layout(size), copies)
    return [*_beside(asked, ways), *_room(asked, ways), remark(f"ask.dp_why{'_latent' if _repeats(asked) else ''}")]


def need_nvlink(asked: Asked) -> Lines:
    """The same plan over NVLink and over PCIe: for a token, and for a prompt."""
    size = asked.tp_sizes[0] if asked.tp_sizes else min(asked.gpus_per_node, 2)
    question = _large_enough(asked, size).question()
    usual = question.cluster.link
    fabric = usual if usual.is_fabric else find_link(asked.gpu.bridge_key)
    bus = find_link(asked.gpu.bus_key) if usual.is_fabric else usual
    lines = []
    for link in (fabric, bus):
        cluster = replace(question.cluster, link=link, nvlink_domain=None)
        plan = judge(replace(question, cluster=cluster), Layout(size))
        lines.append(remark("ask.over_link", link=link, what=_one_line(plan)))
    return [*lines, remark("ask.nvlink_why", size=size)]


def _two_sizes(asked: Asked) -> tuple[int, int]:
    """The two sizes that were said, else all GPUs and half of them."""
    said = sorted(set(asked.tp_sizes))
    if len(said) >= 2:
        return said[0], said[-1]
    more = said[0] if said and said[0] > 1 else max(2, asked.gpus_per_node)
    return max(1, more // 2), more


def _size_of(asked: Asked) -> int:
    """Ranks of both ways: what was said last, else all GPUs of a node."""
    return max([*asked.tp_sizes, *asked.pp_sizes], default=asked.gpus_per_node)


def _large_enough(asked: Asked, ranks: int) -> Asked:
    """With room for so many ranks: in the nodes that there are, in as many of such nodes, else in a larger node."""
    if asked.gpus >= ranks:
        return asked
    whole = min(asked.gpu.gpus_per_node, USUAL_GPUS)
    if asked.gpu.nvlink_domain is None and ranks > whole and ranks % whole == 0:
        return replace(asked, gpus_per_node=whole, nodes=ranks // whole)
    return replace(asked, gpus_per_node=ranks)


def _over_nodes(asked: Asked) -> Asked:
    return asked if asked.nodes > 1 else replace(asked, nodes=2)


def _fewest(asked: Asked) -> int:
    """The fewest ranks of a node that hold the model as it is published; all of them where none do."""
    question = asked.question()
    sizes = [size for size in (1, 2, 4, 8) if size <= asked.gpus_per_node]
    return next((size for size in sizes if judge(question, Layout(size)).fits), asked.gpus_per_node)


def _beside(asked: Asked, ways: Sequence[Layout]) -> Lines:
    """Each way for one sequence, then for many."""
    asked = _large_enough(asked, 1 if asked.nodes > 1 else max(way.gpus for way in ways))
    lines = [remark("ask.for_one"), *(given(asked.question(1, experts=True), way) for way in ways)]
    at_once = asked.at_once if (asked.at_once or 1) > 1 else MANY
    many = asked.question(at_once, experts=True)
    return [*lines, remark("ask.for_many", at_once=at_once), *(given(many, way) for way in ways)]


def _room(asked: Asked, ways: Sequence[Layout]) -> Lines:
    """Tokens of cache that each way holds in all, and how many times the first's the second holds."""
    question = _large_enough(asked, max(way.gpus for way in ways)).question(1, experts=True)
    held = [judge(question, way).kv_tokens_in_all for way in ways]
    if not all(held):
        return []
    names = [way.name for way in ways]
    return [
        remark("ask.held", one=names[0], kept=held[0], other=names[1], instead=held[1], ratio=held[1] / held[0])
    ]


def _crossing(asked: Asked) -> Remark:
    cluster = asked.question().cluster
    return remark("ask.between", cluster=cluster, said=None if asked.network else remark("ask.network_usual"))


def _repeats(asked: Asked) -> bool:
    """Whether ranks of a layer keep the same cache: latent attention, or fewer KV heads than ranks."""
    compressed = asked.model.mla is not None or any(
        type(kind.mixer).__name__ in ("MlaSpec", "CompressedSpec") for kind, _ in asked.model.kinds_of()
    )
    return compressed or asked.model.num_key_value_heads < _size_of(asked)


def _divided(plan: Plan) -> Remark:
    """A plan's time between tokens: what is not communication, and what is."""
    if plan.timing is None:
        return remark("ask.given_not", name=plan.layout.name, why=plan.reason)
    rest_s = plan.timing.itl_s - plan.timing.comm_s
    return remark("ask.divided", name=plan.layout.name, timing=plan.timing, rest_s=rest_s)


def _one_line(plan: Plan) -> Remark:
    if plan.timing is None:
        return remark("ask.is_not", why=plan.reason)
    return remark("ask.is", timing=plan.timing)
