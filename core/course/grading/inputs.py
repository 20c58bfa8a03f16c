"""Lab 03's second part as its judge asks it: what ranks hold, their wire, messages and offers out of plain JSON."""

from typing import Any

import numpy as np

from core.comm_cost.choice import Offer
from core.comm_cost.wire import Hop, Wire
from core.specs import LinkSpec

Json = Any


class OnAWire:
    """The inputs of one call. `held` comes before `send`, which is its wire's."""

    def __init__(self) -> None:
        self.wire = Wire(0)

    def decoded(self, kind: str, *parts: Json) -> Any:
        if kind == "held":
            self.wire = Wire(len(parts[0]))
            return self.wire.hold([np.asarray(row, dtype=float) for row in parts[0]])
        if kind == "send":
            return self.wire.send
        if kind == "hops":
            return [Hop(*row) for row in parts[0]]
        return [Offer(name, size, LinkSpec("own", "own", *link), *rest) for name, size, link, *rest in parts[0]]

    def hops(self) -> list[list[int]]:
        """What was sent, by source and turn: ranks may send in any order within a turn."""
        return sorted([hop.source, hop.turn, hop.target, hop.payload_bytes] for hop in self.wire.hops)
