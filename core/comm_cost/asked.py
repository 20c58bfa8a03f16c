"""A bill of one's own, and the wrong answers to lab 03's question that are known."""

from dataclasses import astuple, dataclass

from core.catalog import model as find_model
from core.comm_cost.bill import Bill, Step, bill
from core.specs import LinkSpec
from core.text.numbers import figure, whole


@dataclass(frozen=True)
class AskedBill:
    """What the bench asks: a link and a step of one's own. As text it is the pin in the URL."""

    latency_us: float
    bandwidth_gb_s: float
    tokens: int
    step_ms: float
    tp: int
    model: str

    def text(self) -> str:
        """The pin: the six values between underscores."""
        return "_".join(f"{value:g}" if isinstance(value, float) else str(value) for value in astuple(self))

    @classmethod
    def from_text(cls, text: str) -> "AskedBill | None":
        """The bill a pin means; None for anything that is not one."""
        try:
            latency, gb, rows, step, tp, name = text.split("_")
            own = cls(figure(latency), figure(gb), whole(rows), figure(step), whole(tp), find_model(name).key)
            own.bill()
        except (ValueError, OverflowError):
            return None
        return own

    def link(self) -> LinkSpec:
        return LinkSpec("own", "your link", 1e-6 * self.latency_us, 1e9 * self.bandwidth_gb_s)

    def bill(self, divided: bool = True) -> Bill:
        """This bill, priced as a ring."""
        return bill(Step(find_model(self.model), self.tp, self.tokens, 1e-3 * self.step_ms, divided), self.link())


def known_slips(priced: Bill) -> dict[str, float]:
    """Wrong answers to the question, as speeds in per cent of one GPU's, by their names in room.md."""
    whole_s, mine_s, comm_s = priced.step.compute_s, priced.step.rank_compute_s, priced.comm_s
    wrong = {"free": mine_s, "one_a_layer": mine_s + comm_s / 2, "undivided": whole_s + comm_s}
    return {name: 100 * whole_s / total_s for name, total_s in wrong.items()}
