"""A server that is killed leaves no process and no file; `python -m benchmarks.bench_kills` is the long run."""

import os
import subprocess
import sys

import pytest

from runtime.files import ROOT
from runtime.scratch import forget_the_dead, scratch


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends what a killed process leaves")
@pytest.mark.parametrize("kind", ["grader", "learner"])
def test_whoever_runs_somebodys_code_leaves_nothing_of_it_when_killed(kind):
    """The code sleeps for ten minutes; its judge, or its server, is killed meanwhile. In a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_kills", "--kills", "1", "--within", "0.5", "--only", kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kills" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is alive")
def test_the_next_folder_that_is_made_takes_away_what_the_dead_left(tmp_path, monkeypatch):
    """Of this user's, and with the number of a process that is no more; all else in the folder stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"shardlab-run-{ended.pid}-x", f"shardlab-run-{os.getpid()}-x", "shardlab-other", "else"):
        (tmp_path / name / "inside").mkdir(parents=True)
    (tmp_path / f"shardlab-status-{ended.pid}.json").write_text("{}")
    with scratch("learner") as folder:
        left = {path.name for path in tmp_path.iterdir()}
        assert left == {f"shardlab-run-{os.getpid()}-x", "shardlab-other", "else", os.path.basename(folder)}
    forget_the_dead(tmp_path / "nowhere")
