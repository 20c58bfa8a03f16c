"""One test of many cases that each take less than a test of its own would: every case that fails is named."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence

import pytest


def each(names: str | Sequence[str], cases: Iterable) -> Callable[[Callable], Callable]:
    """As `pytest.mark.parametrize`, of one test: it goes through all cases, and tells of each that fails."""
    named = names.replace(" ", "").split(",") if isinstance(names, str) else names
    given = [dict(zip(named, case if len(named) > 1 else (case,), strict=True)) for case in cases]

    def of_all(test: Callable) -> Callable:
        @functools.wraps(test)
        def every(**others: object) -> None:
            assert given
            failed = []
            for case in given:
                try:
                    test(**case, **others)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"of {', '.join(f'{name}={value!r}' for name, value in case.items())}"[:300])
                    failed.append(error)
            if failed:
                raise failed[0] if failed[1:] == [] else BaseExceptionGroup(f"{len(failed)} cases", failed)

        kept = [one for name, one in inspect.signature(test).parameters.items() if name not in named]
        every.__signature__ = inspect.Signature(kept)
        return every

    return of_all
