"""What a graded lab says of a wrong answer: one sentence that names the slip, where it is a known one."""

from collections.abc import Mapping
from fractions import Fraction
from numbers import Real

import numpy as np

from core.errors import Remark
from labs.spoken import fail, say


def agree(y, due, slips: Mapping[Remark, object] | None = None, *, within=0.0, hint: Remark | None = None):
    """Fail unless `y` is `due`, each entry to `within`. `slips` are wrong results by what is to be said of each.

    `hint` ends what is said of a result that no slip explains.
    """
    __tracebackhide__ = True
    due = np.asarray(due)
    y = _array(y, due.shape)
    off = ~(np.abs(y - due) <= within) if y.shape == due.shape else np.array([])  # ~, so that NaN is off
    if y.shape == due.shape and not off.any():
        return
    for slip, wrong in (slips or {}).items():
        if np.shape(wrong) == y.shape and np.allclose(y, wrong, rtol=max(within, 1e-9), atol=max(within, 1e-12)):
            fail(slip)
    if y.shape != due.shape:
        fail(f"result.shape{'_why' if hint else ''}", found=str(y.shape), due=str(due.shape), why=hint)
    first = tuple(int(index) for index in np.argwhere(off)[0])
    values = {"found": _written(y[first], due[first]), "due": _written(due[first], y[first]), "why": hint}
    values |= {"wrong": off.sum(), "size": due.size, "entry": f"y{list(first)}"}
    fail(f"result.entries{'_why' if hint else ''}", **values)


def _array(y, shape: tuple[int, ...]) -> np.ndarray:
    """A result as numbers; fail where it holds none, or is none where many are due."""
    __tracebackhide__ = True
    try:
        array = np.asarray(y)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biufc" or (shape and not array.shape):
        fail_type("result.{}_array", y, shape=str(shape))
    return array


def fail_type(block: str, value, **values):
    """Fail for a result of the wrong kind, in a block that has one form for nothing and one for a type."""
    __tracebackhide__ = True
    fail(block.format("nothing" if value is None else "type"), type=type(value).__name__, **values)


def is_due(found, due, case: Remark, slips: Mapping[Remark, object] | None = None, *, rel=0.0):
    """Fail unless a number is the one that is due, to `rel`; where a Fraction is due, nothing but one will do.

    `case` says for what it was asked; `slips` are wrong numbers by what is to be said of each.
    """
    __tracebackhide__ = True
    if isinstance(found, bool) or not isinstance(found, Real):
        fail_type("result.{}_of", found, case=case, due=_written(due))
    if isinstance(due, Fraction) and not isinstance(found, Fraction | int):
        fail("result.no_fraction", case=case, found=f"{found:g}", kind=type(found).__name__, due=due)
    if _near(found, due, rel):
        return
    known = (slip for slip, wrong in (slips or {}).items() if _near(found, wrong, max(rel, 1e-9)))
    values = {"case": case, "found": _written(found, due), "due": _written(due, found), "why": next(known, None)}
    fail(f"result.other{'_why' if values['why'] else ''}", **values)


def _near(found, due, rel: float) -> bool:
    return bool(found == due or abs(found - due) <= rel * abs(due) + (1e-12 if rel else 0))


def _written(value, beside=None) -> str:
    """A number in six digits, or in all of them where those beside it look the same."""
    if isinstance(value, int | Fraction):
        return str(value)
    alike = beside is not None and f"{value:.6g}" == f"{beside:.6g}"
    return str(value) if alike else f"{value:.6g}"


def summed(due, num_ranks: int, terms=()) -> dict[Remark, object]:
    """The slips of a sum over ranks: taken not at all, twice, or as a mean."""
    return {
        **{say("slip.own_term", rank=rank): term for rank, term in enumerate(terms)},
        say("slip.sum_twice", times=num_ranks, ranks=num_ranks): num_ranks * due,
        say("slip.mean", times=num_ranks): due / num_ranks,
    }


def sends_once(ledger, payload_bytes: int, num_ranks: int):
    """Fail unless the ledger has one line, an all-reduce of that payload."""
    __tracebackhide__ = True
    if not len(ledger):
        fail("result.no_line")
    if len(ledger) > 1:
        ops = ", ".join(line.op for line in ledger)
        fail("result.many_lines", count=len(ledger), ops=ops)
    (line,) = ledger
    if (line.op, line.payload_bytes, line.ranks) != ("all_reduce", payload_bytes, num_ranks):
        found = {"op": line.op, "found": line.payload_bytes, "ranks": line.ranks}
        fail("result.other_line", **found, due=payload_bytes, over=num_ranks)


def sends_nothing(ledger):
    """Fail unless the ledger is empty."""
    __tracebackhide__ = True
    if len(ledger):
        ops = ", ".join(line.op for line in ledger)
        fail("result.not_empty", count=len(ledger), ops=ops)


def refuses(run, kind: type[Exception], case: Remark):
    """Fail unless a call is refused with an error of a kind."""
    __tracebackhide__ = True
    raised = error_of(run)
    if isinstance(raised, kind):
        return
    if raised is not None:
        fail("result.other_refusal", case=case, raised=type(raised).__name__, kind=kind.__name__)
    fail("result.no_refusal", case=case, kind=kind.__name__)


def error_of(run) -> Exception | None:
    """The error that a call raises, None where it raises none; that a task is not written goes on its way."""
    try:
        run()
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None
