"""Answers kept for whoever asks the same: a hall looks at one scenario."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, TypeVarTuple

from runtime.content import language

_KEPT = 256
"""Answers kept of one function, for all visitors together."""

Params = ParamSpec("Params")
Answer = TypeVar("Answer")
Row = TypeVar("Row")


class Known(tuple[Row, ...]):
    """Rows that are many and asked about in every run: their hash is worked out once."""

    def __hash__(self) -> int:
        held = vars(self)
        if "hash" not in held:
            held["hash"] = super().__hash__()
        return int(held["hash"])


class Itself:
    """An answer that is kept, as a key: it is this very one, whatever it holds."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value


def _key(value: Any) -> Hashable:
    """An argument by what it holds: a list as its rows. Raises TypeError for what has no hash."""
    key = Known(value) if isinstance(value, list) else value
    hash(key)
    return key


def _shared(answer: Answer) -> Answer:
    return Known(answer) if type(answer) is list else answer  # type: ignore[arg-type, return-value]


def kept(work: Callable[Params, Answer]) -> Callable[Params, Answer]:
    """`work` done once for the same arguments in one language; its answer is shared, a list as `Known` rows.

    Arguments that have no key are worked for each time.
    """

    @lru_cache(maxsize=_KEPT)
    def remembered(language: str, args: Any, named: Any) -> Answer:
        return _shared(work(*args, **dict(named)))

    @wraps(work)
    def answered(*args: Params.args, **named: Params.kwargs) -> Answer:
        try:
            asked = tuple(map(_key, args)), tuple((name, _key(value)) for name, value in named.items())
        except TypeError:
            return work(*args, **named)
        return remembered(language(), *asked)

    return answered


_KEPT_OF = 16
"""Large answers that something is kept of, by one function."""

Large = TypeVar("Large")
Rest = TypeVarTuple("Rest")


def kept_of(work: Callable[[Large, *Rest], Answer]) -> Callable[[Large, *Rest], Answer]:
    """The same for what is made of a large answer that is kept itself, and never looked through: this very one.

    The other arguments go by what they hold.
    """

    @lru_cache(maxsize=_KEPT_OF)
    def remembered(language: str, large: Itself, rest: Any) -> Answer:
        return _shared(work(large.value, *rest))

    @wraps(work)
    def answered(large: Large, *rest: *Rest) -> Answer:
        return remembered(language(), Itself(large), rest)

    return answered
