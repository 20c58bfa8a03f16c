"""Boards with their words: what the block stepper is given, from core's diagrams and a page's prose."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import Any

from core.sharding_math.diagram import BarRow, Diagram, TensorRow
from core.sharding_math.examples import Run
from core.sharding_math.numerics import Precision, largest_error
from core.sharding_math.trace_diagram import trace_diagram
from runtime import prose as plain_prose
from runtime import rows
from runtime.kept import kept
from runtime.quantities import binary_bytes, local
from runtime.rows import Row
from ui.players.block_stepper import Note, View
from ui.prose import Prose, plain_text

_words = partial(plain_prose.said, "sharding_math")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def view(run: Run, prose: Prose, kind: str, payload_bytes: int, fmt: Precision | None = None) -> View:
    """One run with a caption a step, the notes of its kind and its reading.

    Captions are the blocks `step.<kind>.<key>`, notes `note.<kind>.<name>`; a single rank has its own kind, `one`.
    `payload_bytes` is what the same collective carries at scale. The field `error` is the run's own, `where` its
    largest entry: two widths round differently.
    """
    diagram = _diagram(run, fmt)
    error = largest_error(run.trace.result.full(), run.dense, fmt)
    name, where = run.trace.result.name.split()[0], error.index if run.dense.shape[0] > 1 else error.index[1:]
    own = {
        "drawn_collectives": len(run.trace.collectives),
        "tokens": len(run.dense),
        "error": error,
        "where": f"{name}[{', '.join(map(str, where))}]",
    }
    prose = Prose(prose.blocks, {**prose.fields, **own})
    kinds = ("one", kind) if diagram.num_ranks == 1 else (kind,)
    captions = [_first(prose, [f"step.{one}.{step.key}" for one in kinds]) for step in diagram.steps]
    reading = _first(prose, [f"see.reading_{one}" for one in kinds])
    at_scale = _words("board.at_scale", payload=binary_bytes(payload_bytes))
    return View(worded(diagram, at_scale), tuple(captions), _notes(diagram, prose, kinds[0]), reading)


@lru_cache(maxsize=64)
def _diagram(run: Run, fmt: Precision | None = None, unwanted: tuple[int, ...] = ()) -> Diagram:
    return trace_diagram(run.trace, run.dense, fmt, run.verbs, unwanted)


def still(run: Run, caption: str, follow: int, unwanted: Sequence[int] = ()) -> View:
    """One run as a picture without controls, one output followed; the `unwanted` collectives in red."""
    diagram = replace(_diagram(run, unwanted=tuple(unwanted)), follow=follow)
    return View(worded(diagram), (caption,) * len(diagram.steps), (), "")


def worded(diagram: Diagram, at_scale: str = "") -> dict[str, Any]:
    """A diagram with its names, shapes and texts, as the browser gets it."""
    known = _worded(diagram)
    drawn = zip(diagram.rows, known["rows"], strict=True)
    return {**known, "rows": [_bar(row, at_scale) if isinstance(row, BarRow) else board for row, board in drawn]}


@kept
def _worded(diagram: Diagram) -> dict[str, Any]:
    """The same without its bars, which say a payload of the scenario's."""
    rows = [None if isinstance(row, BarRow) else _tensor(row, diagram.result) for row in diagram.rows]
    steps = [{"key": step.key, "name": _words(f"board.step_{step.code}")} for step in diagram.steps]
    outputs = [asdict(output) for output in diagram.outputs]
    for output in outputs:
        output |= {"label": _entry(output["label"]), "total": local(output["total"])}
        for term in output["terms"]:
            term["entry"] = _entry(term["entry"])
            term["label"] = _words(f"board.{'product' if term['entry'] else 'term'}", **term)
            term["value"] = local(term["value"])
    return {**asdict(diagram), "rows": rows, "steps": steps, "outputs": outputs}


def _entry(text: str) -> str:
    """An entry of a tensor, `y[0]`, with the tensor's name in words."""
    name, bracket, place = text.partition("[")
    return plain_prose.named("sharding_math", name) + bracket + place


def _tensor(row: TensorRow, result: str) -> dict[str, Any]:
    blocks = [asdict(block) for block in row.blocks]
    for block in blocks:
        block["cells"] = [[local(value) for value in cells] for cells in block["cells"]]
        block["under"] = [local(gap) for gap in block["under"]] or [
            _words("board.ulps", off=off) for off in block["ulps"]
        ]
    subscript = str(len(blocks)).translate(_SUBSCRIPTS)
    name = f"{row.key}.T" if row.transposed else plain_prose.named("sharding_math", row.key)
    if row.held == "dense":
        name = _words("board.dense", result=result.removesuffix(" on all"))
    return {
        **asdict(row),
        "blocks": blocks,
        "name": name,
        "shape": _words(f"board.held_{row.held}", shape=_shape(row.rank_cells), subscript=subscript),
        "whole_shape": _shape(row.whole_cells),
    }


def _bar(row: BarRow, at_scale: str) -> dict[str, Any]:
    code = row.absent or row.op
    is_expected = row.sent or row.absent == "left_out"
    return {
        **asdict(row),
        "sent": row.sent,
        "name": _words(f"board.step_{row.op if is_expected else 'no_collective'}"),
        "shape": _words(f"board.over_{code}", row),
        "text": _words(f"board.carries_{code}", row) + (at_scale if row.sent else ""),
    }


def table(view: View) -> list[Row]:
    """A board from top to bottom in words: every block, and every collective between them.

    From which step on, the shape and the numbers.
    """
    lines = []
    for row in view.board["rows"]:
        step = view.board["steps"][row["steps"][0]]["name"]
        if row["kind"] == "bar":
            lines.append((step, row["name"], "", row["shape"], row["text"]))
            continue
        for block in row["blocks"]:
            values = "; ".join(" ".join(cells) for cells in block["cells"])
            rank = "" if block["rank"] is None else str(block["rank"])
            lines.append((step, row["name"], rank, row["shape"], values))
    return rows.table("step tensor rank shape values", lines)


def _shape(cells: Sequence[int]) -> str:
    return f"[{', '.join(map(str, cells))}]"


def _notes(diagram: Diagram, prose: Prose, kind: str) -> tuple[Note, ...]:
    """The ledger before and after the collective, the followed sum, and the comparison, each at its steps."""
    sent, computed, last = diagram.step_index("collective"), 2, len(diagram.steps) - 1
    why = f"note.{kind}.why"
    return (
        *([note(prose.text(why), range(last + 1))] if prose.has(why) else []),
        note(prose.text("note.ledger_empty"), range(sent)),
        note(prose.text(f"note.{kind}.ledger"), range(sent, last + 1)),
        Note("", steps=tuple(range(computed, last + 1)), kind="followed"),
        note(prose.text(f"note.{kind}.dense"), [last]),
    )


def note(markdown: str, steps: Sequence[int]) -> Note:
    """A note from a block of prose: `#####` opens its title, `####` its headline, the rest is its text."""
    parts = {"#####": "", "####": "", "": ""}
    for line in markdown.splitlines():
        mark = next((mark for mark in ("#####", "####") if line.startswith(f"{mark} ")), "")
        parts[mark] = " ".join((parts[mark], line[len(mark) :])).strip()
    title, headline, text = (plain_text(parts[mark]) for mark in ("#####", "####", ""))
    return Note(title, headline, text, tuple(steps))


def _first(prose: Prose, names: Sequence[str]) -> str:
    """The first of these blocks that the page has. The last one must exist."""
    return prose.plain(next((name for name in names if prose.has(name)), names[-1]))
