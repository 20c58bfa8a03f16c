"""What one rank holds while it trains: weights, gradients, optimizer states, activations, and what it gathers.

Ψ parameters, N data-parallel ranks. With Adam in mixed precision a parameter costs 16 bytes: two for the weight,
two for its gradient, twelve for the optimizer (a copy of the weight, momentum and variance, in fp32).
Ignored: communication buckets, an unsharded gradient on its way, the framework's own memory. All make it larger.
"""

from dataclasses import dataclass

from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.specs import ModelSpec
from core.strategy.training.activations import end_activations, layer_activations, microbatches_in_flight
from core.strategy.training.layout import RankParameters, Strategy, rank_parameters


@dataclass(frozen=True)
class Precision:
    """Bytes a parameter: its weight, its gradient, its optimizer states."""

    weight: float = 2
    gradient: float = 2
    optimizer: float = 12

    def __post_init__(self) -> None:
        require_positive(weight=self.weight, gradient=self.gradient)
        require_non_negative(optimizer=self.optimizer)


MIXED_ADAM = Precision()
"""ZeRO's count, K = 12. Source: Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1."""


@dataclass(frozen=True)
class Job:
    """What is trained on: `microbatches` of `sequences` of `sequence_tokens` on each data-parallel rank, a step."""

    sequences: int = 1
    sequence_tokens: int = 4096
    microbatches: int = 1
    precision: Precision = MIXED_ADAM
    dropout: bool = False

    def __post_init__(self) -> None:
        require_positive(
            sequences=self.sequences, sequence_tokens=self.sequence_tokens, microbatches=self.microbatches
        )

    @property
    def tokens(self) -> int:
        return self.sequences * self.sequence_tokens


@dataclass(frozen=True)
class ModelStates:
    """Bytes one rank keeps from step to step."""

    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer

    def __add__(self, other: "ModelStates") -> "ModelStates":
        return ModelStates(
            self.weights + other.weights, self.gradients + other.gradients, self.optimizer + other.optimizer
        )


def model_states(parameters: float, zero: int, ranks: int, precision: Precision = MIXED_ADAM) -> ModelStates:
    """The model states on each of N data-parallel ranks.

        DDP 16Ψ   ZeRO-1 4Ψ + 12Ψ/N   ZeRO-2 2Ψ + 14Ψ/N   ZeRO-3 16Ψ/N

    Source: Rajbhandari et al. 2020, arXiv 1910.02054, figure 1 and table 1.
    """
    require_positive(ranks=ranks)
    require_non_negative(parameters=parameters)
    if zero not in range(4):
        raise OutOfRangeError("zero", zero, "zero", a=0, b=1, c=2, d=3)
    return ModelStates(
        weights=parameters * precision.weight / (ranks if zero >= 3 else 1),
        gradients=parameters * precision.gradient / (ranks if zero >= 2 else 1),
        optimizer=parameters * precision.optimizer / (ranks if zero >= 1 else 1),
    )


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes of one rank at the fullest moment of a step, by what they are."""

    strategy: str
    weights: float
    gradients: float
    optimizer: float
    activations: float
    gathered: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer + self.activations + self.gathered


def training_memory(model: ModelSpec, strategy: Strategy, job: Job | None = None, stage: int = 0) -> TrainingMemory:
    """What a rank of a stage holds. Under 1F1B the first stage is the fullest, but for the head's tables.

    Raises IndivisibleError and OutOfRangeError as `rank_parameters` does.
    """
    job = job or Job()
    own = rank_parameters(model, strategy, stage)
    shared = model_states(own.layers + own.ends, strategy.zero, strategy.dp_size, job.precision)
    experts = model_states(own.experts, strategy.zero, strategy.expert_replicas, job.precision)
    states = shared + experts
    return TrainingMemory(
        strategy=strategy.name,
        weights=states.weights,
        gradients=states.gradients,
        optimizer=states.optimizer,
        activations=activation_bytes(model, strategy, job, stage),
        gathered=gathered_bytes(own, strategy, job.precision),
    )


def activation_bytes(model: ModelSpec, strategy: Strategy, job: Job, stage: int = 0) -> float:
    """What the microbatches in flight have left on a rank.

        tokens · (layers/p · in flight · a layer's + the ends')

    The first stage of a full pipeline holds p microbatches of L/p layers: as much as all L layers of one.
    """
    own = rank_parameters(model, strategy, stage)
    layer = layer_activations(model, job.sequence_tokens, dropout=job.dropout).on_rank(strategy)
    before, behind = end_activations(model, strategy, dropout=job.dropout)
    held = microbatches_in_flight(strategy, job.microbatches, stage)
    ends = (before * held if stage == 0 else 0) + (behind if stage == strategy.pp_size - 1 else 0)
    return job.tokens * (own.num_layers * held * layer + ends)


def gathered_bytes(own: RankParameters, strategy: Strategy, precision: Precision) -> float:
    """Whole weights beside the shards of ZeRO-3: the largest unit at a time, or all of them where none is dropped.

    A unit is a layer, or a table at either end. One that is gathered ahead of its turn comes on top.
    """
    if strategy.zero < 3:
        return 0.0
    shared = own.layers + own.ends if strategy.dp_size > 1 else 0.0
    experts = own.experts if strategy.expert_replicas > 1 else 0.0
    if not strategy.reshard:
        return (shared + experts) * precision.weight
    if not shared:
        return 0.0
    return max((own.layers + experts) / own.num_layers, own.largest_end) * precision.weight
