"""Lab 03's bench over sizes: the batch, TP across the node boundary, and a mixture's experts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.catalog import MODELS, model
from core.collectives.cost import CollectiveCost, ring_all_gather, ring_reduce_scatter
from core.comm_cost.bill import allreduce_payload_bytes
from core.comm_cost.expert_parallel import ExpertParallelBill, expert_parallel_bill
from core.comm_cost.node_boundary import NodeBill, node_bill
from core.scenario import Scenario
from core.specs import LinkSpec, ModelSpec
from core.steps.batch_sweep import batch_sweep
from core.units import percent, plain, seconds, significant
from ui.comm_cost.rows import BillRow, OwnBill, Phase, short_name, step_of

BATCHES = tuple(2**power for power in range(13))
TP_SIZES = (2, 4, 8, 16, 32, 64)
MIXTURES = tuple(key for key, row in MODELS.items() if row.moe is not None)


@dataclass(frozen=True)
class SharePoint:
    """One point of a line of shares; the term that rules gives its colour, where one does."""

    series: str
    size: int
    share_percent: float
    rules: str


def batch_points(scenario: Scenario) -> list[SharePoint]:
    """The share of a decode step that talks, by batch, over both of the scenario's links."""
    return [
        SharePoint(
            series=short_name(link),
            size=bill.step.tokens,
            share_percent=100 * bill.comm_fraction,
            rules="bandwidth" if bill.bandwidth_fraction > 0.5 else "latency",
        )
        for link in (scenario.link_spec, scenario.network_spec)
        for bill in batch_sweep(
            scenario.model_spec, scenario.gpu_spec, scenario.tp, link, BATCHES, scenario.weight_dtype
        )
    ]


@dataclass(frozen=True)
class RanksBar:
    """One term of a bill at one number of ranks."""

    ranks: str
    term: str
    order: int
    time_ms: float


def bills_by_ranks(own: OwnBill) -> list[RanksBar]:
    """The same bill at 2 to 64 ranks, term by term."""
    found = {ranks: replace(own, tp=ranks).bill() for ranks in TP_SIZES}
    return [
        bar
        for ranks, priced in found.items()
        for bar in (
            RanksBar(f"TP={ranks}", "latency", 0, 1e3 * priced.waiting_s),
            RanksBar(f"TP={ranks}", "bandwidth", 1, 1e3 * priced.bandwidth_s),
        )
    ]


@dataclass(frozen=True)
class NodeBar:
    """One term of a bill at one TP size, and the bill of one flat ring through all of it."""

    ranks: str
    term: str
    order: int
    time_ms: float
    flat_ms: float
    nodes: int


def node_bills(scenario: Scenario, phase: Phase, gpus_per_node: int) -> tuple[NodeBill, ...]:
    """The scenario's step at each TP size, over as many nodes as it takes."""
    step, links = step_of(scenario, phase), (scenario.link_spec, scenario.network_spec)
    return tuple(node_bill(replace(step, tp_size=size), gpus_per_node, *links) for size in TP_SIZES)


def node_bars(bills: Sequence[NodeBill]) -> list[NodeBar]:
    """Both levels' waiting and both levels' bytes, at each size."""
    return [
        NodeBar(f"TP={bill.whole.step.tp_size}", term, order, 1e3 * time_s, 1e3 * bill.flat.comm_s, bill.nodes)
        for bill in bills
        for order, (term, time_s) in enumerate(
            (("latency", bill.whole.waiting_s), ("bandwidth", bill.whole.bandwidth_s))
        )
    ]


WHOLE, DIVIDED = "the step whole", "the step ÷ N"


def node_shares(bills: Sequence[NodeBill]) -> list[SharePoint]:
    """The same bills as shares: of the step as it is at TP=1, as the labs count, and of the step divided by N."""
    return [
        SharePoint(series, step.tp_size, 100 * replace(bill.whole, step=step).comm_fraction, series)
        for series in (WHOLE, DIVIDED)
        for bill in bills
        for step in [replace(bill.whole.step, divided=series == DIVIDED)]
    ]


@dataclass(frozen=True)
class Experts:
    """What is asked of a mixture: which, over how many ranks, how many tokens, how uneven."""

    mixture: str = "mixtral-8x7b"
    ranks: int = 8
    tokens: int = 64
    imbalance: float = 1.0

    @property
    def model(self) -> ModelSpec:
        """The mixture's row."""
        return model(self.mixture)


def expert_bills(ask: Experts, link: LinkSpec) -> tuple[ExpertParallelBill, ExpertParallelBill]:
    """A copy for each expert a token goes to, and one for each rank they live on."""
    plainly, once = (
        expert_parallel_bill(
            ask.model, ask.tokens, ask.ranks, link, deduplicated=deduplicated, imbalance=ask.imbalance
        )
        for deduplicated in (False, True)
    )
    return plainly, once


def layer_rows(ask: Experts, link: LinkSpec) -> list[BillRow]:
    """One step's mixture layers cut four ways, none of it with compute: what each way sends."""
    plainly, once = expert_bills(ask, link)
    copies = plain(once.copies)
    return [
        _row("Tensor parallel", "2 all-reduces a layer", plainly.tensor_parallel, plainly.layers),
        _row(
            "Sequence parallel", "2 × (reduce-scatter + all-gather)", _sequence_parallel(ask, link), plainly.layers
        ),
        _row("Experts, a copy each", _all_to_alls(plain(plainly.copies)), _both(plainly), plainly.layers),
        _row("Experts, a copy a rank", _all_to_alls(copies), _both(once), once.layers),
    ]


def _all_to_alls(copies: str) -> str:
    return f"dispatch + combine, {copies} copies of a token"


def _sequence_parallel(ask: Experts, link: LinkSpec) -> CollectiveCost:
    """Two reduce-scatters and two all-gathers of the activations: an all-reduce in two halves, twice."""
    payload_bytes = allreduce_payload_bytes(ask.tokens, ask.model.hidden_size)
    halves = (ring_reduce_scatter(payload_bytes, ask.ranks, link), ring_all_gather(payload_bytes, ask.ranks, link))
    return halves[0].plus(halves[1]).times(2)


def _both(bill: ExpertParallelBill) -> CollectiveCost:
    return bill.dispatch.plus(bill.combine)


def _row(name: str, detail: str, layer: CollectiveCost, layers: int) -> BillRow:
    cost = layer.times(layers)
    return BillRow(
        name=name,
        detail=detail,
        compute_ms=0.0,
        latency_ms=1e3 * (cost.latency_s + cost.base_s),
        bandwidth_ms=1e3 * cost.bandwidth_s,
        compute="",
        waiting=f"latency, {seconds(cost.latency_s + cost.base_s)}",
        in_words=f"{significant(1e3 * cost.total_s)} ms",
    )


def share_of(points: Sequence[SharePoint], series: str, size: int) -> str:
    """One point of a line, in words."""
    found = next(point for point in points if (point.series, point.size) == (series, size))
    return percent(found.share_percent / 100)
