"""A link's two numbers out of a measured table, the payload where two links are alike, a choice under a budget.

N ranks, n payload_bytes, α latency_s, β bandwidth_bytes_per_s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.comm_cost.bill import tp_comm_time_per_step
from core.errors import OutOfRangeError
from core.specs import LinkSpec, ModelSpec


@dataclass(frozen=True)
class Offer:
    """Some GPUs that can be had: how many, the link between them, the memory of each and the price of all."""

    name: str
    tp_size: int
    link: LinkSpec
    gpu_memory_bytes: float
    usd_per_hour: float


def fit_link(payloads_bytes: Sequence[float], times_s: Sequence[float], ranks: int) -> tuple[float, float]:
    """α and β whose ring comes closest to measured all-reduces, by the least sum of squared relative errors.

        Σ (T(n)/t - 1)², T(n) = 2(N-1)·α + 2(N-1)/N · n/β

    Relative, since times of a table span decades: of absolute errors the largest payloads alone would count.
    """
    hops = 2 * (ranks - 1)
    sizes, times = np.asarray(payloads_bytes, dtype=float), np.asarray(times_s, dtype=float)
    columns = np.stack([hops / times, hops / ranks * sizes / times], axis=1)
    (latency_s, s_per_byte), *_ = np.linalg.lstsq(columns, np.ones(len(times)), rcond=None)
    return float(latency_s), float(1 / s_per_byte)


def crossing_payload_bytes(one: LinkSpec, other: LinkSpec, ranks: int) -> float | None:
    """The payload whose ring takes as long on either link; None where no payload above 0 does.

    n = N · (α₂ - α₁) / (1/β₁ - 1/β₂)
    """
    waits = other.latency_s - one.latency_s
    per_byte = 1 / one.bandwidth_bytes_per_s - 1 / other.bandwidth_bytes_per_s
    return ranks * waits / per_byte if ranks > 1 and waits * per_byte > 0 else None


def cheapest_offer(
    offers: Sequence[Offer], model: ModelSpec, weights_bytes: float, step_s: float, budget_s: float
) -> Offer | None:
    """The cheapest offer that holds the weights and decodes a token within the budget; None where none does.

        step = step_s / N + communication of one token at TP=N

    Each rank holds 1/N of the weights and computes 1/N of `step_s`. Of two at a price, the faster.
    Raises OutOfRangeError for a budget of 0 or below, which nothing meets.
    """
    if budget_s <= 0:
        raise OutOfRangeError("budget_s", budget_s, "no_time", least=0)

    def token_s(offer: Offer) -> float:
        return step_s / offer.tp_size + tp_comm_time_per_step(model, 1, offer.tp_size, offer.link)

    within = [
        offer
        for offer in offers
        if weights_bytes / offer.tp_size <= offer.gpu_memory_bytes and token_s(offer) <= budget_s
    ]
    return min(within, key=lambda offer: (offer.usd_per_hour, token_s(offer)), default=None)
