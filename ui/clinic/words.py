"""The clinic: the numbers its prose is filled with."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.clinic import Case
from core.clinic.cross_node import STALL_CHANCE, STALL_S
from core.clinic.faults import Fault
from core.clinic.hang import Cause, Finding, Test
from core.clinic.hang_log import HangLog
from core.clinic.jitter import exponential_max_quantile, harmonic
from core.clinic.three_waits import ONE_TOKEN, PIPELINE, RING, TP, Knob, responses
from core.collectives.custom_all_reduce import CAPS_SINCE, SYMMETRIC_MEMORY_DEFAULT_SINCE, Decision, kernel
from core.collectives.releases import RELEASES_READ
from core.scenario import Scenario
from runtime.prose import Prose, named, said
from runtime.quantities import binary_bytes, grouped, local, percent, seconds, significant
from ui.clinic.rows_kernel import asks
from ui.clinic.rows_straggler import SIZES
from ui.two_way_tp.rows_runs import hardware


@dataclass(frozen=True)
class HangState:
    """What the scene of hangs knows: the log's findings, the causes after it and the tests, and the next test.

    Or the recorded fault that is looked at, and what was said of it.
    """

    log: HangLog
    findings: tuple[Finding, ...]
    next_test: Test | None
    fault: Fault | None = None
    diagnosis: str = ""

    @property
    def left(self) -> list[Cause]:
        """The causes that are not excluded; of supported ones only those, where there are any."""
        supported = [finding.cause for finding in self.findings if finding.standing == "supported"]
        return supported or [finding.cause for finding in self.findings if finding.standing != "excluded"]


def name_of(prose: Prose, case: Case, code: str) -> str:
    """A bar, a line or an axis of a case's figures in words; `TP=8` and `rank 0` are their own."""
    blocks = (f"{case.key}.{kind}_{code}" for kind in ("bar", "axis"))
    return next((prose.text(block) for block in blocks if prose.has(block)), code)


@dataclass(frozen=True)
class Shown:
    """What the page shows: the open case, how many diagnoses were right of how many, and what its benches ask."""

    case: Case
    score: tuple[int, int]
    knob: Knob
    decision: Decision
    rows: int
    payload_bytes: int
    hang: HangState


def fields(shown: Shown) -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit."""
    right, graded = shown.score
    return {
        **{name: local(text) for name, text in shown.case.fields().items()},
        "right": str(right),
        "graded": str(graded),
        "one_in": grouped(round(1 / STALL_CHANCE)),
        "stall": seconds(STALL_S),
        **_straggler_fields(shown.knob),
        **_kernel_fields(shown.decision, shown.rows, shown.payload_bytes, shown.knob.scenario),
        **_hang_fields(shown.hang),
    }


def _straggler_fields(knob: Knob) -> Mapping[str, str]:
    slow_percent = knob.scenario.slow_percent
    longer = {row.kind: percent(row.longer_percent / 100) for row in responses(knob, slow_percent)}
    most = SIZES[-1]
    return {
        "slow": percent(slow_percent / 100, 0),
        "tp_longer": longer[TP],
        "ring_longer": longer[RING],
        "pipeline_longer": longer[PIPELINE],
        "one_longer": longer[ONE_TOKEN],
        "prompt_bytes": binary_bytes(knob.prompt_bytes),
        "last_rank": str(knob.ranks - 1),
        "others_wait": said("clinic", "says.other_waits")
        if knob.ranks == 2
        else said("clinic", "says.others_wait", ranks=knob.ranks - 1),
        "last_stage": str(knob.stages - 1),
        "jitter_ranks": str(most),
        "harmonic": significant(harmonic(most)),
        "jitter_p": significant(exponential_max_quantile(1.0, most, 0.99)),
    }


def _kernel_fields(decision: Decision, rows: int, payload_bytes: int, scenario: Scenario) -> Mapping[str, str]:
    rule = decision.stopped_by
    return {
        "release": decision.machine.release,
        "rule": asks(rule) if rule else "",
        "rule_since": rule.since if rule else "",
        "logged": decision.logged,
        "payload": binary_bytes(payload_bytes),
        "rows": said("clinic", "says.rows", rows=rows),
        "model_name": scenario.model_spec.key,
        "kernel": named("clinic", kernel(decision.machine, payload_bytes)),
        "cap": binary_bytes(decision.max_bytes),
        "releases": str(len(RELEASES_READ)),
        "first": RELEASES_READ[0],
        "newest": RELEASES_READ[-1],
        "caps_since": CAPS_SINCE["9.0"],
        "caps_default": SYMMETRIC_MEMORY_DEFAULT_SINCE,
    }


def _hang_fields(hang: HangState) -> Mapping[str, str]:
    log, test = hang.log, hang.next_test
    left = {finding.cause for finding in hang.findings if finding.standing != "excluded"}
    return {
        "found": _findings(log),
        "world": str(log.world_size or 0),
        "missing_ranks": str(len(log.missing)),
        "next_asks": said("clinic", f"test.{test.key}") if test else "",
        "next_yes": _causes(len(left & test.leaves("yes"))) if test else "",
        "next_no": _causes(len(left & test.leaves("no"))) if test else "",
        **(_fault_fields(hang.fault) if hang.fault else {}),
    }


def _fault_fields(fault: Fault) -> Mapping[str, str]:
    made = fault.manifest
    return {
        "fault_date": made.date[:10],
        "fault_torch": made.torch,
        "fault_hardware": hardware(made),
        "fault_lasted": seconds(fault.lasted_s),
    }


def _findings(log: HangLog) -> str:
    """The findings in a line: what was counted, and which names were seen."""
    parts = [
        said("clinic", "says.ranks", ranks=len(log.ranks), world_size=log.world_size) if log.world_size else "",
        said("clinic", "says.them_through", complete=log.complete) if log.complete else "",
        said("clinic", "says.hosts", hosts=log.hosts) if log.hosts else "",
        f"NCCL {', '.join(log.versions)}" if log.versions else "",
        said("clinic", "says.interface", join=", ".join(log.interfaces)) if log.interfaces else "",
        said("clinic", "says.channels", join=", ".join(sorted(log.transports))) if log.transports else "",
    ]
    return ", ".join(part for part in parts if part) or said("clinic", "says.complaints_only")


def _causes(count: int) -> str:
    return said("clinic", "says.causes" if count else "says.no_cause", count=count)
