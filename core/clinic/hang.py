"""NCCL hangs at init or in the first collective: which causes a log leaves, and the test that parts most of them.

A cause is supported, open, or excluded; a test has two outcomes, and is worth most where it halves what is left.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from core.clinic.hang_log import HangLog
from core.two_way_tp.result import Manifest

Cause = Literal["rank_missing", "wrong_interface", "firewall", "version_mismatch", "p2p_blocked", "shm_small"]
Standing = Literal["supported", "open", "excluded"]
Outcome = Literal["yes", "no"]
Reason = Literal[
    "nothing",
    "complete",
    "mismatch",
    "two_versions",
    "one_version",
    "same_version",
    "shm_error",
    "unreached",
    "virtual",
    "missing",
    "waiting",
    "all_there",
    "one_host",
    "p2p_unused",
    "p2p_silent",
    "after_init",
    "lazy",
    "tested",
]

CAUSES: tuple[Cause, ...] = get_args(Cause)
"""From the outside of a machine to its inside."""

_VIRTUAL = re.compile(r"(?:docker|br-|virbr|veth|lo$|tun|tailscale|zt|cni|flannel|podman)")


@dataclass(frozen=True)
class Finding:
    """Where one cause stands, and by which finding."""

    cause: Cause
    standing: Standing
    reason: Reason


def judge_causes(log: HangLog, outcomes: Mapping[str, Outcome] | None = None) -> tuple[Finding, ...]:
    """Every cause after the log and after the tests that were run; a test's outcome is believed over the log."""
    left = _left_by_tests(outcomes or {})
    judged: dict[Cause, tuple[Standing, Reason]] = {
        "rank_missing": _rank_missing(log),
        "wrong_interface": _wrong_interface(log),
        "firewall": _firewall(log),
        "version_mismatch": _version_mismatch(log),
        "p2p_blocked": _p2p_blocked(log),
        "shm_small": ("supported", "shm_error") if log.shm_error else ("open", "nothing"),
    }
    findings = []
    for cause in CAUSES:
        standing, reason = judged[cause]
        if log.is_complete and cause != "p2p_blocked":
            standing, reason = _after_init(log, cause, (standing, reason))
        if cause not in left:
            standing, reason = "excluded", "tested"
        elif len(left) == 1:
            standing, reason = "supported", "tested"
        findings.append(Finding(cause, standing, reason))
    return tuple(findings)


def _after_init(log: HangLog, cause: Cause, before: tuple[Standing, Reason]) -> tuple[Standing, Reason]:
    """A cause after every rank's Init COMPLETE: all have met; the ways for the data may be made only now.

    The bootstrap has gone over one interface, the data go over every one that was found. Source: NVIDIA/nccl
    src/init.cc (`runtimeConn`), NVIDIA/nccl-tests#284.
    """
    if cause == "shm_small" and log.shm_error:
        return before
    if cause in ("rank_missing", "version_mismatch", "shm_small") or not log.connects_lazily:
        return "excluded", "complete"
    if log.unreached:
        return before
    if log.hosts == 1:
        return "excluded", "complete"
    if cause == "wrong_interface" and any(_VIRTUAL.match(name) for name in log.sockets):
        return "supported", "virtual"
    return "open", "lazy"


def _rank_missing(log: HangLog) -> tuple[Standing, Reason]:
    if log.waiting:
        return "supported", "waiting"
    if log.world_size is None:
        return "open", "nothing"
    return ("supported", "missing") if log.missing else ("excluded", "all_there")


def _wrong_interface(log: HangLog) -> tuple[Standing, Reason]:
    if _is_virtual(log) and not log.whole_on_one_host:
        return "supported", "virtual"
    return ("excluded", "one_host") if log.whole_on_one_host and not log.unreached else ("open", "nothing")


def _is_virtual(log: HangLog) -> bool:
    """Whether connections go over an interface that no other host can reach."""
    return log.unreached_virtual or any(_VIRTUAL.match(name) for name in log.interfaces)


def _firewall(log: HangLog) -> tuple[Standing, Reason]:
    if log.unreached:
        return ("open", "virtual") if _is_virtual(log) else ("supported", "unreached")
    return ("excluded", "one_host") if log.whole_on_one_host else ("open", "nothing")


def _version_mismatch(log: HangLog) -> tuple[Standing, Reason]:
    if log.mismatch:
        return "supported", "mismatch"
    if len(log.versions) > 1:
        return "supported", "two_versions"
    if log.versions and log.whole_on_one_host:
        return "excluded", "one_version"
    if log.versions and log.hosts_with_version >= log.hosts > 1 and log.world_size and not log.missing:
        return "excluded", "same_version"
    return "open", "nothing"


def _p2p_blocked(log: HangLog) -> tuple[Standing, Reason]:
    """The init agrees on the way and copies nothing: copies that never arrive hang the first all-reduce after it.

    Source: NVIDIA/nccl#2079, vllm-project/vllm#33041.
    """
    if log.p2p_off or (log.transports and "P2P" not in log.transports):
        return "excluded", "p2p_unused"
    silent = log.transports == {"P2P"} and log.world_size is not None and not log.missing
    if log.is_complete:
        return ("supported" if silent else "open"), "after_init"
    return ("supported", "p2p_silent") if silent else ("open", "nothing")


@dataclass(frozen=True)
class Test:
    """A question whose answer splits the causes: `on_yes` are those it leaves when answered with yes."""

    key: str
    on_yes: frozenset[Cause]

    def leaves(self, outcome: Outcome) -> frozenset[Cause]:
        """The causes that an outcome leaves."""
        return self.on_yes if outcome == "yes" else frozenset(CAUSES) - self.on_yes


def _all_but(*causes: Cause) -> frozenset[Cause]:
    return frozenset(CAUSES) - set(causes)


TESTS = (
    Test("count", _all_but("rank_missing")),
    Test("versions", _all_but("version_mismatch")),
    Test("gloo", frozenset({"version_mismatch", "p2p_blocked", "shm_small"})),
    Test("one_node", frozenset({"rank_missing", "wrong_interface", "firewall", "version_mismatch"})),
    Test("port", _all_but("firewall")),
    Test("interface", frozenset({"wrong_interface"})),
    Test("p2p", frozenset({"p2p_blocked"})),
    Test("shm", frozenset({"shm_small"})),
)
"""In the order of what they cost: reading, asking the network, restarting with one thing changed."""


def own_test(cause: Cause) -> Test:
    """The test that tells one cause from all others."""
    return next(test for test in TESTS if test.on_yes in (frozenset({cause}), _all_but(cause)))


def next_test(findings: Collection[Finding], done: Collection[str] = ()) -> Test | None:
    """The test that splits what is left most evenly; with one supported cause, the test that isolates it.

    None where one cause or none is left and its own test was run, or no test tells what is left apart.
    """
    supported = [finding.cause for finding in findings if finding.standing == "supported"]
    left = {finding.cause for finding in findings if finding.standing != "excluded"}
    todo = [test for test in TESTS if test.key not in done]
    alone = supported if len(supported) == 1 else sorted(left)
    if len(alone) == 1 and (own := own_test(alone[0])) in todo:
        return own
    useful = [test for test in todo if 0 < len(test.on_yes & left) < len(left)]
    return min(useful, key=lambda test: abs(2 * len(test.on_yes & left) - len(left)), default=None)


def _left_by_tests(outcomes: Mapping[str, Outcome]) -> frozenset[Cause]:
    """What all outcomes leave together; contradicting ones leave what the later, costlier test says."""
    left = frozenset(CAUSES)
    for test in TESTS:
        if test.key in outcomes:
            narrowed = left & test.leaves(outcomes[test.key])
            left = narrowed or test.leaves(outcomes[test.key])
    return left


FAULTS = (
    "rank_killed",
    "rank_hung",
    "rank_outside",
    "world_too_large",
    "other_shape",
    "other_order",
    "port_taken",
    "checkpoint_missing",
)
"""What stops a few ranks of PyTorch. Each was put into a real run, whose lines are kept."""


@dataclass(frozen=True)
class Fault:
    """A run with a fault put into it: which, the lines that its ranks printed, and its manifest."""

    key: str
    lines: tuple[str, ...]
    lasted_s: float
    manifest: Manifest


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
