"""What was predicted before it was seen, summed up: each prediction of the ledger, and each told table's rows.

`then` is by the constants of the day on which it was told; `today`, the same cases by those that ship, so that a
change of constants empties nothing. A prediction whose figure was later put into the table of published times may
have had a part in today's constants: of today's, those are left out. A table's rows were fitted to, and are told by
constants that their models had no part in (core.evidence.served_report).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evidence.accuracy import Band, decode_band, first_band
from core.evidence.foretold import Foretold, foretold_measurement, retold
from core.evidence.left_out import left_out
from core.evidence.measurements import PublishedTable
from core.evidence.published_terms import prediction
from core.evidence.report import Errors, Residual, errors_of

_SAME = 0.005
"""How far apart two figures of one run may be printed."""


@dataclass(frozen=True)
class Held:
    """Some blind times in one line: their errors, and how many lie in the band that the page gives today."""

    errors: Errors
    inside: int

    @property
    def inside_fraction(self) -> float:
        return self.inside / self.errors.rows


def seen_residuals(told: Iterable[Foretold]) -> tuple[Residual, ...]:
    """Each prediction of which a figure was seen, as it was told then, but for what is left out everywhere."""
    found = (
        Residual(prediction(foretold_measurement(one)), one.predicted_s)
        for one in told
        if one.measured_s is not None
    )
    return tuple(each for each in found if left_out(each.prediction) is None)


def retold_residuals(told: Iterable[Foretold], table: PublishedTable) -> tuple[Residual, ...]:
    """The same cases by today's constants, those that the published table has no figure of."""
    unseen = (one for one in told if one.measured_s is not None and not _in_table(one, table))
    return seen_residuals(retold(one) for one in unseen)


def _in_table(one: Foretold, table: PublishedTable) -> bool:
    """Whether the table has a time of the same model, GPU, ranks and quantity that is the same figure."""
    return any(
        (said.model.key, said.gpu.key, said.group.tp_size, said.quantity)
        == (one.model, one.gpu, one.tp_size, one.quantity)
        and one.measured_s is not None
        and abs(said.measured_s / one.measured_s - 1) < _SAME
        for said in table.measurements
    )


def held(rows: Sequence[Residual]) -> Held | None:
    """Some residuals in one line; None of none."""
    return Held(errors_of(rows), sum(map(is_inside, rows))) if rows else None


def is_inside(each: Residual) -> bool:
    """Whether a time lies in the band of its class of GPU, kind of layers and quantity."""
    band = band_of(each)
    return band.low <= 1 / each.ratio <= band.high


def band_of(each: Residual) -> Band:
    """The band that stands beside a time of its kind."""
    of_quantity = first_band if each.measurement.quantity == "first_token" else decode_band
    return of_quantity(each.measurement.gpu, each.measurement.model)
