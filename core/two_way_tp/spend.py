"""What a rented GPU costs, running or forgotten, and what a budget still allows.

A ledger is a run of entries: an authorisation reserves its estimate, an actual puts what was paid in its place.
Money is counted in whole millionths of a dollar, so that a cap is met exactly and no rounding adds up past it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Literal

from core.errors import OutOfRangeError, require_non_negative, require_positive

HOURS_A_DAY = 24
MICRO_USD = 1_000_000

Event = Literal["authorize", "actual"]


def cost_usd(usd_per_hour: float, hours: float) -> float:
    """What so many hours of an instance come to."""
    require_non_negative(usd_per_hour=usd_per_hour, hours=hours)
    return usd_per_hour * hours


def hours_for(budget_usd: float, usd_per_hour: float) -> float:
    """How long a budget lasts: budget / rate."""
    require_non_negative(budget_usd=budget_usd)
    require_positive(usd_per_hour=usd_per_hour)
    return budget_usd / usd_per_hour


def micro_usd(usd: float) -> int:
    """Dollars as whole millionths, rounded up: 1.1 is 1100000, though its float lies a little above."""
    exact = Decimal(repr(float(usd))) * MICRO_USD
    return int(exact.to_integral_value(ROUND_CEILING))


@dataclass(frozen=True)
class BudgetLimits:
    """What may be spent: on one lab, on the phase of all labs, in GPU hours, and what a spin-up must find left."""

    lab_usd: float = 3.0
    phase_usd: float = 5.0
    gpu_hours: float = 2.0
    spin_up_usd: float = 3.5
    alert_fraction: float = 0.8

    def __post_init__(self) -> None:
        require_non_negative(lab_usd=self.lab_usd, phase_usd=self.phase_usd, gpu_hours=self.gpu_hours)
        require_non_negative(spin_up_usd=self.spin_up_usd, alert_fraction=self.alert_fraction)


@dataclass(frozen=True)
class SpendEntry:
    """One line of the ledger. `label` begins with the lab's name; what follows a `/` is the learner's own."""

    event: Event
    label: str
    usd: float
    gpu_hours: float = 0.0
    at: str = ""

    def __post_init__(self) -> None:
        if self.event not in ("authorize", "actual"):
            raise OutOfRangeError("event", self.event, "two", a="authorize", b="actual")
        if not 0 <= self.usd < float("inf") or (self.event == "authorize" and self.usd == 0):
            raise OutOfRangeError("usd", self.usd, "dollars", least=0)
        if not 0 <= self.gpu_hours < float("inf"):
            raise OutOfRangeError("gpu_hours", self.gpu_hours, "or_more", least=0)
        if not self.label.strip() or len(self.label) > 80 or not self.label.isprintable():
            raise OutOfRangeError("label", repr(self.label[:80]), "signs", least=1, most=80)

    @property
    def lab(self) -> str:
        """The lab whose cap this counts against: `lab-02` of `lab-02/second try`."""
        return self.label.partition("/")[0].strip()


@dataclass(frozen=True)
class Account:
    """A ledger added up: what was paid, and what is authorised and not yet paid."""

    paid: tuple[SpendEntry, ...]
    open: tuple[SpendEntry, ...]
    limits: BudgetLimits = BudgetLimits()

    def total_spent_usd(self) -> float:
        return _micros(self.paid) / MICRO_USD

    def committed_usd(self) -> float:
        """Paid and authorised: what no one else may have."""
        return self._committed_micros() / MICRO_USD

    def remaining_usd(self) -> float:
        """What may still be authorised of the phase's cap."""
        return max(0, micro_usd(self.limits.phase_usd) - self._committed_micros()) / MICRO_USD

    @property
    def gpu_hours(self) -> float:
        return sum(entry.gpu_hours for entry in (*self.paid, *self.open))

    @property
    def alert(self) -> bool:
        """Whether the part of the phase's cap at which to be warned is committed."""
        return self._committed_micros() >= self.limits.alert_fraction * micro_usd(self.limits.phase_usd)

    def refusal(self, wanted: SpendEntry, spin_up: bool = False) -> str:
        """Why an authorisation cannot be given, in a sentence; empty where it can."""
        limits, micros = self.limits, micro_usd(wanted.usd)
        for name, cap_usd, lab in ((wanted.lab, limits.lab_usd, wanted.lab), ("the phase", limits.phase_usd, None)):
            committed = self._committed_micros(lab)
            if committed + micros > micro_usd(cap_usd):
                return (
                    f"${wanted.usd:.2f} on top of ${committed / MICRO_USD:.2f} passes the ${cap_usd:.2f} of {name}"
                )
        if self.gpu_hours + wanted.gpu_hours > limits.gpu_hours + 1e-9:
            hours = f"{wanted.gpu_hours:g} GPU hours on top of {self.gpu_hours:g}"
            return f"{hours} pass the {limits.gpu_hours:g} of the phase"
        if spin_up and self.remaining_usd() < limits.spin_up_usd:
            left = f"${self.remaining_usd():.2f} are left"
            return f"{left}, and ${limits.spin_up_usd:.2f} must be before an instance is started"
        return ""

    def _committed_micros(self, lab: str | None = None) -> int:
        return _micros(self.paid, lab) + _micros(self.open, lab)


def account(entries: Iterable[SpendEntry], limits: BudgetLimits | None = None) -> Account:
    """Add up a ledger: an actual settles the oldest open authorisation of its label.

    Money that was paid without one counts all the same.
    """
    paid: list[SpendEntry] = []
    waiting: list[SpendEntry] = []
    for entry in entries:
        if entry.event == "authorize":
            waiting.append(entry)
            continue
        paid.append(entry)
        settled = next((index for index, one in enumerate(waiting) if one.label == entry.label), None)
        if settled is not None:
            del waiting[settled]
    return Account(tuple(paid), tuple(waiting), limits or BudgetLimits())


def _micros(entries: Iterable[SpendEntry], lab: str | None = None) -> int:
    return sum(micro_usd(entry.usd) for entry in entries if lab in (None, entry.lab))
