"""A Python under /tmp runs in the sandbox, whose own /tmp holds nothing else that is ours."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from runtime.files import ROOT
from tests.sandbox import CANNOT_CONFINE

SEEN = "import json, os; open('/tmp/mine', 'w').close(); print(json.dumps(os.listdir('/tmp')))"
ASK = (
    "import json, subprocess, sys; from pathlib import Path; from runtime import confinement;"
    f"command = confinement.confined([sys.executable, '-I', '-c', {SEEN!r}], Path('runtime'), {{}});"
    "said = subprocess.run(command, capture_output=True, text=True).stdout;"
    "print(json.dumps([confinement.missing() is None, said]))"
)


def seen(python, folder):
    """Whether a process can be confined, and what a confined process lists in a folder after it wrote to /tmp."""
    listing = SEEN.replace("'/tmp')", f"{str(folder)!r})")
    command = [python, "-c", ASK.replace(repr(SEEN), repr(listing))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    can, listed = json.loads(done.stdout)
    return can, sorted(json.loads(listed))


@pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")
def test_a_virtual_environment_under_tmp_is_confined():
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        Path(temporary).chmod(0o755)
        Path(temporary, "classmate.py").write_text("secret = 1\n")
        made = Path(temporary) / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
        assert seen(made / "bin/python", "/tmp") == (True, sorted(["mine", Path(temporary).name]))
        assert seen(made / "bin/python", temporary) == (True, ["venv"])
