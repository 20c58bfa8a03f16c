"""The two constants of a class of GPU and a kind of layer, fitted on published times; an engine's part in one.

A step's terms (core.steps.model) are linear in 1/reached and in the floor, so a fit is a search over two numbers.
Each source counts alike however many rows it printed: a table of 265 would otherwise be the only one heard. The
rule of the split: a source is fitted or tested as a whole. What ships is fitted on all sources of a class; each is
tested by constants that were fitted on the others (core.evidence.report).

Two classes are fitted otherwise: Hopper's and Blackwell's constants are those of one table of 1,412 served times
(core.evidence.served_fit), and every other source of theirs is a test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError
from core.evidence.kinds import KINDS, Kind, layer_kind
from core.evidence.published_terms import Prediction
from core.specs import GpuSpec, ModelSpec
from core.steps.model import Efficiency

Floats = NDArray[np.float64]

REACHED = np.arange(0.40, 1.0001, 0.01)
LAUNCHES_S: Floats = np.arange(10, 400, dtype=np.float64) * 1e-5
SHORT_PROMPT = 1000
FLOORS_S: Floats = np.arange(0, 121, 2, dtype=np.float64) * 1e-6
"""What a fit searches. MI300X's mixtures lie at the least share: let below it they take 0.39 and 100 µs, and rows
of sources that were left out lie farther off, nine in ten within 69 % for 65, the worst at 92 for 79."""


@dataclass(frozen=True)
class Calibration:
    """A class of GPU and a kind of layer, their constants, and how many times of how many sources gave them.

    `floor_fitted` is false where the rows cannot tell a floor: it is taken over from the class before. Without rows
    both are taken over.
    """

    gpu_class: str
    name: str
    kind: Kind
    efficiency: Efficiency
    rows: int = 0
    sources: int = 0
    floor_fitted: bool = True


SERVED_ROWS: Mapping[str, tuple[int, int]] = {"hopper": (580, 19), "blackwell": (820, 13)}
"""Times of a class in the table of served ones, and models through an engine that they are of."""
SERVED_STEPS: Mapping[str, Efficiency] = {
    "hopper": Efficiency(0.88, 43e-6), "blackwell": Efficiency(0.76, 32e-6)
}  # fmt: skip
"""Of layers that are counted by their kernels, through vLLM. Source: core.evidence.served_fit."""
PLAIN_FLOOR = 0.85
"""Of such a floor, what a plain layer takes: nine kernels of it are fused into fewer than nine of the others are.

Source: the same fit, 1,412 times of eleven models, three of them of plain layers."""

ENGINE_FLOORS: Mapping[str, float] = {"sglang": 1.50, "trtllm": 0.90, "gpt-fast": 0.6}
"""Of a floor through vLLM, what another engine's layers take where its step is one recorded graph.

Of SGLang 352 times and of TensorRT-LLM 487, of eleven models: the same fit. gpt-fast is no server: a loop that was
compiled whole and schedules nothing. Its 22 times of seven models on an A100 lie at 22 µs a plain layer, where
vLLM's on Hopper lie at 37."""
COMPILED_ROWS = 22
GRAPHED = ("hopper", "blackwell")
"""Classes whose times are of engines that record a step as a graph."""


# fmt: off
_DENSE = (
    Calibration("a100", "A100", "dense", Efficiency(0.73, 86e-6), 447, 8),
    Calibration("cdna3", "MI300X", "dense", Efficiency(0.47, 28e-6), 49, 5),
)
_COUNTED = (
    Calibration("a100", "A100", "mixture", Efficiency(0.84, 120e-6), 29, 5),
    Calibration("cdna3", "MI300X", "mixture", Efficiency(0.40, 106e-6), 54, 12),
)
# fmt: on


def _of_served(gpu_class: str, name: str) -> list[Calibration]:
    """A class's rows from the table of served times: one share, a floor for plain layers and one for the rest."""
    steps, counts = SERVED_STEPS[gpu_class], SERVED_ROWS[gpu_class]
    plain = replace(steps, layer_floor_s=round(PLAIN_FLOOR * steps.layer_floor_s, 9))
    return [Calibration(gpu_class, name, kind, plain if kind == "dense" else steps, *counts) for kind in KINDS]


_FITTED = (
    *_DENSE, *(replace(row, kind=kind) for row in _COUNTED for kind in KINDS[1:]),
    *_of_served("hopper", "H100 and H200"), *_of_served("blackwell", "B200 and B300"),
)  # fmt: skip
CALIBRATIONS: Mapping[tuple[str, Kind], Calibration] = {(row.gpu_class, row.kind): row for row in _FITTED}
"""Layers with experts, latent attention or states are counted by their kernels (core.steps.launches), and have one
pair of constants a class: apart, each is told by few sources, and a source that was left out lay farther off. Nor
are they told apart by width on an MI300X, though they are told too slow in 16 bits and too fast in 8: with
constants of their own mixtures that were left out lay 30 % off in the median for 33.

Not in the table: SGLang's page of Kimi K2.5 on eight H200, whose token takes 9 ms alone behind 800 tokens and 25
behind 4,400, where no other page's moves (DeepSeek-R1's 9.2 and 9.3); the page of K2.6 repeats its figures."""


REPLAYING = ("sglang", "trtllm", "gpt-fast")
"""Engines whose step is one recorded graph, and which do not wait for the next one's schedule in between."""
EAGER = "a100"
"""The class whose times are mostly of engines that launch kernel by kernel, or wait for a schedule: TensorRT-LLM
and FasterTransformer without graphs, vLLM. An engine that replays has there the floor that it has on Hopper."""

PROMPT_FLOOR_S = 86e-6
"""The least floor of a prompt's layer: that of engines that record no graph, an A100's, as few did of prompts."""


def prompt_efficiency(gpu: GpuSpec, model: ModelSpec, own: Efficiency | None = None) -> Efficiency:
    """The constants of one prompt read alone: a step's share of the data sheet, and a prompt's floor.

    What is multiplied in fewer than 16 bits reaches less: its terms say so (core.steps.narrow). Constants of one's
    `own` are a step's.
    """
    steps = own or calibration_of(gpu, model).efficiency
    return replace(steps, layer_floor_s=max(steps.layer_floor_s, PROMPT_FLOOR_S))


def calibration_of(gpu: GpuSpec, model: ModelSpec, engine: str = "") -> Calibration:
    """The constants for a model on a GPU, and what they are from; of an engine that replays graphs, its floor."""
    kind = layer_kind(model)
    usual = calibration_for(gpu.gpu_class, kind)
    if gpu.gpu_class in GRAPHED and engine in ENGINE_FLOORS:
        return replace(usual, efficiency=through(usual.efficiency, engine))
    if gpu.gpu_class != EAGER or engine not in REPLAYING:
        return usual
    graphs = through(calibration_for("hopper", kind).efficiency, engine)
    return replace(usual, efficiency=replayed(usual.efficiency, graphs))


def through(graphs: Efficiency, engine: str) -> Efficiency:
    """Constants of a class whose steps are graphs, through one engine."""
    return replace(graphs, layer_floor_s=round(graphs.layer_floor_s * ENGINE_FLOORS.get(engine, 1.0), 9))


def replayed(eager: Efficiency, graphs: Efficiency) -> Efficiency:
    """A class's share of the data sheet, with the floor of engines that replay graphs."""
    return replace(eager, layer_floor_s=min(eager.layer_floor_s, graphs.layer_floor_s))


def calibration_for(gpu_class: str, kind: Kind) -> Calibration:
    """The constants of a class and a kind; where nothing was measured, the nearest that was.

    The share that is reached is the class's own, of another kind, or an A100's; the floor is the kind's own, of
    another class.
    """
    own = CALIBRATIONS.get((gpu_class, kind))
    if own is not None:
        return own
    classes = (gpu_class, "a100", "hopper")
    alike = next(row for name in classes for row in _FITTED if row.gpu_class == name)
    same = next(CALIBRATIONS[name, kind] for name in classes if (name, kind) in CALIBRATIONS)
    floor_s = max(same.efficiency.layer_floor_s, alike.efficiency.layer_floor_s)
    name = alike.name if alike.gpu_class == gpu_class else "any other"
    return Calibration(
        gpu_class, name, kind, Efficiency(alike.efficiency.reached_fraction, floor_s), floor_fitted=False
    )


def fit_efficiency(predictions: Sequence[Prediction], floor_s: float | None = None) -> Efficiency:
    """The constants that minimise the mean |ln(predicted/measured)|, averaged over sources; the floor may be given.

    Searched in steps of 0.01 and 2 µs: finer than any two sources agree. Raises OutOfRangeError without a
    measurement.
    """
    if not predictions:
        raise OutOfRangeError("measurements", 0, "no_figures_to_fit")
    floors: Floats = FLOORS_S if floor_s is None else np.array([floor_s], dtype=np.float64)
    sources = sorted({prediction.measurement.source for prediction in predictions})
    errors = [_errors([p for p in predictions if p.measurement.source == source], floors) for source in sources]
    best = int(np.argmin(np.sum(errors, axis=0)))
    reached, floor = REACHED[best // len(floors)], floors[best % len(floors)]
    return Efficiency(round(float(reached), 2), round(float(floor), 9))


def fit_launch(predictions: Sequence[Prediction]) -> float:
    """What one engine takes to launch a plain layer of a prompt, on one stack: as `fit_efficiency` is fitted.

    Of prompts under `SHORT_PROMPT` tokens, where launches show; searched in steps of 0.01 ms.
    """
    short = [each for each in predictions if each.measurement.prompt_tokens < SHORT_PROMPT]
    sources = sorted({each.measurement.source for each in short})
    errors = [_launch_errors([each for each in short if each.measurement.source == source]) for source in sources]
    return round(float(LAUNCHES_S[int(np.argmin(np.sum(errors, axis=0)))]), 9)


def _launch_errors(predictions: Sequence[Prediction]) -> Floats:
    """The mean absolute log error of one source under every time of a launch."""
    steps = np.array(
        [
            each.terms.step_s(prompt_efficiency(said.gpu, said.model))
            for each in predictions
            for said in (each.measurement,)
        ]
    )
    launches = np.array([each.launches for each in predictions])
    measured = np.array([each.measurement.measured_s for each in predictions])
    predicted = np.maximum(steps[:, None], launches[:, None] * LAUNCHES_S)
    errors: Floats = np.abs(np.log(predicted / measured[:, None])).mean(axis=0)
    return errors


def _errors(predictions: Sequence[Prediction], floors: Floats) -> Floats:
    """The mean absolute log error of one source under every pair of constants. (reached, floors)"""
    work, layers, comm, least, measured = np.array(
        [
            (
                each.terms.work_s,
                each.terms.layers,
                each.terms.comm_s + each.terms.apart_s,
                max(each.roofline_s, each.launch_s),
                each.measurement.measured_s,
            )
            for each in predictions
        ],
        dtype=np.float64,
    ).T[:, :, None, None]
    steps = work / REACHED[:, None] + layers * floors + comm  # (rows, reached, floors)
    errors: Floats = np.abs(np.log(np.maximum(steps, least) / measured)).mean(axis=0)
    return errors
