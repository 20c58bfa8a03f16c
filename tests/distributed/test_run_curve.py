"""The widths' program, on its two narrowest: both arms, the sweep, and what a page reads of it."""

import pytest

pytest.importorskip("torch")

from core.two_way_tp import crossover, read_scaling
from distributed import machine, run_curve
from distributed.run_curve import jobs
from tests.programs import run_two_ranks


@pytest.mark.ranks
@pytest.mark.slow
def test_both_arms_of_every_width_are_measured_and_read(tmp_path):
    result = tmp_path / "curve.json"
    options = ("--widths", "64", "256", "--steps-per-prompt", "2", "--json", str(result))
    run_two_ranks("distributed.run_curve", *options)
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
