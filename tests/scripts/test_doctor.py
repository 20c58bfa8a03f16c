"""The doctor in a terminal: a machine's own tools, files of another, JSON, and its exit statuses."""

import json
import os
import sys

import pytest

from scripts import doctor
from tests.core.links.printed_tables import table
from tests.core.strategy.recorded import printed


@pytest.fixture(autouse=True)
def no_tools(monkeypatch):
    """A machine on which none of the tools is."""
    monkeypatch.setattr(doctor, "ask_tools", lambda: ())


@pytest.fixture
def file(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


def told(capsys, *arguments):
    status = doctor.main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return status, json.loads(out)


def test_without_a_gpu_it_says_so_and_asks_for_files(capsys):
    assert doctor.main([]) == 3
    out = capsys.readouterr().out
    assert "neither nvidia-smi nor rocm-smi nor amd-smi is on this machine" in out
    assert "shardlab doctor FILE..." in out


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_this_machines_own_tools_are_asked(capsys, tmp_path, monkeypatch):
    from runtime.machine_tools import ask_tools

    (tmp_path / "out").write_text(printed("l40s-4"), encoding="utf-8")
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f'#!/bin/sh\n[ "$1" = "" ] && cat {tmp_path}/out\n', encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(doctor, "ask_tools", ask_tools)
    status, found = told(capsys)
    assert (status, found["gpu"], found["gpus"]) == (0, "l40s", 4)
    assert found["read"][0]["source"] == "nvidia-smi"


def test_files_stand_for_a_machine_of_their_own(capsys, file, monkeypatch):
    def asked():
        raise AssertionError("no tool is asked where files name GPUs")

    monkeypatch.setattr(doctor, "ask_tools", asked)
    status, found = told(capsys, file("smi.txt", printed("b200-8")), "--model", "qwen3-32b")
    assert (status, found["gpu"], found["gpus"]) == (0, "b200-sxm", 8)
    (plan,) = found["plans"]
    assert (plan["model"], plan["fits"]) == ("qwen3-32b", True)
    assert plan["command"].startswith("vllm serve Qwen/Qwen3-32B")
    assert {one["origin"] for one in found["figures"]} == {"yours", "assumed"}


def test_the_text_says_what_was_read_what_is_planned_and_whose_figures_are_whose(capsys, file):
    path = file("smi.txt", printed("h100-8"))
    assert doctor.main([path, "--model", "llama-3.1-8b"]) == 0
    out = capsys.readouterr().out
    assert out.index("Read") < out.index("Plan") < out.index("Figures")
    assert f"{path}: 8 × NVIDIA H100 80GB HBM3; driver 535.183.01" in out
    assert "yours    8 × H100 SXM 80 GB" in out
    assert "assumed  3.35 TB/s of memory bandwidth" in out


def test_a_machine_that_holds_nothing_ends_in_three(capsys, file):
    status, found = told(capsys, file("smi.txt", printed("wsl-1")), "--model", "deepseek-v3")
    assert (status, found["plans"][0]["fits"]) == (3, False)


def test_a_network_that_corrupts_data_ends_in_one(capsys, file):
    lines = table().splitlines()
    at = [number for number, line in enumerate(lines) if line.rstrip().endswith(" 0")][2]
    lines[at] = f"{lines[at].rstrip()[:-1]}5"
    files = [file("smi.txt", printed("h100-8")), file("nccl.txt", "\n".join(lines))]
    assert doctor.main([*files, "--model", "llama-3.1-8b"]) == 1
    assert "this network corrupts data" in capsys.readouterr().out


def test_a_crash_ends_in_one_and_is_quoted(capsys, file):
    log = "vllm serve Qwen/Qwen3-8B\nRuntimeError: NCCL error: unhandled system error\n"
    assert doctor.main([file("smi.txt", printed("l40s-4")), file("vllm.log", log)]) == 1
    assert 'the log ends in a crash, line 2: "RuntimeError: NCCL error' in capsys.readouterr().out


def test_what_cannot_be_read_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        doctor.main(["/no/such/file"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("shardlab doctor: cannot read /no/such/file")
