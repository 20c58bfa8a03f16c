"""What a graded lab says of a wrong answer: one sentence that names the slip, where it is a known one."""

from collections.abc import Mapping
from fractions import Fraction
from numbers import Real

import numpy as np
import pytest


def agree(y, due, slips: Mapping[str, object] | None = None, *, within=0.0, hint=""):
    """Fail unless `y` is `due`, each entry to `within`. `slips` are wrong results by what is to be said of each.

    `hint` ends what is said of a result that no slip explains.
    """
    __tracebackhide__ = True
    due = np.asarray(due)
    y = _array(y, due.shape)
    off = ~(np.abs(y - due) <= within) if y.shape == due.shape else np.array([])  # ~, so that NaN is off
    if y.shape == due.shape and not off.any():
        return
    for words, wrong in (slips or {}).items():
        if np.shape(wrong) == y.shape and np.allclose(y, wrong, rtol=max(within, 1e-9), atol=max(within, 1e-12)):
            pytest.fail(f"{words[:1].upper()}{words[1:]}.", pytrace=False)
    if y.shape != due.shape:
        pytest.fail(f"The result has the shape {y.shape}; {due.shape} is expected.{hint}", pytrace=False)
    first = tuple(int(index) for index in np.argwhere(off)[0])
    pytest.fail(
        f"{off.sum()} of {due.size} entries are wrong; the first, y{list(first)}, is"
        f" {_written(y[first], due[first])} and should be {_written(due[first], y[first])}.{hint}",
        pytrace=False,
    )


def _array(y, shape: tuple[int, ...]) -> np.ndarray:
    """A result as numbers; fail where it holds none, or is none where many are due."""
    __tracebackhide__ = True
    try:
        array = np.asarray(y)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biufc" or (shape and not array.shape):
        pytest.fail(f"{given(y)}, and an array of the shape {shape} is due.", pytrace=False)
    return array


def given(value) -> str:
    """How a sentence on a result of the wrong kind begins."""
    return f"{'Nothing' if value is None else f'A result of the type {type(value).__name__}'} was returned"


def is_due(found, due, case: str, slips: Mapping[str, object] | None = None, *, rel=0.0):
    """Fail unless a number is the one that is due, to `rel`; where a Fraction is due, nothing but one will do.

    `case` says for what it was asked; `slips` are wrong numbers by what is to be said of each.
    """
    __tracebackhide__ = True
    if isinstance(found, bool) or not isinstance(found, Real):
        pytest.fail(f"{case}: {_lower(given(found))}, and {_written(due)} is due.", pytrace=False)
    if isinstance(due, Fraction) and not isinstance(found, Fraction | int):
        pytest.fail(
            f"{case}: {found:g} was returned as a {type(found).__name__}, and the Fraction {due} is due.",
            pytrace=False,
        )
    if _near(found, due, rel):
        return
    known = (words for words, wrong in (slips or {}).items() if _near(found, wrong, max(rel, 1e-9)))
    why = next((f" {words[:1].upper()}{words[1:]}." for words in known), "")
    pytest.fail(
        f"{case}: {_written(found, due)} was returned, and {_written(due, found)} is due.{why}", pytrace=False
    )


def _near(found, due, rel: float) -> bool:
    return bool(found == due or abs(found - due) <= rel * abs(due) + (1e-12 if rel else 0))


def _written(value, beside=None) -> str:
    """A number in six digits, or in all of them where those beside it look the same."""
    if isinstance(value, int | Fraction):
        return str(value)
    alike = beside is not None and f"{value:.6g}" == f"{beside:.6g}"
    return str(value) if alike else f"{value:.6g}"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def summed(due, num_ranks: int, terms=()) -> dict[str, object]:
    """The slips of a sum over ranks: taken not at all, twice, or as a mean."""
    alone = {
        f"rank {rank} has its own term alone: all_reduce adds all of them": term for rank, term in enumerate(terms)
    }
    return {
        **alone,
        f"every entry is {num_ranks} times too large: the sum over {num_ranks} ranks was taken twice": num_ranks
        * due,
        f"every entry is {num_ranks} times too small: that is a mean, not a sum": due / num_ranks,
    }


def sends_once(ledger, payload_bytes: int, num_ranks: int):
    """Fail unless the ledger has one line, an all-reduce of that payload."""
    __tracebackhide__ = True
    if not len(ledger):
        pytest.fail("The ledger is empty: all_reduce(parts, ledger) writes the line.", pytrace=False)
    if len(ledger) > 1:
        ops = ", ".join(line.op for line in ledger)
        pytest.fail(f"The ledger has {len(ledger)} lines ({ops}); one all_reduce is enough.", pytrace=False)
    (line,) = ledger
    if (line.op, line.payload_bytes, line.ranks) != ("all_reduce", payload_bytes, num_ranks):
        pytest.fail(
            f"The ledger has an {line.op} of {line.payload_bytes} bytes over {line.ranks} ranks; an all_reduce of"
            f" {payload_bytes} bytes over {num_ranks} is expected.",
            pytrace=False,
        )


def sends_nothing(ledger):
    """Fail unless the ledger is empty."""
    __tracebackhide__ = True
    if len(ledger):
        ops = ", ".join(line.op for line in ledger)
        pytest.fail(f"The ledger should be empty and has {len(ledger)} lines: {ops}.", pytrace=False)


def refuses(run, kind: type[Exception], case: str):
    """Fail unless a call is refused with an error of a kind."""
    __tracebackhide__ = True
    raised = error_of(run)
    if isinstance(raised, kind):
        return
    if raised is not None:
        pytest.fail(f"{case}: {type(raised).__name__} was raised, and {kind.__name__} is due.", pytrace=False)
    pytest.fail(f"{case} has to be refused with {kind.__name__}; a result came back.", pytrace=False)


def error_of(run) -> Exception | None:
    """The error that a call raises, None where it raises none; that a task is not written goes on its way."""
    try:
        run()
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None
