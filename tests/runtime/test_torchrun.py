"""Every way a run can go wrong ends in a sentence, within a stated time, and leaves no process."""

import errno
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.two_way_tp.reconcile import reconcile
from core.two_way_tp.result import read_result
from core.two_way_tp.run_log import read_log
from runtime import torchrun
from runtime.locks import HostLock
from runtime.processes import PARENT, tagged
from runtime.prose import worded
from runtime.run_request import RunRefusedError, RunRequest
from runtime.torchrun import TAG, start
from tests.distributed.tiny_checkpoints import write

torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc")
pytestmark = [pytest.mark.slow, pytest.mark.ranks, linux, torch]

SHORT = RunRequest(options=("--steps-per-prompt", "2", "--backend", "shm"), wall_s=600, silence_s=90)


def stub(mode, seconds, **request):
    """Ranks without a model: tests/runtime/rank_stub.py."""
    return RunRequest(
        "tests.runtime.rank_stub", (mode, str(seconds)), **{"wall_s": 300, "silence_s": 90, **request}
    )


LONG = stub("beat", 600)


@pytest.fixture(autouse=True)
def private_lock(monkeypatch, tmp_path):
    """Tests do not wait for a run that somebody else makes on this machine."""
    monkeypatch.setattr(torchrun, "LOCK_NAME", f"shardlab-test-{os.getpid()}")


def processes(run):
    """The run's processes; a zombie, dead and waiting to be asked about, has no environment left."""
    return tagged(TAG, run.tag)


def rank_process(run, rank):
    """The process id of one rank."""
    wanted = f"RANK={rank}".encode()
    found = [pid for pid in processes(run) if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    return found[0]


def watch_until(run, event):
    """Read lines until the ranks are at `event`."""
    for line in run.watch():
        if line and f'"event": "{event}"' in line:
            return
    pytest.fail(f"the run ended before {event}: {run.outcome}")


def events(lines):
    return [json.loads(line)["event"] for line in lines]


def test_a_run_ends_with_its_result_and_leaves_nothing(tmp_path):
    """As in a container, where one can be had: its /dev/shm is tiny and read-only, and the run takes none of it.

    Of a Hugging Face directory, whose log brings the shape that its bytes are predicted from, wherever it is read.
    """
    options = (*SHORT.options, "--model", str(write("qwen3-normed-wide-heads", tmp_path / "model", 1)))
    program = f"""
import json
from runtime import torchrun
from runtime.processes import tagged
torchrun.LOCK_NAME = {torchrun.LOCK_NAME!r}
request = torchrun.RunRequest(options={options}, wall_s=600, silence_s=90)
with torchrun.start(request) as run:
    lines = [line for line in run.watch() if line is not None]
left = tagged(torchrun.TAG, run.tag)
print(json.dumps([lines, left, run.outcome.status, run.outcome.message, run.outcome.result]))
"""
    command = [sys.executable, "-c", program]
    mounted = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4k,ro tmpfs /dev/shm && exec "$@"', "sh"]
    if not os.geteuid() and not subprocess.run([*mounted, "true"], capture_output=True).returncode:
        command = [*mounted, *command]
    done = subprocess.run(command, cwd=torchrun.ROOT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-500:]
    lines, left, status, message, written = json.loads(done.stdout)
    assert (status, message, left) == ("done", None, [])
    assert "fallback" not in events(lines)
    log, result = read_log(lines), read_result(written)
    assert (log.tp_size, log.identical) == (result.world_size, log.prompts) == (2, 10)
    assert result.tokens_equal
    assert result.max_logit_difference < 1e-3
    assert log.model.qk_norm
    assert {row.verdict for row in reconcile(log) if row.exact} == {"ok"}


def killed(rank):
    """A run of which one rank was killed in the middle, and the seconds until that was told."""
    with start(LONG) as run:
        watch_until(run, "world")
        killed_s = time.monotonic()
        os.kill(rank_process(run, rank), signal.SIGKILL)
        for _ in run.watch():
            pass
        told_s = time.monotonic() - killed_s
    assert worded(run.outcome.message) == "A rank was ended from outside by SIGKILL; the others were stopped."
    assert events(run.outcome.lines) == ["start", "world"]
    assert processes(run) == []
    return told_s


def test_a_killed_rank_is_told_and_the_others_are_stopped():
    """The one that speaks for all."""
    killed(0)


@pytest.mark.clock
def test_a_killed_rank_is_told_within_ten_seconds():
    assert killed(1) < 10


def test_a_killed_torchrun_takes_its_ranks_along_and_the_run_says_so():
    """Also a rank that was only starting, and had not yet asked to be ended with torchrun."""
    with start(stub("untied", 600)) as run:
        watch_until(run, "world")
        os.kill(run._process.pid, signal.SIGKILL)
        for _ in run.watch():
            pass
    assert run.outcome.status == "failed"
    assert worded(run.outcome.message) == "The launcher was ended from outside by SIGKILL; its ranks were stopped."
    assert events(run.outcome.lines) == ["start", "world"]
    assert processes(run) == []


def test_a_rank_that_begins_after_its_torchrun_has_died_ends_at_once():
    """Its parent is another process than the one that it was told of."""
    program = "from runtime.processes import end_with_parent; end_with_parent()"
    environment = {**os.environ, PARENT: str(os.getppid())}
    done = subprocess.run([sys.executable, "-c", program], cwd=torchrun.ROOT, env=environment, capture_output=True)
    assert done.returncode == 1
    assert b"the parent ended before this process began" in done.stderr


def test_too_few_file_handles_are_told_and_the_next_run_can_be_made():
    """The server has none left for the pipes of a process: it says so, and lives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 2, hard))
        with start(LONG) as run:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for _ in run.watch():
                pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert run.outcome.status == "failed"
    assert "too few file handles" in worded(run.outcome.message)
    with start(stub("beat", 0)) as run:
        for _ in run.watch():
            pass
    assert run.outcome.status == "done"


@pytest.mark.parametrize(
    "folders", [["/proc/nowhere"], []], ids=["its lock cannot be made", "there is none at all"]
)
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_started(folders, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", *folders or [None])
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: folders)
    monkeypatch.setenv("TMPDIR", "/proc/nowhere")
    with pytest.raises(RunRefusedError, match="no run can be started: No such file or directory in /proc/nowhere"):
        start(LONG)


def test_a_folder_that_takes_a_lock_and_no_files_leaves_the_lock_free(monkeypatch):
    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.TemporaryDirectory", read_only)
    with pytest.raises(RunRefusedError, match="Read-only file system in"):
        start(LONG)
    lock = HostLock(torchrun.LOCK_NAME)
    assert lock.acquire()
    lock.release()


def test_a_hung_rank_is_ended_after_the_silence_it_is_allowed():
    """A stopped process hears no SIGTERM: it takes the two seconds of grace, then SIGKILL. Its peer cannot step."""
    with start(stub("together", 600)) as run:
        watch_until(run, "world")
        run.request = RunRequest(silence_s=4, wall_s=600)
        os.kill(rank_process(run, 1), signal.SIGSTOP)
        for _ in run.watch():
            pass
    assert run.outcome.status == "silent"
    assert "nothing was heard for 4 s, and no rank made a step" in worded(run.outcome.message)
    assert events(run.outcome.lines) == ["start", "world"]
    assert processes(run) == []


@pytest.mark.parametrize("mode", ["beat", "compute", "together"])
def test_a_process_that_is_stopped_is_told_however_long_a_run_may_be_silent(mode, monkeypatch):
    """A rank while it steps, or computes beside others that get on: told well before 600 s."""
    monkeypatch.setattr(torchrun, "STOPPED_S", 3.0)
    with start(stub(mode, 600, silence_s=600, wall_s=600)) as run:
        watch_until(run, "world")
        os.kill(rank_process(run, 1), signal.SIGSTOP)
        began_s = time.monotonic()
        for _ in run.watch():
            pass
    assert time.monotonic() - began_s < 30
    assert run.outcome.status == "silent"
    assert "nothing was heard for 3 s" in worded(run.outcome.message)
    assert processes(run) == []


@pytest.mark.parametrize("mode", ["beat", "compute"])
def test_a_run_that_gets_on_without_a_word_is_not_ended_as_silent(mode):
    """Six seconds between two lines where two are allowed: ranks step on, or are still starting."""
    with start(stub(mode, 6, silence_s=2)) as run:
        lines = [line for line in run.watch() if line is not None]
    assert run.outcome.status == "done"
    assert events(lines) == ["start", "world", "done"]


def test_a_run_that_hangs_is_ended_and_its_lines_are_kept():
    with start(stub("sleep", 600, silence_s=6)) as run:
        for _ in run.watch():
            pass
    assert (run.outcome.status, events(run.outcome.lines)) == ("silent", ["start", "world"])
    assert processes(run) == []


def test_a_run_that_goes_on_too_long_is_ended():
    with start(stub("beat", 600, wall_s=3)) as run:
        for _ in run.watch():
            pass
    assert run.outcome.status == "overran"
    assert "longer than 3 s" in worded(run.outcome.message)
    assert processes(run) == []


def test_a_run_that_wants_more_memory_than_it_may_take_is_told_so():
    """A GB, in processes of 400 MB each: what torch says of it is put in a sentence."""
    with start(stub("fill", 0, ranks=1, memory_bytes=400 * 2**20)) as run:
        for _ in run.watch():
            pass
    assert (run.outcome.status, processes(run)) == ("failed", [])
    assert "wanted more memory than a run may take" in worded(run.outcome.message)


def test_a_page_that_goes_away_takes_its_run_with_it():
    """Streamlit unwinds a page whose browser has gone by raising out of its next command, which cancels.

    Two lines are out, and nobody has read the second. A second run was told to wait, and the next one is not.
    """

    def page():
        with run:
            watch_until(run, "start")
            with pytest.raises(RunRefusedError, match="one at a time; it ends within 600 s"):
                start(SHORT)
            while run._lines.qsize() == 0:
                time.sleep(0.05)
            raise KeyboardInterrupt

    run = start(LONG)
    with pytest.raises(KeyboardInterrupt):
        page()
    assert (run.outcome.status, worded(run.outcome.message)) == ("cancelled", "The run was canceled.")
    assert events(run.outcome.lines) == ["start", "world"]
    assert processes(run) == []
    lock = HostLock(torchrun.LOCK_NAME)
    assert lock.acquire()
    lock.release()


@pytest.mark.clock
def test_cancel_ends_every_rank_within_four_seconds():
    with start(LONG) as run:
        watch_until(run, "world")
        asked_s = time.monotonic()
        assert run.cancel().status == "cancelled"
        assert time.monotonic() - asked_s < 4
    assert processes(run) == []


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 512 KiB, for those who may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("full", ["before", "while it runs"])
def test_a_full_disk_is_told_and_leaves_the_machine_free_for_the_next_run(tiny_disk, full, monkeypatch):
    """With room for its folder alone nothing is begun; filled while it runs, it ends in words."""
    for variable in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(variable, str(tiny_disk))
    monkeypatch.setattr("tempfile.tempdir", str(tiny_disk))
    ballast = tiny_disk / "ballast"
    if full == "before":
        ballast.write_bytes(b"0" * (2**19 - 3 * 2**12))
        with pytest.raises(RunRefusedError, match="No space left on device in"):
            start(SHORT)
        assert not list(tiny_disk.glob("shardlab-run-*"))
    else:
        with start(LONG) as run:
            watch_until(run, "world")
            ballast.write_bytes(bytes(shutil.disk_usage(tiny_disk).free))
            Path(run._folder.name, "end").touch()
            for _ in run.watch():
                pass
        assert run.outcome.status == "failed"
        assert "the disk is full" in worded(run.outcome.message)
        assert processes(run) == []
    lock = HostLock(torchrun.LOCK_NAME)
    assert lock.acquire()
    lock.release()


def test_a_taken_port_is_refused_at_once_and_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(RunRefusedError, match=f"port {port} is taken on this machine; choose another"):
            start(RunRequest(ranks=1, nnodes=2, rendezvous=f"127.0.0.1:{port}"))
    lock = HostLock(torchrun.LOCK_NAME)
    assert lock.acquire()
    lock.release()


@pytest.mark.parametrize("address", ["29500", "127.0.0.1:", "127.0.0.1:99999", "here:port", "203.0.113.7:29500"])
def test_an_address_where_nobody_can_listen_is_refused(address):
    with pytest.raises(RunRefusedError, match=r"is not an address and a port|cannot be listened at"):
        start(RunRequest(ranks=1, nnodes=2, rendezvous=address))


def test_two_hosts_meet_at_an_address_and_the_first_one_tells(monkeypatch):
    """Two launchers with a rank each, as on two hosts: their own locks, and one rendezvous."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    hosts = []
    for node in (1, 0):
        monkeypatch.setattr(torchrun, "LOCK_NAME", f"shardlab-test-{os.getpid()}-{node}")
        hosts.append(start(stub("beat", 0, ranks=1, nnodes=2, node_rank=node, rendezvous=address)))
    second, first = hosts
    with first, second:
        lines = [line for line in first.watch() if line is not None]
        assert [line for line in second.watch() if line is not None] == []
    assert (first.outcome.status, second.outcome.status) == ("done", "done")
    assert events(lines) == ["start", "world", "done"]
    assert (json.loads(lines[1])["tp_size"], json.loads(lines[1])["hosts"]) == (2, 2)
    assert processes(first) + processes(second) == []


def test_without_torch_nothing_is_started(monkeypatch):
    monkeypatch.setattr(torchrun, "has_torch", lambda: False)
    with pytest.raises(RunRefusedError, match="PyTorch is not installed"):
        start(SHORT)


def test_a_server_that_is_killed_leaves_no_rank(tmp_path):
    """SIGKILL runs no cleanup: the kernel ends torchrun with the server, and each rank with torchrun."""
    program = f"""
import os, signal
from runtime import torchrun
torchrun.LOCK_NAME = {torchrun.LOCK_NAME!r}
with torchrun.start(torchrun.RunRequest("tests.runtime.rank_stub", ("beat", "600"), silence_s=90)) as run:
    for line in run.watch():
        if line and '"world"' in line:
            print(run.tag, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=800)
    tag = done.stdout.strip()
    assert done.returncode == -signal.SIGKILL
    deadline_s = time.monotonic() + 60
    while tagged(TAG, tag) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert len(tag) == 32
    assert tagged(TAG, tag) == []
