"""What a deploy starts from agrees with the rest of the repository."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"


def lines(file: str) -> set[str]:
    return {line for line in (ROOT / file).read_text().splitlines() if line}


def test_the_cloud_entry_pins_what_the_root_pins_and_leaves_out_what_no_page_imports():
    root, cloud = lines("requirements.txt"), lines("cloud/requirements.txt")
    assert cloud < root
    assert {line.partition("==")[0] for line in root - cloud} == {"torch", "safetensors", "pytest", "altair"}


def test_every_file_that_a_container_is_made_of_is_here():
    for file in ("Dockerfile", "grader/Dockerfile"):
        for copied in re.findall(r"^COPY (\S+) ", (DEPLOY / file).read_text(), re.MULTILINE):
            assert (ROOT / copied).exists(), (file, copied)
    for file in ("compose.yaml", "kustomization.yaml"):
        for named in re.findall(r"[\w/]+\.(?:cfg|yaml)\b", (DEPLOY / file).read_text()):
            assert (DEPLOY / Path(named).name).exists(), (file, named)


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed")
def test_haproxy_takes_the_configuration_for_containers():
    command = ["haproxy", "-c", "-f", "haproxy.cfg", "-f", "replicas.cfg"]
    environment = {"SHARDLAB_BIND": "*:8080", "SHARDLAB_APP": "app", "PATH": "/usr/sbin:/usr/bin"}
    checked = subprocess.run(command, cwd=DEPLOY, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
