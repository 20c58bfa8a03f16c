"""The overview's journey: every trip of a token that can be chosen, from the bills of lab 03."""

from dataclasses import dataclass, replace
from itertools import product

from core.collectives.clock import Held, held_after_each_round
from core.collectives.programs import Program, program
from core.comm_cost.journey import Journey, journey
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import LinkSpec
from core.steps.model import TensorGroup, decode_terms
from core.steps.view import View

RANKS = (1, 2, 4, 8)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
OWN = Scenario(model="qwen2.5-14b", link="nvlink-3", tp=4)
OTHER = Scenario(model="llama-2-13b", link="nvlink-3", tp=4)
"""What the journey shows before lab 03 has asked about the scenario: a model that is not the scenario's."""

_FIRST_LINK = 1
"""PCIe: the one whose sum goes round a ring inside a node."""

_WAYS = {"one stage": "one_shot", "NCCL": "ring"}
"""Which program a kernel runs; every other kernel is priced as two stages."""


@dataclass(frozen=True)
class Choice:
    """One trip: ranks, a link, sequences at once."""

    ranks: int
    link: LinkSpec
    batch: int
    trip: Journey
    fits: bool

    @property
    def way(self) -> str:
        """Who sends to whom, and the number of ranks: the name of its program."""
        return f"{_WAYS.get(self.trip.kernel, 'two_shot')}-{self.ranks}" if self.trip.sums else "alone-1"


@dataclass(frozen=True)
class Shown:
    """What a journey is of: a scenario, and the numbers of GPUs and the links that may be chosen."""

    scenario: Scenario
    ranks: tuple[int, ...]
    links: tuple[LinkSpec, ...]


def shown(scenario: Scenario, answered: bool = True) -> Shown:
    """The visit's own scenario over every link that lab 03 compares, once lab 03's question was answered.

    Until then nothing from which an answer could be read: another model, the links of a node alone, and neither as
    many GPUs as the question has nor as many as the labs' own, which the overview asks about.
    """
    if answered:
        return Shown(scenario, _ranks_of(scenario), tuple(View(scenario).compared))
    alike = scenario.model_spec.num_hidden_layers == OWN.model_spec.num_hidden_layers
    other = OTHER if alike else OWN
    ranks = tuple(size for size in _ranks_of(other) if size == 1 or size not in (scenario.tp, Scenario().tp))
    links = tuple(link for link in View(other).compared if link.reach == "node")
    return Shown(replace(other, tp=ranks[1]), ranks, links)


def _ranks_of(scenario: Scenario) -> tuple[int, ...]:
    """The numbers of GPUs that this model splits over."""
    return tuple(ranks for ranks in RANKS if not check_tp_size(scenario.model_spec, ranks).broken)


def batches_of(scenario: Scenario) -> list[int]:
    """The batches at which reading the weights still takes longer than multiplying with them, as a bill assumes."""
    compute_s = View(scenario).step.compute_s

    def arithmetic_s(batch: int) -> float:
        model, gpu, group = scenario.model_spec, scenario.gpu_spec, TensorGroup(1, scenario.link_spec)
        return decode_terms(model, gpu, group, batch, 0, scenario.weight_dtype).arithmetic_s

    return [batch for batch in BATCHES if arithmetic_s(batch) <= compute_s] or [1]


def choices(shown: Shown) -> list[Choice]:
    """Every trip of a journey, by ranks, then link, then batch."""
    made = []
    for ranks, link, batch in product(shown.ranks, shown.links, batches_of(shown.scenario)):
        view = View(replace(shown.scenario, tp=ranks, batch=batch))
        made.append(Choice(ranks, link, batch, journey(view.step, link), view.fits != "none"))
    return made


def first(shown: Shown) -> tuple[int, int, int]:
    """What is chosen first: the scenario's ranks, a ring, and its batch, or what is nearest to them."""
    scenario, ranks, batches = shown.scenario, shown.ranks, batches_of(shown.scenario)
    return (
        ranks.index(max(size for size in ranks if size <= max(scenario.tp, ranks[0]))),
        min(_FIRST_LINK, len(shown.links) - 1),
        batches.index(max(size for size in batches if size <= max(scenario.batch, batches[0]))),
    )


@dataclass(frozen=True)
class Drawn:
    """A collective as it is drawn: its messages by round, and who has whose part after each."""

    program: Program
    held: tuple[Held, ...]


def programs(choices: list[Choice]) -> dict[str, Drawn]:
    """Every program that some trip needs."""
    named = {choice.way: choice for choice in choices}
    alone = Program(1, 1, ())
    made = {
        way: program("all_reduce", way.partition("-")[0], one.ranks) if one.trip.sums else alone
        for way, one in named.items()
    }
    return {way: Drawn(steps, held_after_each_round(steps)) for way, steps in made.items()}
