"""A tensor of a layer as tensor-parallel ranks share it: which of its dimensions is cut, copied, or whole."""

from dataclasses import dataclass
from typing import Literal

from core.errors import require_divides

Share = Literal["whole", "cut", "copied"]
Group = Literal["attention", "mlp", "router", "shared", "experts", "norm"]
Width = Literal["linear", "expert", "other"]


@dataclass(frozen=True)
class Cut:
    """`units` of a dimension, `each` wide: whole on every rank, cut, or copied where ranks outnumber them."""

    units: int
    each: int = 1
    share: Share = "cut"
    what: str = "num_attention_heads"

    def on(self, tp_size: int) -> int:
        """How much of it one of `tp_size` ranks holds.

        Raises IndivisibleError where ranks and units do not divide as they must.
        """
        if self.share == "whole" or tp_size == 1 or not self.units:
            return self.units * self.each
        if self.share == "copied" and tp_size > self.units:
            require_divides("tp_size", tp_size, self.what, self.units)
            return self.each
        return require_divides(self.what, self.units, "tp_size", tp_size) * self.each


@dataclass(frozen=True)
class Part:
    """One tensor of a layer: the dimension that ranks share, times the other, times how many are stacked in it.

    `derived` is made while loading and is in no checkpoint.
    """

    name: str
    group: Group
    cuts: tuple[Cut, ...]
    by: int = 1
    times: int = 1
    width: Width = "linear"
    derived: bool = False

    def elements(self, tp_size: int = 1) -> int:
        """Its elements on one rank. Raises as `Cut.on`."""
        return self.times * self.by * sum(cut.on(tp_size) for cut in self.cuts)


def whole(units: int) -> tuple[Cut, ...]:
    """A dimension that every rank has all of."""
    return (Cut(units, share="whole"),)
