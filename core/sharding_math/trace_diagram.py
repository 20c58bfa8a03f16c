"""How a trace becomes a diagram."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from core.ledger import Collective
from core.sharding_math.diagram import Absence, BarRow, Block, Diagram, Held, Link, Step, TensorRow
from core.sharding_math.numerics import Precision, ulps_apart
from core.sharding_math.provenance import as_drawn, decimals, followed, is_weight, signed
from core.sharding_math.tensors import Array, Copied, Partial, Replicate, Shard, ShardedTensor, Trace

_ROUNDING = 0.001
"""Of the largest value: float32 rounds by far less, and no mistake shown is so small."""

_COMPUTED = ("linear", "pointwise", "claimed")
_COLLECTED = ("all_reduce", "all_gather", "reduce_scatter")


def trace_diagram(
    trace: Trace,
    dense: Array,
    fmt: Precision | None = None,
    verbs: Mapping[str, str] = MappingProxyType({}),
    unwanted: Collection[int] = (),
) -> Diagram:
    """The steps and rows of a trace, against the dense result of the same computation.

    `verbs` code the steps at which tensors come to be, where the usual codes will not do. The `unwanted`
    collectives, by number, are marked as faults, and so is the place of one that is missing.
    """
    steps, rows = _from_top_to_bottom(trace, dense, verbs, unwanted)
    rows.append(_dense_row(dense, trace.result, fmt, len(steps) - 1))
    outputs = tuple(followed(trace, *index) for index in np.ndindex(*dense.shape))
    return Diagram(
        trace.num_ranks, tuple(rows), tuple(steps), outputs, _most_telling(trace, dense), trace.result.name
    )


def _from_top_to_bottom(
    trace: Trace, dense: Array, verbs: Mapping[str, str], unwanted: Collection[int]
) -> tuple[list[Step], list[TensorRow | BarRow]]:
    """Each entry of the log a row, and a step whenever something new is done."""
    steps = [Step("whole", "whole"), Step("shard", "shard")]
    rows: list[tuple[int, TensorRow | BarRow]] = []
    several = sum(tensor.origin == "linear" for tensor in trace.tensors) > 1

    def collective_step(code: str, bar: BarRow) -> None:
        steps.append(_step("collective", code, steps))
        rows.append((len(steps) - 1, bar))

    sent = 0
    for entry in trace.entries:
        if isinstance(entry, Collective):
            collective_step(entry.op, _bar(entry, len(rows), trace, sent in unwanted))
            sent += 1
            continue
        if _lacks_collective(entry, trace):
            collective_step(*_absent(trace, len(rows)))
        elif entry.origin in _COMPUTED:
            steps.append(_computed_step(entry, several, verbs, steps))
        rows.append((0 if entry.origin == "given" else len(steps) - 1, _tensor_row(entry, trace, dense)))
    if trace.result.origin == "linear":
        collective_step(*_absent(trace, len(rows)))
    steps.append(Step("compare", "compare"))
    return steps, [replace(row, steps=tuple(range(first, len(steps)))) for first, row in rows]


def _lacks_collective(tensor: ShardedTensor, trace: Trace) -> bool:
    """A result that a collective would have made: none is logged on one rank, or someone left it out."""
    left_out = tensor is trace.result and tensor.origin == "claimed"
    return not trace.collectives and (tensor.origin in _COLLECTED or left_out)


def _computed_step(tensor: ShardedTensor, several: bool, verbs: Mapping[str, str], steps: Sequence[Step]) -> Step:
    """The step of a product or of a function of what a rank holds."""
    if tensor.origin != "linear":
        return _step("pointwise", verbs.get(tensor.name, "activation"), steps)
    order = "second" if any(step.key == "matmul" for step in steps) else "first"
    return _step("matmul", verbs.get(tensor.name, f"{order}_matmul" if several else "local_matmul"), steps)


def _step(key: str, code: str, steps: Sequence[Step]) -> Step:
    """A step whose key no other has."""
    same = sum(step.key.removesuffix("_2") == key for step in steps)
    return Step(f"{key}_{same + 1}" if same else key, code)


def _tensor_row(tensor: ShardedTensor, trace: Trace, dense: Array) -> TensorRow:
    """The blocks of one tensor."""
    link: Link = "line" if tensor.origin == "given" else "arrow"
    if tensor is trace.tensors[0] or tensor.origin in _COLLECTED:
        link = "none"
    compared = dense if tensor is trace.result else None
    tensor = as_drawn(tensor)
    return TensorRow(
        key=tensor.name,
        transposed=is_weight(tensor),
        held=_held(tensor),
        rank_cells=tensor.parts[0].shape,
        whole_cells=tensor.shape,
        blocks=tuple(_block(tensor, rank, compared) for rank in range(tensor.num_ranks)),
        owned=tensor.num_ranks > 1 and _differs_by_rank(tensor),
        link=link,
    )


def _held(tensor: ShardedTensor) -> Held:
    if tensor.num_ranks == 1:
        return "whole"
    if isinstance(tensor.placement, Partial):
        return "terms"
    return "replicas" if isinstance(tensor.placement, Replicate) else "slices"


def _differs_by_rank(tensor: ShardedTensor) -> bool:
    """Cut or unsummed tensors do; so does a result that was taken for finished before it was reduced."""
    return any(not np.array_equal(part, tensor.parts[0]) for part in tensor.parts[1:])


def _block(tensor: ShardedTensor, rank: int, dense: Array | None) -> Block:
    """Rank r's part, its place in the whole, and which cells are plainly wrong against the dense result."""
    part, (top, left) = tensor.parts[rank], _corner(tensor, rank)
    if dense is None:
        return Block(rank, _texts(part, decimals(tensor)), top, left, (), ())
    due = dense[top : top + part.shape[0], left : left + part.shape[1]]
    gaps = part.astype(np.float64) - due.astype(np.float64)
    wrong = np.abs(gaps) > (float(np.abs(dense).max()) or 1.0) * _ROUNDING
    under = tuple(_gap_text(gaps[:, j], wrong[:, j]) for j in range(part.shape[1])) if wrong.any() else ()
    marked = tuple((int(i), int(j)) for i, j in np.argwhere(wrong))
    return Block(rank, _texts(part, decimals(tensor)), top, left, marked, under)


def _corner(tensor: ShardedTensor, rank: int) -> tuple[int, int]:
    """The first row and column of rank r's part in the whole."""
    if not isinstance(tensor.placement, Shard | Copied):
        return 0, 0
    rows, columns = tensor.parts[0].shape
    held = tensor.slice_of(rank)
    return (held * rows, 0) if tensor.placement.dim == 0 else (0, held * columns)


def _gap_text(gaps: Array, wrong: Array) -> str:
    """The largest difference of a column, signed, where it is wrong."""
    if not wrong.any():
        return ""
    gap = float(gaps[np.argmax(np.abs(gaps))])
    return f"+{gap:.2f}" if gap > 0 else signed(gap, 2)


def _texts(part: Array, decimals: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(signed(float(value), decimals) for value in row) for row in part)


def _bar(collective: Collective, index: int, trace: Trace, fault: bool) -> BarRow:
    """The bar of one ledger line."""
    entries = trace.result.full().size if isinstance(trace.result.placement, Shard) else trace.result.parts[0].size
    return BarRow(
        f"collective {index}",
        collective.op,
        collective.ranks,
        entries,
        collective.payload_bytes // entries,
        results_differ=collective.op == "reduce_scatter",
        fault=fault,
    )


def _absent(trace: Trace, index: int) -> tuple[str, BarRow]:
    """Where a collective would stand, were one needed; or where it is missing."""
    why: Absence = "not_needed" if trace.num_ranks > 1 else "one_rank"
    if trace.result.origin == "claimed":
        why = "left_out"
    bar = BarRow(f"collective {index}", "all_reduce", trace.num_ranks, 0, 0, absent=why, fault=why == "left_out")
    return "all_reduce" if why == "left_out" else "no_collective", bar


def _dense_row(dense: Array, result: ShardedTensor, fmt: Precision | None, last: int) -> TensorRow:
    """The dense result, seen in the first step and the last; under each column, how far off the ranks are."""
    ulps: tuple[int, ...] = ()
    if np.allclose(_assembled(result), dense, rtol=_ROUNDING, atol=_ROUNDING):
        apart = ulps_apart(_assembled(result), dense, fmt)
        ulps = tuple(int(apart[:, j].max()) for j in range(dense.shape[1]))
    whole = np.array_equal(dense, np.rint(dense))
    block = Block(None, _texts(dense, 0 if whole else 2), ulps=ulps)
    return TensorRow("dense", False, "dense", dense.shape, dense.shape, (block,), False, "none", (0, last))


def _assembled(result: ShardedTensor) -> Array:
    return result.full() if isinstance(result.placement, Shard) else result.parts[0]


def _most_telling(trace: Trace, dense: Array) -> int:
    """The output followed at first: the one that rounding moved most, else the last."""
    result = trace.result
    if _differs_by_rank(result) and not isinstance(result.placement, Shard):
        return int(dense.size - 1)
    apart = ulps_apart(_assembled(result), dense).reshape(-1)
    return int(np.argmax(apart)) if apart.any() else int(dense.size - 1)
