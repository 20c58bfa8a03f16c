"""Lab 03's bills as they grow: the share by batch, TP across the node boundary, and a mixture's experts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.collectives.cost import CollectiveCost
from core.comm_cost.asked import AskedBill
from core.comm_cost.bill import Bill
from core.comm_cost.expert_parallel import ExpertParallelBill, Experts
from core.comm_cost.node_boundary import NodeBill, node_bill
from core.specs import LinkSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.view import View
from runtime.catalog_words import short_name
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import percent, plain
from runtime.rows import Row, table
from ui.comm_cost.rows import BillRow, cost_bar

BATCHES = tuple(2**power for power in range(13))
TP_SIZES = (2, 4, 8, 16, 32, 64)


@kept
def batch_points(view: View) -> list[Row]:
    """The share of a decode step that is communication, by batch, over both of the page's links."""
    scenario = view.scenario
    steps = [
        replace(
            view.step,
            tokens=batch,
            sequences=batch,
            compute_s=batched_decode_step_s(scenario.model_spec, scenario.gpu_spec, batch, scenario.weight_dtype),
        )
        for batch in BATCHES
    ]
    bills = [(short_name(link), view.price(link, step)) for link in view.links for step in steps]
    return [
        _share(name, bill, bill.step.tokens, "bandwidth" if bill.bandwidth_fraction > 0.5 else "latency")
        for name, bill in bills
    ]


def _share(series: str, bill: Bill, size: int, rules: str) -> Row:
    return Row(series=series, size=size, share_percent=100 * bill.comm_fraction, rules=rules)


@kept
def bills_by_ranks(own: AskedBill) -> list[Row]:
    """The same bill at 2 to 64 ranks, term by term."""
    return _terms((replace(own, tp=ranks).bill(), 1, 0.0) for ranks in TP_SIZES)


def _terms(bills: Iterable[tuple[Bill, int, float]]) -> list[Row]:
    """Each bill's waiting and its bytes, over so many nodes, and what a flat ring would take there."""
    lines = (
        (f"TP={bill.step.tp_size}", term, 1e3 * time_s, nodes, 1e3 * flat_s)
        for bill, nodes, flat_s in bills
        for term, time_s in (("latency", bill.waiting_s), ("bandwidth", bill.bandwidth_s))
    )
    return table("ranks term time_ms nodes flat_ms", lines)


@kept
def node_bills(view: View, gpus_per_node: int) -> tuple[NodeBill, ...]:
    """The scenario's step at each TP size, over as many nodes as it takes."""
    inside, network = (view.timed(link) for link in view.links)
    return tuple(node_bill(replace(view.step, tp_size=size), gpus_per_node, inside, network) for size in TP_SIZES)


def node_bars(bills: Sequence[NodeBill]) -> list[Row]:
    """Both levels' waiting and both levels' bytes, at each size."""
    return _terms((bill.whole, bill.nodes, bill.flat.comm_s) for bill in bills)


WHOLE, DIVIDED = "the step whole", "the step ÷ N"


def node_shares(bills: Sequence[NodeBill]) -> list[Row]:
    """The same bills as shares of the step: whole, as the napkin counts it, and divided by N."""
    return [
        _share(named("comm_cost", series), replace(bill.whole, step=step), step.tp_size, series)
        for series in (WHOLE, DIVIDED)
        for bill in bills
        for step in [replace(bill.whole.step, divided=series == DIVIDED)]
    ]


@kept
def layer_rows(ask: Experts, link: LinkSpec) -> list[BillRow]:
    """One step's mixture layers cut four ways, none of it with compute: what attention and MLP send together."""
    plainly, once = ask.bill(link, deduplicated=False), ask.bill(link, deduplicated=True)
    return [
        _row("tensor", plainly.tensor_parallel, plainly),
        _row("mixed", plainly.mixed, plainly),
        _row("copy_each", plainly.dispatch.plus(plainly.combine), plainly),
        _row("copy_a_rank", once.dispatch.plus(once.combine), once),
    ]


def _row(way: str, layer: CollectiveCost, bill: ExpertParallelBill) -> BillRow:
    detail = said("comm_cost", f"sends.{way}", copies=plain(bill.copies))
    return cost_bar(said("comm_cost", f"bar.{way}"), detail, layer.times(bill.layers))


def share_of(points: Sequence[Row], series: str, size: int) -> str:
    dot = next(point for point in points if (point.series, point.size) == (series, size))
    return percent(dot.share_percent / 100)
