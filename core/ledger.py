"""The ledger of collectives: what was sent, between how many ranks, by which layer and why.

The sharding lab writes it, the communication bill prices it, the planner places it. A ledger holds facts
of the algebra only; what they cost depends on a link, and is core.comm_cost.bill's to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Op = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send"]


@dataclass(frozen=True)
class Collective:
    """One collective call.

    `payload_bytes` is the full tensor on one rank: for all-gather and reduce-scatter the gathered total,
    for all-to-all one rank's send buffer.
    """

    op: Op
    payload_bytes: int
    ranks: int
    layer: str = ""
    why: str = ""


@dataclass
class Ledger:
    """Collectives in the order they were called. One rank sends nothing, so nothing is recorded at ranks=1."""

    entries: list[Collective] = field(default_factory=list)

    def record(self, collective: Collective) -> None:
        """Append a collective between two or more ranks; a collective of one rank moves no byte."""
        if collective.ranks > 1:
            self.entries.append(collective)

    def count(self, op: Op | None = None) -> int:
        """How many collectives, of one kind or of all."""
        return sum(op in (None, entry.op) for entry in self.entries)

    def payload_bytes(self) -> int:
        return sum(entry.payload_bytes for entry in self.entries)

    def __iter__(self) -> Iterator[Collective]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)
