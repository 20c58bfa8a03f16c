"""How wide a model must be for TP=N to pay on one machine: its own α, β and memory, and the widths it decoded.

W weight bytes a step reads, BW memory bytes/s of a process alone, BW_N of each of N that read at once, f what a
step takes however small the model (launches), t(n) one all-reduce of n bytes, d hidden_size, L layers, b bytes an
element.

    t_1(d) = max(f, W/BW)
    t_N(d) = max(f, W/(N·BW_N)) + (2L + 1)·t(d·b) + t_gather

t(n) is lab 03's fit of the run's own idle sums. Two processes of one machine may share its memory: BW_N is
measured, not assumed to be BW.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import median
from typing import Any, Literal

from core.comm_cost.bill import all_reduces_per_step, allreduce_payload_bytes
from core.links.fit import LinkFit, fit_link
from core.links.nccl_tests.records import Row, Table
from core.models.parameters import dtype_bytes
from core.specs import ModelSpec
from core.two_way_tp.predictions import WIDTHS, all_gather_payload_bytes, all_reduces_per_token
from core.two_way_tp.result import Manifest, PerToken, read_manifest, read_per_token
from core.two_way_tp.run_log import RunLog, RunLogError

Case = Literal["fast", "usual", "slow"]
_SEARCH_STEPS = 40
_SHAPE = WIDTHS[max(WIDTHS)]
_LAYERS, _WIDTH_BYTES = _SHAPE.num_hidden_layers, dtype_bytes(_SHAPE.weight_dtype)


def fitted_link(log: RunLog) -> LinkFit | None:
    """The fit of the medians of an idle sweep; None where it has too few sizes."""
    return fitted_sweep({point.payload_bytes: point.median_s for point in log.sweep}, log.tp_size)


def fitted_sweep(median_s: Mapping[int, float], ranks: int) -> LinkFit | None:
    """The fit of all-reduces timed at several payloads in bytes; None where they are too few."""
    return _fit(tuple(median_s.items()), ranks)


@lru_cache(maxsize=256)
def _fit(median_s: tuple[tuple[int, float], ...], ranks: int) -> LinkFit | None:
    rows = tuple(Row(number, size, 1e6 * time_s, None) for number, (size, time_s) in enumerate(median_s, 1))
    return fit_link(Table("all_reduce", ranks, rows))


def sums_s(fit: LinkFit, payloads_bytes: Iterable[int]) -> float:
    """What all-reduces of these payloads pay the link, one after another.

    Σ t̂(n)
    """
    return sum(1e-6 * fit.time_us(payload) for payload in payloads_bytes)


def step_comm_s(fit: LinkFit, model: ModelSpec) -> float:
    """What the layers of a model would pay this link in a step of one token: lab 03's bill.

    2L · t̂(d · 2 B)
    """
    ranks = fit.ranks or 1
    payload_bytes = allreduce_payload_bytes(1, model.hidden_size)
    return all_reduces_per_step(model, ranks) * 1e-6 * fit.time_us(payload_bytes)


@dataclass(frozen=True)
class WidthPoint:
    """A decode step at one width, measured, in both arms."""

    hidden_size: int
    single: PerToken
    token: PerToken


@dataclass(frozen=True)
class ScalingRun:
    """One machine and backend: its idle sums by payload bytes, its memory, and the widths it decoded."""

    backend: str
    tp_size: int
    sweep: tuple[tuple[int, PerToken], ...]
    memory_bytes_per_s: float
    memory_together_bytes_per_s: float
    points: tuple[WidthPoint, ...]
    manifest: Manifest

    @property
    def launch_s(self) -> float:
        """What a step takes however small the model: TP=1 at the least width that was measured."""
        return min(self.points, key=lambda point: point.hidden_size).single.median_s

    def all_reduce_s(self, payload_bytes: float, case: Case = "usual") -> float:
        """One sum by the fit of the medians; at its fastest and slowest by how far least and p95 lie from them."""
        usual_s = 1e-6 * self._fit.time_us(payload_bytes)
        return usual_s * {"usual": 1.0, "fast": self._spread("min_s"), "slow": self._spread("p95_s")}[case]

    @cached_property
    def _fit(self) -> LinkFit:
        fit = fitted_sweep({payload_bytes: took.median_s for payload_bytes, took in self.sweep}, self.tp_size)
        if fit is None:
            raise RunLogError("few_sizes")
        return fit

    def _spread(self, field: str) -> float:
        return float(median(getattr(took, field) / took.median_s for _, took in self.sweep))


@dataclass(frozen=True)
class Predicted:
    """A decode step of one width at TP=1 and TP=N."""

    hidden_size: float
    single_s: float
    token_s: float


@dataclass(frozen=True)
class Crossover:
    """The width above which TP=N is faster, and its band; None where no width up to the last that was asked is."""

    usual: float | None
    fast: float | None
    slow: float | None


def predicted(run: ScalingRun, hidden_size: float, case: Case = "usual") -> Predicted:
    """The model's two times at a width, on the machine of a run.

    W = (12·L·d² + V·d)·b: matrices and the tied table; biases and norms are left out
    """
    n, floor_s = run.tp_size, run.launch_s
    weight_bytes = (12 * _LAYERS * hidden_size**2 + _SHAPE.vocab_size * hidden_size) * _WIDTH_BYTES
    sums_s = all_reduces_per_token(_SHAPE, n) * run.all_reduce_s(hidden_size * _WIDTH_BYTES, case)
    gather_s = run.all_reduce_s(all_gather_payload_bytes(_SHAPE, n), case)
    return Predicted(
        hidden_size,
        max(floor_s, weight_bytes / run.memory_bytes_per_s),
        max(floor_s, weight_bytes / (n * run.memory_together_bytes_per_s)) + sums_s + gather_s,
    )


def curve(run: ScalingRun, case: Case = "usual", steps: int = 48) -> list[Predicted]:
    """Both times from the least width to the largest that lab 02 asks of, evenly in the logarithm."""
    low, high = min(WIDTHS), max(WIDTHS)
    return [predicted(run, low * (high / low) ** (step / steps), case) for step in range(steps + 1)]


def crossover(run: ScalingRun, widest: float = 2**17) -> Crossover:
    """Where the two curves meet: with the median sum, with its least, and with what one in twenty exceeds."""
    usual, fast, slow = (_crossing(run, case, widest) for case in ("usual", "fast", "slow"))
    return Crossover(usual, fast, slow)


def _crossing(run: ScalingRun, case: Case, widest: float) -> float | None:
    """By halving: below the crossover TP=N is slower, above it faster."""

    def gains(width: float) -> bool:
        both = predicted(run, width, case)
        return both.token_s < both.single_s

    low, high = float(min(WIDTHS)), widest
    if not gains(high):
        return None
    if gains(low):
        return low
    for _ in range(_SEARCH_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if gains(middle) else (middle, high)
    return high


def read_scaling(text: str) -> ScalingRun:
    """What `distributed.run_curve` wrote.

    Raises RunLogError when the text is something else.
    """
    try:
        return _scaling(json.loads(text))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise RunLogError("no_run_curve", error=error) from None


def _scaling(row: Mapping[str, Any]) -> ScalingRun:
    if not row["points"]:
        raise ValueError("it has no width")
    return ScalingRun(
        backend=row["backend"],
        tp_size=row["world_size"],
        sweep=tuple((one["payload_bytes"], read_per_token(one["took_s"])) for one in row["sweep"]),
        memory_bytes_per_s=row["memory_bytes_per_s"],
        memory_together_bytes_per_s=row["memory_together_bytes_per_s"],
        points=tuple(
            WidthPoint(one["hidden_size"], *(read_per_token(one[f"{arm}per_token_s"]) for arm in ("single_", "")))
            for one in row["points"]
        ),
        manifest=read_manifest(row["manifest"]),
    )
