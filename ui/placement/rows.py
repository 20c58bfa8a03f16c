"""The planner's figures: curves and points, the parts of a rank's memory, bars of plans."""

from collections.abc import Sequence
from dataclasses import replace

from core.placement.cases import case_plans
from core.placement.plan import Plan
from core.placement.planner import Placement
from core.placement.rank_memory import RankMemory
from core.units import GB, addends
from runtime.kept import kept_of
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import decimal_bytes, grouped, local, plain, seconds, significant
from runtime.rows import Row, stacked, table
from ui.comm_cost.rows import BillRow, bar

MOST_CURVES = 10
MOST_BARS = 8
MOST_RANKS = 6
MOST_LOST = 24

CASE_NAMES = {
    "TP=8 or TP=4": "latency",
    "one node or two": "two_nodes",
    "TP=8 or two TP=4": "two_engines",
    "over PCIe": "over_pcie",
    "a pipeline": "pipeline",
    "a small model": "small_model",
    "a mixture": "mixture",
}
"""What a case is called in its control, and its key."""


@kept_of
def curve_dots(placement: Placement, shown: int | None) -> list[Row]:
    """The curves worth drawing: those that touch the front, the plan shown, then the quickest of the rest."""
    touching = list(dict.fromkeys(point.plan for point in placement.front))
    first = [*([shown] if shown is not None and shown in placement.curves else []), *touching]
    rest = sorted(placement.fitting, key=lambda index: placement.timing(index).itl_s)
    kept = list(dict.fromkeys([*first, *rest]))[:MOST_CURVES]
    front = set(placement.front)
    return [
        Row(
            plan=placement.plans[index].layout.name,
            concurrency=point.concurrency,
            itl_ms=1e3 * point.itl_s,
            tokens_per_s=point.tokens_per_s,
            on_front=point in front,
        )
        for index in kept
        for point in placement.curves[index]
    ]


def marked(role: str, plan: Plan | None, band: tuple[float, float]) -> list[Row]:
    """One plan at the concurrency asked, with the band of eight in ten; none where there is none that fits."""
    if plan is None or plan.timing is None:
        return []
    itl_ms, tokens_per_s = 1e3 * plan.timing.itl_s, plan.timing.sustained_tokens_per_s
    times_ms = (itl_ms * edge for edge in band)
    return table(
        "role name itl_ms tokens_per_s low_ms high_ms", [(role, plan.layout.name, itl_ms, tokens_per_s, *times_ms)]
    )


def rank_name(rank: RankMemory, plan: Plan) -> str:
    """Which ranks a bar is: `ranks 0 to 7, layers 0 to 39`."""
    first = rank.stage * rank.ranks
    last = first + rank.ranks - 1
    who = phrase("placement", "says.rank" if first == last else "says.ranks", first=first, last=last)
    start = sum(other.layers for other in plan.ranks[: rank.stage])
    return phrase("placement", "says.layers", who=who, start=start, start_2=start + rank.layers - 1)


@kept_of
def memory_parts(plan: Plan) -> list[Row]:
    """Every part of the ranks shown, from the left: weights by kind, overhead by kind, the cache."""
    return [part for index, rank in enumerate(_ranks_shown(plan)) for part in _parts(rank, plan, index)]


@kept_of
def memory_labels(plan: Plan, usable_bytes: float) -> list[Row]:
    """The same ranks' names and sums."""
    rows = []
    for index, rank in enumerate(_ranks_shown(plan)):
        parts = (rank.weights.total_bytes, rank.overhead.total_bytes, max(0.0, rank.kv_bytes))
        words = local(f"{' + '.join(addends(parts, GB))} = {plain(sum(parts) / GB)} GB")
        ends_gb = (rank.granted_bytes / GB, usable_bytes / GB)
        rows.append((rank_name(rank, plan), index, words, *ends_gb, rank.kv_bytes < 0))
    return table("rank position in_words granted_gb usable_gb short", rows)


def _ranks_shown(plan: Plan) -> Sequence[RankMemory]:
    """All stages, or of many the first few and the last: those between hold as much as their neighbours."""
    ranks = plan.ranks
    return ranks if len(ranks) <= MOST_RANKS else (*ranks[: MOST_RANKS - 1], ranks[-1])


def _parts(rank: RankMemory, plan: Plan, index: int) -> list[Row]:
    weights, overhead, name = rank.weights, rank.overhead, rank_name(rank, plan)
    sizes = {
        "tables": weights.tables_bytes,
        "attention": weights.attention_bytes,
        "MLP": weights.mlp_bytes,
        "experts": weights.experts_bytes,
        "activation": overhead.peak_activation_bytes,
        "non-torch": overhead.non_torch_bytes,
        "graphs": overhead.cuda_graphs_bytes,
        "KV cache": max(0.0, rank.kv_bytes),
    }
    return table(
        "rank position part start_gb end_gb in_words",
        (
            (name, index, part, start, end, f"{named('placement', part)} {plain(sizes[part] / GB)}")
            for part, start, end in stacked((part, size / GB) for part, size in sizes.items() if size)
        ),
    )


def plan_row(name: str, plan: Plan) -> BillRow:
    """A plan that fits as a bar of one token's way: computing, waiting for the links, bytes on them."""
    timing = plan.timing
    assert timing is not None, "only plans that fit are drawn"
    latency_s = min(timing.itl_s, sum(link.latency_s for link in timing.bill))
    bandwidth_s = min(timing.itl_s - latency_s, sum(link.bandwidth_s for link in timing.bill))
    title = phrase("placement", "says.token", name=name, itl_s=timing.itl_s)
    told = phrase("placement", "says.first_after_room", plan, rate=rate(timing.sustained_tokens_per_s))
    return bar(title, told, latency_s, bandwidth_s, "", timing.itl_s - latency_s - bandwidth_s)


def without_details(rows: Sequence[BillRow]) -> list[BillRow]:
    """Bars as they are projected: the sentence under them says the rest."""
    return [replace(row, detail="") for row in rows]


def bars_of(placement: Placement, shown: int | None, pinned: Plan | None, most: int = MOST_BARS) -> list[BillRow]:
    """The `most` plans that give most, the one shown and the one pinned among them."""
    kept = list(dict.fromkeys([*([shown] if shown in placement.fitting else []), *placement.by_rate]))[:most]
    rows = [
        plan_row(placement.plans[index].layout.name, placement.plans[index]) for index in kept if index is not None
    ]
    if pinned and pinned.timing:
        rows.append(plan_row(phrase("placement", "says.pinned", name=pinned.layout.name), pinned))
    return rows


def case_rows(key: str) -> list[BillRow]:
    return [
        plan_row(f"{named('placement', option.label)}, {option.layout.name}", plan)
        for option, plan in case_plans(key)
    ]


def compared(shown: Plan, pinned: Plan, usd_per_gpu_hour: float | None) -> list[dict[str, str]]:
    """Two plans, quantity by quantity; a dash where one does not fit."""
    left, right = (_quantities(plan, usd_per_gpu_hour) for plan in (shown, pinned))
    return [
        {"quantity": name if name in ("plan", "GPUs") else phrase("placement", f"says.{name}")}
        | {"shown": left[name], "pinned": right[name]}
        for name in left
    ]


def _quantities(plan: Plan, usd_per_gpu_hour: float | None) -> dict[str, str]:
    timing = plan.timing
    return {
        "plan": plan.layout.name,
        "GPUs": str(plan.layout.gpus),
        "weights_rank": decimal_bytes(plan.weights_bytes) if plan.weights_bytes else "–",
        "kv_tokens_all_replicas": grouped(plan.kv_tokens * plan.layout.replicas),
        "room_sequences": grouped(plan.max_concurrency),
        "time_first_token": seconds(timing.ttft_s) if timing else "–",
        "between_tokens": seconds(timing.itl_s) if timing else "–",
        "sustained": rate(timing.sustained_tokens_per_s) if timing else "–",
        "a_gpu": rate(timing.sustained_tokens_per_s / plan.layout.gpus) if timing else "–",
        "wires_token": seconds(timing.comm_s) if timing else "–",
        "million_tokens": price(plan, usd_per_gpu_hour),
    }


def price(plan: Plan | None, usd_per_gpu_hour: float | None) -> str:
    """What a plan's million tokens cost, in dollars, or that no price was set."""
    usd = plan.usd_per_million_tokens(usd_per_gpu_hour) if plan else None
    return phrase("placement", "says.set_price") if usd is None else local(f"${usd:.2f}")


def rate(tokens_per_s: float) -> str:
    return phrase(
        "placement",
        "says.tokens_s",
        value=grouped(round(tokens_per_s)) if tokens_per_s >= 1000 else significant(tokens_per_s),
    )
