"""Eleven numbers that a table of served times gives at once: of two classes of GPU, three engines, three widths.

A row's terms (core.evidence.published_terms) at data-sheet speed, W, K, A, L layers, C and S sums, become

    (W/w + K + A/m) / reached + L · floor · engine · plain + C + S · (H_N - 1) · delay

w the share of a width in four bits, m that of arithmetic in fewer than 16, engine 1 through vLLM, plain 1 but of
plain layers, H_N of N ranks that arrive apart (core.steps.apart). They are sought together, as a row has all
of them at once: least |ln(predicted/measured)| over the rows, each alike, smoothed below 3 %. The rule of a test: a
model, or a system, is left out whole, and told by numbers that were sought on the others.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from core.evidence.calibration import ENGINE_FLOORS, GRAPHED, PLAIN_FLOOR, SERVED_STEPS
from core.evidence.kinds import layer_kind
from core.evidence.published_terms import Prediction
from core.evidence.served import ServedRow
from core.steps.apart import RANK_DELAY_S
from core.steps.narrow import FASTER_SHARE, NATIVE_SHARE, WIDENED_SHARE, arithmetic_share, bandwidth_share

Floats = NDArray[np.float64]

_ENGINES = ("vllm", "sglang", "trtllm")
_SMOOTH = 1e-3
_ROUNDS, _NUDGE, _LONGEST = 60, 1e-4, 0.7
_NEVER_ABOVE = (1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 1.0, 1.0, 1.0, 2.0, 1.0)


@dataclass(frozen=True)
class Constants:
    """The numbers, in the order in which they are sought."""

    hopper_reached: float
    blackwell_reached: float
    hopper_floor_s: float
    blackwell_floor_s: float
    sglang: float
    trtllm: float
    native: float
    widened: float
    faster: float
    plain: float
    rank_delay_s: float


_HOPPER, _BLACKWELL = (SERVED_STEPS[name] for name in GRAPHED)
SHIPPED = Constants(
    _HOPPER.reached_fraction, _BLACKWELL.reached_fraction, _HOPPER.layer_floor_s, _BLACKWELL.layer_floor_s,
    ENGINE_FLOORS["sglang"], ENGINE_FLOORS["trtllm"], NATIVE_SHARE, WIDENED_SHARE, FASTER_SHARE, PLAIN_FLOOR,
    RANK_DELAY_S,
)  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """A table as numbers: a row's terms, and places of its class, engine and width."""

    weights_s: Floats
    cache_s: Floats
    arithmetic_s: Floats
    layers: Floats
    comm_s: Floats
    delays: Floats
    measured_s: Floats
    gpu_class: NDArray[np.int64]
    engine: NDArray[np.int64]
    width: NDArray[np.int64]
    faster: NDArray[np.bool_]
    plain: NDArray[np.bool_]

    def of(self, kept: NDArray[np.bool_]) -> "Columns":
        """The rows of a table that are kept."""
        return Columns(*(values[kept] for values in vars(self).values()))

    def predicted_s(self, numbers: Floats) -> Floats:
        """Every row's time by eleven numbers."""
        reached, floors = numbers[0:2][self.gpu_class], numbers[2:4][self.gpu_class]
        engines = np.array([1.0, *numbers[4:6]])[self.engine]
        widths = np.array([1.0, *numbers[6:8]])[self.width]
        work_s = self.weights_s / widths + self.cache_s + self.arithmetic_s / np.where(self.faster, numbers[8], 1.0)
        launched_s = self.layers * floors * engines * np.where(self.plain, numbers[9], 1.0)
        total: Floats = work_s / reached + launched_s + self.comm_s + self.delays * numbers[10]
        return total


def columns(told: Sequence[Prediction]) -> Columns:
    """Times of the two classes as numbers."""
    said = [each.measurement for each in told]
    shares = [bandwidth_share(one.gpu, one.dtype) for one in said]
    terms = [each.terms for each in told]
    return Columns(
        weights_s=np.array([one.weights_s for one in terms]),
        cache_s=np.array([one.kv_s for one in terms]),
        arithmetic_s=np.array([one.arithmetic_s for one in terms]),
        layers=np.array([one.layers for one in terms]),
        comm_s=np.array([one.comm_s for one in terms]),
        delays=np.array([one.apart_s / RANK_DELAY_S for one in terms]),
        measured_s=np.array([one.measured_s for one in said]),
        gpu_class=np.array([GRAPHED.index(one.gpu.gpu_class) for one in said]),
        engine=np.array([_ENGINES.index(one.engine) if one.engine in _ENGINES else 0 for one in said]),
        width=np.array([(1.0, NATIVE_SHARE, WIDENED_SHARE).index(share) for share in shares]),
        faster=np.array([arithmetic_share(one.gpu, one.dtype) < 1 for one in said]),
        plain=np.array([layer_kind(one.model) == "dense" for one in said]),
    )


def fit_served(table: Columns, start: Constants = SHIPPED) -> Constants:
    """The eleven numbers nearest to a table: damped steps on their logarithms, each row weighed by 1/|error|."""
    numbers = np.log(np.array(astuple(start)))
    most, wanted = np.log(np.array(_NEVER_ABOVE)), np.log(table.measured_s)

    def missed(at: Floats) -> Floats:
        found: Floats = np.log(table.predicted_s(np.exp(at))) - wanted
        return found

    def cost(errors: Floats) -> float:
        return float(np.sqrt(errors**2 + _SMOOTH).sum())

    errors, damping = missed(numbers), 1e-2
    for _ in range(_ROUNDS):
        nudged = numbers + _NUDGE * np.eye(len(numbers))
        slopes = np.array([(missed(at) - errors) / _NUDGE for at in nudged]).T
        weighed = slopes / np.sqrt(errors**2 + _SMOOTH)[:, None]
        square, downhill = slopes.T @ weighed, -(weighed.T @ errors)
        before = cost(errors)
        for _ in range(8):
            step = np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-6), downhill)
            tried = np.minimum(numbers + np.clip(step, -_LONGEST, _LONGEST), most)
            found = missed(tried)
            if cost(found) < before:
                numbers, errors, damping = tried, found, max(damping / 3, 1e-6)
                break
            damping *= 4
        if cost(errors) > before * (1 - 1e-6):
            break
    return Constants(*(float(value) for value in np.exp(numbers)))


def held_out(table: Columns, group_of: Sequence[Hashable]) -> Iterator[tuple[Hashable, NDArray[np.bool_], Floats]]:
    """Each group of rows, which they are, and their times by numbers that were sought on all others."""
    for group in dict.fromkeys(group_of):
        own = np.array([each == group for each in group_of])
        if own.all():
            continue
        numbers = np.array(astuple(fit_served(table.of(~own))))
        yield group, own, table.of(own).predicted_s(numbers)


def crossed(rows: Sequence[ServedRow], table: Columns, group_of: Callable[[ServedRow], Hashable]) -> Floats:
    """Every row's time by numbers that its group had no part in; 0 where all rows are of one group."""
    told = np.zeros(len(rows))
    for _, own, times in held_out(table, [group_of(row) for row in rows]):
        told[own] = times
    return told
