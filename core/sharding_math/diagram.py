"""A trace as a stepped diagram: rows of blocks, the step each appears at, and what lights up with an output.

Says which tensor stands where in time, who holds it, and which cells one output was made from. Says nothing of
pixels, colours or words: those are the drawer's.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.ledger import Op

Link: TypeAlias = Literal["none", "line", "arrow"]
Held: TypeAlias = Literal["whole", "slices", "terms", "replicas", "dense"]
"""How the ranks hold a tensor; `whole` on one rank, `dense` for the result that no rank holds."""

Absence: TypeAlias = Literal["not_needed", "one_rank", "left_out"]
"""Why no collective is sent: each rank keeps its slice, there is nobody to send to, or someone forgot."""


@dataclass(frozen=True)
class Block:
    """What one rank holds of a tensor: its cells as text, and where they sit in the whole, in cells.

    `wrong` are the cells that differ from the dense result; below each column stands by how much, in `under`, or
    how many `ulps` off the sum is. `rank` is None for the dense result.
    """

    rank: int | None
    cells: tuple[tuple[str, ...], ...]
    top: int = 0
    left: int = 0
    wrong: tuple[tuple[int, int], ...] = ()
    under: tuple[str, ...] = ()
    ulps: tuple[int, ...] = ()


@dataclass(frozen=True)
class TensorRow:
    """One tensor over the ranks. `owned`: the blocks differ by rank. `whole_cells` is its shape before the cut.

    A weight is `transposed`, (in, out): what is cut by columns then stands as columns.
    """

    key: str
    transposed: bool
    held: Held
    rank_cells: tuple[int, ...]
    whole_cells: tuple[int, ...]
    blocks: tuple[Block, ...]
    owned: bool
    link: Link
    steps: tuple[int, ...] = ()
    kind: Literal["tensor"] = "tensor"


@dataclass(frozen=True)
class BarRow:
    """One collective over all ranks, one ledger line; or, with `absent`, the place where none is sent.

    `results_differ`: what comes out differs by rank, as from a reduce-scatter. `fault`: it should not be so.
    """

    key: str
    op: Op
    ranks: int
    entries: int
    entry_bytes: int
    absent: Absence | None = None
    results_differ: bool = False
    fault: bool = False
    steps: tuple[int, ...] = ()
    kind: Literal["bar"] = "bar"

    @property
    def sent(self) -> bool:
        return self.absent is None


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
    """One addend of the followed output, and the rank that made it; of a product inside a rank, `entry` of what."""

    rank: int
    value: str
    entry: str = ""


@dataclass(frozen=True)
class Followed:
    """One output: the cells it was made from, its addends and their sum."""

    label: str
    rings: tuple[Ring, ...]
    terms: tuple[Term, ...]
    total: str


@dataclass(frozen=True)
class Step:
    """One frame. Its key is whole, shard, matmul, pointwise, collective or compare; a second one ends in _2.

    `code` says what is done, as far as the key leaves it open: which collective, which product.
    """

    key: str
    code: str


@dataclass(frozen=True)
class Diagram:
    """A whole sharded computation, ready to be worded and drawn. `result` is the name of its last tensor."""

    num_ranks: int
    rows: tuple[TensorRow | BarRow, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Followed, ...]
    follow: int
    result: str

    def step_index(self, key: str) -> int:
        """Where a step stands. Raises ValueError for one that is not there."""
        return [step.key for step in self.steps].index(key)
