"""A lab solved in the page: an editor, and its tests run in the reader's own browser.

Where the app itself runs there, and on a server with the files for it (`ui/lab_files.py`). What is written stays on
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
from runtime.prose import said
from ui import address, lab_files

HERE = Path(__file__).parent
RUN_S = 20
"""So long may a run of the tests take: the reference takes some seconds on a slow machine."""
MOST_LETTERS = 200_000
"""Of what a browser may tell of a run: some ten times what the labs' pictures need."""
_TOLD = "_solved_"

_solver = st.components.v2.component(
    "shardlab_solve",
    html='<div class="solve"></div>',
    css=(HERE / "solve.css").read_text(encoding="utf-8"),
    js="\n".join((HERE / name).read_text(encoding="utf-8") for name in ("judge.js", "solve.js")),
)


def is_offered() -> bool:
    """Return whether a visitor's browser can judge a lab's code: it has all of the app, or the files are here."""
    return ALONE or bool(lab_files.address())


def say_elsewhere() -> None:
    """Say where a lab is solved in the page, and how an operator has it here."""
    st.markdown(said("solve", "elsewhere", setting=lab_files.SETTING))


def panel(lab: str, sizes: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """Draw the editor and what its tests say; return what the last run computed, a row a task."""
    key = f"solve_{lab}"
    starter = ROOT / "labs" / lab_of(lab).folder / "starter.py"
    blocks = content.load("solve")
    _solver(
        key=key,
        data={
            "lab": lab,
            "files": "" if ALONE else lab_files.address(),
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
    except (ValueError, RecursionError):
        return []
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("task"), str)]
