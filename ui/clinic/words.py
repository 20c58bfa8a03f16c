"""The clinic: what its prose names, rows of core and of its open case."""

from collections.abc import Mapping

from core.clinic import Case
from core.clinic.cross_node import STALL_CHANCE, STALL_S
from core.clinic.hang import HangState
from core.clinic.hang_log import HangLog
from core.clinic.three_waits import ONE_TOKEN, PIPELINE, RING, TP, Knob, responses
from core.collectives.custom_all_reduce import CAPS_SINCE, SYMMETRIC_MEMORY_DEFAULT_SINCE, Decision
from core.collectives.releases import RELEASES_READ
from core.collectives.who_sums import who_sums
from core.steps.jitter import exponential_max_quantile, harmonic
from runtime.kept import kept
from runtime.prose import Prose, said
from runtime.quantities import local
from ui.clinic.rows import SIZES
from ui.clinic.rows_kernel import asks
from ui.two_way_tp.rows_runs import hardware


def name_of(prose: Prose, case: Case, code: str) -> str:
    """A bar, a line or an axis of a case's figures in words; `TP=8` and `rank 0` are their own."""
    blocks = (f"{case.key}.{kind}_{code}" for kind in ("bar", "axis"))
    return next((prose.text(block) for block in blocks if prose.has(block)), code)


def fields(
    case: Case,
    score: tuple[int, int],
    knob: Knob,
    decision: Decision,
    rows: int,
    payload_bytes: int,
) -> Mapping[str, object]:
    """What the page's prose names: rows of core, and the open case's figures as core writes them.

    `score` is how many diagnoses were right of how many; so many `rows` of a step make the all-reduce's payload.
    """
    right, graded = score
    return {
        **{name: local(text) for name, text in case.fields().items()},
        "right": right,
        "graded": graded,
        "scenario": knob.scenario,
        "rows": rows,
        "payload_bytes": payload_bytes,
        "kernel": who_sums(decision.machine, payload_bytes).kernel,
        "messages_a_stall": round(1 / STALL_CHANCE),
        "stall_s": STALL_S,
        **_straggler_fields(knob),
        **_kernel_fields(decision),
    }


@kept
def _straggler_fields(knob: Knob) -> Mapping[str, object]:
    slow_percent = knob.scenario.slow_percent
    longer = {row.kind: row.longer_percent / 100 for row in responses(knob, slow_percent)}
    most = SIZES[-1]
    return {
        "knob": knob,
        "slow_fraction": slow_percent / 100,
        "tp_longer": longer[TP],
        "ring_longer": longer[RING],
        "pipeline_longer": longer[PIPELINE],
        "one_longer": longer[ONE_TOKEN],
        "last_rank": knob.ranks - 1,
        "others_wait": said(
            "clinic", "says.other_waits" if knob.ranks == 2 else "says.others_wait", ranks=knob.ranks - 1
        ),
        "last_stage": knob.stages - 1,
        "jitter_ranks": most,
        "harmonic": harmonic(most),
        "jitter_p": exponential_max_quantile(1.0, most, 0.99),
    }


def _kernel_fields(decision: Decision) -> Mapping[str, object]:
    return {
        "decision": decision,
        "rule": asks(decision.stopped_by, decision.machine) if decision.stopped_by else "",
        "releases": len(RELEASES_READ),
        "first": RELEASES_READ[0],
        "newest": RELEASES_READ[-1],
        "caps_since": CAPS_SINCE["9.0"],
        "caps_default": SYMMETRIC_MEMORY_DEFAULT_SINCE,
    }


def hang_fields(hang: HangState) -> Mapping[str, object]:
    """Return what the scene of hangs names: the findings, the test to run next, and the recorded fault."""
    log, test, fault = hang.log, hang.next_test, hang.fault
    left = {finding.cause for finding in hang.findings if finding.standing != "excluded"}
    return {
        "found": _findings(log),
        "log": log,
        "missing_ranks": len(log.missing),
        "next_asks": said("clinic", f"test.{test.key}") if test else "",
        "next_yes": _causes(len(left & test.leaves("yes"))) if test else "",
        "next_no": _causes(len(left & test.leaves("no"))) if test else "",
        "fault": fault,
        "fault_date": fault.manifest.date[:10] if fault else "",
        "fault_hardware": hardware(fault.manifest) if fault else "",
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
