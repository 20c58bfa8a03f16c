"""A block under a strategy as Mermaid text: a flow chart for a README, a wiki or a slide, in the visit's language.

Every rank is a column of its own, and a collective one node that all of them meet in. Under PP the ranks stand one
after another.
"""

from collections.abc import Iterator

from core.strategy.block import Block, Held, Transfer, Weight
from runtime.content import slug
from runtime.kept import kept
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import binary_bytes

_STEM = "strategy"

_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "|": "#124;"}
"""What Mermaid reads as markup inside a quoted label, and its own escape for it."""


def escape(label: str) -> str:
    """A label that shows itself: Mermaid's entities for its markup, and one line.

    >>> escape('a "b" <c>')
    'a #quot;b#quot; #lt;c#gt;'
    """
    return "".join(_ENTITIES.get(character, character) for character in " ".join(label.split()))


@kept
def mermaid(block: Block) -> str:
    """The block as a flow chart, from top to bottom."""
    rows = _in_a_row(block) if block.strategy == "PP" and block.ranks > 1 else _side_by_side(block)
    return "\n".join(["flowchart TD", *(f"  {line}" for line in rows)]) + "\n"


def _side_by_side(block: Block) -> Iterator[str]:
    """A node a rank where ranks have their own, one node where all have the same or meet."""
    before = ["x"]
    yield f'x(["{escape(phrase(_STEM, "block.tokens_in"))}"])'
    for row, part in enumerate(block.rows):
        if isinstance(part, Transfer):
            here = [f"c{row}"]
            yield f'c{row}{{{{"{escape(_said(part))}"}}}}'
        elif part.is_owned:
            here = [f"w{row}_{rank}" for rank in range(block.ranks)]
            yield from (
                f'{node}["{escape(_holds(rank, part.name, held))}"]'
                for rank, (node, held) in enumerate(zip(here, part.held, strict=True))
            )
        else:
            here = [f"w{row}"]
            whole = phrase(_STEM, "block.whole_everywhere", name=named(_STEM, part.name))
            yield f'w{row}["{escape(whole)}"]'
        yield from _arrows(before, here)
        before = here
    yield f'y(["{escape(phrase(_STEM, "block.tokens_out"))}"])'
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
    names = ", ".join(dict.fromkeys(named(_STEM, part.name) for part in weights))
    for rank, held in enumerate(weights[0].held):
        stage = phrase(_STEM, "says.stage", number=rank)
        holds = phrase(_STEM, "block.stage_holds", stage=stage, held=held_in_words(held), names=names)
        yield f's{rank}["{escape(holds)}"]'
    onward, back = block.transfers
    for rank in range(block.ranks - 1):
        yield f's{rank} -->|"{escape(_said(onward))}"| s{rank + 1}'
        yield f's{rank + 1} -.->|"{escape(_said(back))}"| s{rank}'


def held_in_words(held: Held) -> str:
    """What a rank holds of a weight: `heads 0–15`, `1/4`, `whole`."""
    units, first, last = held
    if not units:
        return f"{first}/{last}" if last else phrase(_STEM, "block.whole")
    span = f"{first}" if first == last else f"{first}–{last}"
    return phrase(_STEM, f"block.{slug(units)}", count=last - first + 1, span=span)


def _holds(rank: int, name: str, held: Held) -> str:
    return f"{phrase(_STEM, 'says.rank', number=rank)}: {named(_STEM, name)}, {held_in_words(held)}"


def _said(transfer: Transfer) -> str:
    op, when = named(_STEM, transfer.op), phrase(_STEM, f"block.in_the_{transfer.when}")
    return f"{op}, {when}: {named(_STEM, transfer.what)}, {binary_bytes(transfer.payload_bytes)}"
