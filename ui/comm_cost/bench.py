"""Lab 03's bench: one figure at a time, of the scenario's bill or of a link of one's own."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import streamlit as st

from core.comm_cost.bill import FATAL_ABOVE_FRACTION, NOISE_BELOW_FRACTION
from core.comm_cost.measured import MeasuredPoint
from core.specs import LinkSpec
from ui import inputs
from ui.comm_cost import charts as bills
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows as cost
from ui.comm_cost import rows_bench as rows
from ui.comm_cost import rows_residuals as residual_rows
from ui.comm_cost import rows_scale as scale
from ui.comm_cost import table as comm_table
from ui.comm_cost import words_bench as facts
from ui.figure_prose import fill
from ui.figures.frames import frame
from ui.figures.lines import payloads
from ui.scenes import Page
from ui.theme import Look

OWN, TABLE, CONSTANTS, UNITS, GPUS = "your link", "your table", "constants", "units", "GPUs"
BUY, BATCH, NODES, EXPERTS, ENDS, RESIDUALS = "what to buy", "batch", "nodes", "experts", "ends", "residuals"
FIGURES = [OWN, TABLE, CONSTANTS, UNITS, GPUS, BUY, BATCH, NODES, EXPERTS, ENDS, RESIDUALS]
PHASED = (TABLE, UNITS, GPUS, BUY, NODES, ENDS)
"""Figures of a step that may be a decode or a prefill."""

_OVER_LINK = (UNITS, BUY, EXPERTS, ENDS)
THE_LINK, THE_NETWORK = "the link", "the network"
THRESHOLDS = (100 * NOISE_BELOW_FRACTION, 100 * FATAL_ABOVE_FRACTION)


Place = Callable[[bool], AbstractContextManager[object]]
"""Where a control goes: into the row of the open scene, or out of sight."""


@dataclass(frozen=True)
class Asked:
    """What the bench's controls say."""

    figure: str
    over: LinkSpec
    own: cost.OwnBill
    pinned: cost.OwnBill | None
    handover: bool
    overlap_percent: int
    gpus_per_node: int
    experts: scale.Experts
    machine: str


def phased(look: Look) -> tuple[str, ...]:
    """Figures beside which the phase is asked; one of many bars leaves no room for it on a projector."""
    return tuple(figure for figure in PHASED if not (figure == UNITS and look.present))


def choose(page: Page) -> str:
    """Which figure the bench shows."""
    with page.controls("bench"):
        return inputs.choice("Figure", page.key("figure"), FIGURES, OWN)


def ask(page: Page, figure: str, place: Place) -> Asked:
    """Every control of the bench, those of the open figure in sight. All run, so that the URL keeps them."""

    def of(*figures: str) -> AbstractContextManager[object]:
        return place(page.scene == "bench" and figure in figures)

    with of(OWN):
        own, pinned = _own(page)
    with place(page.scene == "bench" and figure in _OVER_LINK and not (figure == UNITS and page.look.present)):
        over = inputs.choice("Over", page.key("over"), [THE_LINK, THE_NETWORK], THE_NETWORK)
    with place(page.scene == "bench" and figure == BUY and not page.look.present):
        overlap = inputs.slide("Hidden behind compute", page.key("overlap"), 0, 100, 50, unit="%")
    with of(TABLE):
        handover = inputs.toggle("With the √S hand-over", page.key("handover"))
    with of(NODES):
        gpus_per_node = inputs.choice("GPUs a node", page.key("node"), [2, 4, 8, 16], 8)
    # on a projector the figure takes the room
    with place(page.scene == "bench" and figure == EXPERTS and not page.look.present):
        experts = _experts(page)
    with place(page.scene == "bench" and figure == RESIDUALS and not page.look.present):
        machine = inputs.choice("Machine", page.key("machine"), list(residual_rows.SHORT), "H100 NCCL")
    link = page.scenario.link_spec if over == THE_LINK else page.scenario.network_spec
    return Asked(figure, link, own, pinned, handover, overlap, gpus_per_node, experts, machine)


def _own(page: Page) -> tuple[cost.OwnBill, cost.OwnBill | None]:
    """A link and a step of one's own, and the one that is pinned."""
    own = cost.OwnBill(
        latency_us=inputs.number("Latency a hop, µs", page.key("alpha"), 0.0, 1e5, 50.0),
        bandwidth_gb_s=inputs.number("Bandwidth one way, GB/s", page.key("beta"), 0.001, 1e5, 1.25),
        tokens=inputs.whole("Tokens in the step", page.key("tokens"), 1, 1_048_576, 1),
        step_ms=inputs.number("Compute, ms", page.key("step"), 0.001, 1e6, 8.0),
        tp=page.scenario.tp,
        model=page.scenario.model,
    )
    pinned = cost.OwnBill.from_text(inputs.memo(page.key("pin")))
    st.button("Pin", on_click=inputs.remember, args=(page.key("pin"), own.text()), help="Keep this bill to compare")
    return own, pinned


def _experts(page: Page) -> scale.Experts:
    here = page.scenario.model
    usual = scale.Experts(here if here in scale.MIXTURES else "mixtral-8x7b")
    return scale.Experts(
        inputs.select("Mixture", page.key("mixture"), list(scale.MIXTURES), usual.mixture),
        inputs.choice("Ranks", page.key("moe_n"), [2, 4, 8, 16, 32], usual.ranks),
        inputs.whole("Tokens in the step", page.key("moe_tokens"), 1, 65536, usual.tokens),
        inputs.number("Busiest rank over the mean", page.key("imbalance"), 1.0, 32.0, usual.imbalance),
    )


def draw(page: Page, asked: Asked, phase: cost.Phase, points: Sequence[MeasuredPoint]) -> None:
    """The figure that is asked for."""
    figures: dict[str, Callable[[], None]] = {
        OWN: lambda: _your_link(page, asked, points),
        TABLE: lambda: comm_table.draw(page, phase, asked.handover),
        CONSTANTS: lambda: _constants(page),
        UNITS: lambda: _units(page, asked, phase),
        GPUS: lambda: _gpus(page, phase),
        BUY: lambda: _buy(page, asked, phase),
        BATCH: lambda: _batch(page),
        NODES: lambda: _nodes(page, asked, phase),
        EXPERTS: lambda: _mixture(page, asked),
        ENDS: lambda: _ends(page, asked, phase),
        RESIDUALS: lambda: _residuals(page, asked, points),
    }
    with page.guarded():
        figures[asked.figure]()


def bars(page: Page, found: Sequence[cost.BillRow], reading: str, name: str) -> None:
    """Bills on one axis of milliseconds. Of many, a projector has no room for what is said under each."""
    crowded = page.look.present and len(found) > 2
    table = frame(replace(row, detail="", measured="") if crowded else row for row in found)
    page.figure(bills.bill_bars(table, page.look, bills.axis_end_ms(table)), reading, table, name)


def _your_link(page: Page, asked: Asked, points: Sequence[MeasuredPoint]) -> None:
    scenario = page.scenario
    found = [asked.own.row("Your link"), *([asked.pinned.row("Pinned")] if asked.pinned else [])]
    found += cost.link_rows(scenario, "decode", [scenario.link_spec, scenario.network_spec], points)
    figure, margin = page.split()
    with figure:
        bars(page, found, "bench.reading", "bench")
        with st.container(key="aside_ranks"):
            by_ranks = frame(scale.bills_by_ranks(asked.own))
            page.figure(bills.bills_by_ranks(by_ranks, page.look), "bench.ranks", by_ranks, "bills_by_ranks")
    with margin:
        page.note("bench.note", "bench.scenario")


def _constants(page: Page) -> None:
    fill(page, facts.constants(page.scenario))
    found = rows.constant_rows()
    # a projector has room for the links that somebody measured
    table = frame(row for row in found if row.measured_gb_s is not None or not page.look.present)
    figure, margin = page.split()
    with figure:
        page.figure(charts.nominal_and_measured(table, page.look), "bench.constants", table, "links")
    with margin:
        page.note("bench.constants_link", "bench.constants_network")
        with st.container(key="aside_constants"):
            page.note("bench.constants_rule")


def _units(page: Page, asked: Asked, phase: cost.Phase) -> None:
    found = rows.slips(page.scenario, phase, asked.over)
    fill(page, facts.units(asked.over, found))
    figure, margin = page.split()
    with figure:
        flips = any(slip.flips for slip in found)
        shown = [slip for slip in found if not page.look.present or slip.key != "binary_for_decimal"]
        bars(page, rows.slip_rows(shown), "bench.units_flip" if flips else "bench.units_hold", "units")
    with margin:
        page.note("bench.units_bandwidth", "bench.units_payload", "bench.units_latency")


def _gpus(page: Page, phase: cost.Phase) -> None:
    found = rows.share_dots(page.scenario, phase)
    fill(page, facts.gpus(page.scenario, phase, found))
    table = frame(found)
    figure, margin = page.split()
    with figure:
        page.figure(charts.share_dots(table, THRESHOLDS, page.look), "bench.gpus", table, "gpus")
    with margin:
        page.note("bench.gpus_why")
        with st.container(key="aside_flips"):
            page.note("bench.gpus_flips")


def _buy(page: Page, asked: Asked, phase: cost.Phase) -> None:
    found = rows.advice(page.scenario, phase, asked.over)
    share = asked.overlap_percent / 100
    fill(page, facts.remedies(page.scenario, phase, asked.over, found, share))
    figure, margin = page.split()
    with figure:
        bars(page, rows.remedy_rows(found, share, asked.over), f"bench.buy_{found.better or 'either'}", "remedies")
    with margin:
        page.note("bench.buy_payload", "bench.buy_even")
        with st.container(key="aside_overlap"):
            page.note("bench.buy_overlap")


def _batch(page: Page) -> None:
    found = scale.batch_points(page.scenario)
    fill(page, facts.batch(page.scenario, found))
    table = frame(found)
    figure, margin = page.split()
    with figure:
        chart = charts.share_lines(
            table, THRESHOLDS, [1, 4, 16, 64, 256, 1024, 4096], "sequences in a batch", page.look
        )
        page.figure(chart, "bench.batch", table, "batch")
    with margin:
        page.note("bench.batch_ridge", "bench.batch_note")


def _nodes(page: Page, asked: Asked, phase: cost.Phase) -> None:
    found = scale.node_bills(page.scenario, phase, asked.gpus_per_node)
    fill(page, facts.nodes(page.scenario, found, asked.gpus_per_node))
    figure, margin = page.split()
    with figure:
        table = frame(scale.node_bars(found))
        page.figure(charts.node_bars(table, page.look), "bench.nodes", table, "nodes")
        with st.container(key="aside_shares"):
            shares = frame(scale.node_shares(found))
            chart = charts.share_lines(shares, THRESHOLDS, list(scale.TP_SIZES), "TP, ranks", page.look)
            page.figure(chart, "bench.node_shares", shares, "node_shares")
    with margin:
        page.note("bench.nodes_levels", "bench.nodes_flat")


def _mixture(page: Page, asked: Asked) -> None:
    fill(page, facts.experts(asked.experts, asked.over))
    figure, margin = page.split()
    with figure:
        bars(page, scale.layer_rows(asked.experts, asked.over), "bench.experts", "experts")
    with margin:
        page.note("bench.experts_ratio")
        with st.container(key="aside_experts"):
            page.note("bench.experts_copies", "bench.experts_sequence")


def _ends(page: Page, asked: Asked, phase: cost.Phase) -> None:
    if page.scenario.tp == 1:
        page.reading("bench.ends_none")
        return
    fill(page, facts.ends(page.scenario, phase, asked.over))
    figure, margin = page.split()
    with figure:
        bars(page, rows.end_rows(page.scenario, phase, asked.over), "bench.ends", "ends")
    with margin:
        page.note("bench.ends_head", "bench.ends_embedding")


def _residuals(page: Page, asked: Asked, points: Sequence[MeasuredPoint]) -> None:
    small = residual_rows.by_ranks(points)
    series = residual_rows.SHORT[asked.machine]
    large = residual_rows.misses(points, series, max(point.ranks for point in points if point.series == series))
    fill(page, facts.residuals(small, large))
    figure, margin = page.split()
    with figure:
        table = frame(small)
        page.figure(charts.misses_by_ranks(table, page.look), "bench.residuals", table, "misses_by_ranks")
        with st.container(key="aside_payload"):
            over = frame(large)
            x = payloads("payload_bytes", over.payload_bytes, "payload of one all-reduce")
            chart = charts.misses_by_payload(over, residual_rows.REGIONS, x, page.look)
            page.figure(chart, "bench.residuals_payload", over, "misses_by_payload")
    with margin:
        page.note("bench.residuals_launch", "bench.residuals_kernel")
        with st.container(key="aside_residuals"):
            page.note("bench.residuals_protocol", "bench.residuals_switch")
