"""A run on this machine, from a page: its button, its lines as they come, cancel, and how it ended.

The run belongs to the page's own run of its script: whatever makes Streamlit leave it (cancel, another control,
another page, a browser that is gone) raises out of the loop below, and the run's context ends every process.
"""

import json

import streamlit as st

from core.errors import ShardlabError
from core.two_way_tp.predictions import MINI_GPT
from runtime import captures
from runtime.captures import Capture
from runtime.content import slug
from runtime.prose import explained, said, worded
from runtime.quantities import local
from runtime.run_request import RunRequest
from runtime.torch_here import TorchHere
from runtime.torchrun import Outcome, TorchRun, start
from ui import address
from ui.course.pages import entry
from ui.prose import escape

NAME = "this machine"
_CAPTURE, _GOING, _ENDED = "_live_capture", "_live_going", "_live_ended"
_LINES = "_live_lines"
_SHOWN_LINES = 9


def own_run() -> Capture | None:
    """Return the run that this visit made, if it made one."""
    return st.session_state.get(_CAPTURE)


def panel(request: RunRequest, can: TorchHere, label: str, refused: str) -> None:
    """The button, or why there is none; while a run goes, its lines and a way to stop it."""
    if st.session_state.pop(_GOING, False):
        st.session_state[_ENDED] = _cancelled()
    region = st.empty()
    if can.why_not:
        region.markdown(f":gray[{escape(worded(can.why_not))} {escape(refused)}]")
        return
    if region.button(label, key="live_start", icon=":material/play_arrow:", type="primary", on_click=address.press):
        region.button(said("two_way_tp", "says.cancel"), key="live_cancel", shortcut="X", on_click=address.press)
        _run(request)
    elif ended := st.session_state.get(_ENDED):
        (st.caption if ended == _cancelled() else st.error)(escape(ended))
        _printed_so_far()


def _cancelled() -> str:
    return said("two_way_tp", "says.run_cancelled")


def _run(request: RunRequest) -> None:
    st.session_state[_ENDED], st.session_state[_LINES] = "", []
    try:
        with start(request) as run:
            st.session_state[_GOING] = True
            _watch(run)
        outcome = run.outcome
    except ShardlabError as error:
        st.session_state[_ENDED] = f"{explained(error)}."
        outcome = None
    st.session_state[_GOING] = False
    if outcome is not None:
        _keep(outcome)
    st.rerun()


def _watch(run: TorchRun) -> None:
    """Lines as they are printed. The clock is drawn at every tick: a command is where Streamlit can leave."""
    clock, lines = st.empty(), st.empty()
    printed: list[str] = st.session_state[_LINES]
    for line in run.watch():
        clock.progress(
            _share(printed), said("two_way_tp", "says.two_processes_s", elapsed_s=local(f"{run.elapsed_s:.0f}"))
        )
        if line is not None:
            printed.append(line)
            lines.code("\n".join(text[:160] for text in printed[-_SHOWN_LINES:]), language="json")


def _printed_so_far() -> None:
    """The lines of a run that did not come to its end, whatever ended it."""
    if printed := st.session_state.get(_LINES):
        with st.expander(said("two_way_tp", "says.what_it_printed", lines=len(printed))):
            st.code("\n".join(line[:160] for line in printed), language="json", height=240)
            text = "\n".join(printed) + "\n"
            st.download_button(
                said("two_way_tp", "says.download_lines"), text, "lines.jsonl", "text/plain", on_click="ignore"
            )


def _share(lines: list[str]) -> float:
    """How far a run is: the prompts it has decoded, of ten."""
    done = [json.loads(line) for line in lines if '"event": "prompt"' in line]
    return done[-1]["number"] / done[-1]["of"] if done else 0.0


def _keep(outcome: Outcome) -> None:
    """Make a finished run the one that the page shows; say how any other ended, and keep what it printed."""
    st.session_state[_ENDED] = worded(outcome.message) if outcome.message else ""
    st.session_state[_LINES] = list(outcome.lines)
    if outcome.result is None or outcome.status != "done":
        return
    try:
        made = captures.of_texts(NAME, "\n".join(outcome.lines) + "\n", outcome.result)
    except ShardlabError as error:
        st.session_state[_ENDED] = f"{explained(error)}."
        return
    st.session_state[_CAPTURE] = made
    if made.log.model == MINI_GPT:
        address.put({f"{entry('two_way_tp').prefix}_run": slug(NAME)})
