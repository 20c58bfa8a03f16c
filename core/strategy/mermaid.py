"""A block under a strategy as Mermaid text: a flow chart to paste into a README, a wiki or a slide.

Every rank is a column of its own, and a collective one node that all of them meet in. Under PP the ranks stand one
after another.
"""

from collections.abc import Iterator

from core.strategy.block import Block, Transfer, Weight
from core.units import binary_bytes

_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "|": "#124;"}
"""What Mermaid reads as markup inside a quoted label, and its own escape for it."""


def escape(label: str) -> str:
    """A label that shows itself: Mermaid's entities for its markup, and one line.

    >>> escape('a "b" <c>')
    'a #quot;b#quot; #lt;c#gt;'
    """
    return "".join(_ENTITIES.get(character, character) for character in " ".join(label.split()))


def mermaid(block: Block) -> str:
    """The block as a flow chart, from top to bottom."""
    rows = _in_a_row(block) if block.strategy == "PP" and block.ranks > 1 else _side_by_side(block)
    return "\n".join(["flowchart TD", *(f"  {line}" for line in rows)]) + "\n"


def _side_by_side(block: Block) -> Iterator[str]:
    """A node a rank where ranks have their own, one node where all have the same or meet."""
    before = ["x"]
    yield 'x(["tokens in"])'
    for row, part in enumerate(block.rows):
        if isinstance(part, Transfer):
            here = [f"c{row}"]
            yield f'c{row}{{{{"{escape(_said(part))}"}}}}'
        elif part.is_owned:
            here = [f"w{row}_{rank}" for rank in range(block.ranks)]
            yield from (
                f'{node}["{escape(f"rank {rank}: {part.name}, {held}")}"]'
                for rank, (node, held) in enumerate(zip(here, part.held, strict=True))
            )
        else:
            here = [f"w{row}"]
            yield f'w{row}["{escape(f"{part.name}, whole on every rank")}"]'
        yield from _arrows(before, here)
        before = here
    yield 'y(["tokens out"])'
    yield from _arrows(before, ["y"])


def _arrows(before: list[str], here: list[str]) -> Iterator[str]:
    """Rank by rank where both have a node for each, else from all to all."""
    if len(before) == len(here):
        yield from (f"{one} --> {other}" for one, other in zip(before, here, strict=True))
    else:
        yield from (f"{one} --> {other}" for one in before for other in here)


def _in_a_row(block: Block) -> Iterator[str]:
    """Stages: each all the weights of its own layers, a message each way between neighbours."""
    weights = [part for part in block.rows if isinstance(part, Weight)]
    names = ", ".join(dict.fromkeys(part.name for part in weights))
    for rank, held in enumerate(weights[0].held):
        yield f's{rank}["{escape(f"stage {rank}: {held}, each with {names}")}"]'
    onward, back = block.transfers
    for rank in range(block.ranks - 1):
        yield f's{rank} -->|"{escape(_said(onward))}"| s{rank + 1}'
        yield f's{rank + 1} -.->|"{escape(_said(back))}"| s{rank}'


def _said(transfer: Transfer) -> str:
    return f"{transfer.op}, {transfer.when}: {transfer.what}, {binary_bytes(transfer.payload_bytes)}"
