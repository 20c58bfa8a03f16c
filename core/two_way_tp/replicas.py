"""Two GPUs: one model cut over both, or one on each. Three ways of asking, and the link decides two of them.

BW memory bytes/s of one GPU, W weight bytes, M usable bytes a GPU, c seconds of communication in a step, T one
prompt's arithmetic on one GPU.
"""

from dataclasses import dataclass
from math import floor
from typing import Literal

from core.comm_cost.bill import tp_comm_time_per_step, weight_streaming_s
from core.comm_cost.break_even import TwoGpus
from core.models.kv_cache import kv_bytes_per_token
from core.models.weights import held_weight_bytes
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.model import prefill_step_s

Kind = Literal["same batch", "full memory", "prompts"]
RANKS = 2


@dataclass(frozen=True)
class Duel:
    """One way of asking, on one link. `gain` is the throughput of TP=2 over that of two replicas.

    `comm_s` is what a step of TP=2 spends in sums, `allowed_s` the most with which it still wins: nothing, where
    it divides arithmetic that replicas divide as well.
    """

    kind: Kind
    link: LinkSpec
    comm_s: float
    allowed_s: float
    gain: float

    @property
    def tp_wins(self) -> bool:
        return self.gain > 1


def duels(
    model: ModelSpec, gpu: GpuSpec, link: LinkSpec, dtype: str = "bf16", batch: int = 1, prompt_tokens: int = 2048
) -> tuple[Duel, ...]:
    """The three on one link.

        same batch:    replicas W/BW, TP=2 W/(2·BW) + c, for the same sequences; of a mixture, a replica reads the
                       experts that its half of them meets
        full memory:   replicas hold M - W of cache each, TP=2 2M - W together, of sequences of `prompt_tokens`; a
                       step reads M either way, and TP=2 adds c
        prompts:       two prompts take replicas T, TP=2 T + 2c: arithmetic is divided either way

    Ignored: launches, and that a step's memory and arithmetic overlap.
    Raises OutOfRangeError where one GPU cannot hold the model: there are no replicas then.
    """
    weight_bytes = held_weight_bytes(model, dtype)
    pair = TwoGpus(weight_bytes, gpu.usable_memory_bytes, gpu.memory_bytes_per_s)
    sequence_bytes = prompt_tokens * kv_bytes_per_token(model)
    sequences = max(1, floor((RANKS * pair.usable_bytes - weight_bytes) / sequence_bytes))
    full_s, same_s, sums_s = (
        tp_comm_time_per_step(model, tokens, RANKS, link) for tokens in (sequences, batch, prompt_tokens)
    )
    replica_s = weight_streaming_s(model, gpu, dtype, tokens=max(1, batch / RANKS))
    shared_s = weight_streaming_s(model, gpu, dtype, tokens=batch) / RANKS
    prefill_s = prefill_step_s(model, gpu, prompt_tokens, dtype=dtype)
    return (
        _full_memory(pair, link, full_s),
        Duel("same batch", link, same_s, replica_s - shared_s, replica_s / (shared_s + same_s)),
        Duel("prompts", link, sums_s, 0.0, prefill_s / (prefill_s + RANKS * sums_s)),
    )


def _full_memory(pair: TwoGpus, link: LinkSpec, comm_s: float) -> Duel:
    allowed_s = pair.comm_at_full_memory_s()
    step_s = pair.usable_bytes / pair.memory_bytes_per_s
    room = pair.usable_bytes - pair.weight_bytes
    more = (RANKS * pair.usable_bytes - pair.weight_bytes) / (RANKS * room)
    return Duel("full memory", link, comm_s, allowed_s, more * step_s / (step_s + comm_s))
