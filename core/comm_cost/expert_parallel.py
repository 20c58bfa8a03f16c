"""The all-to-alls of expert parallelism: what a mixture's layers send where experts live on different ranks.

T tokens of a step, distributed over the ranks; N ranks; E experts, E/N of them on a rank; K experts a token; d
hidden_size; b bytes an element. Attention is data-parallel: each rank holds its own T/N tokens whole, sends each of
them to the ranks of its experts (dispatch) and gets their outputs back (combine). Dense layers send nothing.

Ignored: routing tables and token indices, kernels that copy while others compute, and the experts' own time.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

from core.catalog import MODELS, model
from core.collectives.cost import CollectiveCost, direct_all_to_all, ring_all_reduce
from core.comm_cost.bill import allreduce_payload_bytes
from core.errors import OutOfRangeError, require_divides, require_positive
from core.models.parameters import dtype_bytes
from core.specs import LinkSpec, ModelSpec, MoeSpec


@dataclass(frozen=True)
class ExpertParallelBill:
    """What one step's mixture layers send, one dispatch and one combine a layer, beside tensor parallelism's bill.

    `copies` is how often a token is sent on average, its own rank included: K times, or fewer where a rank is sent
    it once for all its experts there. `tensor_parallel` is the two all-reduces of one of these layers.
    """

    model: str
    link: str
    ranks: int
    tokens: int
    layers: int
    copies: float
    dispatch: CollectiveCost
    combine: CollectiveCost
    tensor_parallel: CollectiveCost

    @property
    def comm_s(self) -> float:
        """All layers, one after another."""
        return self.layers * (self.dispatch.total_s + self.combine.total_s)

    @property
    def tensor_parallel_s(self) -> float:
        """The same layers cut by tensor parallelism instead."""
        return self.layers * self.tensor_parallel.total_s

    @property
    def mixed(self) -> CollectiveCost:
        """One layer with tensor-parallel attention and experts on ranks: one all-reduce, dispatch and combine.

        The all-reduce comes in two halves: a rank dispatches its share of the reduced rows, and gathers all after.
        """
        one = replace(
            self.tensor_parallel,
            steps=self.tensor_parallel.steps // 2,
            traffic_bytes=self.tensor_parallel.traffic_bytes / 2,
            latency_s=self.tensor_parallel.latency_s / 2,
            bandwidth_s=self.tensor_parallel.bandwidth_s / 2,
            base_s=self.tensor_parallel.base_s / 2,
        )
        return one.plus(self.dispatch).plus(self.combine)

    @property
    def traffic_ratio(self) -> float:
        """Bytes of expert parallelism over bytes of tensor parallelism: K/(2N) where all is even; 0 for one rank.

        Against the MLP's all-reduce alone it is twice that, K/N.
        """
        if self.ranks == 1:
            return 0.0
        return (self.dispatch.traffic_bytes + self.combine.traffic_bytes) / self.tensor_parallel.traffic_bytes


def expert_parallel_bill(
    model: ModelSpec,
    tokens: int,
    ranks: int,
    link: LinkSpec,
    *,
    deduplicated: bool = False,
    imbalance: float = 1.0,
) -> ExpertParallelBill:
    """The bill of a step's all-to-alls, and of the same layers under tensor parallelism.

        dispatch = combine = ⌈T/N⌉ · copies · (N-1)/N · d · b    each layer and rank, times the imbalance

    `imbalance` is the busiest rank's load over the mean: its port is the critical path.

    Raises OutOfRangeError for a dense model or an imbalance that no routing has, IndivisibleError where experts do
    not divide over the ranks.
    """
    copies = expected_copies(model, ranks, deduplicated)
    even = even_exchange(model, tokens, ranks, link, copies)
    if not 1 <= imbalance <= ranks:
        raise OutOfRangeError("imbalance", imbalance, "imbalance", least=1, ranks=ranks)
    busiest = replace(even, traffic_bytes=even.traffic_bytes * imbalance, bandwidth_s=even.bandwidth_s * imbalance)
    return ExpertParallelBill(
        model=model.key,
        link=link.key,
        ranks=ranks,
        tokens=tokens,
        layers=model.sparse_layers,
        copies=copies,
        dispatch=busiest,
        combine=busiest,
        tensor_parallel=ring_all_reduce(allreduce_payload_bytes(tokens, model.hidden_size), ranks, link).times(2),
    )


def expected_copies(model: ModelSpec, ranks: int, deduplicated: bool) -> float:
    """How often a token is sent: once for each of its experts, or once to each rank that they are on."""
    moe = model.mixture
    distinct = expected_distinct_ranks(moe, ranks)
    return distinct if deduplicated else float(moe.num_experts_per_tok)


def even_exchange(model: ModelSpec, tokens: int, ranks: int, link: LinkSpec, copies: float) -> CollectiveCost:
    """One dispatch or one combine of a layer, no rank with more to do than another."""
    require_positive(tokens=tokens)
    rows = -(-tokens // ranks) * copies
    return direct_all_to_all(rows * model.hidden_size * dtype_bytes("bf16"), ranks, link)


@lru_cache(maxsize=1024)
def expected_distinct_ranks(moe: MoeSpec, ranks: int) -> float:
    """To how many ranks a token goes on average, were its K experts drawn evenly from E without repetition.

    N · (1 - C(E - E/N, K) / C(E, K))

    Raises IndivisibleError where experts do not divide over the ranks.
    """
    here = require_divides("num_experts", moe.num_experts, "ranks", ranks)
    nowhere_here = comb(moe.num_experts - here, moe.num_experts_per_tok)
    return ranks * (1 - nowhere_here / comb(moe.num_experts, moe.num_experts_per_tok))


MIXTURES = tuple(
    key for key, row in MODELS.items() if row.moe is not None and row.all_reduces == 2 * row.num_hidden_layers
)
"""Those whose layers are attention and experts, and nothing besides."""


@dataclass(frozen=True)
class Experts:
    """What is asked of a mixture: which, over how many ranks, how many tokens, how uneven."""

    mixture: str = "mixtral-8x7b"
    ranks: int = 8
    tokens: int = 64
    imbalance: float = 1.0

    @property
    def model(self) -> ModelSpec:
        return model(self.mixture)

    @property
    def experts_each(self) -> int:
        return self.model.moe.num_experts // self.ranks if self.model.moe else 0

    def bill(self, link: LinkSpec, deduplicated: bool) -> ExpertParallelBill:
        """A copy for each expert a token goes to, or `deduplicated`, one for each rank they live on."""
        return expert_parallel_bill(
            self.model, self.tokens, self.ranks, link, deduplicated=deduplicated, imbalance=self.imbalance
        )
