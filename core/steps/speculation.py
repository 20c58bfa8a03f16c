"""Speculative decoding: one pass over the weights checks k drafted tokens, and keeps those the model agrees with.

a the chance that a drafted token is kept, each alike; k drafts; s the draft's cost of one token over the model's; W
weight bytes. A pass yields the kept drafts and one token more.

Ignored: sampling, the draft's own communication, a tree of drafts, and that acceptance falls along a draft.
Source: Leviathan, Kalman & Matias, "Fast inference from transformers via speculative decoding", 2023
(arXiv 2211.17192), eq. 1, theorem 3.8, and table 4 for `PUBLISHED`.
"""

from dataclasses import dataclass, replace

from core.comm_cost.bill import Bill, Step
from core.comm_cost.kernels import picked_bill
from core.errors import OutOfRangeError, require_non_negative
from core.models.weights import read_weight_bytes
from core.specs import GpuSpec, LinkSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.view import View

DRAFTS = (0, 1, 2, 4, 8)
"""Drafts that are compared."""


def expected_tokens(acceptance: float, drafts: int) -> float:
    """Tokens that a pass with `drafts` yields on average.

        1 + a + a² + … + aᵏ = (1 - aᵏ⁺¹) / (1 - a)

    Raises OutOfRangeError unless 0 <= a <= 1.
    """
    require_non_negative(drafts=drafts)
    if not 0 <= acceptance <= 1:
        raise OutOfRangeError("acceptance", acceptance, "from_to", least=0, most=1)
    return sum(acceptance**kept for kept in range(drafts + 1))


def expected_speedup(acceptance: float, drafts: int, draft_cost: float) -> float:
    """Over one token a pass, where a pass takes as long whatever it checks: E / (k·s + 1)."""
    require_non_negative(draft_cost=draft_cost)
    return expected_tokens(acceptance, drafts) / (drafts * draft_cost + 1)


@dataclass(frozen=True)
class PublishedRow:
    """One draft model beside T5-XXL: what was profiled, the factor the paper expects, and the one it measured."""

    acceptance: float
    drafts: int
    draft_cost: float
    expected: float
    measured: float

    @property
    def over_formula(self) -> float:
        """The published speed-up over that of `expected_speedup`."""
        return self.measured / expected_speedup(self.acceptance, self.drafts, self.draft_cost)


PUBLISHED = (
    PublishedRow(0.75, 7, 0.02, 3.2, 3.4),
    PublishedRow(0.80, 7, 0.04, 3.3, 2.8),
    PublishedRow(0.82, 7, 0.11, 2.5, 1.7),
    PublishedRow(0.62, 7, 0.02, 2.3, 2.6),
    PublishedRow(0.68, 5, 0.04, 2.4, 2.4),
    PublishedRow(0.71, 3, 0.11, 2.0, 1.4),
    PublishedRow(0.65, 5, 0.02, 2.4, 3.1),
    PublishedRow(0.73, 5, 0.04, 2.6, 3.0),
    PublishedRow(0.74, 3, 0.11, 2.0, 2.2),
    PublishedRow(0.53, 5, 0.02, 1.9, 2.3),
    PublishedRow(0.55, 3, 0.04, 1.8, 2.2),
    PublishedRow(0.56, 3, 0.11, 1.6, 1.7),
)
"""The table's rows as printed: translation, then summaries, each greedy, then sampled; drafts small to large."""


@dataclass(frozen=True)
class Speculation:
    """One pass: its bill over B·(k+1) tokens, the draft's time before it, and what it yields a sequence."""

    drafts: int
    bill: Bill
    draft_s: float
    tokens: float
    read_bytes: float
    """Of weights: the pass's own, of a mixture the experts of all tokens it checks, and the drafts'."""

    @property
    def token_s(self) -> float:
        """The pass and its drafts, a token."""
        return (self.bill.total_s + self.draft_s) / self.tokens

    @property
    def bytes_a_token(self) -> float:
        """W·(1 + k·s) / E: what is read of weights for each token of a sequence."""
        return self.read_bytes / self.tokens


def speculation(
    step: Step,
    gpu: GpuSpec,
    link: LinkSpec,
    drafts: int,
    acceptance: float,
    draft_cost: float,
    dtype: str = "bf16",
) -> Speculation:
    """A decode step that checks `drafts` tokens a sequence, priced by the kernel an engine picks.

    Its compute is the weights once, or the arithmetic of all its tokens where that is longer.
    """
    checked = step.tokens * (drafts + 1)
    compute_s = max(step.compute_s, batched_decode_step_s(step.model, gpu, checked, dtype))
    bill = picked_bill(replace(step, tokens=checked, compute_s=compute_s), link).bill
    return Speculation(
        drafts=drafts,
        bill=bill,
        draft_s=drafts * draft_cost * step.rank_compute_s,
        tokens=expected_tokens(acceptance, drafts),
        read_bytes=read_weight_bytes(step.model, dtype, checked) * (1 + drafts * draft_cost),
    )


@dataclass(frozen=True)
class Drafted:
    """What is asked of drafted tokens: how often one is kept, and what one costs over a step of the model."""

    kept_percent: int = 75
    cost_percent: int = 2

    def passes(self, view: View, link: LinkSpec) -> list[Speculation]:
        """A step with no draft, then with more and more."""
        scenario = view.scenario
        kept, cost = self.kept_percent / 100, self.cost_percent / 100
        step = replace(view, phase="decode").step
        gpu, dtype = scenario.gpu_spec, scenario.weight_dtype
        return [speculation(step, gpu, link, drafts, kept, cost, dtype) for drafts in DRAFTS]
