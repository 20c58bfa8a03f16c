"""Two planners held to the same published times: the error of each by regime, and the band of eight in ten."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.catalog import gpu as find_gpu
from core.catalog import model as find_model
from core.evidence.accuracy import decode_band

FEWEST = 3
"""Rows from which a regime is told."""
THEIR_SYSTEMS = ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm")
"""GPUs that aiconfigurator has a system of. An A100 of 40 GB is sent to that of 80, whose memory is faster."""


@dataclass(frozen=True)
class Compared:
    """One published time, and what each planner says of it."""

    source: str
    model: str
    gpu: str
    dtype: str
    tp_size: int
    pp_size: int
    batch: int
    prompt_tokens: int
    output_tokens: int
    quantity: str
    measured_s: float
    shardlab_s: float
    aiconfigurator_s: float


@dataclass(frozen=True)
class Held:
    """One planner on some rows: its errors, and how measured times lie about the predicted ones.

    Eight in ten lie from `low` to `high` times the predicted one, half of them below `middle` times it.
    """

    median_error: float
    p90_error: float
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Regime:
    """Rows of one kind, and both planners on them."""

    code: str
    rows: int
    sources: int
    shardlab: Held
    aiconfigurator: Held


@dataclass(frozen=True)
class Planners:
    """What was kept of a comparison."""

    date: str
    version: str
    seconds_shardlab: float
    seconds_aiconfigurator: float
    rows: tuple[Compared, ...]


def alike(row: Compared) -> bool:
    """Whether both planners were asked for what was run: the GPU itself, and a model whose layers are of one kind.

    aiconfigurator is given a Llama's or a Mixtral's shape: layers of several kinds, with states, windows or heads
    of two widths, would be another model's.
    """
    return row.gpu in THEIR_SYSTEMS and len(find_model(row.model).kinds) <= 1


_REGIMES: tuple[tuple[str, Callable[[Compared], bool]], ...] = (
    ("decode_one", lambda row: row.quantity == "decode" and row.batch == 1),
    ("decode_many", lambda row: row.quantity == "decode" and row.batch > 1),
    ("run_one_rank", lambda row: row.quantity == "run" and row.tp_size * row.pp_size == 1),
    ("run_ranks", lambda row: row.quantity == "run" and row.tp_size * row.pp_size > 1),
    ("first_token", lambda row: row.quantity == "first_token"),
    ("compiled", lambda row: row.source.startswith("gpt-fast")),
    ("every", lambda row: True),
)
"""What limits a step: the weights at one sequence, more at many, ranks that wait, the arithmetic of a prompt.
A loop compiled whole is a regime of its own, where aiconfigurator's kernels without a scheduler are nearer."""


def regimes(rows: Sequence[Compared]) -> list[Regime]:
    """Every regime that has rows enough, and all of them together: of rows that are alike for both."""
    rows = [row for row in rows if alike(row)]
    parts = ((code, [row for row in rows if belongs(row)]) for code, belongs in _REGIMES)
    return [
        Regime(
            code,
            len(part),
            len({row.source for row in part}),
            _held((row.shardlab_s, row.measured_s) for row in part),
            _held((row.aiconfigurator_s, row.measured_s) for row in part),
        )
        for code, part in parts
        if len(part) >= FEWEST
    ]


def _held(pairs: Iterable[tuple[float, float]]) -> Held:
    ratios = np.array([measured / predicted for predicted, measured in pairs])
    errors = np.abs(1 / ratios - 1)
    typical, p90 = (float(one) for one in np.quantile(errors, (0.5, 0.9)))
    low, middle, high = (float(one) for one in np.quantile(ratios, (0.1, 0.5, 0.9)))
    return Held(typical, p90, low, middle, high)


def promised(rows: Sequence[Compared]) -> float:
    """The share of decode times that lie in the band which Shardlab gives; 0.8 is what a band promises."""
    inside = []
    for row in rows:
        if row.quantity in ("decode", "run"):
            band = decode_band(find_gpu(row.gpu), find_model(row.model))
            inside.append(band.low <= row.measured_s / row.shardlab_s <= band.high)
    return sum(inside) / len(inside) if inside else 0.0
