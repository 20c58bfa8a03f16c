"""The widths' program, on its two narrowest: both arms, the sweep, and what a page reads of it."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from core.two_way_tp.scaling import crossover, read_scaling
from distributed import baseline, machine, run_curve
from distributed.local_ranks import run_ranks
from distributed.run_curve import jobs


def program(module, group, options):
    """On a rank: the program as torchrun starts it, among ranks that have met; what it starts is called instead."""

    def called(command, **_):
        sys.argv = command[2:]
        baseline.main()

    module.end_with_parent = baseline.end_with_parent = lambda: None
    baseline.subprocess = SimpleNamespace(run=called, DEVNULL=None)
    os.environ["RANK"] = str(group.rank)
    sys.argv = ["run_curve", *options]
    module.join, module.collectives = lambda *_: group, SimpleNamespace(leave=lambda: None)
    module.main()


@pytest.mark.ranks
@pytest.mark.slow
def test_both_arms_of_every_width_are_measured_and_read(tmp_path):
    result = tmp_path / "curve.json"
    options = ("--widths", "64", "256", "--steps-per-prompt", "2", "--json", str(result))
    run_ranks(2, Path(__file__), program.__name__, Path(run_curve.__file__), options=options)
    run = read_scaling(result.read_text())
    assert [point.hidden_size for point in run.points] == [64, 256]
    assert (run.backend, run.tp_size, len(run.sweep)) == ("gloo", 2, 6)
    assert run.memory_bytes_per_s > 1e8
    assert run.memory_together_bytes_per_s > 1e8
    assert all(took.min_s <= took.median_s <= took.p95_s for _, took in run.sweep)
    found = crossover(run)
    assert found.usual is None or found.usual >= 64


def test_a_width_that_would_fill_the_memory_is_left_out_and_said(monkeypatch, capsys):
    """Both arms of 4096 need 3.2 GB; with 2 GB free it goes, and 64 stays."""
    monkeypatch.setattr(machine, "free_bytes", lambda device: 2 * 10**9)
    assert [job.spec.hidden_size for job in jobs([64, 4096])] == [64]
    assert '"event": "left_out", "hidden_size": 4096' in capsys.readouterr().out


def test_three_prompts_stand_for_ten():
    assert [len(job.prompts) for job in jobs([64])] == [run_curve.PROMPTS]
