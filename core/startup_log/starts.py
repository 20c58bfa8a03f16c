"""The starts of an engine told apart, and what each says: the memory that is left, and the counts made of it.

Every look-up is by bisection or by key: a log may have as many figures as lines.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.startup_log.basis import Basis
from core.startup_log.records import Figure, LogLine, Memory
from core.units import GIB

_DATA_RANK = re.compile(r"DP_?(\d{1,4})")

Pair = tuple[Memory, int | None]
"""A memory and the pipeline stage it is of, where known."""


@dataclass(frozen=True)
class ByLine:
    """Figures in the order of their lines."""

    figures: tuple[Figure, ...]

    @cached_property
    def _lines(self) -> list[int]:
        return [one.line.number for one in self.figures]

    def before(self, line: LogLine) -> Figure | None:
        """The last one up to a line."""
        at = bisect_right(self._lines, line.number)
        return self.figures[at - 1] if at else None

    def after(self, line: LogLine) -> Figure | None:
        """The first one after a line."""
        at = bisect_right(self._lines, line.number)
        return self.figures[at] if at < len(self.figures) else None


@dataclass(frozen=True)
class Share:
    """What one engine of several that run side by side says in a start (data parallelism)."""

    memories: tuple[tuple[Memory, int | None, int | None], ...]
    counts: ByLine
    basis: Basis

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple((memory, stage) for memory, _, stage in self.memories)

    @cached_property
    def extremes(self) -> tuple[Pair, ...]:
        """The least and the most memory of each stage: all that a smallest rank is found from."""
        groups: dict[tuple[int | None, float], list[Pair]] = {}
        for memory, stage in self.pairs:
            groups.setdefault((stage, memory.step), []).append((memory, stage))
        sizes = [sorted(pairs, key=lambda pair: pair[0].size_gib) for pairs in groups.values()]
        return tuple(pair for pairs in sizes for pair in (pairs[:1] if len(pairs) == 1 else [pairs[0], pairs[-1]]))

    @cached_property
    def tokens(self) -> dict[int, int]:
        """The position of each count of tokens among them, by its identity."""
        return {id(one): at for at, one in enumerate(one for one in self.counts.figures if one.kind == "tokens")}

    @cached_property
    def by_rank(self) -> tuple[Pair, ...]:
        """The ranks' memories in their order; none where a rank is not known."""
        known = sorted((rank, at) for at, (_, rank, _) in enumerate(self.memories) if rank is not None)
        return tuple(self.pairs[at] for _, at in known) if len(known) == len(self.memories) else ()

    @cached_property
    def by_size(self) -> list[tuple[float, Pair]]:
        """Each memory behind its bytes a layer, the least first."""
        return sorted(((_a_layer(self.basis, pair), pair) for pair in self.pairs), key=lambda held: held[0])


@dataclass
class Start:
    """The figures from one measure of memory to the next, and the memory they are counted from."""

    left: list[Memory] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    _shares: dict[str, Share] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """The log's figures that count tokens, in its order."""
        return tuple(int(one.value) for one in self.figures if one.kind == "tokens")

    @cached_property
    def fewest(self) -> int:
        return min(self.tokens)

    def share(self, basis: Basis, line: LogLine) -> Share:
        """What the engine that a line is of says, as far as lines tell of which they are."""
        key = _data_rank(line)
        if key not in self._shares:
            left = [memory for memory in self.left if not key or _data_rank(memory.line) in (key, "")]
            counts = [one for one in self.figures if one.kind in ("tokens", "blocks")]
            self._shares[key] = Share(
                tuple((memory, *basis.rank_of(memory.line)) for memory in left),
                ByLine(tuple(one for one in counts if not key or _data_rank(one.line) in (key, ""))),
                basis,
            )
        return self._shares[key]


def starts(items: Sequence[Figure | Memory]) -> Iterator[Start]:
    """What a run prints, cut where memory is measured again after counts were made of it.

    A line that Ray held back, to print once for all that repeat it, is of the counts before it.
    """
    start, counted = Start(), False
    for item in items:
        if isinstance(item, Figure):
            start.figures.append(item)
            counted = counted or item.kind in ("tokens", "blocks")
        else:
            if counted and "across cluster]" not in item.line.text:
                yield start
                start, counted = Start(), False
            start.left.append(item)
    yield start


def _a_layer(basis: Basis, pair: Pair) -> float:
    """Bytes of a memory for each layer that it is left for."""
    memory, stage = pair
    return memory.size_gib * GIB / max((part.layers for part in basis.candidate_stages(stage)), default=1)


def _data_rank(line: LogLine) -> str:
    match = _DATA_RANK.search(line.speaker)
    return match.group(1) if match else ""
