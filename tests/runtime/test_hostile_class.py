"""Nothing lives after a grade: processes and files after a hostile class of twenty, whoever grades it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from core.course.grading.tasks import LABS
from runtime.files import ROOT
from tests.runtime.hostile import PROGRAMS
from tests.sandbox import CANNOT_CONFINE

SYSTEMS_PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or ""
USER = "60999"
DOCKERS = (
    *("chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "net_bind_service"),
    *("net_raw", "sys_chroot", "mknod", "audit_write", "setfcap", "sys_admin", "net_admin"),
)
"""What a container's root may, with the two that `deploy/grader/Dockerfile` asks for."""
AS_ANOTHER = ("setpriv", "--reuid=60998", "--regid=60998", "--clear-groups")
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
IN_A_CONTAINER = ("setpriv", "--bounding-set=-all," + ",".join(f"+{right}" for right in DOCKERS), "--inh-caps=-all")
BUT_ONE = 40 - LABS["lab-03"].tasks[4].points
"""Of whoever does nothing wrong but in the share of the time."""
HONEST = {"an honest one": 40, "600 lists": BUT_ONE, "a number of 401 digits": BUT_ONE, "its own end": BUT_ONE}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here"),
]


def graded(tmp_path, front, python, confine, packages=""):
    """What a class of twenty came to, in a temporary folder that any user may enter."""
    mark = f"hostile-{os.getpid()}-{tmp_path.name}"
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        Path(temporary).chmod(0o777)
        environment = {"PATH": os.environ["PATH"], "TMPDIR": temporary, "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"PYTHONPATH": packages} if packages else {}
        command = [*front, python, "-m", "tests.runtime.hostile", "confined" if confine else "unconfined", mark]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        for path in Path(place).glob(f"{mark}*"):
            path.unlink()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def held(told):
    assert len(PROGRAMS) == 20
    assert {name: told["points"][name] for name in HONEST} == HONEST
    assert all(isinstance(points, float) for points in told["points"].values()), told["points"]
    assert told["processes"] == []


def numpy_of(python):
    """The packages with which the system's Python runs the judge as another user; skips where none do."""
    packages = str(Path(__import__("numpy").__file__).parents[1])
    tried = [*AS_USER, python, "-c", "import numpy, core.course.grading.tasks, runtime.grading"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": packages}
    if not python or subprocess.run(tried, cwd=ROOT, env=environment, capture_output=True).returncode:
        pytest.skip("no Python here is another user's too")
    return packages


def test_as_whoever_runs_the_tests(tmp_path):
    told = graded(tmp_path, (), sys.executable, confine=True)
    held(told)
    assert told["files"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone becomes another user")
def test_as_a_user(tmp_path):
    told = graded(tmp_path, AS_USER, SYSTEMS_PYTHON, True, numpy_of(SYSTEMS_PYTHON))
    held(told)
    assert told["files"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="a right can be taken from root alone")
def test_with_the_rights_of_the_container(tmp_path):
    told = graded(tmp_path, IN_A_CONTAINER, sys.executable, confine=True)
    held(told)
    assert told["files"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone becomes another user")
def test_unconfined_as_a_user_leaves_no_process(tmp_path):
    """Files stay where the user may write them: that is what a sandbox is for."""
    held(graded(tmp_path, AS_ANOTHER, SYSTEMS_PYTHON, False, numpy_of(SYSTEMS_PYTHON)))
