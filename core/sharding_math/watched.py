"""A learner's call as it is watched: what each rank gave to a sum, and what the activation was shown."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from core.sharding_math import collectives
from core.sharding_math.held import let_go
from core.sharding_math.tensors import Array
from core.sharding_math.whole import kept_whole


@dataclass
class Watched:
    """`terms` has a list for each all_reduce, a term a rank; `shown` the shape of each array that was activated."""

    terms: list[list[Array]] = field(default_factory=list)
    shown: list[tuple[int, ...]] = field(default_factory=list)

    def activation(self, function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """The function, with a note of what it is called on."""

        def activated(values: Array) -> Array:
            self.shown.append(np.shape(values))
            return function(values)

        return activated


@contextmanager
def watched(module: ModuleType, also: Sequence[ModuleType] = ()) -> Iterator[Watched]:
    """Note what a module's code hands to all_reduce, by whatever name it calls it; tensors stay whole until cut.

    `also` are modules whose functions it may call for it.
    """
    seen, given = Watched(), collectives.all_reduce

    def all_reduce(parts: Any, *args: Any, **options: Any) -> Array:
        seen.terms.append([np.array(part) for part in let_go(parts)])
        return given(parts, *args, **options)

    imported = [value for value in vars(module).values() if isinstance(value, ModuleType)]
    rooms = {id(room): room for room in (module, collectives, *imported, *also)}.values()
    named = [(room, name) for room in rooms for name, value in vars(room).items() if value is given]
    for room, name in named:
        setattr(room, name, all_reduce)
    try:
        with kept_whole():
            yield seen
    finally:
        for room, name in named:
            setattr(room, name, given)
