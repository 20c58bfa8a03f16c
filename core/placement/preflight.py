"""The refusals that an engine makes itself, in its own words, before it loads a byte: a command passes them all.

A layout is refused here with the sentence that the engine would print, so that it can be searched for.
"""

from dataclasses import dataclass

from core.models.checkpoint import as_served
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.preflight_checks import ENGINES, Engine, Start
from core.placement.preflight_rows import REFUSALS, Refusal
from core.specs import GpuSpec, ModelSpec

__all__ = ["ENGINES", "REFUSALS", "Engine", "Refusal", "Refused", "preflight"]


@dataclass(frozen=True)
class Refused:
    """A refusal that a layout meets, as the engine prints it."""

    refusal: Refusal
    text: str


def preflight(
    model: ModelSpec,
    layout: Layout,
    demand: Demand,
    engine: Engine = "vllm",
    gpu: GpuSpec | None = None,
    gpus_per_node: int | None = None,
) -> tuple[Refused, ...]:
    """The refusals that an engine would end a layout's start with; none where it goes on to load the weights.

    Without a `gpu` what depends on it is not asked.
    """
    asked = Start(as_served(model, demand.dtype), layout, demand, gpu, gpus_per_node)
    met = ((row, row.check(asked)) for row in REFUSALS if engine in row.engines)
    return tuple(Refused(row, row.message.format(**values)) for row, values in met if values is not None)
