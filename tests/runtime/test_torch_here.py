"""Who may start processes on the server, and what the server has, found without importing torch."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime import torch_here as here
from runtime.prose import worded
from runtime.torch_here import SETTING, cuda_devices, live_runs_allowed, torch_here


@pytest.mark.parametrize("setting", [None, "", "0", "off", "localhost"])
def test_a_server_is_public_until_it_is_declared_ones_own(setting):
    """A missing variable is the safe side."""
    assert not live_runs_allowed({} if setting is None else {SETTING: setting})


@pytest.mark.parametrize("setting", ["1", "true", "YES", "on"])
def test_a_server_of_ones_own_runs_ranks(setting):
    assert live_runs_allowed({SETTING: setting})


def test_community_cloud_is_public_whatever_it_declares():
    assert not live_runs_allowed({SETTING: "1"}, Path("/mount/src/shardlab/runtime/torch_here.py"))


def test_what_stands_in_the_way_is_said(monkeypatch):
    assert "start the server with SHARDLAB_LIVE_RUNS=1" in worded(torch_here({}).why_not)
    monkeypatch.setattr(here, "has_torch", lambda: False)
    missing = torch_here({SETTING: "1"})
    assert "PyTorch is not installed" in worded(missing.why_not)


def test_gpus_are_counted_by_their_device_files(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert cuda_devices(tmp_path) == 2
    cuda_devices.cache_clear()


def test_asking_for_torch_imports_none():
    program = "import sys; from runtime.torch_here import torch_here; torch_here({'SHARDLAB_LIVE_RUNS': '1'})"
    check = f"{program}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], timeout=60).returncode == 0
