"""Programs run by tests in a process of their own."""

import subprocess
import sys

import pytest


def run_module(*module_and_options: str, timeout_s: float = 600) -> str:
    """What `python -m …` printed; a test whose program fails shows what it said last."""
    command = [sys.executable, "-m", *module_and_options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s)
    if done.returncode:
        pytest.fail(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
        )
    return done.stdout
