"""NCCL hangs at init: which causes a log leaves, and the test that tells most of them apart.

A cause is supported, open, or excluded; a test has two outcomes, and is worth most where it halves what is left.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from core.clinic.hang_log import HangLog

Cause = Literal["rank_missing", "wrong_interface", "firewall", "version_mismatch", "p2p_blocked", "shm_small"]
Standing = Literal["supported", "open", "excluded"]
Outcome = Literal["yes", "no"]
Reason = Literal[
    "nothing",
    "complete",
    "mismatch",
    "two_versions",
    "one_version",
    "shm_error",
    "unreached",
    "virtual",
    "missing",
    "waiting",
    "all_there",
    "one_host",
    "p2p_unused",
    "p2p_silent",
    "tested",
]

CAUSES: tuple[Cause, ...] = (
    "rank_missing",
    "wrong_interface",
    "firewall",
    "version_mismatch",
    "p2p_blocked",
    "shm_small",
)
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
    done = log.world_size is not None and log.complete >= log.world_size
    findings = []
    for cause in CAUSES:
        standing, reason = judged[cause]
        if done:
            standing, reason = "excluded", "complete"
        if cause not in left:
            standing, reason = "excluded", "tested"
        elif len(left) == 1:
            standing, reason = "supported", "tested"
        findings.append(Finding(cause, standing, reason))
    return tuple(findings)


def _rank_missing(log: HangLog) -> tuple[Standing, Reason]:
    if log.waiting:
        return "supported", "waiting"
    if log.world_size is None:
        return "open", "nothing"
    return ("supported", "missing") if log.missing else ("excluded", "all_there")


def _wrong_interface(log: HangLog) -> tuple[Standing, Reason]:
    if log.hosts > 1 and any(_VIRTUAL.match(name) for name in log.interfaces):
        return "supported", "virtual"
    return ("excluded", "one_host") if log.whole_on_one_host and not log.unreached else ("open", "nothing")


def _firewall(log: HangLog) -> tuple[Standing, Reason]:
    if log.unreached:
        return "supported", "unreached"
    return ("excluded", "one_host") if log.whole_on_one_host else ("open", "nothing")


def _version_mismatch(log: HangLog) -> tuple[Standing, Reason]:
    if log.mismatch:
        return "supported", "mismatch"
    if len(log.versions) > 1:
        return "supported", "two_versions"
    if log.versions and log.whole_on_one_host:
        return "excluded", "one_version"
    return "open", "nothing"


def _p2p_blocked(log: HangLog) -> tuple[Standing, Reason]:
    if log.p2p_off or (log.transports and "P2P" not in log.transports):
        return "excluded", "p2p_unused"
    silent = log.transports == {"P2P"} and log.world_size is not None and not log.missing
    return ("supported", "p2p_silent") if silent else ("open", "nothing")


@dataclass(frozen=True)
class Test:
    """A question whose answer splits the causes: `on_yes` are those it leaves when answered with yes."""

    key: str
    asks: str
    command: str
    on_yes: frozenset[Cause]

    def leaves(self, outcome: Outcome) -> frozenset[Cause]:
        """The causes that an outcome leaves."""
        return self.on_yes if outcome == "yes" else frozenset(CAUSES) - self.on_yes


def _all_but(*causes: Cause) -> frozenset[Cause]:
    return frozenset(CAUSES) - set(causes)


TESTS = (
    Test(
        "count",
        "Does every rank print a first line?",
        "grep -c 'Init START' each rank's log",
        _all_but("rank_missing"),
    ),
    Test(
        "versions",
        "Do all ranks print one NCCL version?",
        "NCCL_DEBUG=VERSION, or python -c 'import torch; print(torch.cuda.nccl.version())' on each host",
        _all_but("version_mismatch"),
    ),
    Test(
        "gloo",
        "Does an all-reduce of the same ranks over Gloo come back?",
        "torchrun with init_process_group('gloo') and the same addresses, GLOO_SOCKET_IFNAME as NCCL chose",
        frozenset({"version_mismatch", "p2p_blocked", "shm_small"}),
    ),
    Test(
        "one_node",
        "Does it start on one host alone?",
        "the same program with the ranks of a single host",
        frozenset({"rank_missing", "wrong_interface", "firewall", "version_mismatch"}),
    ),
    Test(
        "port",
        "Does one host reach a free port of the other?",
        "nc -l 29600 there, nc -vz HOST 29600 here; NCCL takes any free port unless the range is narrowed",
        _all_but("firewall"),
    ),
    Test(
        "interface",
        "Does it start with the interface named?",
        "NCCL_SOCKET_IFNAME=eth0",
        frozenset({"wrong_interface"}),
    ),
    Test("p2p", "Does it start with peer-to-peer off?", "NCCL_P2P_DISABLE=1", frozenset({"p2p_blocked"})),
    Test(
        "shm",
        "Does it start with more shared memory?",
        "docker run --shm-size=1g, or --ipc=host",
        frozenset({"shm_small"}),
    ),
)
"""In the order of what they cost: reading, asking the network, restarting with one thing changed."""


def next_test(findings: Collection[Finding], done: Collection[str] = ()) -> Test | None:
    """The test that splits what is left most evenly; with one supported cause, the test that isolates it.

    None where one cause or none is left and its own test was run, or no test tells what is left apart.
    """
    supported = [finding.cause for finding in findings if finding.standing == "supported"]
    left = {finding.cause for finding in findings if finding.standing != "excluded"}
    todo = [test for test in TESTS if test.key not in done]
    if len(supported) == 1:
        own = [test for test in todo if _isolates(test, supported[0])]
        if own:
            return own[0]
    useful = [test for test in todo if 0 < len(test.on_yes & left) < len(left)]
    return min(useful, key=lambda test: abs(2 * len(test.on_yes & left) - len(left)), default=None)


def _isolates(test: Test, cause: Cause) -> bool:
    return test.on_yes == {cause} or test.on_yes == _all_but(cause)


def _left_by_tests(outcomes: Mapping[str, Outcome]) -> frozenset[Cause]:
    """What all outcomes leave together; contradicting ones leave what the later, costlier test says."""
    left = frozenset(CAUSES)
    for test in TESTS:
        if test.key in outcomes:
            narrowed = left & test.leaves(outcomes[test.key])
            left = narrowed or test.leaves(outcomes[test.key])
    return left
