"""A lab solved in the page: an editor, and its tests run in the reader's own browser.

Only where the app itself runs there: the worker that judges comes from the same folder. What is written stays on
the device. The page is told what the code computed, as its pictures need it.
"""

import json
from pathlib import Path
from typing import Any

import streamlit as st

from core.course.grading.tasks import lab_of
from runtime import content
from runtime.files import ROOT
from runtime.one_process import ALONE
from ui import address

HERE = Path(__file__).parent
RUN_S = 20
"""So long may a run of the tests take: the reference takes some seconds on a slow machine."""
MOST_LETTERS = 2_000_000
_TOLD = "_solved_"

_solver = st.components.v2.component(
    "shardlab_solve",
    html='<div class="solve"></div>',
    css=(HERE / "solve.css").read_text(encoding="utf-8"),
    js="\n".join((HERE / name).read_text(encoding="utf-8") for name in ("judge.js", "solve.js")),
)


def is_offered() -> bool:
    """Whether this page can judge a learner's code without a server: it runs in the browser itself."""
    return ALONE


def offer(lab: str) -> None:
    """Draw the editor where it is offered."""
    if is_offered():
        panel(lab)


def panel(lab: str, sizes: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Draw the editor and what its tests say; return what the last run computed, a row a task."""
    key = f"solve_{lab}"
    starter = ROOT / "labs" / lab_of(lab).folder / "starter.py"
    blocks = content.load("solve")
    _solver(
        key=key,
        data={
            "lab": lab,
            "sizes": " ".join(map(str, sizes)),
            "starter": starter.read_text(encoding="utf-8"),
            "run_s": RUN_S,
            "language": content.language(),
            "words": {name: blocks[name].replace("{{run_s}}", str(RUN_S)) for name in blocks},
        },
        on_tried_change=lambda: _keep(key),
    )
    rows: list[dict[str, Any]] = st.session_state.get(f"{_TOLD}{key}", [])
    return rows


def _keep(key: str) -> None:
    """Take what the browser tells of a run, which may be anything."""
    address.press()
    told = st.session_state.get(key, {}).get("tried")
    st.session_state[f"{_TOLD}{key}"] = rows_in(told)


def rows_in(told: object) -> list[dict[str, Any]]:
    """The rows in what a browser told: objects that name their task. Of anything else nothing."""
    if not isinstance(told, str) or len(told) > MOST_LETTERS:
        return []
    try:
        rows = json.loads(told)
    except ValueError:
        return []
    return [row for row in rows if isinstance(row, dict) and "task" in row] if isinstance(rows, list) else []
