"""Where one output comes from: the cells it was made of, and its sum written out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.sharding_math.diagram import Followed, Ring, Term
from core.sharding_math.tensors import Copied, Partial, Shard, ShardedTensor, Trace


def followed(trace: Trace, i: int, j: int) -> Followed:
    """Entry (i, j) of the result, walked back to the product or the look-up that made it."""
    line = _lineage(trace)
    rings = [ring for tensor in line for ring in _cells(tensor, i, j)]
    rings += _source_rings(trace, line[-1], i, j)
    rings.append(Ring("dense", 0, i, j, 1, 1, target=True))
    result = trace.result
    name = result.name.split()[0]
    rank, row, column = _holders(result, i, j)[0]
    label = f"{name}[{j}]" if result.shape[0] == 1 else f"{name}[{i}, {j}]"
    total = signed(float(result.parts[rank][row, column]), decimals(result))
    return Followed(label, tuple(rings), _terms(trace, line, i, j), total)


def is_weight(tensor: ShardedTensor) -> bool:
    """A weight is drawn as it multiplies from the right, y = x · Wᵀ; a table is not."""
    return tensor.origin == "given" and tensor.name.startswith("W")


def as_drawn(tensor: ShardedTensor) -> ShardedTensor:
    """A tensor as the figure has it: a weight transposed, so that outputs are columns."""
    if not is_weight(tensor):
        return tensor
    placement = tensor.placement
    if isinstance(placement, Shard | Copied):
        placement = replace(placement, dim=1 - placement.dim)
    return replace(tensor, parts=tuple(part.T for part in tensor.parts), placement=placement)


def signed(value: float, decimals: int) -> str:
    """A number with a real minus sign and no negative zero: `−1.32`.

    >>> signed(-1.316, 2), signed(-0.001, 2)
    ('−1.32', '0.00')
    """
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text.replace("-", "−")


def decimals(tensor: ShardedTensor) -> int:
    """None for whole numbers, one for what was given, two for what was computed."""
    if all(np.array_equal(part, np.rint(part)) for part in tensor.parts):
        return 0
    return 1 if tensor.origin == "given" else 2


def _lineage(trace: Trace) -> list[ShardedTensor]:
    """The result, and what it was before each sum, gather or function of single entries: up to a product."""
    line = [trace.result]
    while line[-1].origin not in ("linear", "given"):
        before = trace.tensor(line[-1].sources[0])
        if before.shape != line[-1].shape:
            break
        line.append(before)
    return line


def _holders(tensor: ShardedTensor, i: int, j: int) -> list[tuple[int, int, int]]:
    """Who holds entry (i, j) of the whole, and where in its part: every rank, unless the tensor is cut."""
    if not isinstance(tensor.placement, Shard):
        return [(rank, i, j) for rank in range(tensor.num_ranks)]
    rows, columns = tensor.parts[0].shape
    return [(i // rows, i % rows, j)] if tensor.placement.dim == 0 else [(j // columns, i, j % columns)]


def _cells(tensor: ShardedTensor, i: int, j: int) -> list[Ring]:
    return [Ring(tensor.name, rank, row, column, 1, 1, target=True) for rank, row, column in _holders(tensor, i, j)]


def _source_rings(trace: Trace, made: ShardedTensor, i: int, j: int) -> list[Ring]:
    """The column of Wᵀ that a product met on each rank, or the row of a table that was looked up."""
    if made.origin == "linear":
        weight = trace.tensor(made.sources[1])
        return [
            Ring(weight.name, rank, 0, column, weight.parts[rank].shape[1], 1)
            for rank, _, column in _holders(made, i, j)
        ]
    table, ids = (trace.tensor(name) for name in made.sources[:2]) if len(made.sources) > 1 else (None, None)
    if table is None or ids is None:
        return []
    rank, row = divmod(int(ids.parts[0][i, 0]), table.parts[0].shape[0])
    return [Ring(table.name, rank, row, 0, 1, table.shape[1])]


def _terms(trace: Trace, line: Sequence[ShardedTensor], i: int, j: int) -> tuple[Term, ...]:
    """The ranks' addends where a sum was taken over ranks; else the products that one rank added up by itself."""
    unsummed = next((tensor for tensor in line if isinstance(tensor.placement, Partial)), None)
    if unsummed is not None and unsummed.num_ranks > 1:
        digits = decimals(unsummed)
        return tuple(Term(rank, signed(float(part[i, j]), digits)) for rank, part in enumerate(unsummed.parts))
    made = line[-1]
    if made.origin != "linear":
        return ()
    rank, row, column = _holders(made, i, j)[0]
    x, W = (trace.tensor(name).parts[rank] for name in made.sources)
    products = x[row].astype(np.float64) * W[column].astype(np.float64)
    digits = decimals(made)
    return tuple(
        Term(rank, signed(float(product), digits), f"{made.sources[0]}[{d}]") for d, product in enumerate(products)
    )
