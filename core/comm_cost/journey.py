"""One token's journey: a decode step on one clock, from the whole token down to one message on a link.

A step is L layers, each attention, a sum, the MLP and a sum, and then the ends of the model, which turn the last
activations into a token. Its compute is a bill's, divided over the parts as their weights are; its sums are the
all-reduces that an engine picks. So a journey ends when the bill says.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.collectives.cost import CollectiveCost
from core.collectives.who_sums import Kernel
from core.comm_cost.bill import Bill, Step
from core.comm_cost.kernels import picked_bill
from core.models.parameters import count_parameters, distinct_expert_fraction
from core.specs import LinkSpec

Moment = Literal["start", "attention", "round", "mlp", "sum", "layers", "token"]
"""Where a journey may stand: at the start, or when this part has just ended."""


@dataclass(frozen=True)
class Stop:
    """A moment of a journey; `number` counts a sum's rounds from 1."""

    moment: Moment
    time_s: float
    number: int = 0


@dataclass(frozen=True)
class Journey:
    """One step of a rank: what it computes in a layer and at the ends, and the sums between."""

    bill: Bill
    kernel: Kernel
    one_sum: CollectiveCost
    attention_s: float
    mlp_s: float
    ends_s: float

    @property
    def layers(self) -> int:
        return self.bill.step.model.num_hidden_layers

    @cached_property
    def sums(self) -> int:
        """Of one layer: none where a rank holds all of it."""
        return self.bill.step.all_reduces // self.layers

    @cached_property
    def sum_s(self) -> float:
        return self.one_sum.total_s if self.sums else 0.0

    @cached_property
    def layer_s(self) -> float:
        """Attention, its sum, the MLP, its sum."""
        return self.attention_s + self.mlp_s + self.sums * self.sum_s

    @cached_property
    def total_s(self) -> float:
        """All layers and the ends: the bill's total."""
        return self.layers * self.layer_s + self.ends_s

    @property
    def tokens_per_s(self) -> float:
        """Each sequence of the batch gets one token a step."""
        return self.bill.step.tokens / self.total_s

    @property
    def free_tokens_per_s(self) -> float:
        """The same if its sums took no time."""
        return self.bill.step.tokens / self.bill.step.rank_compute_s

    @cached_property
    def rounds(self) -> int:
        """How often messages cross the link, one after another, in one sum."""
        return self.one_sum.steps

    @property
    def hop_latency_s(self) -> float:
        """What one round waits before its first byte."""
        return self.one_sum.latency_s / self.rounds if self.rounds else 0.0

    @property
    def hop_bandwidth_s(self) -> float:
        """What one round's bytes take."""
        return self.one_sum.bandwidth_s / self.rounds if self.rounds else 0.0

    @property
    def hop_bytes(self) -> float:
        """What one round carries through each rank's port."""
        return self.one_sum.traffic_bytes / self.rounds if self.rounds else 0.0

    @property
    def stops(self) -> tuple[Stop, ...]:
        """The first layer part by part and its first sum round by round, then all layers, then the token."""
        sums = self.attention_s + self.one_sum.base_s
        hop_s = self.hop_latency_s + self.hop_bandwidth_s
        rounds = [Stop("round", sums + number * hop_s, number) for number in range(1, self.rounds + 1)]
        mlp_s = self.attention_s + self.sum_s + self.mlp_s
        return (
            Stop("start", 0.0),
            Stop("attention", self.attention_s),
            *rounds,
            Stop("mlp", mlp_s),
            *([Stop("sum", self.layer_s)] if self.sums else []),
            Stop("layers", self.layers * self.layer_s),
            Stop("token", self.total_s),
        )


def journey(step: Step, link: LinkSpec) -> Journey:
    """A step over a link as lab 03 prices it, its compute told by part.

    Of P parameters, attention's and the MLP's (with its router, and the experts that the step's tokens are routed
    to) are a layer's on average; norms, embedding and head count at the ends.
    """
    count, layers = count_parameters(step.model), step.model.num_hidden_layers
    experts = count.experts * distinct_expert_fraction(step.model, step.tokens)
    counted = count.total - count.experts + experts
    mlp = count.mlp + count.router + count.shared_experts + experts
    a_parameter_s = step.rank_compute_s / counted
    picked = picked_bill(step, link)
    return Journey(
        bill=picked.bill,
        kernel=picked.kernel,
        one_sum=picked.one_sum,
        attention_s=a_parameter_s * count.attention / layers,
        mlp_s=a_parameter_s * mlp / layers,
        ends_s=a_parameter_s * (counted - count.attention - mlp),
    )
