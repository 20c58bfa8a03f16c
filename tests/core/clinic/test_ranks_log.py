"""Faults put into two real ranks: what each printed leaves exactly the fault that was put in."""

import random

import pytest

from core.clinic import hang
from runtime.captures import recorded_faults
from tests.core.clinic.ranks_log import FITS, RanksLog, faults_left, findings

FAULTS = {fault.key: fault for fault in recorded_faults()}


def test_every_fault_was_recorded_from_a_run_of_its_own():
    assert set(FAULTS) == set(FITS) == set(hang.FAULTS)
    assert all(fault.manifest.command.endswith(f"distributed.faulty {fault.key}") for fault in FAULTS.values())
    assert len({fault.manifest.date for fault in FAULTS.values()}) == len(FAULTS)


@pytest.mark.parametrize("key", FITS)
def test_a_recorded_log_leaves_exactly_the_fault_that_was_put_in(key):
    """Whatever the order in which two processes write; and it names neither the fault nor the machine's folders."""
    lines = list(FAULTS[key].lines)
    assert faults_left(findings(lines)) == (key,)
    random.Random(7).shuffle(lines)
    assert faults_left(findings(lines)) == (key,)
    assert not any(key in line or "/work" in line or "/opt" in line for line in lines)


def test_a_killed_rank_and_one_that_hangs_differ_in_torchruns_exit_code_alone():
    """Rank 0 says the same of both; without torchrun's line a killed rank is taken for one that hangs."""
    killed = [line for line in FAULTS["rank_killed"].lines if "exitcode" not in line]
    assert faults_left(findings(killed)) == ("rank_hung",)


def test_a_log_of_a_run_that_went_well_leaves_no_fault():
    good = [f"rank {rank}: {said}" for rank in (0, 1) for said in ("started, world size 2", "joined", "sum 1 done")]
    assert faults_left(findings(good)) == ()
    assert findings([]) == RanksLog()
