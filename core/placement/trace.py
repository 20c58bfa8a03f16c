"""The choice in words: what the memory allows, why this plan, and why each other one lost."""

from core.catalog import GPUS
from core.placement.planner import WITHIN_ERROR, Placement, Plan, Question
from core.units import GB, decimal_bytes, grouped, percent, plain, seconds, significant


def trace(found: Placement) -> list[str]:
    """The decisions in order, then a line for each plan that lost."""
    return decisions(found) + _losers(found)


def decisions(found: Placement) -> list[str]:
    """What the memory allows, what was chosen, and what was weighed on the way."""
    lines = [_memory(found.question), _wires(found.question), _minimum(found), _experts(found.question)]
    lines = [line for line in lines if line]
    if found.recommended is None:
        return [*lines, _nothing_fits(found)]
    lines += [_choice(found), _shared_out(found), _tp_or_replicas(found), _across_nodes(found)]
    return [line for line in lines if line]


def _memory(question: Question) -> str:
    budget = question.budget
    usable = f"{decimal_bytes(budget.usable_bytes, 4)} usable ({budget.usable_bytes / 2**30:.2f} GiB)"
    overhead = budget.overhead
    parts = (
        f"{decimal_bytes(overhead.peak_activation_bytes)} peak activation,"
        f" {decimal_bytes(overhead.non_torch_bytes)} outside of torch,"
        f" {decimal_bytes(overhead.cuda_graphs_bytes)} CUDA graphs"
    )
    return (
        f"A rank may fill {plain(budget.utilisation)} · {usable} = {decimal_bytes(budget.granted_bytes)}, of which"
        f" {decimal_bytes(overhead.total_bytes)} are overhead: {parts}."
    )


def _wires(question: Question) -> str:
    """What the ranks talk over; it was chosen for the GPU where nobody said it."""
    cluster = question.cluster
    inside = f"{cluster.link.name} among {cluster.domain} GPUs"
    odd = cluster.link.family == "nvlink" and not cluster.gpu.nvlink
    doubt = f" {cluster.gpu.name} is sold without NVLink: is that the wire?" if odd else ""
    between = f", {cluster.network.name} between nodes of {cluster.gpus_per_node}" if cluster.nodes > 1 else ""
    return f"Wires: {inside}{between}.{doubt}"


def _minimum(found: Placement) -> str:
    """The minimum TP for fit, with its own inequality."""
    question, tp_size = found.question, found.min_tp
    demand = question.demand
    asked = f"{demand.concurrency} × {grouped(demand.sequence_tokens)} tokens of KV cache"
    if tp_size is None:
        heads = question.model.num_attention_heads
        return (
            f"Minimum TP for fit: none. No power of two that divides {heads} heads holds the weights and {asked}."
        )
    said = f"Minimum TP for fit: TP={tp_size}, with {asked}."
    if tp_size > question.cluster.gpus:
        return f"{said} There are only {question.cluster.gpus} GPUs."
    if question.cluster.crosses(tp_size):
        return f"{said} It crosses the node of {question.cluster.island} GPUs: see what that costs below."
    return said


def _experts(question: Question) -> str:
    """That a mixture could be laid out in ways that were not asked for."""
    if question.model.moe is None or question.expert_parallel:
        return ""
    return (
        "Experts are cut by tensor parallelism; --expert-parallel also judges dealing them out, attention repeated."
    )


def _nothing_fits(found: Placement) -> str:
    """What is short of fitting by the least."""
    if found.nearest is None:
        return "No plan: the model splits in none of these ways."
    nearest = found.plans[found.nearest]
    return f"No plan fits. The nearest is {nearest.layout.name}: {nearest.broken}."


def _choice(found: Placement) -> str:
    assert found.recommended is not None
    plan, timing = found.plans[found.recommended], found.timing(found.recommended)
    rate = f"{seconds(timing.itl_s)} between tokens, {significant(timing.sustained_tokens_per_s)} tokens/s"
    target = found.question.demand.slo_itl_s
    if target is None:
        why = "the most tokens a second at this concurrency"
    elif timing.itl_s <= target:
        why = f"of those within {seconds(target)}, the most tokens a second at any concurrency that stays within"
    else:
        why = f"none meets {seconds(target)}; this is the quickest"
    tie = f"Plans within {percent(WITHIN_ERROR, 0)} count as equal, and the simplest of them is taken"
    return f"Take {plan.layout.name}: {rate}; {why}. {tie}."


def _shared_out(found: Placement) -> str:
    """Why a plan with fewer ranks than the minimum fits all the same: no engine of it holds all sequences."""
    assert found.recommended is not None
    layout = found.plans[found.recommended].layout
    if found.min_tp is not None and layout.tp_size * layout.pp_size >= found.min_tp:
        return ""
    here = -(-found.question.demand.concurrency // layout.attention_copies)
    dealt = " and experts are dealt out whole" if layout.ep_size > 1 else ""
    return (
        f"It fits on fewer ranks than that minimum, for each copy of attention keeps only {here} sequences{dealt}."
    )


def _tp_or_replicas(found: Placement) -> str:
    """What a replica more would have cost: weights held and read once more."""
    assert found.recommended is not None
    chosen = found.plans[found.recommended]
    other = next((plan for plan in found.plans if _is_split_of(plan, chosen)), None)
    if other is None or chosen.weights_bytes is None:
        return ""
    if not other.fits:
        return (
            f"TP or replicas: {other.layout.name} would hold the weights twice, and does not fit: {other.broken}."
        )
    kept, instead = _cache_tokens(chosen), _cache_tokens(other)
    return (
        f"TP or replicas: {other.layout.name} holds the weights {other.layout.replicas} times and leaves room for"
        f" {grouped(instead)} tokens of KV cache in all, against {grouped(kept)}."
    )


def _is_split_of(plan: Plan, chosen: Plan) -> bool:
    """Whether a plan is the chosen one with half the TP and twice the replicas."""
    mine, its = chosen.layout, plan.layout
    same = mine.pp_size == its.pp_size and mine.dp_size == its.dp_size
    return same and its.tp_size * 2 == mine.tp_size and its.replicas == 2 * mine.replicas


def _cache_tokens(plan: Plan) -> int:
    return plan.kv_tokens * plan.layout.replicas


def _across_nodes(found: Placement) -> str:
    """Which wire the chosen plan's groups stay on."""
    assert found.recommended is not None
    cluster, plan = found.question.cluster, found.plans[found.recommended]
    if cluster.nodes == 1:
        return ""
    if plan.crossing:
        return f"Across nodes: {plan.crossing}; no plan that stays inside is as good."
    hops = [wire for wire in found.timing(found.recommended).bill if wire.what == "hand-overs"]
    if hops:
        said = ", ".join(f"{wire.messages} over {wire.wire}" for wire in hops)
        return f"Across nodes: only hand-overs between stages, {said} a token."
    return f"Across nodes: nothing. Every engine stays within {cluster.island} GPUs."


def _losers(found: Placement) -> list[str]:
    return [
        f"{plan.layout.name}: {why_it_lost(found, place)}"
        for place, plan in enumerate(found.plans)
        if place != found.recommended
    ]


def why_it_lost(found: Placement, place: int) -> str:
    """One plan beside the one that is taken: refused, over the target, slower and by which term, or as good."""
    plan = found.plans[place]
    if not plan.fits:
        word = "does not fit" if plan.splits else "does not split"
        return f"{word}: {plan.broken}{_noted(plan)}."
    assert found.recommended is not None
    mine, best = found.timing(place), found.timing(found.recommended)
    target = found.question.demand.slo_itl_s
    if target is not None and mine.itl_s > target:
        return (
            f"{seconds(mine.itl_s)} between tokens is over {seconds(target)}{_because(found, place)}{_noted(plan)}."
        )
    if target is not None and best.itl_s <= target:
        rates = found.capacity(place, target), found.capacity(found.recommended, target)
        ratio, what = rates[0] / rates[1], f"{significant(rates[0])} tokens/s at most within the target"
    else:
        ratio = mine.sustained_tokens_per_s / best.sustained_tokens_per_s
        what = f"{seconds(mine.itl_s)} between tokens, {significant(mine.sustained_tokens_per_s)} tokens/s"
    if ratio >= 1 - WITHIN_ERROR:
        return f"{what}: as good within the model's error, but not simpler{_noted(plan)}."
    return f"{what}, {percent(ratio, 0)} of the chosen{_because(found, place)}{_noted(plan)}."


def _because(found: Placement, place: int) -> str:
    """The largest reason that a plan is slower than the one taken."""
    assert found.recommended is not None
    plan, best = found.plans[place], found.plans[found.recommended]
    mine, its = found.timing(place), found.timing(found.recommended)
    slower_s = mine.itl_s - its.itl_s
    if slower_s > 0 and mine.comm_s - its.comm_s > slower_s / 2:
        worst = max(mine.bill, key=lambda wire: wire.time_s)
        return f", for its {worst.what} over {worst.wire} take {seconds(worst.time_s)} a token"
    if plan.layout.pp_size > best.layout.pp_size:
        return ", for a token still passes every stage one after another"
    if plan.layout.tp_size * plan.layout.dp_size < best.layout.tp_size * best.layout.dp_size:
        return ", for each rank reads more weights a token"
    return ""


def _noted(plan: Plan) -> str:
    return f"; {plan.crossing}" if plan.crossing else ""


def usable_source(question: Question) -> str:
    """Where the usable memory is from: the catalog's own words, or that it was given."""
    gpu = question.cluster.gpu
    measured = GPUS.get(gpu.key)
    if measured is not None and measured.usable_memory_bytes == question.budget.usable_bytes:
        sold = f"sold as {gpu.memory_bytes / GB:g} GB"
        return f"{gpu.name}, {sold}: {gpu.source}"
    return "as given"
