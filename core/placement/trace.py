"""The choice, reason by reason: what the memory allows, why this plan, and why each other one lost."""

from math import isinf

from core.catalog import GPUS
from core.collectives.across import FAR, HELD
from core.errors import Remark, remark
from core.models.compressed_cache import has_compressed_layers
from core.placement.cluster import ClusterSpec
from core.placement.plan import Plan, Question
from core.placement.planner import WITHIN_ERROR, Placement
from core.placement.shortlist import is_split_of
from core.steps.model import CROSSING_ELSEWHERE_S, CROSSING_S


def decisions(placement: Placement) -> list[Remark]:
    """What the memory allows, what was chosen, and what was weighed on the way."""
    return [*grounds(placement), *answer(placement)]


def grounds(placement: Placement) -> list[Remark]:
    """What the memory and the links allow."""
    question = placement.question
    reasons: list[Remark | None] = [
        remark("placement.memory", budget=question.budget),
        links_of(question.cluster),
        _minimum(placement),
        remark("placement.experts_cut") if question.model.moe and not question.expert_parallel else None,
    ]
    return [reason for reason in reasons if reason is not None]


def answer(placement: Placement) -> list[Remark]:
    """What is taken, with its reasons; what is short of fitting where nothing does."""
    if placement.taken is None:
        return nothing_fits(placement)
    beside = (_timed_slower, _printed, _idle, _shared_out, _tp_or_replicas, _across_nodes)
    reasons = [_choice(placement), *(reason(placement, placement.taken) for reason in beside)]
    return [reason for reason in reasons if reason is not None]


def _timed_slower(placement: Placement, chosen: Plan) -> Remark | None:
    """A published pair of times in which more ranks were slower: than it takes, or than another plan would take."""
    assert placement.recommended is not None
    question, gpu = placement.question, placement.question.cluster.gpu
    if pair := placement.found_slower(placement.recommended):
        return remark("placement.timed_slower", pair=pair, model=question.model, gpu=gpu)
    if placement.set_aside is None:
        return None
    index, pair = placement.set_aside
    name, timing = placement.plans[index].layout.name, placement.timing(index)
    return remark("placement.set_aside", name=name, timing=timing, pair=pair, model=question.model, gpu=gpu)


def _printed(placement: Placement, chosen: Plan) -> Remark | None:
    """The tokens that vLLM's own log will print of a cache that is compressed, which count otherwise."""
    question = placement.question
    if question.engine != "vllm" or not has_compressed_layers(question.model) or not chosen.ranks:
        return None
    length = question.demand.sequence_tokens
    return remark(
        "placement.printed_tokens",
        kept=chosen.kv_tokens,
        printed=min(rank.printed_tokens(length) for rank in chosen.ranks),
        length=length,
    )


def _idle(placement: Placement, chosen: Plan) -> Remark | None:
    """GPUs that the chosen plan leaves idle, beside the best plan that uses them all."""
    gpus = placement.question.cluster.gpus
    idle = gpus - chosen.layout.gpus
    if not idle:
        return None
    busy = next((index for index in placement.by_rate if placement.plans[index].layout.gpus == gpus), None)
    if busy is None:
        return remark("placement.idle_none", idle=idle, gpus=gpus)
    plan = placement.plans[busy]
    return remark("placement.idle", idle=idle, gpus=gpus, name=plan.layout.name, timing=plan.timing)


def losers(placement: Placement) -> list[Remark]:
    """A reason for each plan that was not taken."""
    return [
        remark("placement.loser", plan=plan.layout.name, why=why_it_lost(placement, index))
        for index, plan in enumerate(placement.plans)
        if index != placement.recommended
    ]


def links_of(cluster: ClusterSpec) -> Remark:
    """What joins its GPUs: the link of a node, nearer GPUs by another way, nodes by a network.

    It was chosen for the GPU where nobody said it.
    """
    odd = cluster.link.family == "nvlink" and not (cluster.gpu.nvlink or cluster.gpu.bridged)
    code = "placement.links_doubted" if odd else "placement.links"
    ways = tuple(remark("placement.links_way", gpus=size, link=link) for size, link in cluster.nearer)
    near = remark("placement.links_near", ways=ways) if ways else None
    between = remark("placement.links_between", cluster=cluster) if cluster.nodes > 1 else None
    return remark(code, cluster=cluster, near=near, between=between)


def _minimum(placement: Placement) -> Remark:
    question, tp_size = placement.question, placement.min_tp
    cluster = question.cluster
    if tp_size is None:
        return remark("placement.minimum_none", heads=question.model.num_attention_heads, demand=question.demand)
    code = "placement.minimum"
    if tp_size > cluster.gpus:
        code = "placement.minimum_too_many"
    elif cluster.crosses(tp_size):
        code = "placement.minimum_crosses"
    return remark(code, tp_size=tp_size, demand=question.demand, cluster=cluster)


def nothing_fits(placement: Placement) -> list[Remark]:
    """What is short of fitting by the least, and what would fit: fewer sequences, or a shorter one."""
    if placement.nearest is None:
        return [remark("placement.no_split")]
    nearest = placement.plans[placement.nearest]
    short = remark("placement.no_fit", plan=nearest.layout.name, broken=nearest.broken)
    return [short, *([less] if (less := _instead(placement)) else [])]


def _instead(placement: Placement) -> Remark | None:
    """The most sequences of the length asked that any plan holds, else the longest that one holds alone."""
    demand = placement.question.demand
    if placement.roomiest is not None:
        plan = placement.plans[placement.roomiest]
        return remark("placement.fewer_fit", plan=plan, name=plan.layout.name, demand=demand)
    plan = max(placement.plans, key=lambda one: one.longest)
    return remark("placement.shorter_fits", plan=plan, name=plan.layout.name) if plan.longest else None


def _choice(placement: Placement) -> Remark:
    assert placement.recommended is not None
    timing, demand = placement.timing(placement.recommended), placement.question.demand
    if demand.slo_itl_s is None and demand.slo_ttft_s is None:
        why = remark("placement.take_most")
    elif not placement.meets(placement.recommended):
        why = remark("placement.take_quickest", targets=targets(placement.question))
    elif placement.at_rate:
        why = remark("placement.take_at_rate", targets=targets(placement.question), demand=demand)
    elif demand.slo_itl_s is None:
        why = remark("placement.take_within_first", targets=targets(placement.question))
    else:
        most = placement.capacity(placement.recommended, demand.slo_itl_s)
        why = remark("placement.take_within", targets=targets(placement.question), rate=most)
    return taken(placement, remark("placement.taken", timing=timing, why=why, tie=WITHIN_ERROR))


def targets(question: Question) -> tuple[Remark, ...]:
    demand = question.demand
    first = remark("placement.target_first", target_s=demand.slo_ttft_s)
    between = remark("placement.target_between", target_s=demand.slo_itl_s)
    return (*((first,) if demand.slo_ttft_s else ()), *((between,) if demand.slo_itl_s else ()))


def taken(placement: Placement, reason: Remark) -> Remark:
    """What is taken, and the reason."""
    assert placement.taken is not None
    return remark("placement.take", plan=placement.taken.layout.name, reason=reason)


def _shared_out(placement: Placement, chosen: Plan) -> Remark | None:
    """Why a plan with fewer ranks than the minimum fits all the same: no engine of it holds all sequences."""
    layout = chosen.layout
    if placement.min_tp is not None and layout.tp_size * layout.pp_size >= placement.min_tp:
        return None
    here = -(-placement.question.demand.concurrency // layout.attention_copies)
    code = "placement.shared_out_experts" if layout.ep_size > 1 else "placement.shared_out"
    return remark(code, sequences=here)


def _tp_or_replicas(placement: Placement, chosen: Plan) -> Remark | None:
    """What a replica more would have cost: weights held and read once more."""
    other = next((plan for plan in placement.plans if is_split_of(plan, chosen)), None)
    if other is None or chosen.weights_bytes is None:
        return None
    if not other.fits:
        return remark("placement.replicas_do_not_fit", plan=other.layout.name, broken=other.broken)
    return remark(
        "placement.replicas",
        layout=other.layout,
        kept=chosen.kv_tokens_in_all,
        instead=other.kv_tokens_in_all,
    )


def _across_nodes(placement: Placement, chosen: Plan) -> Remark | None:
    """Which link the chosen plan's groups stay on."""
    cluster = placement.question.cluster
    if cluster.nodes == 1:
        return None
    if chosen.crossing:
        tcp = remark("placement.across_tcp", far=FAR) if cluster.network.family == "ethernet" else None
        return remark(
            "placement.across_group",
            crossing=chosen.crossing,
            held=HELD,
            tcp=tcp,
            wait_s=CROSSING_S,
            elsewhere_s=CROSSING_ELSEWHERE_S,
        )
    bill = chosen.timing.bill if chosen.timing else ()
    hops = [link for link in bill if link.what == "hand-overs"]
    if hops:
        counted = tuple(remark("placement.across_hop", hop=hop) for hop in hops)
        return remark("placement.across_stages", hops=counted)
    return remark("placement.across_nothing", island=cluster.island)


def why_it_lost(placement: Placement, index: int) -> Remark:
    """One plan beside the one that is taken: refused, over the target, slower and by which term, or as good."""
    plan = placement.plans[index]
    noted = remark("placement.noted", crossing=plan.crossing) if plan.crossing else None
    if not plan.fits:
        code = "placement.lost_no_fit" if plan.splits else "placement.lost_no_split"
        return remark(code, broken=plan.broken, noted=noted)
    assert placement.recommended is not None
    timing, best = placement.timing(index), placement.timing(placement.recommended)
    target = placement.question.demand.slo_itl_s
    because = _because(placement, index)
    if not placement.meets(index):
        ttft_s, itl_s = placement.judged(index)
        over_itl = target is not None and itl_s > target
        if placement.at_rate:
            return remark(
                f"placement.lost_at_rate{'_never' if isinf(ttft_s) else ''}",
                ttft_s=ttft_s,
                itl_s=itl_s,
                demand=placement.question.demand,
                noted=noted,
            )
        if not over_itl:
            return remark(
                "placement.lost_over_first",
                timing=timing,
                target_s=placement.question.demand.slo_ttft_s,
                noted=noted,
            )
        return remark("placement.lost_over_target", timing=timing, target_s=target, because=because, noted=noted)
    if target is not None and placement.meets(placement.recommended) and not placement.at_rate:
        rates = placement.capacity(index, target), placement.capacity(placement.recommended, target)
        ratio, what = rates[0] / rates[1], remark("placement.gives_within", rate=rates[0])
    else:
        ratio = timing.sustained_tokens_per_s / best.sustained_tokens_per_s
        what = remark("placement.gives", timing=timing)
    if ratio >= 1 - WITHIN_ERROR and (pair := placement.found_slower(index)):
        return remark("placement.lost_timed", what=what, pair=pair, noted=noted)
    if ratio >= 1 - WITHIN_ERROR:
        code = (
            "placement.lost_beaten"
            if placement.beats(placement.recommended, index)
            else "placement.lost_not_simpler"
        )
        return remark(code, what=what, noted=noted)
    return remark("placement.lost_slower", what=what, ratio=ratio, because=because, noted=noted)


def _because(placement: Placement, index: int) -> Remark | None:
    """The largest reason that a plan is slower than the one taken."""
    assert placement.taken is not None
    layout, best = placement.plans[index].layout, placement.taken.layout
    timing, least = placement.timing(index), placement.taken.timing
    assert least is not None
    slower_s = timing.itl_s - least.itl_s
    if slower_s > 0 and timing.comm_s - least.comm_s > slower_s / 2:
        return remark("placement.for_its_link", worst=max(timing.bill, key=lambda link: link.time_s))
    if layout.pp_size > best.pp_size:
        return remark("placement.for_its_stages")
    if layout.tp_size * layout.dp_size < best.tp_size * best.dp_size:
        return remark("placement.for_its_weights")
    return None


def usable_source(question: Question) -> Remark:
    """Where the usable memory is from: the catalog's own words, or that it was given."""
    gpu = question.cluster.gpu
    measured = GPUS.get(gpu.key)
    if measured is not None and measured.usable_memory_bytes == question.budget.usable_bytes:
        return remark("placement.usable_measured", gpu=gpu)
    return remark("placement.usable_given")
