"""Every TP × PP of some GPUs on a scenario, and what is said of them: the soonest, the widest, the deepest."""

from dataclasses import dataclass, replace
from functools import cached_property

from core.collectives.cost import as_measured
from core.comm_cost.bill import allreduce_payload_bytes
from core.errors import OutOfRangeError
from core.pipeline_bubble.layouts import Cluster, Layout, hand_over, layouts
from core.scenario import Scenario
from core.specs import GPUS_PER_NODE, LinkSpec


@dataclass(frozen=True)
class Compositions:
    """Every TP x PP of some GPUs, priced on the page's scenario."""

    scenario: Scenario
    gpus: int = 8
    sequences: int = 64
    gpus_per_node: int = GPUS_PER_NODE

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The compositions that the model's layers and heads allow. Raises OutOfRangeError where there is none."""
        priced = self._of(self.gpus)
        if not priced:
            raise OutOfRangeError("gpus", self.gpus, "gpus_over_layers", model=self.scenario.model)
        return priced

    @cached_property
    def one(self) -> Layout:
        """One GPU, were it large enough for the whole model."""
        return self._of(1)[0]

    @cached_property
    def soonest(self) -> Layout:
        """Where a sequence alone gets its tokens soonest."""
        return min(self.layouts, key=lambda layout: layout.itl_alone_s)

    @cached_property
    def most(self) -> Layout:
        """The most tokens a second for all sequences."""
        return max(self.layouts, key=lambda layout: layout.tokens_per_s)

    @cached_property
    def prompt(self) -> Layout:
        """Where a prompt is read soonest."""
        return min(self.layouts, key=lambda layout: layout.ttft_s)

    @cached_property
    def widest(self) -> Layout:
        return max(self.layouts, key=lambda layout: layout.tp_size)

    @cached_property
    def deepest(self) -> Layout:
        return max(self.layouts, key=lambda layout: layout.pp_size)

    def speed_up(self, layout: Layout) -> float:
        """How many times as often a sequence alone gets a token as from one GPU."""
        return self.one.itl_alone_s / layout.itl_alone_s

    @property
    def best_speed_up(self) -> float:
        return self.speed_up(self.soonest)

    @property
    def widest_speed_up(self) -> float:
        return self.speed_up(self.widest)

    @property
    def hand_overs(self) -> int:
        """Of a token that passes the deepest pipe."""
        return self.deepest.pp_size - 1

    @property
    def sums(self) -> int:
        """All-reduces of a token under any tensor parallelism."""
        return self.scenario.model_spec.all_reduces

    @property
    def sum_s(self) -> float:
        """One of them, over the ranks of the widest."""
        return self.widest.all_reduce_s / self.sums

    @property
    def widest_link(self) -> LinkSpec:
        """Where the sums of the widest run."""
        return self.cluster.tp_link(self.widest.tp_size)

    @property
    def payload_bytes(self) -> float:
        """One token's row of activations: what a sum carries, and what a hand-over does."""
        return allreduce_payload_bytes(1, self.scenario.model_spec.hidden_size)

    @property
    def hand_over_s(self) -> float:
        """That row from the first stage of the deepest to the second."""
        return hand_over(self.payload_bytes, self.hop_link).total_s

    @property
    def hop_link(self) -> LinkSpec:
        """What it crosses, by its measured numbers."""
        return as_measured(self.cluster.hop_link(1, 0))

    @property
    def apart(self) -> "Compositions":
        """The same GPUs, each in a node of its own."""
        return replace(self, gpus_per_node=1)

    @property
    def cluster(self) -> Cluster:
        """The scenario's GPUs and links; for a link of the labs' napkin the timed one that it stands for."""
        timed = self.scenario.timed
        return Cluster(timed.gpu_spec, timed.link_spec, timed.network_spec, self.gpus_per_node)

    def _of(self, gpus: int) -> tuple[Layout, ...]:
        scenario, cluster = self.scenario, self.cluster
        asked = {"sequences": self.sequences, "prompt_tokens": scenario.prompt_tokens}
        return layouts(scenario.model_spec, cluster, gpus, **asked, dtype=scenario.weight_dtype)
