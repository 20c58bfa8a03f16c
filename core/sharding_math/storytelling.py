"""How a trace becomes a storyboard."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from core.ledger import Collective
from core.sharding_math.following import decimals, followed, signed
from core.sharding_math.numerics import Precision, ulps_apart
from core.sharding_math.storyboard import BarRow, Block, Link, Step, Storyboard, TensorRow
from core.sharding_math.tensors import Array, Copied, Partial, Replicate, Shard, ShardedTensor, Trace

_ROUNDING = 0.001
"""Of the largest value: float32 rounds by far less, and no mistake shown is so small."""


def storyboard(
    trace: Trace,
    dense: Array,
    scale: str = "",
    fmt: Precision | None = None,
    verbs: Mapping[str, str] = MappingProxyType({}),
    due: int | None = None,
) -> Storyboard:
    """The story of a trace, against the dense result of the same computation.

    `scale` ends the bar's text: what the same collective carries in a real model. `verbs` name the steps at which
    tensors come to be, where the usual names will not do. Collectives beyond the `due` number are marked as faults.
    """
    steps, rows = _told(trace, dense, scale, verbs)
    rows = rows if due is None else _with_faults(rows, due)
    board = (*rows, _dense_row(dense, trace.result, fmt, len(steps) - 1))
    outputs = tuple(followed(trace, *index) for index in np.ndindex(*dense.shape))
    return Storyboard(trace.num_ranks, board, tuple(steps), outputs, _most_telling(trace, dense))


def _told(
    trace: Trace, dense: Array, scale: str, verbs: Mapping[str, str]
) -> tuple[list[Step], list[TensorRow | BarRow]]:
    """The log from top to bottom: each entry a row, and a step whenever something new is done."""
    steps = [Step("whole", "whole"), Step("shard", "shard")]
    drawn: list[tuple[int, TensorRow | BarRow]] = []
    several = sum(tensor.origin == "linear" for tensor in trace.tensors) > 1
    for entry in trace.entries:
        if isinstance(entry, Collective):
            steps.append(_step("collective", entry.op.replace("_", "-"), steps))
            drawn.append((len(steps) - 1, _bar(entry, len(drawn), trace, scale)))
            continue
        if _lacks_collective(entry, trace):
            steps.append(_step("collective", _absent_name(trace), steps))
            drawn.append((len(steps) - 1, _absent_bar(trace, len(drawn))))
        elif entry.origin in _COMPUTED:
            steps.append(_computed_step(entry, several, verbs, steps))
        first = 0 if entry.origin == "given" else len(steps) - 1
        drawn.append((first, _tensor_row(entry, trace, dense)))
    if trace.result.origin == "linear":
        steps.append(_step("collective", "no collective", steps))
        drawn.append((len(steps) - 1, _absent_bar(trace, len(drawn))))
    steps.append(Step("compare", "compare"))
    return steps, [replace(row, steps=tuple(range(first, len(steps)))) for first, row in drawn]


def _with_faults(rows: Sequence[TensorRow | BarRow], due: int) -> list[TensorRow | BarRow]:
    """The rows with a mark on every collective that should not have been sent, and on one that should."""
    marked: list[TensorRow | BarRow] = []
    sent = 0
    for row in rows:
        if isinstance(row, BarRow):
            sent += row.sent
            row = replace(row, fault=sent > due if row.sent else due > 0)
        marked.append(row)
    return marked


_COMPUTED = ("linear", "pointwise", "claimed")
_COLLECTED = ("all_reduce", "all_gather", "reduce_scatter")


def _lacks_collective(tensor: ShardedTensor, trace: Trace) -> bool:
    """A result that a collective would have made: none is logged on one rank, or someone left it out."""
    left_out = tensor is trace.result and tensor.origin == "claimed"
    return not trace.collectives and (tensor.origin in _COLLECTED or left_out)


def _computed_step(tensor: ShardedTensor, several: bool, verbs: Mapping[str, str], steps: Sequence[Step]) -> Step:
    """The step of a product or of a function of what a rank holds."""
    if tensor.origin != "linear":
        return _step("pointwise", verbs.get(tensor.name, "activation"), steps)
    order = "second" if any(step.key == "matmul" for step in steps) else "first"
    return _step("matmul", verbs.get(tensor.name, f"{order} matmul" if several else "local matmul"), steps)


def _step(key: str, name: str, steps: Sequence[Step]) -> Step:
    """A step whose key no other has."""
    same = sum(step.key.removesuffix("_2") == key for step in steps)
    return Step(f"{key}_{same + 1}" if same else key, name)


def _tensor_row(tensor: ShardedTensor, trace: Trace, dense: Array) -> TensorRow:
    """The blocks of one tensor."""
    link: Link = "line" if tensor.origin == "given" else "arrow"
    if tensor is trace.tensors[0] or tensor.origin in _COLLECTED:
        link = "none"
    compared = dense if tensor is trace.result else None
    return TensorRow(
        key=tensor.name,
        name=tensor.name,
        shape=shape_text(tensor),
        whole_shape=_brackets(tensor.shape),
        whole_cells=(tensor.shape[0], tensor.shape[1]),
        blocks=tuple(_block(tensor, rank, compared) for rank in range(tensor.num_ranks)),
        owned=tensor.num_ranks > 1 and _differs_by_rank(tensor),
        link=link,
        steps=(),
    )


def _differs_by_rank(tensor: ShardedTensor) -> bool:
    """Cut or unsummed tensors do; so does a result that was taken for finished before it was reduced."""
    return any(not np.array_equal(part, tensor.parts[0]) for part in tensor.parts[1:])


def _block(tensor: ShardedTensor, rank: int, dense: Array | None) -> Block:
    """Rank r's part, its place in the whole, and which cells are plainly wrong against the dense result."""
    part, (top, left) = tensor.parts[rank], _place(tensor, rank)
    gaps = np.zeros(part.shape)
    if dense is not None:
        due = dense[top : top + part.shape[0], left : left + part.shape[1]]
        gaps = part.astype(np.float64) - due.astype(np.float64)
    wrong = _plainly_wrong(gaps, dense)
    under = tuple(_gap_text(gaps[:, j], wrong[:, j]) for j in range(part.shape[1])) if wrong.any() else ()
    marked = tuple((int(i), int(j)) for i, j in np.argwhere(wrong))
    return Block(rank, _texts(part, decimals(tensor)), top, left, marked, under)


def _place(tensor: ShardedTensor, rank: int) -> tuple[int, int]:
    """The first row and column of rank r's part in the whole."""
    if not isinstance(tensor.placement, Shard | Copied):
        return 0, 0
    rows, columns = tensor.parts[0].shape
    held = tensor.slice_of(rank)
    return (held * rows, 0) if tensor.placement.dim == 0 else (0, held * columns)


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


def _brackets(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def shape_text(tensor: ShardedTensor) -> str:
    """The shape a rank sees and what it means: `[1, 2] a rank`, `[1, 4] {U₄}`, `[1, 4] on all`."""
    if tensor.num_ranks == 1:
        return _brackets(tensor.shape)
    local = _brackets(tensor.parts[0].shape)
    if isinstance(tensor.placement, Partial):
        return f"{local} {{U{str(tensor.num_ranks).translate(_SUBSCRIPTS)}}}"
    return f"{local} on all" if isinstance(tensor.placement, Replicate) else f"{local} a rank"


_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _bar(collective: Collective, index: int, trace: Trace, scale: str) -> BarRow:
    """The bar of one ledger line."""
    entries = trace.result.full().size if isinstance(trace.result.placement, Shard) else trace.result.parts[0].size
    sign, sub = _SIGNS.get(collective.op, ("", "over"))
    here = f"{entries} × {collective.payload_bytes // entries} bytes here"
    text = f"{sign}  one payload, {here}{', ' + scale if scale else ''}".strip()
    name, own = collective.op.replace("_", "-"), collective.op == "reduce_scatter"
    return BarRow(f"collective {index}", name, f"{sub} {collective.ranks}", text, True, (), own)


_SIGNS = {"all_reduce": ("Σ", "sum over"), "reduce_scatter": ("Σ", "sum over"), "all_gather": ("∪", "slices of")}


def _absent_name(trace: Trace) -> str:
    return "all-reduce" if trace.result.origin == "claimed" else "no collective"


def _absent_bar(trace: Trace, index: int) -> BarRow:
    """Where a collective would stand, were one needed; or where it is missing."""
    if trace.result.origin == "claimed":
        return BarRow(f"collective {index}", "all-reduce", "left out", "nobody adds the terms up", False, ())
    why = "nothing is sent: each rank keeps its slice of y"
    if trace.num_ranks == 1:
        why = "one rank has it all: nothing is sent"
    return BarRow(f"collective {index}", "no collective", "ledger empty", why, False, ())


def _dense_row(dense: Array, result: ShardedTensor, fmt: Precision | None, last: int) -> TensorRow:
    """The dense result, seen in the first step and the last; under each column, how far off the ranks are."""
    under: tuple[str, ...] = ()
    if np.allclose(_assembled(result), dense, rtol=_ROUNDING, atol=_ROUNDING):
        apart = ulps_apart(_assembled(result), dense, fmt)
        under = tuple(_ulps_text(int(apart[:, j].max())) for j in range(dense.shape[1]))
    whole = np.array_equal(dense, np.rint(dense))
    return TensorRow(
        key="dense",
        name=f"dense {result.name.split()[0]}",
        shape="on one device",
        whole_shape=_brackets(dense.shape),
        whole_cells=(dense.shape[0], dense.shape[1]),
        blocks=(Block(None, _texts(dense, 0 if whole else 2), under=under),),
        owned=False,
        link="none",
        steps=(0, last),
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
