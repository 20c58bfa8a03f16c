"""The starts of an engine told apart, and what each says: the memory that is left, and the counts made of it.

Every look-up is by bisection or by key: a log may have as many figures as lines.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from core.startup_log.basis import Basis, candidate_stages
from core.startup_log.records import Figure, LogLine, Memory
from core.startup_log.runs import Scene
from core.units import GIB

_DATA_RANK = re.compile(r"DP_?(\d{1,4})")

Pair = tuple[Memory, int | None]
"""A memory and the pipeline stage it is of, where known."""


@dataclass(frozen=True)
class Share:
    """What one engine of several that run side by side says in a start (data parallelism)."""

    seated: tuple[tuple[Memory, int | None, int | None], ...]
    counts: tuple[Figure, ...]
    basis: Basis

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple((memory, stage) for memory, _, stage in self.seated)

    @cached_property
    def extremes(self) -> tuple[Pair, ...]:
        """The least and the most memory of each stage: all that a smallest rank is found from."""
        found: dict[tuple[int | None, float], list[Pair]] = {}
        for memory, stage in self.pairs:
            found.setdefault((stage, memory.step), []).append((memory, stage))
        sizes = [sorted(pairs, key=lambda pair: pair[0].size_gib) for pairs in found.values()]
        return tuple(pair for pairs in sizes for pair in (pairs[:1] if len(pairs) == 1 else [pairs[0], pairs[-1]]))

    @cached_property
    def tokens(self) -> dict[int, int]:
        """The place of each count of tokens among them, by its identity."""
        return {id(one): at for at, one in enumerate(one for one in self.counts if one.kind == "tokens")}

    @cached_property
    def by_rank(self) -> tuple[Pair, ...]:
        """The ranks' memories in their order; none where a rank is not known."""
        known = sorted((rank, at) for at, (_, rank, _) in enumerate(self.seated) if rank is not None)
        return tuple(self.pairs[at] for _, at in known) if len(known) == len(self.seated) else ()

    @cached_property
    def by_size(self) -> list[tuple[float, Pair]]:
        """Each memory behind its bytes a layer, the least first."""
        return sorted(((_a_layer(self.basis, pair), pair) for pair in self.pairs), key=lambda held: held[0])

    @cached_property
    def _lines(self) -> list[int]:
        return [one.line.number for one in self.counts]

    def before(self, line: LogLine) -> Figure | None:
        """The last count up to a line."""
        at = bisect_right(self._lines, line.number)
        return self.counts[at - 1] if at else None


@dataclass(frozen=True)
class Pools:
    """The figures of a run that say how many tokens a cache was allocated for, in the order of their lines."""

    figures: tuple[Figure, ...]

    @cached_property
    def made(self) -> tuple[Figure, ...]:
        """Allocations."""
        return tuple(one for one in self.figures if one.tokens is not None or one.kind == "pool_bytes")

    @cached_property
    def counts(self) -> tuple[Figure, ...]:
        """Tokens printed on a line of their own."""
        return tuple(one for one in self.figures if one.kind == "pool")

    @cached_property
    def _lines(self) -> tuple[list[int], list[int]]:
        return [one.line.number for one in self.made], [one.line.number for one in self.counts]

    def made_before(self, line: LogLine) -> Figure | None:
        """The last allocation up to a line."""
        at = bisect_right(self._lines[0], line.number)
        return self.made[at - 1] if at else None

    def count_after(self, line: LogLine) -> Figure | None:
        """The first count of tokens after a line."""
        at = bisect_right(self._lines[1], line.number)
        return self.counts[at] if at < len(self.counts) else None


@dataclass
class Start:
    """The figures from one measure of memory to the next, and the memory they are counted from."""

    left: list[Memory] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    _shares: dict[str, Share] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """Every count of tokens."""
        return tuple(int(one.value) for one in self.figures if one.kind == "tokens")

    @cached_property
    def fewest(self) -> int:
        return min(self.tokens)

    def share(self, scene: Scene, line: LogLine) -> Share:
        """What the engine that a line is of says, as far as lines tell of which they are."""
        key = _data_rank(line)
        if key not in self._shares:
            left = [memory for memory in self.left if _data_rank(memory.line) in (key, "") or not key]
            counts = [one for one in self.figures if one.kind in ("tokens", "blocks")]
            self._shares[key] = Share(
                tuple((memory, *scene.seat(memory.line)) for memory in left),
                tuple(one for one in counts if _data_rank(one.line) in (key, "") or not key),
                scene.basis,
            )
        return self._shares[key]


def starts(scene: Scene) -> Iterator[Start]:
    """The run's figures, cut where memory is measured again after counts were made of it.

    A line that Ray held back, to print once for all that repeat it, is of the counts before it.
    """
    start, counted = Start(), False
    for item in scene.run.found:
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
    return memory.size_gib * GIB / max((part.layers for part in candidate_stages(basis, stage)), default=1)


def _data_rank(line: LogLine) -> str:
    found = _DATA_RANK.search(line.speaker)
    return found.group(1) if found else ""
