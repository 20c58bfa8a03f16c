"""What `.ci/run` returns: the status of its checks, whatever goes on beside them and whatever is cleaned up."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = (Path(__file__).parents[1] / ".ci" / "run").read_text(encoding="utf-8")
SAY = next(line for line in SCRIPT.splitlines() if line.startswith("say()"))
BESIDE = SCRIPT[SCRIPT.index('beside="$(mktemp') : SCRIPT.index("begin fetch")]


@pytest.mark.parametrize(
    ("part", "then", "status"),
    [
        ("true", "finish part", 0),
        ("true", "finish part; exit 3", 3),
        ("sleep 60", "false", 1),
        ("sleep 60", "true", 0),
        ("exit 4", "finish part", 4),
    ],
)
def test_it_ends_as_its_checks_did(part, then, status, tmp_path):
    """A part that has ended, one that still goes on, one that failed; with and without a failure after it."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "part.sh").write_text(part)
    script = f"set -euo pipefail\n{SAY}\n{BESIDE}\nbegin part\n{then}\n"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=30)
    assert done.returncode == status, done.stderr.decode()
