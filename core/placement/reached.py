"""What a served engine reaches of a lab's speed-up, from the planner, and what keeps it from the rest.

A lab divides all that one GPU computes. In a server each layer takes launches and the engine's own work besides,
however many ranks share it, and each sequence's cache is read.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.catalog import link as find_link
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from core.placement.steps import Steps
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size
from core.steps.model import StepTerms

Undivided = Literal["layers", "sums", "cache"]


@dataclass(frozen=True)
class Reached:
    """A token of a served engine on one GPU and at TP, each by what it is made of, in seconds."""

    scenario: Scenario
    one: Steps
    split: Steps

    @property
    def batch(self) -> int:
        return self.scenario.batch

    @cached_property
    def one_s(self) -> float:
        """Between two tokens on one GPU, were it large enough."""
        return self.one.itl_s(self.batch)

    @cached_property
    def split_s(self) -> float:
        """Between two tokens at the scenario's TP, its sums and the layers' own work counted."""
        return self.split.itl_s(self.batch)

    @property
    def speedup(self) -> float:
        """How many times as fast as on one GPU."""
        return self.one_s / self.split_s

    @property
    def layers_s(self) -> float:
        """What its layers take besides: launches, norms, the engine's own work, and ranks that arrive apart."""
        return self._terms.layers * self.split.efficiency.layer_floor_s + self._terms.apart_s

    @property
    def sums_s(self) -> float:
        """All of a step's sums, one after another, by whoever makes them."""
        return self._terms.comm_s

    @property
    def cache_s(self) -> float:
        """What reading the sequences' keys and values takes on a rank."""
        return self._terms.kv_s / self.split.efficiency.reached_fraction

    @property
    def because(self) -> Undivided:
        """The largest of what is not divided, or is there for the division's sake."""
        parts: dict[Undivided, float] = {"layers": self.layers_s, "sums": self.sums_s, "cache": self.cache_s}
        return max(parts, key=lambda name: parts[name])

    @property
    def _terms(self) -> StepTerms:
        return self.split.served.decode(self.batch)


def reached(scenario: Scenario) -> Reached | None:
    """A scenario's decode step as the planner tells it; None where nothing is divided or the model does not split.

    Links of the labs' napkin give way to those that were timed.
    """
    if scenario.tp == 1 or check_tp_size(scenario.model_spec, scenario.tp).broken:
        return None
    timed = scenario.timed
    demand = Demand(
        prompt_tokens=scenario.prompt_tokens,
        output_tokens=scenario.output_tokens,
        concurrency=scenario.batch,
        dtype=scenario.weight_dtype,
        kv_dtype=scenario.kv_dtype,
    )
    gpu = scenario.gpu_spec
    cluster = ClusterSpec(gpu, timed.link_spec, find_link("ib-ndr"), scenario.tp)
    question = Question(scenario.model_spec, cluster, measured_budget(gpu), demand)
    return Reached(scenario, question.steps(Layout(1)), question.steps(Layout(scenario.tp)))
