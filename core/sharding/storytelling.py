"""How a trace becomes a storyboard."""

from collections.abc import Sequence

import numpy as np

from core.ledger import Collective
from core.sharding.numerics import Precision, ulps_apart
from core.sharding.storyboard import (
    BarRow,
    Block,
    Followed,
    Link,
    Ring,
    Step,
    StepKey,
    Storyboard,
    TensorRow,
    Term,
)
from core.sharding.tensors import Array, Partial, Shard, ShardedTensor, Trace

_ROUNDING = 0.01
"""Of the largest value: no format drawn here rounds by so much, and no mistake shown is so small."""


def storyboard(trace: Trace, dense: Array, scale: str = "", fmt: Precision | None = None) -> Storyboard:
    """The story of a trace, against the dense result of the same computation.

    `scale` ends the bar's text: what the same collective carries in a real model.
    """
    steps = _steps(trace)
    rows = [*_rows(trace, steps, scale, dense), _dense_row(dense, trace.result, fmt, steps)]
    outputs = tuple(_followed(trace, index) for index in np.ndindex(*dense.shape))
    return Storyboard(trace.num_ranks, tuple(rows), steps, outputs, _most_telling(trace, dense))


def signed(value: float, decimals: int) -> str:
    """A number with a real minus sign and no negative zero: `−1.32`.

    >>> signed(-1.316, 2), signed(-0.001, 2)
    ('−1.32', '0.00')
    """
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text.replace("-", "−")


def _steps(trace: Trace) -> tuple[Step, ...]:
    """Whole, shard, each kind of computation in turn, the collective or its absence, compare."""
    steps = [Step("whole", "whole"), Step("shard", "shard")]
    products = [tensor for tensor in trace.tensors if tensor.origin == "linear"]
    steps.append(Step("matmul", "local matmul" if len(products) == 1 else "first matmul"))
    if any(_is_hidden_pointwise(tensor, trace) for tensor in trace.tensors):
        steps.append(Step("pointwise", "activation"))
    if len(products) > 1:
        steps.append(Step("matmul_2", "second matmul"))
    name = trace.collectives[-1].op.replace("_", "-") if trace.collectives else "no collective"
    return (*steps, Step("collective", name), Step("compare", "compare"))


def _is_hidden_pointwise(tensor: ShardedTensor, trace: Trace) -> bool:
    return tensor.origin in ("pointwise", "claimed") and tensor is not trace.result


def _first_step(tensor: ShardedTensor, trace: Trace) -> StepKey:
    """The step at which a tensor comes to be."""
    products = [other.name for other in trace.tensors if other.origin == "linear"]
    if tensor.origin == "linear":
        return "matmul" if tensor.name == products[0] else "matmul_2"
    if _is_hidden_pointwise(tensor, trace):
        return "pointwise"
    return "shard" if tensor.origin == "given" else "collective"


def _rows(trace: Trace, steps: tuple[Step, ...], scale: str, dense: Array) -> list[TensorRow | BarRow]:
    """The log from top to bottom, with a bar for the collective that is not needed."""
    keys = [step.key for step in steps]
    collective_steps = _from(keys.index("collective"), keys)
    rows: list[TensorRow | BarRow] = []
    for entry in trace.entries:
        if isinstance(entry, Collective):
            rows.append(_bar(entry, len(rows), trace, scale, collective_steps))
            continue
        if entry.origin in ("all_reduce", "claimed") and not trace.collectives:
            rows.append(_absent_bar(trace, collective_steps))
        rows.append(_tensor_row(entry, trace, keys, dense))
    if not trace.collectives and trace.result.origin == "linear":
        rows.append(_absent_bar(trace, collective_steps))
    return rows


def _from(first: int, keys: Sequence[StepKey]) -> tuple[int, ...]:
    return tuple(range(first, len(keys)))


def _tensor_row(tensor: ShardedTensor, trace: Trace, keys: list[StepKey], dense: Array) -> TensorRow:
    """The blocks of one tensor. Given tensors are there from the first step, drawn whole."""
    given = tensor.origin == "given"
    first = 0 if given else keys.index(_first_step(tensor, trace))
    link: Link = "line" if given else "arrow"
    if tensor is trace.tensors[0] or tensor.origin in ("all_reduce", "all_gather"):
        link = "none"
    compared = dense if tensor is trace.result and not isinstance(tensor.placement, Shard) else None
    return TensorRow(
        key=tensor.name,
        name=tensor.name,
        shape=shape_text(tensor),
        whole_shape=_brackets(tensor.shape),
        whole_cells=(tensor.shape[0], tensor.shape[1]),
        blocks=tuple(_block(tensor, rank, compared) for rank in range(tensor.num_ranks)),
        owned=tensor.num_ranks > 1 and _differs_by_rank(tensor),
        link=link,
        steps=_from(first, keys),
    )


def _differs_by_rank(tensor: ShardedTensor) -> bool:
    """Cut or unsummed tensors do; so does a result that was taken for finished before it was reduced."""
    return any(not np.array_equal(part, tensor.parts[0]) for part in tensor.parts[1:])


def _block(tensor: ShardedTensor, rank: int, compared: Array | None) -> Block:
    """Rank r's part, its place in the whole, and which cells are plainly wrong."""
    part, decimals = tensor.parts[rank], _decimals(tensor)
    top = left = 0
    if isinstance(tensor.placement, Shard):
        dim = tensor.placement.dim % 2
        top, left = (rank * part.shape[0], 0) if dim == 0 else (0, rank * part.shape[1])
    gaps = np.zeros(part.shape) if compared is None else part.astype(np.float64) - compared.astype(np.float64)
    wrong = _plainly_wrong(gaps, compared)
    under = tuple(_gap_text(gaps[:, j], wrong[:, j]) for j in range(part.shape[1])) if wrong.any() else ()
    return Block(
        rank, _texts(part, decimals), top, left, tuple((int(i), int(j)) for i, j in np.argwhere(wrong)), under
    )


def _plainly_wrong(gaps: Array, compared: Array | None) -> Array:
    """Entries off by more than rounding could explain."""
    scale = 1.0 if compared is None else float(np.abs(compared).max()) or 1.0
    return np.asarray(np.abs(gaps) > scale * _ROUNDING)


def _gap_text(gaps: Array, wrong: Array) -> str:
    """The largest difference of a column, signed, where it is wrong."""
    if not wrong.any():
        return ""
    gap = float(gaps[np.argmax(np.abs(gaps))])
    return f"+{gap:.2f}" if gap > 0 else signed(gap, 2)


def _texts(part: Array, decimals: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(signed(float(value), decimals) for value in row) for row in part)


def _decimals(tensor: ShardedTensor) -> int:
    """None for whole numbers, one for what was given, two for what was computed."""
    if all(np.array_equal(part, np.rint(part)) for part in tensor.parts):
        return 0
    return 1 if tensor.origin == "given" else 2


def _brackets(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def shape_text(tensor: ShardedTensor) -> str:
    """The shape a rank sees and what it means: `[1, 2] a rank`, `[1, 4] {U₄}`, `[1, 4] on all`."""
    if tensor.num_ranks == 1:
        return _brackets(tensor.shape)
    local = _brackets(tensor.parts[0].shape)
    if isinstance(tensor.placement, Partial):
        return f"{local} {{U{str(tensor.num_ranks).translate(_SUBSCRIPTS)}}}"
    return f"{local} a rank" if isinstance(tensor.placement, Shard) else f"{local} on all"


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _bar(collective: Collective, index: int, trace: Trace, scale: str, steps: tuple[int, ...]) -> BarRow:
    """The bar of one ledger line."""
    entries = trace.result.parts[0].size
    here = f"{entries} × {collective.payload_bytes // entries} bytes here"
    text = f"Σ  one payload, {here}{', ' + scale if scale else ''}"
    name = collective.op.replace("_", "-")
    return BarRow(f"collective {index}", name, f"sum over {collective.ranks}", text, True, steps)


def _absent_bar(trace: Trace, steps: tuple[int, ...]) -> BarRow:
    """Where a collective would stand, were one needed; or where it is missing."""
    if trace.result.origin == "claimed":
        return BarRow("collective", "all-reduce", "left out", "nobody adds the terms up", False, steps)
    why = "nothing is sent: each rank keeps its slice of y"
    if trace.num_ranks == 1:
        why = "one rank has the whole sum: nothing is sent"
    return BarRow("collective", "no collective", "ledger empty", why, False, steps)


def _dense_row(dense: Array, result: ShardedTensor, fmt: Precision | None, steps: tuple[Step, ...]) -> TensorRow:
    """The dense result, seen in the first step and the last; under each column, how far off the ranks are."""
    under: tuple[str, ...] = ()
    apart = ulps_apart(_assembled(result), dense, fmt)
    if np.allclose(_assembled(result), dense, rtol=_ROUNDING, atol=_ROUNDING):
        under = tuple(_ulps_text(int(apart[:, j].max())) for j in range(dense.shape[1]))
    whole = np.array_equal(dense, np.rint(dense))
    block = Block(None, _texts(dense, 0 if whole else 2), under=under)
    cells = (dense.shape[0], dense.shape[1])
    return TensorRow(
        "dense",
        "dense y",
        "on one device",
        _brackets(dense.shape),
        cells,
        (block,),
        False,
        "none",
        (0, len(steps) - 1),
    )


def _assembled(result: ShardedTensor) -> Array:
    return result.full() if isinstance(result.placement, Shard) else result.parts[0]


def _ulps_text(ulps: int) -> str:
    return f"{ulps} ulp{'' if ulps == 1 else 's'}"


def _most_telling(trace: Trace, dense: Array) -> int:
    """The output followed at first: the one that rounding moved most, else the last."""
    result = trace.result
    if _differs_by_rank(result) and not isinstance(result.placement, Shard):
        return int(dense.size - 1)
    apart = ulps_apart(_assembled(result), dense).reshape(-1)
    return int(np.argmax(apart)) if apart.any() else int(dense.size - 1)


def _followed(trace: Trace, index: tuple[int, ...]) -> Followed:
    """One output, walked back to the layer that made it."""
    i, j = index
    result = trace.result
    sharded = isinstance(result.placement, Shard)
    width = result.parts[0].shape[1]
    rank, local = divmod(j, width) if sharded else (0, j)
    last_product = [tensor for tensor in trace.tensors if tensor.origin == "linear"][-1]
    weight = trace.tensor(last_product.sources[1])
    ranks = [rank] if sharded else range(result.num_ranks)
    rings = [Ring(result.name, r, i, local, 1, 1, target=True) for r in ranks]
    if last_product is not result:
        rings += [Ring(last_product.name, r, i, local, 1, 1, target=True) for r in ranks]
    rings += [Ring(weight.name, r, local, 0, 1, weight.parts[r].shape[1]) for r in ranks]
    rings.append(Ring("dense", 0, i, j, 1, 1, target=True))
    label = f"{result.name}[{j}]" if result.shape[0] == 1 else f"{result.name}[{i}, {j}]"
    value = signed(float(result.parts[rank][i, local]), _decimals(result))
    return Followed(label, tuple(rings), _terms(trace, last_product, i, local, rank), value)


def _terms(trace: Trace, product: ShardedTensor, i: int, j: int, rank: int) -> tuple[Term, ...]:
    """The ranks' addends where the product is a partial sum; else the products that one rank added up by itself."""
    if isinstance(product.placement, Partial) and product.num_ranks > 1:
        decimals = _decimals(product)
        return tuple(
            Term(r, f"rank {r}", signed(float(part[i, j]), decimals)) for r, part in enumerate(product.parts)
        )
    x, W = (trace.tensor(name).parts[rank] for name in product.sources)
    decimals = _decimals(product)
    return tuple(
        Term(rank, f"{product.sources[0]}[{d}]·W", signed(float(x[i, d]) * float(W[j, d]), decimals))
        for d in range(x.shape[1])
    )
