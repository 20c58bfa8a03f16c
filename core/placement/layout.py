"""Every way to cut a model over a cluster's GPUs.

tp cuts a layer, pp distributes layers, replicas are engines. dp repeats attention inside one engine, while its
experts are spread over all of its tp · dp ranks: expert parallelism. dcp shares out the tokens of the KV cache over
ranks of a layer that would otherwise keep the same keys: decode context parallelism, which takes no GPU more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.errors import divisors, require_divides, require_positive
from core.placement.cluster import ClusterSpec
from core.specs import ModelSpec


@dataclass(frozen=True)
class Layout:
    """One way: sizes whose product is the GPUs it uses."""

    tp_size: int = 1
    pp_size: int = 1
    replicas: int = 1
    dp_size: int = 1
    dcp_size: int = 1

    def __post_init__(self) -> None:
        require_positive(tp_size=self.tp_size, pp_size=self.pp_size, replicas=self.replicas, dp_size=self.dp_size)
        require_divides("tp_size", self.tp_size, "dcp_size", self.dcp_size)

    @property
    def ep_size(self) -> int:
        """Ranks that a layer's experts are spread over; 1 where each is cut by tensor parallelism instead."""
        return self.tp_size * self.dp_size if self.dp_size > 1 else 1

    @property
    def gpus_per_replica(self) -> int:
        """tp·pp·dp: ranks that one engine starts."""
        return self.tp_size * self.pp_size * self.dp_size

    @property
    def gpus(self) -> int:
        return self.gpus_per_replica * self.replicas

    @property
    def attention_copies(self) -> int:
        """Places that a sequence may live: each holds its own part of the KV cache."""
        return self.dp_size * self.replicas

    @cached_property
    def name(self) -> str:
        """As it is written: `TP=4 PP=2 ×2`, `TP=1 DP=8 EP=8`."""
        parts = [f"TP={self.tp_size}"]
        parts += [f"DCP={self.dcp_size}"] if self.dcp_size > 1 else []
        parts += [f"PP={self.pp_size}"] if self.pp_size > 1 else []
        parts += [f"DP={self.dp_size} EP={self.ep_size}"] if self.dp_size > 1 else []
        parts += [f"×{self.replicas}"] if self.replicas > 1 else []
        return " ".join(parts)


def layouts(
    model: ModelSpec, cluster: ClusterSpec, expert_parallel: bool = True, context_parallel: bool = False
) -> Iterator[Layout]:
    """Every TP × PP × replicas, and for a mixture every TP × DP × PP × replicas, on as many GPUs as it can use.

    Without `expert_parallel` a mixture's experts are cut like everything else; with `context_parallel` the cache of
    ranks that keep the same keys is also shared out over them.
    Sizes are the divisors of the GPUs and the powers of two below them; where they leave a rest, GPUs stand idle.
    Whether the model splits so, and fits, is another question.
    """
    gpus = cluster.gpus
    sizes = sorted({*divisors(gpus), *(2**power for power in range(gpus.bit_length()))})
    for tp_size in sizes:
        groups = cluster.groups_of(tp_size)
        for pp_size in sizes:
            for dp_size in sizes if expert_parallel and model.moe is not None else (1,):
                for dcp_size in cache_shares(model, tp_size) if context_parallel else (1,):
                    if pp_size * dp_size <= groups:
                        yield Layout(tp_size, pp_size, groups // (pp_size * dp_size), dp_size, dcp_size)


def cache_shares(model: ModelSpec, tp_size: int) -> tuple[int, ...]:
    """Ways to share out the tokens of a cache: over ranks that hold the same KV heads, and whole query groups.

    Source: vllm/config/model.py, ModelConfig.verify_with_parallel_config.
    """
    if model.mla is not None:
        return tuple(sorted(divisors(tp_size)))
    copies, queries = tp_size // model.num_key_value_heads, model.num_attention_heads // model.num_key_value_heads
    return (1, *(size for size in sorted(divisors(tp_size)) if 1 < size <= copies and queries % size == 0))
