"""Where one way of using the GPUs starts to beat another: TP or one GPU, TP or two replicas.

BW memory bytes/s of one GPU, N tp_size, b bytes a parameter, W weight bytes of the model, M usable bytes a GPU,
t_ar seconds of one all-reduce, c seconds of all communication in a step. Decode is bound by memory throughout.
"""

from dataclasses import dataclass
from math import sqrt

from core.errors import OutOfRangeError, remark, require_non_negative, require_positive
from core.units import decimal_bytes


def crossover_hidden_size(
    all_reduce_s: float, memory_bytes_per_s: float, tp_size: int, bytes_per_element: float = 2
) -> float:
    """The width above which TP makes a decode step at batch 1 shorter, whatever the depth.

        d* = sqrt(t_ar · BW · N / ((N-1) · 6b))

    A layer of 12 d² parameters saves (N-1)/N of its time and pays two all-reduces. Ignored: launches.
    Raises OutOfRangeError for one rank, which saves nothing.
    """
    require_non_negative(all_reduce_s=all_reduce_s)
    require_positive(memory_bytes_per_s=memory_bytes_per_s, bytes_per_element=bytes_per_element)
    if tp_size < 2:
        raise OutOfRangeError("tp_size", tp_size, "saves_nothing", least=2)
    share_saved = (tp_size - 1) / tp_size
    return sqrt(all_reduce_s * memory_bytes_per_s / (6 * bytes_per_element * share_saved))


@dataclass(frozen=True)
class TwoGpus:
    """Two GPUs that either hold the model once between them (TP=2) or twice (replicas)."""

    weight_bytes: float
    usable_bytes: float
    memory_bytes_per_s: float

    def __post_init__(self) -> None:
        require_positive(
            weight_bytes=self.weight_bytes,
            usable_bytes=self.usable_bytes,
            memory_bytes_per_s=self.memory_bytes_per_s,
        )

    def comm_at_full_memory_s(self) -> float:
        """Below this much communication a step TP=2 beats replicas, where both fill their memory with sequences.

            (M/BW) · W / (2(M - W)): weights stored once leave more room

        Raises OutOfRangeError where one GPU cannot hold the model: there are no replicas then.
        """
        if self.usable_bytes <= self.weight_bytes:
            half_fits = self.weight_bytes / 2 < self.usable_bytes
            way = remark("errors.only_way", size=2) if half_fits else remark("errors.nor_half")
            weights, usable = decimal_bytes(self.weight_bytes), decimal_bytes(self.usable_bytes)
            raise OutOfRangeError("weights", weights, "does_not_fit", usable=usable, way=way)
        room = self.usable_bytes - self.weight_bytes
        return self.usable_bytes / self.memory_bytes_per_s * self.weight_bytes / (2 * room)
