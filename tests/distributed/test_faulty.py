"""Faults put into two real ranks here and now: what they print leaves exactly the fault."""

import pytest

from distributed import faulty
from tests.core.clinic.ranks_log import faults_left, findings

pytestmark = pytest.mark.ranks


@pytest.mark.parametrize("fault", ["other_order", "port_taken"])
def test_a_fault_put_in_again_leaves_itself(fault, monkeypatch):
    """Each ends by itself, on a busy machine after a while; a killed rank is the launcher's own tests'."""
    monkeypatch.setattr(faulty, "WALL_S", 1600)
    assert faults_left(findings(faulty.record(fault)["lines"])) == (fault,)
