"""A part of the run on a GPU: what it times, on what, and until when. Its file is written as each row is there."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from core.errors import shortened
from runtime.files import write_whole

REPEATS = 7
QUERY = ("driver_version", "clocks.sm", "clocks.mem", "power.limit", "power.draw", "temperature.gpu")
"""What nvidia-smi is asked for, beside every figure: MHz, watts, degrees Celsius."""


class Part:
    """One part's rows, and the time that is left to it. `small`: there is no GPU, and every size is a toy's."""

    def __init__(self, name: str, out: Path, commit: str, limit_s: float) -> None:
        self.name, self.out, self.commit, self.limit_s = name, out, commit, limit_s
        self.small = not torch.cuda.is_available()
        self.where = torch.device("cpu" if self.small else "cuda")
        if self.small:
            torch.set_num_threads(1)
        self.rows: list[dict[str, Any]] = []
        self.left_out: list[dict[str, str]] = []
        self.told: dict[str, Any] = {}
        self._began_s = time.monotonic()
        self._state: dict[str, str] = {}
        self.look()

    @property
    def left_s(self) -> float:
        return self.limit_s - (time.monotonic() - self._began_s)

    def look(self) -> None:
        """Note the device's clocks, power and temperature, for the rows that follow."""
        self._state = device_state()

    def time_row(self, key: str, run: Callable[[], object], calls: int = 1, size_bytes: float = 0) -> None:
        """A row: what each of `calls` takes in `run`, or with a size its bytes a second. A failure says why."""
        if self.left_s < 0:
            self.leave_out(key, f"the part's {self.limit_s:g} s were over")
            return
        try:
            took_s = [one / calls for one in self._repeats(run)]
        except Exception as error:  # a shape that a kernel refuses is no reason to lose the others
            self.leave_out(key, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
            return
        values = sorted(size_bytes / one for one in took_s) if size_bytes else sorted(took_s)
        self.rows.append(
            {
                "key": key, "value": statistics.median(values), "low": values[0], "high": values[-1],
                "unit": "bytes_per_s" if size_bytes else "s", "repeats": len(values), "device": self._state,
            }
        )  # fmt: skip
        self.write()

    def leave_out(self, key: str, why: str) -> None:
        self.left_out.append({"key": key, "why": why})
        self.write()

    def graphed(self, run: Callable[[], object]) -> Callable[[], object]:
        """What replays a call as a CUDA graph; on a CPU, which has none, the call."""
        if self.small:
            return run
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay

    def write(self, error: str = "") -> None:
        """Put down what there is so far."""
        text = {
            "part": self.name,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": self.commit,
            "device": device_name(),
            "cpu_only": self.small,
            "took_s": round(time.monotonic() - self._began_s, 1),
            "error": error,
            **self.told,
            "rows": self.rows,
            "left_out": self.left_out,
        }
        write_whole(self.out / f"{self.name}.json", json.dumps(text, indent=1) + "\n")

    def _repeats(self, run: Callable[[], object]) -> list[float]:
        for _ in range(2):
            run()
        took_s = []
        for _ in range(REPEATS):
            self._wait()
            began_s = time.perf_counter()
            run()
            self._wait()
            took_s.append(time.perf_counter() - began_s)
        return took_s

    def _wait(self) -> None:
        if not self.small:
            torch.cuda.synchronize()


def device_name() -> dict[str, str]:
    """What the run is on, by name and version."""
    told = {"torch": torch.__version__, "cuda": str(torch.version.cuda or "")}
    return {"name": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU", **told}


def device_state() -> dict[str, str]:
    """Driver, clocks, power and temperature of the GPU now; empty where there is none to ask."""
    command = ["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader,nounits", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [shortened(value.strip()) for value in done.stdout.splitlines()[0].split(",")]
    return dict(zip(QUERY, values, strict=False))
