"""vLLM's custom all-reduce: the rules put to a machine, and what carries a payload in release after release."""

from dataclasses import replace
from itertools import pairwise

from core.collectives.custom_all_reduce import RULES, Decision, Machine, Rule, world_sizes
from core.collectives.releases import RELEASES_READ
from core.collectives.who_sums import who_sums
from runtime.kept import kept
from runtime.prose import said
from runtime.rows import Row

SIZES = tuple(2**power for power in range(9, 27))
RELEASES = ("0.3.0", "0.4.1", "0.10.1", "0.10.2", "0.11.0", "0.17.0", "0.28.0", "0.29.0", RELEASES_READ[-1])
"""The releases drawn: those on which something turns, and the newest read."""

ARCHITECTURES = {
    "Ampere, 8.0": "8.0",
    "Ada, 8.9": "8.9",
    "Hopper, 9.0": "9.0",
    "Blackwell, 10.0": "10.0",
    "Blackwell, 10.3": "10.3",
}


def asks(rule: Rule, machine: Machine) -> str:
    """What a rule asks of a machine in its release, in words."""
    return said("clinic", f"rule.{rule.key}", sizes=", ".join(map(str, world_sizes(machine))))


def verdict(decision: Decision) -> str:
    """Which block says what a release makes of a machine of two ranks or more."""
    kind = "on" if decision.reduces else "gathers" if decision.enabled else "off"
    return f"all_reduce.{kind}"


def rule_table(decision: Decision) -> str:
    """Every rule in the order it is asked, as Markdown; those after the one that stops are not reached."""
    reached = {check.rule.key: check.holds for check in decision.checks}
    head = f"{said('clinic', 'says.rule_head')}\n|---|---|---|"
    rows = (
        f"| {asks(rule, decision.machine)} | {rule.since} | {_answer(reached.get(rule.key, 'after'))} |"
        for rule in RULES
    )
    return "\n".join([head, *rows])


def _answer(holds: bool | str | None) -> str:
    if holds == "after":
        return said("clinic", "says.not_reached")
    if holds is None:
        return said("clinic", "says.not_asked_this_release")
    return said("clinic", "says.holds") if holds else said("clinic", "says.fails_log_says_so")


@kept
def bands(machine: Machine) -> list[Row]:
    """The ways a payload goes from 512 B to 64 MiB, in each release drawn and in the machine's own."""
    releases = sorted({*RELEASES, machine.release}, key=lambda name: replace(machine, release=name).version)
    return [
        band for index, release in enumerate(releases) for band in _bands(replace(machine, release=release), index)
    ]


def _bands(machine: Machine, index: int) -> list[Row]:
    """One release's ways, cut where they change: at powers of two, or 16 bytes to either side of one."""
    drawn: list[Row] = []
    for low, high in pairwise(SIZES):
        way = who_sums(machine, low + 16).kernel
        if drawn and drawn[-1].kernel == way:
            drawn[-1].high_bytes = high
        else:
            drawn.append(Row(release=machine.release, position=index, kernel=way, low_bytes=low, high_bytes=high))
    return drawn
