"""What the clinic asks: of its cases and hangs, of the slow rank, and of the machine of a custom all-reduce."""

from dataclasses import dataclass

from core.clinic.three_waits import Knob
from core.collectives.custom_all_reduce import Decision, Machine, decide
from core.collectives.releases import RELEASES_READ
from core.comm_cost.bill import allreduce_payload_bytes
from ui.clinic.cases import CasesQuestion
from ui.clinic.hangs import HangsQuestion
from ui.clinic.rows_kernel import ARCHITECTURES
from ui.page import Page
from ui.question import Choice, Switch, Whole, ask

SLOW, SCATTER = "one slow rank", "every rank a little late"
NVLINK, PCIE = "NVLink, every pair", "PCIe only"


@dataclass(frozen=True)
class Question(CasesQuestion, HangsQuestion):
    """Every field of the clinic: of its cases, its hangs, the late rank and the machine of a kernel."""

    late: str = ask(SLOW, Choice((SLOW, SCATTER)), "says.who_late")
    release: str = ask(RELEASES_READ[-1], Choice(tuple(reversed(RELEASES_READ)), listed=True), "says.vllm_release")
    ranks: int = ask(8, Whole(1, 64), "says.ranks_2")
    nodes: int = ask(1, Choice((1, 2)), "says.nodes")
    joined: str = ask(NVLINK, Choice((NVLINK, PCIE)), "says.joined")
    p2p: bool = ask(True, Switch(), "says.p_p_copies_arrive")
    sm: str = ask("Hopper, 9.0", Choice(tuple(ARCHITECTURES), listed=True), "says.architecture")
    rows: int = ask(1, Whole(1, 8192), "says.rows_step")


def knob_of(page: Page[Question]) -> Knob:
    """Return the scenario's slow rank, over links that were timed."""
    return Knob(page.scenario.timed)


def decision_of(page: Page[Question]) -> Decision:
    """Return what a release of vLLM decides of the machine that is asked for."""
    asked = page.question
    return decide(
        Machine(
            release=asked.release,
            world_size=asked.ranks,
            nodes=min(asked.ranks, asked.nodes),
            full_nvlink=asked.joined == NVLINK,
            p2p=asked.p2p,
            compute_capability=ARCHITECTURES[asked.sm],
        )
    )


def payload_bytes(page: Page[Question]) -> int:
    """Return the payload of an all-reduce of so many rows of a step."""
    return round(allreduce_payload_bytes(page.question.rows, page.scenario.model_spec.hidden_size))
