"""Lab 03's bench: one figure at a time, of the scenario's bill or of a link of one's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.collectives.cost import as_measured
from core.comm_cost.asked import AskedBill
from core.comm_cost.bill import FATAL_ABOVE_FRACTION, NOISE_BELOW_FRACTION
from core.comm_cost.expert_parallel import MIXTURES, Experts
from core.comm_cost.measured import MeasuredPoint
from core.comm_cost.readings import unit_slips
from core.comm_cost.remedies import what_to_buy
from core.specs import LinkSpec
from core.steps import view as views
from core.steps.view import Phase
from ui.comm_cost import bench_serving as serving
from ui.comm_cost import charts as bills
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows as cost
from ui.comm_cost import rows_bench as rows
from ui.comm_cost import rows_residuals as residual_rows
from ui.comm_cost import rows_scale as scale
from ui.comm_cost import table as comm_table
from ui.comm_cost import words_bench as words
from ui.figures.lines import payloads
from ui.page import Page
from ui.question import Choice, Number, Switch, Text, Whole, ask
from ui.tested import Kind

OWN, TABLE, CONSTANTS, UNITS, GPUS = "your link", "your table", "constants", "units", "GPUs"
BUY, BATCH, NODES, EXPERTS, ENDS, RESIDUALS = "what to buy", "batch", "nodes", "experts", "ends", "residuals"
KERNELS = "kernels"
FIRST = [OWN, KERNELS, BATCH]
MORE = [TABLE, CONSTANTS, UNITS, GPUS, BUY, NODES, EXPERTS, ENDS, RESIDUALS, *serving.FIGURES]
FIGURES = FIRST + MORE
PHASED = (KERNELS, TABLE, UNITS, GPUS, BUY, NODES, ENDS)
"""Figures of a step that may be a decode or a prefill."""

OF_THE_SCENARIO = (OWN, KERNELS, BATCH, UNITS, GPUS, BUY, ENDS, serving.DRAFTS)
"""Figures of the scenario's own step: what stands against it stands over them. The others ask for their ranks."""

THE_LINK, THE_NETWORK = "the link", "the network"
MEASURED, NAPKIN = "as measured", "the lab's napkin"
THRESHOLDS = (100 * NOISE_BELOW_FRACTION, 100 * FATAL_ABOVE_FRACTION)


@dataclass(frozen=True)
class BenchQuestion(serving.ServingQuestion):
    """What the bench asks; without a step of its own it takes the scenario's."""

    figure: str = ask(OWN, Choice(FIGURES), "says.figure")
    more: bool = ask(False, Switch(), "says.more", "says.all_bench_s_figures")
    phase: Phase = ask("decode", Choice(views.PHASES), "says.phase")
    numbers: str = ask(MEASURED, Choice((MEASURED, NAPKIN)), "says.numbers", "says.numbers_help")
    over: str = ask(THE_NETWORK, Choice((THE_LINK, THE_NETWORK)), "says.over")
    step: float | None = ask(None, Number(0.001, 1e6), "says.compute_ms")
    alpha: float = ask(50.0, Number(0, 1e5), "says.latency_hop_s")
    beta: float = ask(1.25, Number(0.001, 1e5), "says.bandwidth_one_way_gb")
    tokens: int = ask(1, Whole(1, 1_048_576), "says.tokens_step")
    pin: str = ask("", Text())
    overlap: int = ask(50, Whole(0, 100, slid=True, unit="%"), "says.hidden_behind_compute")
    handover: bool = ask(False, Switch(), "says.with_s_hand_over")
    node: int = ask(8, Choice((2, 4, 8, 16)), "says.gpus_node")
    mixture: str | None = ask(None, Choice(tuple(MIXTURES), listed=True), "says.mixture")
    moe_n: int = ask(Experts().ranks, Choice((2, 4, 8, 16, 32)), "says.ranks")
    moe_tokens: int = ask(Experts().tokens, Whole(1, 65536), "says.tokens_step")
    imbalance: float = ask(Experts().imbalance, Number(1, 32), "says.busiest_rank_over_mean")
    machine: str = ask("H100 NCCL", Choice(tuple(residual_rows.SHORT)), "says.machine")


BenchPage = Page[BenchQuestion]

CONTROLS: Mapping[str, tuple[str, ...]] = {
    OWN: ("step", "alpha", "beta", "tokens"),
    EXPERTS: ("over", "mixture", "moe_n", "moe_tokens", "imbalance"),
    **{name: (field,) for name, field in ((TABLE, "handover"), (NODES, "node"), (RESIDUALS, "machine"))},
    BUY: ("over", "overlap"),
    **dict.fromkeys((UNITS, ENDS), ("over",)) | serving.CONTROLS,
}
"""The controls of each figure, after the phase and the numbers."""

_KEPT_ON_A_WALL = (OWN, TABLE, NODES, ENDS)
"""Figures that leave a wall room for all of their controls."""


def made_of(figure: str, phase: Phase) -> Kind:
    """Return what a figure's times are made of: nothing of ours where somebody measured them."""
    if figure in (TABLE, RESIDUALS):
        return ""
    if figure in (CONSTANTS, EXPERTS):
        return "link"
    return "prompt" if phase == "prefill" and figure in PHASED else "compute"


def own_bill(page: BenchPage) -> AskedBill:
    """Return the bill of a link and a step of one's own."""
    asked, ours = page.question, page.scenario
    return AskedBill(asked.alpha, asked.beta, asked.tokens, asked.step or _step_ms(page), ours.tp, ours.model)


def _step_ms(page: BenchPage) -> float:
    return float(f"{1e3 * views.View(page.scenario).step.compute_s:.6g}")


def _usual(page: BenchPage, name: str) -> object:
    return {"mixture": _usual_mixture(page), "step": _step_ms(page)}.get(name)


def _experts(page: BenchPage) -> Experts:
    asked = page.question
    return Experts(_usual_mixture(page, asked.mixture), asked.moe_n, asked.moe_tokens, asked.imbalance)


def _usual_mixture(page: BenchPage, asked: str | None = None) -> str:
    here = page.scenario.model
    return asked or (here if here in MIXTURES else "mixtral-8x7b")


def draw_controls(page: BenchPage) -> None:
    """Draw the choice of a figure, and the controls of the open one."""
    with page.controls():
        figure = page.figure_of(FIRST, MORE)
    on_wall = page.look.present
    with page.controls():
        if not on_wall:
            page.control("numbers")
        if figure in PHASED and not (figure == UNITS and on_wall):
            page.control("phase")
        else:
            st.empty()  # what follows keeps its place
        names = CONTROLS.get(figure, ()) if figure in _KEPT_ON_A_WALL or not on_wall else ()
        if on_wall and figure in (BUY, EXPERTS, serving.ATTENTION, serving.DRAFTS):
            names = ("over",)
        for name in names:
            tells = page.label("says.compute_help") if name == "step" else None
            page.control(name, usual=_usual(page, name), help=tells)
        if figure == OWN:
            st.button(
                page.label("says.pin"),
                on_click=page.write,
                kwargs={"pin": own_bill(page).text()},
                help=page.label("says.keep_this_bill_compare"),
            )


def draw(page: BenchPage, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    """Draw the figure that is open on the bench, over the link that is asked for."""
    asked = page.question
    over = view.link if asked.over == THE_LINK else view.network
    figures: dict[str, Callable[[], None]] = {
        OWN: lambda: _your_link(page, view, points),
        KERNELS: lambda: _kernels(page, view, points),
        TABLE: lambda: comm_table.draw(page, view.phase, asked.handover),
        CONSTANTS: lambda: _constants(page),
        UNITS: lambda: _units(page, view, over),
        GPUS: lambda: _gpus(page, view),
        BUY: lambda: _buy(page, view, over, asked.overlap / 100),
        BATCH: lambda: _batch(page, replace(view, phase="decode")),
        NODES: lambda: _nodes(page, view, asked.node),
        EXPERTS: lambda: _mixture(page, _experts(page), over),
        ENDS: lambda: _ends(page, view, over),
        RESIDUALS: lambda: _residuals(page, asked.machine, points),
    }
    page.fill({"over": over})
    with page.guarded():
        figures.get(asked.figure, lambda: serving.draw(page, asked.figure, view, over))()


def bars(
    page: Page[Any],
    rows: Sequence[cost.BillRow],
    reading: str,
    name: str,
    *,
    by: str = "",
    states: Sequence[Sequence[cost.BillRow]] = (),
) -> None:
    """Bills on one axis of milliseconds. Of many, a projector has no room for what is said under each.

    `rows` may be one of the `states` that a row of buttons, by its key, asks for: the browser turns to the others.
    """
    drawn = [_fitting(page, some) for some in (rows, *states)]
    charts = [bills.bill_bars(shown, page.look, bills.axis_end_ms(shown)) for shown in drawn]
    chart = page.turning(charts[1:], states.index(rows), by) if states else charts[0]
    page.figure(chart, reading, drawn[0], name)


def _fitting(page: Page[Any], rows: Sequence[cost.BillRow]) -> Sequence[cost.BillRow]:
    crowded = page.look.present and len(rows) > 2
    return [replace(row, detail="", measured="") for row in rows] if crowded else rows


def _your_link(page: BenchPage, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    own, pinned = own_bill(page), AskedBill.from_text(page.question.pin)
    shown = [cost.own_row(own, page.label("says.your_link"), not view.napkin)]
    if pinned is not None:
        shown.append(cost.own_row(pinned, page.label("says.pinned"), not view.napkin))
    shown += cost.link_rows(replace(view, phase="decode"), view.links, points)
    with page.beside("bench.balance", "bench.note", scenario=["bench.scenario"]):
        bars(page, shown, "bench.reading", "bench")
        with st.container(key="aside_ranks"):
            by_ranks = scale.bills_by_ranks(own)
            page.figure(bills.bills_by_ranks(by_ranks, page.look), "bench.ranks", by_ranks, "bills_by_ranks")


def _kernels(page: BenchPage, view: views.View, points: Sequence[MeasuredPoint]) -> None:
    page.fill(words.kernels(view))
    with page.beside("bench.kernels_one", "bench.kernels_cap", switch=["bench.kernels_switch"]):
        bars(page, rows.kernel_rows(view, points), words.kernels_block(view), "kernels")


def _constants(page: BenchPage) -> None:
    # a projector has room for the links that somebody measured
    shown = [row for row in rows.constant_rows() if row.measured_gb_s is not None or not page.look.present]
    with page.beside("bench.constants_link", "bench.constants_network", constants=["bench.constants_rule"]):
        page.figure(charts.nominal_and_measured(shown, page.look), "bench.constants", shown, "links")


def _units(page: BenchPage, view: views.View, over: LinkSpec) -> None:
    slips = unit_slips(view.step, view.timed(over))
    page.fill(words.units(over, slips))
    with page.beside("bench.units_bandwidth", "bench.units_payload", "bench.units_latency"):
        flips = any(slip.flips for slip in slips)
        shown = [slip for slip in slips if not page.look.present or slip.key != "binary_for_decimal"]
        bars(page, list(map(rows.slip_row, shown)), "bench.units_flip" if flips else "bench.units_hold", "units")


def _gpus(page: BenchPage, view: views.View) -> None:
    dots = rows.share_dots(view)
    page.fill(words.gpus(view, dots))
    with page.beside("bench.gpus_why", "bench.models_why", flips=["bench.gpus_flips"]):
        page.figure(charts.share_dots(dots, THRESHOLDS, page.look), "bench.gpus", dots, "gpus")


def _buy(page: BenchPage, view: views.View, over: LinkSpec, share: float) -> None:
    advice = what_to_buy(view.step, view.timed(over))
    page.fill(words.remedies(view, over, advice))
    with page.beside("bench.buy_payload", "bench.buy_even", overlap=["bench.buy_overlap"]):
        bars(page, rows.remedy_rows(advice, share, over), f"bench.buy_{advice.better or 'either'}", "remedies")


def _batch(page: BenchPage, view: views.View) -> None:
    points = scale.batch_points(view)
    page.fill(words.batch(view, points))
    with page.beside("bench.batch_ridge", "bench.batch_note"):
        sizes = [4**power for power in range(7)]
        chart = charts.share_lines(points, THRESHOLDS, sizes, page.label("says.sequences_batch"), page.look)
        page.figure(chart, "bench.batch", points, "batch")


def _nodes(page: BenchPage, view: views.View, gpus_per_node: int) -> None:
    priced = scale.node_bills(view, gpus_per_node)
    page.fill(words.nodes(view, priced, gpus_per_node))
    with page.beside("bench.nodes_levels", "bench.nodes_flat", "bench.nodes_tested"):
        levels = scale.node_bars(priced)
        page.figure(charts.node_bars(levels, page.look), "bench.nodes", levels, "nodes")
        with st.container(key="aside_shares"):
            shares = scale.node_shares(priced)
            sizes = list(scale.TP_SIZES)
            chart = charts.share_lines(shares, THRESHOLDS, sizes, page.label("says.tp_ranks"), page.look)
            page.figure(chart, "bench.node_shares", shares, "node_shares")


def _mixture(page: BenchPage, experts: Experts, over: LinkSpec) -> None:
    link = as_measured(over)
    page.fill(words.experts(experts, link))
    copies = f"bench.experts_copies{'_one' if experts.experts_each == 1 else ''}"
    with page.beside("bench.experts_ratio", experts=[copies, "bench.experts_attention"]):
        bars(page, scale.layer_rows(experts, link), "bench.experts", "experts")


def _ends(page: BenchPage, view: views.View, over: LinkSpec) -> None:
    if view.step.tp_size == 1:
        page.reading("bench.ends_none")
        return
    page.fill(words.ends(view, over))
    with page.beside("bench.ends_head", "bench.ends_embedding"):
        bars(page, rows.end_rows(view, over), "bench.ends", "ends")


def _residuals(page: BenchPage, machine: str, points: Sequence[MeasuredPoint]) -> None:
    small, series = residual_rows.by_ranks(points), residual_rows.SHORT[machine]
    large = residual_rows.misses(points, series, max(point.ranks for point in points if point.series == series))
    page.fill(words.residuals(small, large))
    with page.beside(
        "bench.residuals_launch",
        "bench.residuals_kernel",
        residuals=["bench.residuals_protocol", "bench.residuals_switch"],
    ):
        chart = charts.misses_by_ranks(small, page.look)
        page.figure(chart, "bench.residuals", small, "misses_by_ranks")
        with st.container(key="aside_payload"):
            sizes = [miss.payload_bytes for miss in large]
            x = payloads("payload_bytes", sizes, page.label("says.payload_one_all_reduce"))
            over = charts.misses_by_payload(large, residual_rows.regions(), x, page.look)
            page.figure(over, "bench.residuals_payload", large, "misses_by_payload")
