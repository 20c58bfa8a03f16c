"""What is known of a hang: its log, what that says of each cause, and the test to make next."""

from dataclasses import dataclass

from core.clinic.faults import Fault
from core.clinic.hang import Cause, Finding, Test
from core.clinic.hang_log import HangLog


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
