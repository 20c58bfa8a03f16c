"""Predicted against published: each source is tested by constants fitted on the others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, TypeVar

import numpy as np

from core.evidence.calibration import (
    EAGER,
    GRAPHED,
    PROMPT_FLOOR_S,
    REPLAYING,
    calibration_for,
    fit_efficiency,
    fit_launch,
    replayed,
    through,
)
from core.evidence.kinds import Kind, layer_kind
from core.evidence.measurements import SERVERS, Measurement, PublishedTable, Quantity
from core.evidence.published_terms import Prediction, fits, prediction
from core.specs import Stack
from core.steps.model import Efficiency

BAND_QUANTILES = (0.1, 0.9)

_DECODE = ("decode", "run")
"""Quantities that are mostly decode steps: one of them, or all of a run's."""

Regime = Literal["memory", "arithmetic", "wires"]
"""What the largest part of a predicted time is: weights and cache, operations, or communication."""

T = TypeVar("T")


@dataclass(frozen=True)
class Residual:
    """One published time beside the predicted one; a `ratio` below 1 is a model too optimistic."""

    prediction: Prediction
    predicted_s: float

    @property
    def measurement(self) -> Measurement:
        return self.prediction.measurement

    @property
    def ratio(self) -> float:
        """Predicted over published time; below 1 the model is too fast."""
        return self.predicted_s / self.measurement.measured_s

    @property
    def error(self) -> float:
        """|predicted / published - 1|."""
        return abs(self.ratio - 1)

    @property
    def roofline_ratio(self) -> float:
        """roofline / published: above 1, the row or our reading of it is wrong."""
        return self.prediction.roofline_s / self.measurement.measured_s

    @property
    def is_decode(self) -> bool:
        """Whether it is a decode latency, of one step or of a run."""
        return self.measurement.quantity in _DECODE

    @property
    def regime(self) -> Regime:
        """Its largest part at data-sheet speed."""
        terms = self.prediction.terms
        parts: dict[Regime, float] = {
            "memory": terms.weights_s + terms.kv_s,
            "arithmetic": terms.arithmetic_s,
            "wires": terms.comm_s,
        }
        return max(parts, key=lambda part: parts[part])

    @property
    def kind(self) -> Kind:
        return layer_kind(self.measurement.model)


@dataclass(frozen=True)
class Errors:
    """Some residuals in one line. `bias` is the median of predicted/published - 1: below 0, too optimistic."""

    rows: int
    sources: int
    median_error: float
    p90_error: float
    worst_error: float
    bias: float
    highest_roofline_ratio: float


def residuals(table: PublishedTable) -> tuple[Residual, ...]:
    """Every measurement of a table beside its prediction, by constants that nothing of its source was fitted to.

    The steps that alone set the wait of a sum over nodes (`core.steps.model.CROSSING_S`) are held against nothing.
    """
    predictions = [prediction(measurement) for measurement in table.measurements]
    steps = {key: _held_out(predictions, *key) for key in {_group(each) for each in predictions}}
    prompts = {key: _for_prompts(found) for key, found in steps.items()}
    launches = {
        key: _held_out_launch(predictions, *key) for key in map(_launcher, filter(is_launched, predictions))
    }
    return tuple(
        Residual(each, each.predicted_s(prompts[_group(each)], launches.get(_launcher(each))))
        if is_prompt(each)
        else Residual(each, each.predicted_s(steps[_group(each)]))
        for each in predictions
        if is_prompt(each) or not each.measurement.group.waits_over_nodes
    )


def is_prompt(each: Prediction) -> bool:
    """Whether it is a prompt read alone, which has constants of its own."""
    return each.measurement.quantity == "first_token"


def is_replayed(each: Prediction) -> bool:
    """Whether an engine replayed it as graphs on a class whose other times were launched kernel by kernel."""
    return each.measurement.gpu.gpu_class == EAGER and each.measurement.engine in REPLAYING


def is_launched(each: Prediction) -> bool:
    """Whether it is a prompt that a server reads alone: its time is mostly its launches, and tells of no other."""
    return is_prompt(each) and each.measurement.engine in SERVERS


def fit_rows(predictions: Iterable[Prediction], gpu_class: str, kind: Kind, without: str = "") -> list[Prediction]:
    """What a class and a kind are fitted on: their times of engines made to serve, one source left out.

    Layers that are counted by their kernels are fitted together, whatever is in them.
    """
    return [
        each
        for each in predictions
        if each.measurement.gpu.gpu_class == gpu_class
        and (layer_kind(each.measurement.model) == "dense") == (kind == "dense")
        and each.measurement.source != without
        and each.measurement.engine != "megatron"
        and not is_launched(each)
        and not is_replayed(each)
    ]


def launch_rows(
    predictions: Iterable[Prediction], engine: str, stack: Stack, without: str = ""
) -> list[Prediction]:
    """What an engine's launches are fitted on: first tokens through one stack, one source left out."""
    return [
        each
        for each in predictions
        if is_launched(each) and _launcher(each)[:2] == (engine, stack) and each.measurement.source != without
    ]


_Group = tuple[str, Kind, str, str]
"""A class of GPU, a kind of layer, a source, and the engine where its class's floor is the engine's own."""


def _group(each: Prediction) -> _Group:
    measurement, gpu_class = each.measurement, each.measurement.gpu.gpu_class
    engine = measurement.engine if is_replayed(each) or gpu_class in GRAPHED else ""
    return gpu_class, layer_kind(measurement.model), measurement.source, engine


def _launcher(each: Prediction) -> tuple[str, Stack, str]:
    return each.measurement.engine, each.measurement.gpu.stack, each.measurement.source


def _held_out_launch(predictions: Sequence[Prediction], engine: str, stack: Stack, source: str) -> float | None:
    """What an engine's launches take without one source; None, what ships, where no other times it."""
    rows = launch_rows(predictions, engine, stack, source)
    return fit_launch(rows) if rows else None


def _held_out(
    predictions: Sequence[Prediction], gpu_class: str, kind: Kind, source: str, engine: str = ""
) -> Efficiency:
    """The constants of a class and a kind without one source; those of dense layers where no other source times it.

    Without decode steps among them the rows cannot tell a floor, and it is taken over too; that of an `engine` that
    replays graphs is Hopper's. No source here has a part in Hopper's or Blackwell's (core.evidence.served_fit).
    """
    if gpu_class in GRAPHED:
        return through(calibration_for(gpu_class, kind).efficiency, engine)
    if engine:
        # one source alone times gpt-fast, and its own floor cannot test it: it has that of vLLM's graphs
        graphs = through(calibration_for("hopper", kind).efficiency, "" if engine == "gpt-fast" else engine)
        return replayed(_held_out(predictions, gpu_class, kind, source), graphs)
    rows = fit_rows(predictions, gpu_class, kind, source)
    if not rows and kind != "dense":
        return _held_out(predictions, gpu_class, "dense", source)
    if not rows:
        return fit_efficiency(fit_rows(predictions, "a100", kind, source))
    told = any(each.measurement.quantity in _DECODE for each in rows)
    return fit_efficiency(rows, None if told else calibration_for("hopper", kind).efficiency.layer_floor_s)


def _for_prompts(steps: Efficiency) -> Efficiency:
    """A prompt's constants: see `prompt_efficiency`."""
    return replace(steps, layer_floor_s=max(steps.layer_floor_s, PROMPT_FLOOR_S))


def errors_of(rows: Sequence[Residual]) -> Errors:
    """The errors of some residuals, at least one."""
    sizes = [each.error for each in rows]
    return Errors(
        rows=len(rows),
        sources=len({each.measurement.source for each in rows}),
        median_error=median(sizes),
        p90_error=float(np.quantile(sizes, 0.9)),
        worst_error=max(sizes),
        bias=median(each.ratio for each in rows) - 1,
        highest_roofline_ratio=max(each.roofline_ratio for each in rows),
    )


def grouped(rows: Iterable[Residual], key: Callable[[Residual], T]) -> dict[T, Errors]:
    """The errors of each group of residuals, in the order that its first one has."""
    groups: dict[T, list[Residual]] = defaultdict(list)
    for each in rows:
        groups[key(each)].append(each)
    return {name: errors_of(group) for name, group in groups.items()}


def by_class(rows: Iterable[Residual]) -> dict[tuple[str, Kind, Quantity], Errors]:
    """The errors by class of GPU, kind of layer and quantity, of engines made to serve."""
    served = [each for each in rows if each.measurement.engine != "megatron"]
    lines = grouped(served, lambda each: (each.measurement.gpu.gpu_class, each.kind, each.measurement.quantity))
    return dict(sorted(lines.items()))


def by_regime(rows: Iterable[Residual]) -> dict[tuple[str, Quantity, Regime], Errors]:
    """The errors by class of GPU, quantity and regime, of engines made to serve."""
    served = [each for each in rows if each.measurement.engine != "megatron"]
    lines = grouped(served, lambda each: (each.measurement.gpu.gpu_class, each.measurement.quantity, each.regime))
    return dict(sorted(lines.items()))


def by_source(rows: Iterable[Residual]) -> dict[tuple[str, str, Quantity], Errors]:
    """The errors by source, class of GPU and quantity; a training code's beside its guide's own."""

    def key(each: Residual) -> tuple[str, str, Quantity]:
        measurement = each.measurement
        beside = ", Megatron" if measurement.engine == "megatron" else ""
        return measurement.source + beside, measurement.gpu.gpu_class, measurement.quantity

    return dict(sorted(grouped(rows, key).items()))


def decode_residuals(rows: Iterable[Residual]) -> list[Residual]:
    """The decode latencies of engines made to serve."""
    return [each for each in rows if each.is_decode and each.measurement.engine != "megatron"]


def band(tested: Sequence[Residual]) -> tuple[float, float]:
    """The multiples of a predicted time between which eight of ten published ones lie, however they are counted.

    Each source heard alike, and each time that is no whole run's alike: from the lower of the two to the higher.
    """
    rows = {source: each.rows for source, each in grouped(tested, lambda one: one.measurement.source).items()}
    alike = [1 / rows[each.measurement.source] for each in tested]
    steps = [float(each.measurement.quantity != "run") for each in tested]
    ratios = [1 / each.ratio for each in tested]
    ends = [
        np.quantile(ratios, BAND_QUANTILES, weights=weights, method="inverted_cdf")
        for weights in (alike, steps)
        if any(weights)
    ]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def agreed_out_of_memory(table: PublishedTable) -> int:
    """How many of the runs that ended out of memory do not fit by our count either."""
    return sum(not fits(measurement) for measurement in table.out_of_memory)
