"""Measure on a GPU what the planner takes from others: lab 02's own branch, a layer's cost, and how fast it reads.

    python -m distributed.on_gpu --out DIR          about five minutes on one H100 or H200, no network
    python -m distributed.on_gpu --foretell         put down what is expected, before anybody runs it

Each part is a process of its own with a time limit, and writes DIR/<part>.json row by row; one that fails says why,
and the others run. Where there is no GPU every part runs small on the CPU, and its file says so. Exit 1 when a part
failed.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import shortened
from runtime import own_gpu
from runtime.files import ROOT, write_whole

LIMITS_S = {"lab": 130, "layers": 130, "reading": 50}
"""Seconds of each part, together five minutes and ten seconds; on a CPU, which is slow, four times as many."""
_TO_LOAD_S = 15
"""What PyTorch and a GPU's context may take besides."""


def parts() -> dict[str, Callable[..., None]]:
    """What each part runs; PyTorch is loaded by the process of a part alone."""
    from distributed import gpu_lab, gpu_layers, gpu_reading

    return {"lab": gpu_lab.measure, "layers": gpu_layers.measure, "reading": gpu_reading.measure}


def run_part(name: str, out: Path, commit: str, limit_s: float) -> int:
    """What a part's process does."""
    from distributed.gpu_clock import Part

    part = Part(name, out, commit, limit_s)
    try:
        parts()[name](part)
    except Exception as error:
        part.write(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}")
        return 1
    part.write()
    return 0


def run_all(out: Path, limits_s: dict[str, float]) -> int:
    """Every part after another, a line each; 1 where one failed."""
    out.mkdir(parents=True, exist_ok=True)
    commit, failed = head(), 0
    slower = 1 if shutil.which("nvidia-smi") else 4
    for name, limit_s in limits_s.items():
        limit_s *= slower
        command = [sys.executable, "-m", "distributed.on_gpu", "--part", name, "--out", str(out.resolve())]
        command += ["--commit", commit, "--limit-s", str(limit_s)]
        why = _problem(command, limit_s + _TO_LOAD_S)
        file = out / f"{name}.json"
        nothing: dict[str, Any] = {"part": name, "rows": [], "left_out": []}
        told = json.loads(file.read_text()) if file.is_file() else nothing
        if why and not told.get("error"):
            write_whole(file, json.dumps({**told, "commit": commit, "error": why}, indent=1) + "\n")
        failed |= bool(why)
        where = told.get("device", {}).get("name", "no device")
        small = ", small: there is no GPU here" if told.get("cpu_only") else ""
        print(
            f"{name}: {len(told['rows'])} figures, {len(told['left_out'])} left out, on {where}{small}"
            + (f"; {told.get('error') or why}" if why else ""),
            flush=True,
        )
    return failed


def _problem(command: list[str], limit_s: float) -> str:
    """Why a part's process did not end well; empty where it did."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return f"the part was ended after {limit_s:g} s"
    if not done.returncode:
        return ""
    return shortened((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])


def head() -> str:
    """The commit that runs; "unknown" where the tree came without its history."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the parts' files go")
    parser.add_argument("--only", choices=LIMITS_S, help="one part")
    parser.add_argument("--foretell", action="store_true", help="put down what is expected")
    parser.add_argument("--part", choices=LIMITS_S, help=argparse.SUPPRESS)
    parser.add_argument("--commit", default="unknown", help=argparse.SUPPRESS)
    parser.add_argument("--limit-s", type=float, default=60, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.foretell:
        told = own_gpu.foretell(datetime.now(UTC).isoformat(timespec="seconds"))
        print(f"{len(told)} predictions are in {own_gpu.LEDGER}")
        return 0
    if asked.out is None:
        parser.error("--out DIR says where the files go")
    if asked.part:
        return run_part(asked.part, asked.out, asked.commit, asked.limit_s)
    return run_all(asked.out, {name: limit for name, limit in LIMITS_S.items() if asked.only in (None, name)})


if __name__ == "__main__":
    sys.exit(main())
