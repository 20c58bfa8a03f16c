"""A plan made again for one's own machine: by its startup log, its nccl-tests table, and what a benchmark showed.

The log says what is neither weights nor cache, the table the link, the benchmark how long a step really takes: one
constant of the step, the floor of a layer or, where even none is too slow, the share of the data sheet reached, is
fitted so that the plan's own engine shows the median of what was measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from core.errors import Remark, ShardlabError, UnreadableTextError, remark
from core.evidence.accuracy import Band
from core.evidence.calibration import calibration_of
from core.links.fit import link_of
from core.links.fitted_tables import fitted_tables
from core.placement.measured_load import predict_bench
from core.placement.plan import Plan, Question, judge
from core.placement.planner import Placement
from core.placement.shortlist import shortlist
from core.placement.under_load import place_under_load
from core.serving.arrivals import seeded
from core.serving.bench_reader import read_bench_results
from core.serving.bench_results import BenchResult
from core.steps.model import Efficiency
from core.strategy.own_log import overhead_of, with_log

REFITTED = Band(0.75, 1.34)
"""Eight in ten other times of a source and model, as multiples of what one time of it predicts of them.

Source: the decode times that ship with the project, 14 sources and models of three and more; see the test.
"""
__all__ = ["REFITTED", "Refit", "overhead_of", "refit", "said_of", "settled_refit"]
MOST_RESULTS = 5
MOST_FLOOR_S = 2e-3
MOST_REQUESTS = 400
_HALVINGS = 10


@dataclass(frozen=True)
class Refit:
    """A question before and after, its placements, what was taken of the machine, and what was not and why."""

    before: Placement
    after: Placement
    taken: tuple[Remark, ...]
    refused: tuple[Remark, ...]

    @property
    def changed(self) -> Remark:
        """What became of the plan, in a sentence."""
        old, new = self.before.taken, self.after.taken
        if old is None or new is None:
            code = "placement.refit_neither" if old is new else "placement.refit_none" if new is None else ""
            return remark(code or "placement.refit_now_fits", old=old, new=new)
        code = "placement.refit_same" if old.layout == new.layout else "placement.refit_other"
        return remark(code, old=old, new=new)


def refit(question: Question, log: str = "", table: str = "", bench: str = "", shown: Plan | None = None) -> Refit:
    """The question with what three texts say of its machine, any of them empty; both placements.

    The benchmark is held to `shown`, the plan that it ran, or else to the one recommended. What cannot be read is
    refused with its reason, and the rest stands.
    """
    before = place_under_load(question)
    refitted, taken, refused = question, list[Remark](), list[Remark]()
    ran = shown or before.taken
    for text, reader in ((log, with_log), (table, _with_table), (bench, _with_bench)):
        if not text.strip():
            continue
        try:
            refitted, notes = reader(refitted, text, ran)
        except ShardlabError as error:
            refused.append(remark("placement.refit_refused", error=error.remark))
            continue
        taken += notes
    return Refit(before, place_under_load(refitted), tuple(taken), tuple(refused))


def settled_refit(question: Question, log: str, table: str, bench: str) -> Refit:
    """Both placements of a machine of one's own, with no more plans than are shown."""
    refitted = refit(question, log, table, bench)
    return replace(refitted, before=shortlist(refitted.before), after=shortlist(refitted.after))


def _with_table(question: Question, text: str, ran: Plan | None) -> tuple[Question, tuple[Remark, ...]]:
    """The table's link in place of the node's, or of the network's where its ranks are on more than a node."""
    cluster = question.cluster
    fitted = [(own, link) for own in fitted_tables(text) if own.fit and (link := link_of(own.fit))]
    if not fitted:
        raise UnreadableTextError("no_fit")
    linked = [pair for pair in fitted if cluster.nodes > 1 or (pair[0].table.nodes or 1) == 1]
    if not linked:
        raise UnreadableTextError("table_across")
    own, link = max(linked, key=lambda pair: (pair[0].table.op == "all_reduce", len(pair[0].table.rows)))
    ranks, nodes = link.measured_ranks or 2, own.table.nodes
    across = cluster.nodes > 1 and (ranks > cluster.gpus_per_node if nodes is None else nodes > 1)
    old = cluster.network if across else cluster.link
    named = replace(link, scope=old.scope)
    changed = replace(cluster, network=named) if across else replace(cluster, link=named)
    note = remark("placement.refit_link", old=old, new=link, op=own.table.op or "?", ranks=ranks)
    return replace(question, cluster=changed), (note,)


def _with_bench(question: Question, text: str, ran: Plan | None) -> tuple[Question, tuple[Remark, ...]]:
    """The floor of a layer at which the plan that ran shows the median of what was measured."""
    if ran is None:
        raise UnreadableTextError("no_plan")
    plan = judge(question, ran.layout)
    results = [one for one in read_bench_results(text) if one.between_s and one.mean_output_tokens]
    if not results or not plan.fits:
        raise UnreadableTextError("no_result")
    results = results[:MOST_RESULTS]
    usual = question.efficiency or calibration_of(question.cluster.gpu, question.model, question.engine).efficiency

    def ratio(efficiency: Efficiency) -> float:
        asked = replace(question, efficiency=efficiency)
        return median(_ratio(asked, plan, one) for one in results)

    fitted = _fitted(usual, ratio)
    code = "placement.refit_step" if abs(ratio(fitted) - 1) < 0.05 else "placement.refit_step_beyond"
    note = remark(code, old=usual, new=fitted, results=len(results), was=ratio(usual), now=ratio(fitted))
    return replace(question, efficiency=fitted, refitted_band=REFITTED), (note,)


def _fitted(usual: Efficiency, ratio: Callable[[Efficiency], float]) -> Efficiency:
    """The floor at which predicted over measured is 1, by halving; where even none is too slow, the share."""
    bare = replace(usual, layer_floor_s=0.0)
    if ratio(bare) <= 1:
        floor_s = _halved(0.0, MOST_FLOOR_S, lambda value: ratio(replace(usual, layer_floor_s=value)) < 1)
        return replace(usual, layer_floor_s=floor_s)
    reached = _halved(usual.reached_fraction, 1.0, lambda value: ratio(replace(bare, reached_fraction=value)) > 1)
    return replace(bare, reached_fraction=reached)


def _halved(low: float, high: float, too_low: Callable[[float], bool]) -> float:
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2


def _ratio(question: Question, plan: Plan, result: BenchResult) -> float:
    measured_s = result.between_s
    assert measured_s is not None
    return predict_bench(question, plan, result, seeded(0), MOST_REQUESTS).load.itl_mean_s / measured_s


def said_of(refit: Refit) -> Sequence[Remark]:
    """All there is to say, the plan last."""
    return (*refit.taken, *refit.refused, refit.changed)
