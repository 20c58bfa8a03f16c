"""Who may start processes on the server, and what the server has, found without importing torch."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime import torch_here as here
from runtime.torch_here import SETTING, cuda_devices, live_runs_allowed, torch_here


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://localhost:8501/two_way_tp", True),
        ("http://127.0.0.1:8501", True),
        ("http://[::1]:8501", True),
        ("https://shardlab.streamlit.app", False),
        ("http://192.168.0.7:8501", False),
        ("http://localhost.example.org", False),
        ("", False),
        (None, False),
    ],
)
def test_without_a_setting_runs_are_for_ones_own_machine(url, allowed):
    assert live_runs_allowed(url, {}) is allowed


def test_community_cloud_is_public_whatever_its_address():
    assert not live_runs_allowed("http://localhost:8501", {}, Path("/mount/src/shardlab/runtime/torch_here.py"))


@pytest.mark.parametrize(("setting", "allowed"), [("1", True), ("true", True), ("0", False), ("off", False)])
def test_the_setting_decides(setting, allowed):
    for url in ("http://localhost:8501", "https://shardlab.streamlit.app"):
        assert live_runs_allowed(url, {SETTING: setting}) is allowed


def test_what_stands_in_the_way_is_said(monkeypatch):
    assert "SHARDLAB_LIVE_RUNS=1 allows them" in torch_here("https://a.example", {}).why_not
    monkeypatch.setattr(here, "has_torch", lambda: False)
    missing = torch_here("http://localhost", {})
    assert "PyTorch is not installed" in missing.why_not
    assert not missing.can_run


def test_gpus_are_counted_by_their_device_files(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert cuda_devices(tmp_path) == 2
    cuda_devices.cache_clear()


def test_asking_for_torch_imports_none():
    program = "import sys; from runtime.torch_here import torch_here; torch_here('http://localhost')"
    check = f"{program}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], timeout=60).returncode == 0
