"""How a model in training is distributed over GPUs, and which of its parameters one rank then has to do with.

A strategy is a composition: every degree is 1 until it is used, so DDP, ZeRO, FSDP, TP, PP and EP are all one type.
Letters: N dp_size, t tp_size, p pp_size, e ep_size. Expert parallelism distributes the experts over e of the N
data-parallel ranks; the N/e ranks that hold the same experts are their replicas.
Ignored: KV heads repeated where t is more than there are, and layers distributed unevenly.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from core.errors import OutOfRangeError, require_divides, require_positive
from core.models.kv_cache import heads_on_rank
from core.models.parameters import count_parameters
from core.specs import ModelSpec

Recompute = Literal["none", "selective", "full"]
"""What is computed again in the backward: nothing, the attention scores, or whole layers from their inputs."""
ZERO_NAMES = ("DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3")


@dataclass(frozen=True)
class Strategy:
    """A composition. `zero` is the stage of ZeRO over the data-parallel ranks: 0 is DDP, 3 is FSDP.

    `reshard` drops the gathered weights of a layer after its forward, to gather them again for its backward.
    """

    dp_size: int = 1
    zero: int = 0
    reshard: bool = True
    tp_size: int = 1
    sequence_parallel: bool = False
    pp_size: int = 1
    ep_size: int = 1
    recompute: Recompute = "none"

    def __post_init__(self) -> None:
        require_positive(dp_size=self.dp_size, tp_size=self.tp_size, pp_size=self.pp_size, ep_size=self.ep_size)
        if self.zero not in range(4):
            raise OutOfRangeError("zero", self.zero, "zero", a=0, b=1, c=2, d=3)
        if self.recompute not in get_args(Recompute):
            raise OutOfRangeError("recompute", self.recompute, "not_one_of", known=", ".join(get_args(Recompute)))
        require_divides("dp_size", self.dp_size, "ep_size", self.ep_size)

    @property
    def world_size(self) -> int:
        """GPUs in all: expert parallelism needs none of its own."""
        return self.dp_size * self.tp_size * self.pp_size

    @property
    def expert_replicas(self) -> int:
        """Ranks that hold the same experts."""
        return self.dp_size // self.ep_size

    @property
    def name(self) -> str:
        """As it is written: `ZeRO-3 × 8, TP=4 + SP, PP=2`."""
        parts = [f"{ZERO_NAMES[self.zero]} × {self.dp_size}"] if self.dp_size > 1 else []
        if self.tp_size > 1:
            parts.append(f"TP={self.tp_size}{' + SP' if self.sequence_parallel else ''}")
        parts += [f"PP={self.pp_size}"] if self.pp_size > 1 else []
        parts += [f"EP={self.ep_size}"] if self.ep_size > 1 else []
        return ", ".join(parts) or "one GPU"


@dataclass(frozen=True)
class RankParameters:
    """Parameters one rank computes with, before ZeRO shards what is kept of them.

    `layers` are its stage's layers without routed experts, `experts` those of the routed experts that it has,
    `ends` the tables at either end of the model that stand on its stage, `largest_end` the largest of them.
    """

    layers: float
    experts: float
    ends: float
    largest_end: float
    num_layers: int

    @property
    def total(self) -> float:
        return self.layers + self.experts + self.ends


def rank_parameters(model: ModelSpec, strategy: Strategy, stage: int = 0) -> RankParameters:
    """What one rank of a stage computes with.

        (attention + MLP)/(p·t) + norms/p + experts/(p·t·e) + the stage's tables/t

    The first stage has the input embedding, the last the head; a shared table stands on both where they differ.
    Raises IndivisibleError where layers, heads or experts do not divide, OutOfRangeError for EP of a dense model or
    a stage that is none.
    """
    t, p = strategy.tp_size, strategy.pp_size
    num_layers = require_divides("num_hidden_layers", model.num_hidden_layers, "pp_size", p)
    require_divides("num_attention_heads", model.num_attention_heads, "tp_size", t)
    heads_on_rank(model.num_key_value_heads, t)
    if strategy.ep_size > 1:
        require_divides("num_experts", model.mixture.num_experts, "ep_size", strategy.ep_size)
    if stage not in range(p):
        raise OutOfRangeError("stage", stage, "below_stages", stages=p)
    count = count_parameters(model)
    cut, whole = count.attention + count.mlp + count.shared_experts, count.norms + count.router
    tables = _tables(model, stage, p)
    return RankParameters(
        layers=(cut / t + whole) / p,
        experts=count.experts / (p * t * strategy.ep_size),
        ends=sum(tables) / t,
        largest_end=max(tables, default=0) / t,
        num_layers=num_layers,
    )


def _tables(model: ModelSpec, stage: int, stages: int) -> list[int]:
    count = count_parameters(model)
    first = [count.embedding + count.positions] if stage == 0 else []
    shared_elsewhere = model.tie_word_embeddings and stage != 0
    last = [count.embedding if shared_elsewhere else count.head] if stage == stages - 1 else []
    return first + last
