"""A trace as a picture story: rows of blocks, the step each appears at, and what lights up with an output.

Says which tensor stands where in time, who holds it, and which cells one output was made from. Says nothing of
pixels or colours, and holds no prose: those are the drawer's.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Link: TypeAlias = Literal["none", "line", "arrow"]


@dataclass(frozen=True)
class Block:
    """What one rank holds of a tensor: its cells as text, and where they sit in the whole, in cells.

    `wrong` are the cells that differ from the dense result; `under` stands below each column. `rank` is None for
    the dense result, which no rank holds.
    """

    rank: int | None
    cells: tuple[tuple[str, ...], ...]
    top: int = 0
    left: int = 0
    wrong: tuple[tuple[int, int], ...] = ()
    under: tuple[str, ...] = ()


@dataclass(frozen=True)
class TensorRow:
    """One tensor over the ranks. `owned`: the blocks differ by rank. `whole_cells` is its size before the cut."""

    key: str
    name: str
    shape: str
    whole_shape: str
    whole_cells: tuple[int, int]
    blocks: tuple[Block, ...]
    owned: bool
    link: Link
    steps: tuple[int, ...]
    kind: Literal["tensor"] = "tensor"


@dataclass(frozen=True)
class BarRow:
    """One collective over all ranks, one ledger line. Where none is needed, `sent` is False; the text says why.

    `own_results`: what comes out differs by rank, as from a reduce-scatter. `fault`: it should not be so.
    """

    key: str
    name: str
    shape: str
    text: str
    sent: bool
    steps: tuple[int, ...]
    own_results: bool = False
    fault: bool = False
    kind: Literal["bar"] = "bar"


@dataclass(frozen=True)
class Ring:
    """A rectangle of cells in a block, lit with an output. `target`: pointing at it picks that output."""

    row: str
    block: int
    top: int
    left: int
    height: int
    width: int
    target: bool = False


@dataclass(frozen=True)
class Term:
    """One addend of the followed output, and the rank that made it."""

    rank: int
    label: str
    value: str


@dataclass(frozen=True)
class Followed:
    """One output: the cells it was made from, its addends and their sum."""

    label: str
    rings: tuple[Ring, ...]
    terms: tuple[Term, ...]
    total: str


@dataclass(frozen=True)
class Step:
    """One frame. Its key is whole, shard, matmul, pointwise, collective or compare; a second one ends in _2."""

    key: str
    name: str


@dataclass(frozen=True)
class Storyboard:
    """The whole story of one sharded computation, ready to be drawn."""

    num_ranks: int
    rows: tuple[TensorRow | BarRow, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Followed, ...]
    follow: int

    def step_index(self, key: str) -> int:
        """Where a step stands in the story. Raises ValueError for one that it does not have."""
        return [step.key for step in self.steps].index(key)
