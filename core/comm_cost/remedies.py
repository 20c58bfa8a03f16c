"""What would make a communication bill smaller: hide it behind compute, shorten its hops, widen its link.

f overlap fraction, the share of communication that runs while the GPU computes; α a hop, β one direction.
"""

from dataclasses import dataclass
from typing import Literal

from core.comm_cost.bill import Bill, Step, bill
from core.comm_cost.readings import altered
from core.errors import OutOfRangeError, require_non_negative, require_positive
from core.specs import LinkSpec


def exposed_s(comm_s: float, step_s: float, overlap_fraction: float) -> float:
    """What of the communication still stands in the way when a share of it runs behind compute.

        max((1 - f) · comm, comm - step)

    No more can be hidden than the step is long. Ignored: that both then share memory bandwidth and SMs.
    """
    require_non_negative(comm_s=comm_s, step_s=step_s)
    if not 0 <= overlap_fraction <= 1:
        raise OutOfRangeError("overlap_fraction", overlap_fraction, "lies_in", interval="0..1")
    return max((1 - overlap_fraction) * comm_s, comm_s - step_s)


def overlap_break_even(fast_comm_s: float, slow_comm_s: float) -> float:
    """The share of a slow link's bill to hide for it to cost what a fast link costs with nothing hidden.

        f* = 1 - T_fast / T_slow

    0 where the slow link is not slower.
    """
    require_non_negative(fast_comm_s=fast_comm_s)
    require_positive(slow_comm_s=slow_comm_s)
    return max(0.0, 1 - fast_comm_s / slow_comm_s)


def overlap_for_fraction(comm_s: float, step_s: float, fraction: float) -> float | None:
    """The share to hide for communication to be `fraction` of the whole; None where a whole step hides too little.

        f = 1 - step · F / ((1 - F) · comm)

    Raises OutOfRangeError unless 0 < F < 1.
    """
    if not 0 < fraction < 1:
        raise OutOfRangeError("fraction", fraction, "between", least=0, most=1)
    require_positive(comm_s=comm_s, step_s=step_s)
    allowed_s = step_s * fraction / (1 - fraction)
    if comm_s - step_s > allowed_s:
        return None
    return max(0.0, 1 - allowed_s / comm_s)


@dataclass(frozen=True)
class Purchase:
    """One change of the link, and the bill with it. `saved_s` is against the link as it is."""

    key: Literal["halve_latency", "double_bandwidth"]
    bill: Bill
    saved_s: float


@dataclass(frozen=True)
class PurchaseAdvice:
    """Two purchases for one workload, and the payload at which they would save the same.

    `better` is None where they do: at that payload, or where one rank sends nothing.
    """

    now: Bill
    purchases: tuple[Purchase, Purchase]
    equal_payload_bytes: float

    @property
    def better(self) -> Literal["halve_latency", "double_bandwidth"] | None:
        """The purchase that saves more."""
        latency, bandwidth = self.purchases
        if latency.saved_s == bandwidth.saved_s:
            return None
        return max(self.purchases, key=lambda purchase: purchase.saved_s).key


def what_to_buy(step: Step, link: LinkSpec) -> PurchaseAdvice:
    """Half the latency a hop, or twice the bandwidth: what each does to the bill of a step.

    Each halves one term of it, so the larger term decides. The launch is bought by neither.
    """
    now = bill(step, link)
    nearer, wider = bill(step, altered(link, latency_factor=0.5)), bill(step, altered(link, bandwidth_factor=2))
    return PurchaseAdvice(
        now=now,
        purchases=(
            Purchase("halve_latency", nearer, now.comm_s - nearer.comm_s),
            Purchase("double_bandwidth", wider, now.comm_s - wider.comm_s),
        ),
        equal_payload_bytes=equal_gain_payload_bytes(step.tp_size, link),
    )


def equal_gain_payload_bytes(ranks: int, link: LinkSpec) -> float:
    """The payload at which a ring's hops take as long as its bytes, so that halving either saves the same.

        n = N · α · β

    Below it buy latency, above it bandwidth. Unlike `balance_payload_bytes` it leaves the launch out: it is not
    for sale.
    """
    require_positive(ranks=ranks)
    return ranks * link.latency_s * link.bandwidth_bytes_per_s
