"""Lab 02's bench: recorded runs, the machine's own curve, the scenario's two links; and a run on this machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import streamlit as st

from core.errors import ShardlabError
from core.links.fit import link_of
from core.models.parameters import total_parameters
from core.specs import LinkSpec
from core.two_way_tp.predictions import GPTS, MINI_GPT
from core.two_way_tp.replicas import Duel, duels
from core.two_way_tp.run_log import RunLog
from core.two_way_tp.scaling import ScalingRun, fitted_link
from runtime import captures
from runtime.captures import Capture
from runtime.catalog_words import told
from runtime.prose import named
from runtime.run_request import RunRequest
from runtime.torch_here import torch_here
from ui.comm_cost.table import offer
from ui.figures.time_against_payload import time_against_payload
from ui.page import Page
from ui.question import Choice, Switch, ask
from ui.two_way_tp import charts, live_run, rows_runs
from ui.two_way_tp import charts_scaling as scaling_charts
from ui.two_way_tp import rows as rows_of
from ui.two_way_tp import rows_scaling as scaling_rows
from ui.two_way_tp import words_bench as words
from ui.two_way_tp.words import BACKENDS, BETWEEN

TWO_ARMS = "two arms"
NOTES = {
    TWO_ARMS: ("bench.note_figure", "bench.note_wires"),
    "the wires": ("bench.note_fit", "bench.note_wires"),
    "the width": ("bench.note_width", "bench.note_memory"),
    "two replicas": ("bench.note_full", "bench.note_prompts"),
    "two hosts": ("bench.note_hosts",),
}
MORE = ("two replicas", "two hosts")
TWO_HOSTS = captures.CAPTURES.parent / "two_hosts"


@dataclass(frozen=True)
class BenchQuestion:
    """The model and the link between two ranks, and the figure of their runs."""

    model: str = ask(MINI_GPT.key, Choice(tuple(GPTS)[:3]), "says.model")
    wire: str = ask("TCP", Choice(tuple(BACKENDS)), "says.between_ranks")
    figure: str = ask(TWO_ARMS, Choice(tuple(NOTES)), "says.figure")
    more: bool = ask(False, Switch(), "says.more", "says.all_bench_s_figures")


BenchPage = Page[BenchQuestion]


@dataclass(frozen=True)
class Bench:
    """What the figures draw from.

    Where the scenario's model fits no single GPU there are no duels, and `refused` says so. `link` is the chosen
    one, as it was fitted.
    """

    runs: tuple[tuple[str, Capture], ...]
    curve: ScalingRun | None
    between: str
    inside: tuple[Duel, ...]
    across: tuple[Duel, ...]
    refused: ShardlabError | None
    link: LinkSpec | None
    hosts: tuple[tuple[str, RunLog], ...]
    page: BenchPage

    @property
    def figures(self) -> Mapping[str, Callable[[], None]]:
        """The figures there are, by the name they are chosen by."""
        drawings = {TWO_ARMS: self.two_arms, "the wires": self.links}
        if self.curve is not None:
            drawings["the width"] = self.width
        drawings["two replicas"] = self.replicas
        if self.hosts:
            drawings["two hosts"] = self.two_hosts
        return drawings

    @property
    def shown(self) -> str:
        """The figure that is asked for, of those there are."""
        return self.page.offered("figure", list(self.figures), TWO_ARMS)

    def draw_choice(self) -> None:
        """Draw the choice of a figure: one of the first three, and with *More* one of all."""
        names = list(self.figures)
        self.page.figure_of([one for one in names if one not in MORE], [one for one in names if one in MORE])

    def fields(self) -> Mapping[str, object]:
        between = named("two_way_tp", self.between)
        filled = {**words.scaling_fields(self.curve, between), **words.host_fields(self.hosts, _hosts("rest-"))}
        filled["own_wire"] = told(self.link.name) if self.link else ""
        if self.inside:
            scenario = self.page.scenario
            filled |= words.duel_fields(self.inside, self.across, scenario.model, scenario.gpu)
        return filled

    def two_arms(self) -> None:
        drawn = ends(self.runs) if self.page.look.present else self.runs
        arms = (rows_runs.run_rows(name, run.result, captures.repeats(run.name)) for name, run in drawn)
        table = [row for rows in arms for row in rows]
        self.page.figure(charts.arms(table, self.page.look), "bench.reading", table, "two_arms")

    def links(self) -> None:
        memory = (BETWEEN["shm"], named("two_way_tp", BETWEEN["shm"]))
        swept = [(name.replace(*memory), run.log) for name, run in self.runs if run.log.model == MINI_GPT]
        curves_of = [point for name, log in swept for point in rows_of.link_curve(log, name)]
        dots = [dot for name, log in swept for dot in rows_of.link_dots(log, name)]
        mark = [rows_of.link_mark(self.page.scenario.model_spec)]
        chart = time_against_payload(curves_of, dots, mark, [], self.page.look)
        self.page.figure(chart, "bench.wires", dots, "wires")

    def offer_link(self) -> None:
        if self.link is not None:
            self.page.note("bench.note_link")
            offer(self.link, self.page.scenario)

    def width(self) -> None:
        """A token against the width of the model, and the crossover."""
        if self.curve is None:
            return
        lines, dots = scaling_rows.width_lines(self.curve), scaling_rows.width_dots(self.curve)
        marks = scaling_rows.crossover_marks(self.curve)
        chart = scaling_charts.token_against_width(lines, dots, marks, self.page.look)
        self.page.figure(chart, "bench.width", lines, "width")

    def replicas(self) -> None:
        if self.refused:
            raise self.refused
        table = scaling_rows.duel_rows([self.inside, self.across])
        chart = scaling_charts.replicas_or_tp(table, self.page.look)
        self.page.figure(chart, "bench.replicas", table, "replicas")
        self.page.data_sheet = "prompt"

    def two_hosts(self) -> None:
        table = scaling_rows.host_rows(self.hosts)
        self.page.figure(charts.stacked_bars(table, self.page.look), "bench.hosts", table, "two_hosts")


def ends(runs: Sequence[tuple[str, Capture]]) -> list[tuple[str, Capture]]:
    """For a projector: recorded runs of the smallest model and of the largest, and every run made here."""
    sizes = [total_parameters(run.log.model) for _, run in runs]
    recorded = captures.names()
    return [
        (name, run)
        for (name, run), size in zip(runs, sizes, strict=True)
        if size in (min(sizes), max(sizes)) or run.name not in recorded
    ]


def open_bench(page: BenchPage, runs: tuple[tuple[str, Capture], ...]) -> Bench:
    """Return the bench of a page: its recorded runs, and the curve of the link that was chosen."""
    between = page.question.wire
    backend = BACKENDS[between]
    scenario, refused = page.scenario.timed, None
    model, gpu = scenario.model_spec, scenario.gpu_spec
    asked = (scenario.weight_dtype, scenario.batch, scenario.prompt_tokens)
    try:
        inside, across = (duels(model, gpu, link, *asked) for link in (scenario.link_spec, scenario.network_spec))
    except ShardlabError as error:
        inside, across, refused = (), (), error
    hosts = _hosts("")
    link = newest_link([run for _, run in runs if run.log.backend == backend], backend)
    return Bench(runs, captures.load_curve(backend), between, inside, across, refused, link, hosts, page)


def _hosts(recording: str) -> tuple[tuple[str, RunLog], ...]:
    """The runs over shaped links of one recording, by the link's name."""
    there = captures.names(TWO_HOSTS)
    return tuple(
        (link, captures.load(recording + name, TWO_HOSTS).log)
        for name, link in words.SHAPED.items()
        if recording + name in there
    )


def newest_link(runs: Sequence[Capture], backend: str) -> LinkSpec | None:
    """The link that the run made last was over; None where no run's sweep gives α and β."""
    newest = [
        (run.result.manifest.date, link)
        for run in runs
        if (fit := fitted_link(run.log)) and (link := link_of(fit, backend))
    ]
    return max(newest, key=itemgetter(0))[1] if newest else None


def draw(page: BenchPage, bench: Bench, own: Capture | None) -> None:
    """Draw the chosen figure, with the button that runs it here where the figure is of runs."""
    drawn, model, link = bench.shown, page.question.model, BACKENDS[page.question.wire]
    figure, margin = page.split()
    with figure:
        # a place of its own, so that the figure under it keeps its own where there is none
        with st.container():
            if drawn == TWO_ARMS or (drawn == "the wires" and not page.look.present):
                _live(page, model, link)
        bench.figures[drawn]()
    with margin:
        page.note(*NOTES[drawn])
        if drawn == "the wires":
            with st.container(key="aside_wire"):
                bench.offer_link()
        with st.container(key="aside_how"):
            page.note("bench.note_how")
        if own is not None:
            zipped = captures.zipped(own)
            st.download_button(
                page.label("says.download_this_run"),
                zipped,
                "run.zip",
                "application/zip",
                on_click="ignore",
            )


def _live(page: BenchPage, model: str, link: str) -> None:
    can = torch_here()
    backend = can.backend if can.backend == "nccl" else link
    label = page.label(
        "says.run_here_gpus" if backend == "nccl" else "says.run_here_cpu", cuda_devices=can.cuda_devices
    )
    request = RunRequest(options=("--backend", backend, "--model", model), wall_s=300, silence_s=90)
    if backend == "nccl":
        request = replace(request, memory_bytes=0)  # CUDA maps a GPU's memory into the process
    live_run.panel(request, can, label, page.prose.plain("bench.refused"))
