"""The accuracy of times between tokens in a few lines: what was told blind stands first, what was fitted last.

Runs timed whole and full servers are in none of them: a whole batch has its prompts in it, and is no step.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evidence.blind import Held, held, retold_residuals, seen_residuals
from core.evidence.foretold import Foretold
from core.evidence.kinds import Kind
from core.evidence.left_out import Reason, counted_out
from core.evidence.measurements import PublishedTable
from core.evidence.published_terms import prediction
from core.evidence.report import Residual
from core.evidence.served import ServedRow
from core.evidence.served_report import (
    blind_residuals,
    crossed_residuals,
    kept_served,
    served_prediction,
    shipped_residuals,
)


@dataclass(frozen=True)
class Line:
    """Some times between tokens under one name, on one kind of evidence; `held` is None where there are none."""

    code: str
    held: Held


@dataclass(frozen=True)
class ClassLine:
    """A class of GPU and a kind of layer: what was told of it blind, and by constants of others now."""

    gpu_class: str
    kind: Kind
    blind: Held | None
    now: Held | None


@dataclass(frozen=True)
class Headline:
    """The lines, in the order in which they are told; rows behind two of them; what the one rule left out."""

    lines: tuple[Line, ...]
    classes: tuple[ClassLine, ...]
    blind: tuple[Residual, ...]
    apart: tuple[Residual, ...]
    left_out: Counter[Reason]

    def line(self, code: str) -> Held:
        """The line of a name that is there."""
        return next(line.held for line in self.lines if line.code == code)


def headline(
    told: Sequence[Foretold], rows: Sequence[ServedRow], table: PublishedTable, published: Iterable[Residual]
) -> Headline:
    """All of it: of the ledger, of a told table, of published times that were each tested by constants of others.

    blind       told before it was seen: the ledger's lines, and the table's rows
    blind_one   of those, the ledger's lines: each from a page that was looked up afterwards
    blind_table of those, the table's rows
    retold      the ledger's lines by today's constants, but for figures that went into the published table
    apart       the table's rows by constants that their model had no part in
    systems     by constants that their system had no part in
    published   published steps, each source by constants of the others
    fitted      the table's rows by the constants that they gave
    """
    kept = kept_served(rows)
    ones, of_table = tuple(filter(_is_step, seen_residuals(told))), blind_residuals(kept)
    steps = tuple(each for each in published if _is_step(each) and each.measurement.engine != "megatron")
    apart = crossed_residuals(kept)
    named = (
        ("blind", (*ones, *of_table)),
        ("blind_one", ones),
        ("blind_table", of_table),
        ("retold", tuple(filter(_is_step, retold_residuals(told, table)))),
        ("apart", apart),
        ("systems", crossed_residuals(kept, of_systems=True)),
        ("published", steps),
        ("fitted", shipped_residuals(kept)),
    )
    lines = tuple(Line(code, found) for code, each in named if (found := held(each)) is not None)
    left = counted_out((*map(served_prediction, rows), *map(prediction, table.measurements)))
    return Headline(lines, _classes((*ones, *of_table), (*steps, *apart)), (*ones, *of_table), apart, left)


def _is_step(each: Residual) -> bool:
    return each.measurement.quantity == "decode"


def _classes(blind: Sequence[Residual], now: Sequence[Residual]) -> tuple[ClassLine, ...]:
    def key(each: Residual) -> tuple[str, Kind]:
        return each.measurement.gpu.gpu_class, each.kind

    keys = sorted({key(each) for each in (*blind, *now)})
    both = ([held([each for each in rows if key(each) == one]) for rows in (blind, now)] for one in keys)
    return tuple(ClassLine(*one, *pair) for one, pair in zip(keys, both, strict=True))
