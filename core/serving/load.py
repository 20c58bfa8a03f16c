"""An engine under load: requests arrive at random, wait, are read, and are then written a token at a time together.

λ arrivals a second, S prompt tokens, O output tokens, C sequences that memory holds, D(B) a decode step of B, P one
prompt's prefill alone, A what it adds to steps that decode anyway. The engine batches continuously and chunks its
prefills: a step carries one token of every running sequence and up to `chunk_tokens` of the prompts that wait, in
the order they came, and takes D(B) + the chunk's share of A, or of P where nothing decodes: weights are read,
kernels launched and hops waited for once a step. The first token comes at the end of the step that reads a prompt's
last chunk. A prompt is begun only while there is room for it and its whole output, so nothing is ever evicted.

Ignored: lengths that differ, a cache of prefixes, and tokens cancelled half-way. With a chunk as long as a prompt
everyone waits while one is read, as with prefill first.
"""

from bisect import bisect_left
from dataclasses import dataclass

from core.errors import OutOfRangeError, require_non_negative, require_positive

CHUNK_TOKENS = 2048
"""Prompt tokens a step reads besides. Source: vLLM V1's default max_num_batched_tokens for a server."""


@dataclass(frozen=True)
class EngineCost:
    """What an engine's steps take: P alone, and D at some batch sizes, ascending, with straight lines between.

    P is 0 where prompts are read elsewhere, and A = `added_fraction` · P (core.steps.mixed). `prefill_delay_s` is
    what a first token takes beyond P while the engine already does something else: the later stages of a pipeline,
    or the other copies of attention.
    """

    prompt_tokens: int
    output_tokens: int
    prefill_s: float
    batches: tuple[int, ...]
    decode_s: tuple[float, ...]
    most_running: int
    prefill_delay_s: float = 0.0
    added_fraction: float = 1.0

    def __post_init__(self) -> None:
        require_positive(
            prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens, most_running=self.most_running
        )
        require_non_negative(prefill_s=self.prefill_s)
        if not 0 <= self.added_fraction <= 1:
            raise OutOfRangeError("added_fraction", self.added_fraction, "lies_in_closed", least=0, most=1)
        if len(self.batches) != len(self.decode_s) or list(self.batches) != sorted(set(self.batches)):
            raise OutOfRangeError("batches", self.batches, "ascending")
        require_positive(batch=min(self.batches), decode_s=min(self.decode_s))

    def decode_at(self, batch: float) -> float:
        """D at a batch size: a straight line between two that are known, and past the last of them."""
        if len(self.batches) == 1:
            return self.decode_s[0]
        right = min(max(1, bisect_left(self.batches, batch)), len(self.batches) - 1)
        low, high = self.batches[right - 1], self.batches[right]
        along = max(0.0, (batch - low) / (high - low))
        return (1 - along) * self.decode_s[right - 1] + along * self.decode_s[right]

    @property
    def decode_steps(self) -> int:
        """Steps after the first token, which the prefill gives."""
        return self.output_tokens - 1

    @property
    def alone_s(self) -> float:
        """A request that meets nobody: P, its delay, and (O - 1)·D(1)."""
        return self.prefill_s + self.prefill_delay_s + self.decode_steps * self.decode_at(1)

    @property
    def capacity_per_s(self) -> float:
        """Requests a second that a full engine completes; above it the queue grows without end.

        1 / (A + (O - 1)·D(C)/C)
        """
        full_s = self.decode_at(self.most_running) / self.most_running
        return 1 / (self.added_s + self.decode_steps * full_s)

    @property
    def added_s(self) -> float:
        """What a prompt adds to steps that decode anyway: A."""
        return self.added_fraction * self.prefill_s


@dataclass(frozen=True)
class SteadyState:
    """Where an engine settles, by averages. `batch` sequences run, `itl_s` apart in their tokens."""

    batch: float
    itl_s: float
    prefill_fraction: float


def steady_state(cost: EngineCost, arrivals_per_s: float) -> SteadyState | None:
    """The batch at which as many sequences end as arrive; None above the engine's capacity.

        ITL = D(B) / (1 - λA),  B = λ·(O - 1)·ITL

    Prefills take the share λA of the time and decode steps the rest; the second line is Little's law.
    """
    prefill_fraction = arrivals_per_s * cost.added_s
    if arrivals_per_s >= cost.capacity_per_s:
        return None

    def itl_s(batch: float) -> float:
        return cost.decode_at(max(1.0, batch)) / (1 - prefill_fraction)

    low, high = 0.0, float(cost.most_running)
    for _ in range(60):
        middle = (low + high) / 2
        if arrivals_per_s * cost.decode_steps * itl_s(middle) > middle:
            low = middle
        else:
            high = middle
    return SteadyState(high, itl_s(high), prefill_fraction)
