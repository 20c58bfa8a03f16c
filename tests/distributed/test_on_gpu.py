"""The run on a GPU, as far as a CPU can tell: each part runs small, ends in time, and one that fails says why."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from core.evidence.own_gpu import BATCHES, FORETOLD_GPUS, predictions, read_part  # noqa: E402
from distributed import gpu_clock, gpu_lab, gpu_layers, gpu_reading, on_gpu  # noqa: E402
from distributed.gpu_clock import Part  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
on_the_cpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: the run is not small")


class Named(Part):
    """A part that notes what would be timed and times nothing."""

    def time_row(self, key, run, calls=1, size_bytes=0):
        self.rows.append({"key": key})

    def leave_out(self, key, why):
        self.rows.append({"key": key})


@on_the_cpu
def test_every_figure_was_foretold_and_nothing_else():
    """By key, at the two batches that a CPU tries."""
    part = Named("named", Path("nowhere"), "abc", 60)
    gpu_layers.measure(part)
    gpu_reading.measure(part)
    few = {f" b={batch} " for batch in BATCHES[2:]}
    for gpu in FORETOLD_GPUS:
        told = {one.key for one in predictions(gpu, "now") if not any(batch in one.key for batch in few)}
        assert {row["key"] for row in part.rows} == told


@on_the_cpu
@pytest.mark.ranks
@pytest.mark.slow
def test_every_part_runs_small_on_a_cpu_and_says_so(tmp_path, capsys):
    assert on_gpu.main(["--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("small: there is no GPU here") == 3
    for name in on_gpu.LIMITS_S:
        text = (tmp_path / f"{name}.json").read_text()
        told = json.loads(text)
        assert (told["part"], told["cpu_only"], told["error"]) == (name, True, "")
        assert len(told["commit"]) in (7, 40)
        assert read_part(text) == ()
        assert all(0 < row["low"] <= row["value"] <= row["high"] for row in told["rows"])
    lab = json.loads((tmp_path / "lab.json").read_text())
    assert lab["tp1"]["tokens_equal_the_cpus"]
    assert lab["tp2"]["tokens_equal"]
    assert lab["nccl"] == {"asked": False, "why": "there is no GPU here"}
    assert len((tmp_path / "capture" / "lines.jsonl").read_text().splitlines()) == lab["tp2"]["lines"]


def test_a_part_that_fails_says_why(tmp_path, monkeypatch):
    def broken(part):
        part.time_row("one", lambda: None)
        raise RuntimeError("no kernel image\nis available")

    monkeypatch.setattr(on_gpu, "parts", lambda: {"lab": broken})
    assert on_gpu.run_part("lab", tmp_path, "abc", 60) == 1
    told = json.loads((tmp_path / "lab.json").read_text())
    assert told["error"] == "RuntimeError: no kernel image is available"
    assert [row["key"] for row in told["rows"]] == ["one"]


def test_a_part_that_does_not_end_is_ended_and_the_others_run(tmp_path, monkeypatch):
    """What it had written stays; the next part is begun."""
    loop = "import time; time.sleep(60)"
    begun = []

    def problem(command, limit_s):
        begun.append(command[command.index("--part") + 1])
        return given([sys.executable, "-c", loop if len(begun) == 1 else ""], 1)

    given = on_gpu._problem
    monkeypatch.setattr(on_gpu, "_problem", problem)
    (tmp_path / "lab.json").write_text(json.dumps({"rows": [1, 2], "left_out": [], "error": ""}))
    assert on_gpu.run_all(tmp_path, {"lab": 1, "layers": 1}) == 1
    assert begun == ["lab", "layers"]
    told = json.loads((tmp_path / "lab.json").read_text())
    assert (told["rows"], told["error"]) == ([1, 2], "the part was ended after 1 s")


def test_a_row_that_cannot_be_had_or_comes_too_late_is_left_out_with_the_reason(tmp_path):
    part = Part("reading", tmp_path, "abc", 60)
    part.time_row("no such kernel", lambda: torch.zeros(2) @ torch.zeros(3))
    part.limit_s = -1
    part.time_row("late", lambda: None)
    told = json.loads((tmp_path / "reading.json").read_text())["left_out"]
    assert "RuntimeError" in told[0]["why"]
    assert told[1] == {"key": "late", "why": "the part's -1 s were over"}


def test_the_device_is_asked_beside_every_figure(monkeypatch):
    """As nvidia-smi prints one GPU; where there is none to ask, nothing is said."""
    done = subprocess.CompletedProcess([], 0, "570.86.10, 1980, 3201, 700.00, 121.5, 34\n", "")
    monkeypatch.setattr(gpu_clock.subprocess, "run", lambda *args, **options: done)
    state = gpu_clock.device_state()
    assert (state["driver_version"], state["clocks.sm"], state["temperature.gpu"]) == ("570.86.10", "1980", "34")

    def missing(*args, **options):
        raise FileNotFoundError

    monkeypatch.setattr(gpu_clock.subprocess, "run", missing)
    assert gpu_clock.device_state() == {}


@on_the_cpu
def test_grouped_experts_and_experts_one_by_one_make_the_same():
    """The order of a token's rows and its shares, by the other way: with a product that loops over the groups."""
    layer = gpu_layers.Layer(next(s for s in gpu_layers.LAYERS if s.model.moe), Named("n", Path("x"), "a", 9))

    def product(rows, weights, offs):
        ends = [0, *offs.tolist()]
        parts = [rows[a:b] @ W for a, b, W in zip(ends, ends[1:], weights, strict=False)]
        return torch.cat(parts)

    h = layer.inputs(5)
    with torch.inference_mode(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "_grouped_mm", product, raising=False)
        one, other = layer._looped(5)(h), layer._grouped(5)(h)
    assert torch.allclose(one.float(), other.float(), atol=0.02)


def test_two_ranks_that_want_one_gpu_are_quoted(tmp_path, monkeypatch):
    """NCCL's sentence, out of all that a failed run prints."""
    said = (
        "W1 init.cc:912 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 19000\nTraceback"
    )
    monkeypatch.setattr(gpu_lab, "_ended", lambda *_: subprocess.CompletedProcess([], 1, "hello\n", said))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    part = Part("lab", tmp_path, "abc", 60)
    part.small = False
    gpu_lab.refused(part)
    assert part.told["nccl"]["said"] == [said.splitlines()[0]]


def test_the_tree_that_travels_is_small():
    """What git tracks, without its history: under 64 MiB."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this tree has no history")
    paths = [ROOT / name.decode() for name in done.stdout.split(b"\0") if name]
    assert sum(path.stat().st_size for path in paths if path.is_file()) < 64 * 2**20
