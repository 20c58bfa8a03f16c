"""Lab 02's bench as a scene: its figure, its notes, a run on this machine, and the run to take away."""

from dataclasses import replace

import streamlit as st

from runtime import captures
from runtime.captures import Capture
from runtime.prose import said
from runtime.run_request import RunRequest
from ui.scenes import Page
from ui.two_way_tp import live_run
from ui.two_way_tp.bench import Bench

NOTES = {
    "two arms": ("bench.note_figure", "bench.note_wires"),
    "the wires": ("bench.note_fit", "bench.note_wires"),
    "the width": ("bench.note_width", "bench.note_memory"),
    "two replicas": ("bench.note_full", "bench.note_prompts"),
    "two hosts": ("bench.note_hosts",),
}


def draw(page: Page, measured: Bench, drawn: str, own: Capture | None, model: str, link: str) -> None:
    """The chosen figure, with the button that runs it here where the figure is of runs."""
    figure, margin = page.split()
    with figure:
        if drawn == "two arms" or (drawn == "the wires" and not page.look.present):
            _live(page, model, link)
        measured.figures[drawn]()
    with margin:
        page.note(*NOTES[drawn])
        if drawn == "the wires":
            with st.container(key="aside_wire"):
                measured.offer_link()
        with st.container(key="aside_how"):
            page.note("bench.note_how")
        if own is not None:
            zipped = captures.zipped(own)
            st.download_button(
                said("two_way_tp", "says.download_this_run"),
                zipped,
                "run.zip",
                "application/zip",
                on_click="ignore",
            )


def _live(page: Page, model: str, link: str) -> None:
    can = live_run.here()
    backend = can.backend if can.backend == "nccl" else link
    label = (
        said("two_way_tp", "says.run_here_gpus", cuda_devices=can.cuda_devices)
        if backend == "nccl"
        else said("two_way_tp", "says.run_here_cpu")
    )
    request = RunRequest(options=("--backend", backend, "--model", model), wall_s=300, silence_s=90)
    if backend == "nccl":
        request = replace(request, memory_bytes=0)  # CUDA maps a GPU's memory into the process
    live_run.panel(request, can, label, page.prose.plain("bench.refused"))
