"""The manifest of a run: read on any machine, whatever its kernel tells."""

import os

import pytest

from distributed import machine


@pytest.mark.parametrize(
    ("told", "expected"),
    [("/autogroup-2778 nice 0\n", 0), ("/autogroup-31 nice -5\n", -5), ("", os.getpriority(os.PRIO_PROCESS, 0))],
    ids=["a group of its own", "a group put ahead", "in no group, as a process that no session was made for"],
)
def test_niceness_is_the_groups_or_else_the_processs_own(tmp_path, told, expected):
    """The kernel's line, or none: `proc_sched_autogroup_show_task` in Linux's kernel/sched/autogroup.c."""
    group = tmp_path / "autogroup"
    group.write_text(told)
    assert machine._niceness(group) == expected


def test_niceness_without_a_proc_filesystem_is_the_processs_own(tmp_path):
    assert machine._niceness(tmp_path / "absent") == os.getpriority(os.PRIO_PROCESS, 0)


def test_a_manifest_can_be_made_on_the_machine_that_runs_this():
    assert machine.manifest("a command", "random", 1, 1)["priority"]
