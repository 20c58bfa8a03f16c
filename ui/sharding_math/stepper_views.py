"""Boards with their words: what the block stepper is given, from core's storyboards and a page's prose."""

from collections.abc import Sequence
from dataclasses import replace

from core.sharding_math.examples import Run
from core.sharding_math.numerics import Precision, largest_error
from core.sharding_math.storyboard import Storyboard
from core.sharding_math.storytelling import storyboard
from ui.players.block_stepper import Note, View
from ui.prose import Prose, plain_text


def view(run: Run, prose: Prose, kind: str, scale: str, fmt: Precision | None = None) -> View:
    """One run with a caption a step, the notes of its kind and its reading.

    Captions are the blocks `step.<kind>.<key>`, notes `note.<kind>.<name>`; a single rank has its own kind, `one`.
    The fields `ulps`, `ulps_where` and `drawn_collectives` are the run's own: two widths round differently.
    """
    board = storyboard(run.trace, run.dense, scale, fmt, run.verbs)
    prose = Prose(prose.blocks, {**prose.fields, **_run_fields(run, fmt)})
    words = "one" if board.num_ranks == 1 else kind
    captions = tuple(_words(prose, (f"step.{words}.{step.key}", f"step.{kind}.{step.key}")) for step in board.steps)
    reading = prose.plain(_first(prose, (f"see.reading_{words}", f"see.reading_{kind}")))
    return View(board, captions, _notes(board, prose, words), reading)


def _run_fields(run: Run, fmt: Precision | None) -> dict[str, str]:
    """What this run sent, and how far its result is from the dense one."""
    error = largest_error(run.trace.result.full(), run.dense, fmt)
    return {
        "drawn_collectives": str(len(run.trace.collectives)),
        "ulps": f"{error.ulps} ulp{'' if error.ulps == 1 else 's'}",
        "ulps_where": _entry(run, error.index),
    }


def _entry(run: Run, index: tuple[int, ...]) -> str:
    """An entry of the result by name: `y[3]`, or `y[2, 3]` where there is more than one token."""
    name = run.trace.result.name.split()[0]
    return f"{name}[{index[-1]}]" if run.dense.shape[0] == 1 else f"{name}[{', '.join(map(str, index))}]"


def still(run: Run, caption: str, follow: int, due: int | None = None) -> View:
    """One run as a picture without controls, one output followed; collectives other than the `due` ones in red."""
    board = replace(storyboard(run.trace, run.dense, due=due), follow=follow)
    return View(board, (caption,) * len(board.steps), (), "")


def _notes(board: Storyboard, prose: Prose, words: str) -> tuple[Note, ...]:
    """The ledger before and after the collective, the followed sum, and the comparison, each at its steps."""
    sent, computed, last = board.step_index("collective"), 2, len(board.steps) - 1
    return (
        note(prose.text("note.ledger_empty"), range(sent)),
        note(prose.text(f"note.{words}.ledger"), range(sent, last + 1)),
        Note("", steps=tuple(range(computed, last + 1)), kind="followed"),
        note(prose.text(f"note.{words}.dense"), [last]),
    )


def note(markdown: str, steps: Sequence[int]) -> Note:
    """A note from a block of prose: `#####` opens its title, `####` its headline, the rest is its text."""
    parts = {"#####": "", "####": "", "": ""}
    for line in markdown.splitlines():
        mark = next((mark for mark in ("#####", "####") if line.startswith(f"{mark} ")), "")
        parts[mark] = " ".join((parts[mark], line[len(mark) :])).strip()
    title, headline, text = (plain_text(parts[mark]) for mark in ("#####", "####", ""))
    return Note(title, headline, text, tuple(steps))


def _words(prose: Prose, names: Sequence[str]) -> str:
    return prose.plain(_first(prose, names))


def _first(prose: Prose, names: Sequence[str]) -> str:
    """The first of these blocks that the page has. The last one must exist."""
    return next((name for name in names if prose.has(name)), names[-1])
