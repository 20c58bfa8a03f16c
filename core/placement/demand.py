"""What is asked of a placement: how many sequences of what length and width, by when, at what price."""

from dataclasses import dataclass
from typing import Literal

from core.errors import OutOfRangeError, require_positive
from core.steps.speculation import expected_tokens

MOST_DRAFTED = 16


@dataclass(frozen=True)
class Demand:
    """What is asked: sequences at once, their lengths and widths, targets, the price of a GPU.

    Without a rate the targets bound the mean time between tokens of so many sequences in flight, and a first token
    that meets no queue; with `requests_per_s` both bound that percentile of requests that arrive at random.
    `prefix_fraction` of a prompt is found in the cache. Each step checks `draft_tokens` that were guessed ahead,
    each of them right with a chance of `acceptance` where those before it are.
    """

    concurrency: int = 1
    prompt_tokens: int = 2048
    output_tokens: int = 256
    dtype: str = "bf16"
    kv_dtype: str = "bf16"
    slo_itl_s: float | None = None
    slo_ttft_s: float | None = None
    requests_per_s: float | None = None
    percentile: Literal[50, 99] = 99
    usd_per_gpu_hour: float | None = None
    prefix_fraction: float = 0.0
    draft_tokens: int = 0
    acceptance: float = 0.7

    def __post_init__(self) -> None:
        require_positive(
            concurrency=self.concurrency, prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens
        )
        told = ("slo_itl_s", "slo_ttft_s", "requests_per_s", "usd_per_gpu_hour")
        require_positive(**{name: value for name in told if (value := getattr(self, name)) is not None})
        if not 0 <= self.prefix_fraction < 1:
            raise OutOfRangeError("prefix_fraction", self.prefix_fraction, "lies_in_open", least=0, most=1)
        if not 0 <= self.acceptance <= 1:
            raise OutOfRangeError("acceptance", self.acceptance, "lies_in_closed", least=0, most=1)
        if not 0 <= self.draft_tokens <= MOST_DRAFTED:
            raise OutOfRangeError("draft_tokens", self.draft_tokens, "from_to", least=0, most=MOST_DRAFTED)

    @property
    def tokens_a_step(self) -> float:
        """Tokens that a step yields: of the draft those that are right from its start, and one of the model's."""
        return expected_tokens(self.acceptance, self.draft_tokens)

    @property
    def cached_tokens(self) -> int:
        """Tokens of a prompt that are found in the cache: all but one at most."""
        return min(int(self.prefix_fraction * self.prompt_tokens), self.prompt_tokens - 1)

    @property
    def sequence_tokens(self) -> int:
        """Tokens a sequence keeps in the cache at its end."""
        return self.prompt_tokens + self.output_tokens

    @property
    def mean_context(self) -> float:
        """Tokens a sequence holds halfway through its output."""
        return self.prompt_tokens + self.output_tokens / 2
