"""What a learner's lab 03 code bills a step, beside what the reference bills it.

The code itself runs elsewhere. What it gave comes here as numbers that JSON can hold, or as anything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.catalog import link as find_link
from core.comm_cost.bill import Bill, Step, bill
from core.specs import LinkSpec, ModelSpec

TASK = "bill"
LINKS = ("nvlink-lab", "ethernet-10g-lab")
"""The two that the lab's napkin prices."""
AGREES = 1e-9
"""A relative difference that is rounding: the sums are taken in another order."""
LONGEST_S = 1e9
_NANOSECONDS = 10**9


@dataclass(frozen=True)
class OwnBill:
    """A step's all-reduces over one link as the learner's code prices them: all of it, and of this the bytes' part.

    `fraction` is their share of the wall clock; None where the code gives none.
    """

    link: LinkSpec
    comm_s: float
    bandwidth_s: float
    fraction: float | None
    due: Bill

    @property
    def latency_s(self) -> float:
        """The part of it that goes when hops take no time."""
        return self.comm_s - self.bandwidth_s

    @property
    def right(self) -> bool:
        """Whether the reference says the same of it."""
        agrees = abs(self.comm_s - self.due.comm_s) <= AGREES * self.due.comm_s
        return agrees and self.fraction is not None and abs(self.fraction - self.due.comm_fraction) <= AGREES


def sizes_of(step: Step) -> tuple[int, ...]:
    """Return a step as whole numbers: layers, hidden size, tokens, ranks, nanoseconds of compute."""
    model = step.model
    return (
        model.num_hidden_layers,
        model.hidden_size,
        step.tokens,
        step.tp_size,
        round(_NANOSECONDS * step.compute_s),
    )


def step_of(layers: int, hidden_size: int, tokens: int, ranks: int, compute_ns: int) -> Step:
    """Return the step of such sizes as the lab bills it: two all-reduces in each layer, the compute whole."""
    plain = ModelSpec("own", "own", hidden_size, layers, 1, 1, hidden_size, hidden_size, hidden_size, hidden_size)
    return Step(plain, ranks, tokens, compute_ns / _NANOSECONDS)


def result_of(lab: Any, *sizes: int) -> dict[str, object]:
    """Return what a lab's module bills over each link: seconds, those without a wait for hops, and the share."""
    step = step_of(*sizes)

    def over(link: LinkSpec) -> float:
        return float(lab.tp_comm_time_per_step(step.model, step.tokens, step.tp_size, link))

    def share(comm_s: float) -> float | None:
        try:
            return float(lab.comm_fraction(comm_s, step.compute_s))
        except Exception:  # not written yet, or wrong: the tests say so
            return None

    bills = []
    for link in map(find_link, LINKS):
        comm_s = over(link)
        bills.append([comm_s, over(replace(link, latency_s=0.0)), share(comm_s)])
    return {"sizes": list(sizes), "bills": bills}


def own_bills(row: Mapping[str, object], sizes: Sequence[int]) -> tuple[OwnBill, ...]:
    """Return the bills in a row that was told, whatever it holds; none of another step, or of what is no bill."""
    told = row.get("bills")
    if row.get("sizes") != list(sizes) or not isinstance(told, list) or len(told) != len(LINKS):
        return ()
    step, bills = step_of(*sizes), []
    for key, one in zip(LINKS, told, strict=True):
        if not (isinstance(one, list) and len(one) == 3 and all(map(_is_time, one[:2])) and one[1] <= one[0]):
            return ()
        link, share = find_link(key), one[2] if _is_time(one[2]) else None
        bills.append(OwnBill(link, float(one[0]), float(one[1]), share, bill(step, link)))
    return tuple(bills)


def _is_time(value: object) -> bool:
    """Whether it can be drawn: a number from zero to what no step takes."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LONGEST_S
