"""A worker answers as the function would; one that takes too much is ended, said, and replaced."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.errors import OutOfRangeError, UnreadableTextError
from core.startup_log.reader import read_log
from runtime import operators
from runtime.content import speaking
from runtime.workers import WorkError, Workers, WorkFaultError
from tests.core.startup_log.printed_logs import QWEN2
from tests.runtime import work_tasks as tasks


@pytest.fixture(scope="module")
def workers():
    found = Workers(1, cpu_s=1, wall_s=30, memory_bytes=512 * 2**20)
    yield found
    found.close()


@pytest.fixture
def noted(monkeypatch):
    """The operator's lines, as they would be written."""
    lines = []

    def written(event, **values):
        if event != "minute":  # of whatever else this process has served
            lines.append({"event": event, **values})

    monkeypatch.setattr(operators, "_write", written)
    monkeypatch.setattr(operators, "_counts", {})
    return lines


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_answers_as_the_function_does_and_knows_neither_torch_nor_streamlit(workers):
    assert workers.run(read_log, QWEN2) == read_log(QWEN2)
    assert workers.run(tasks.process_id) != os.getpid()
    assert not workers.run(tasks.imported) & {"torch", "streamlit", "pandas"}


def test_a_refusal_comes_back_as_it_was_raised(workers):
    with pytest.raises(UnreadableTextError, match="no table") as error:
        workers.run(tasks.refused, "secret")
    assert error.value.reason.values == {"text": "secret"}
    with pytest.raises(OutOfRangeError, match="tp_size=0 must be above 0"):
        workers.run(tasks.out_of_range, 0)


def test_the_same_question_is_answered_once(workers):
    assert workers.run(tasks.process_id, 1) == workers.run(tasks.process_id, 2)
    began_s = time.process_time()
    assert workers.run(tasks.busy, 0.3, 1) == workers.run(tasks.busy, 0.3, 1)
    assert time.process_time() - began_s < 0.3


def test_a_worker_speaks_the_language_of_the_visit(workers):
    assert workers.run(tasks.spoken) == "en"
    with speaking("es"):
        assert workers.run(tasks.spoken) == "es"
    assert workers.run(tasks.spoken, 1) == "en"


@pytest.mark.slow
def test_a_task_that_takes_too_long_is_ended_said_and_noted_without_its_text(workers, noted):
    before = workers.run(tasks.process_id, 3)
    with pytest.raises(WorkError, match="took longer than a page allows"):
        workers.run(tasks.busy, 60.0)
    assert not alive(before)
    assert workers.run(tasks.process_id, 4) != before
    assert noted == [{"event": "work_ended", "task": "busy", "why": "overran", "fault": ""}]


@pytest.mark.slow
def test_a_task_that_waits_forever_is_ended_too():
    short = Workers(1, wall_s=3.0)  # a busy machine starts a worker in this
    with pytest.raises(WorkError, match="took longer"):
        short.run(tasks.asleep, 600.0)
    assert short.run(tasks.process_id)
    short.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by Linux")
def test_a_task_that_wants_too_much_memory_is_refused(workers, noted):
    with pytest.raises(WorkError, match="more memory than a page allows"):
        workers.run(tasks.greedy, 2**30)
    assert workers.run(tasks.greedy, 2**20) == 2**20
    assert noted[0]["why"] == "memory"


def test_a_fault_is_none_of_the_visitors_and_its_message_stays_out_of_the_log(workers, noted):
    with pytest.raises(WorkFaultError, match="faulty: KeyError"):
        workers.run(tasks.faulty, "what they pasted")
    assert "pasted" not in str(noted)


def test_a_worker_that_was_killed_at_rest_is_replaced_without_a_word(workers):
    os.kill(workers.run(tasks.process_id, 5), signal.SIGKILL)
    assert alive(workers.run(tasks.process_id, 6))


@pytest.mark.slow
def test_no_more_workers_than_allowed_and_who_waits_too_long_is_told():
    pool, found, lock = Workers(2, wait_s=60), set(), threading.Lock()

    def ask(number):
        pid = pool.run(tasks.busy, 0.2, number)
        with lock:
            found.add(pid)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(found) <= 2
    pool.close()
    hasty = Workers(1, wait_s=0.1)
    first = threading.Thread(target=hasty.run, args=(tasks.busy, 2.0))
    first.start()
    time.sleep(1.0)
    with pytest.raises(WorkError, match="at work for other visitors"):
        hasty.run(tasks.process_id)
    first.join()
    hasty.close()


def test_a_worker_that_cannot_be_started_is_told_and_the_next_task_is_done(noted, monkeypatch):
    """No handle or no process is left on the machine: it is as if no worker were free, and no fault."""
    pool = Workers(1)

    def none_left(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as few:
        few.setattr("runtime.workers.subprocess.Popen", none_left)
        with pytest.raises(WorkError, match="at work for other visitors"):
            pool.run(tasks.process_id, 7)
    assert [line["event"] for line in noted] == ["busy"]
    assert alive(pool.run(tasks.process_id, 7))
    pool.close()


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_no_worker():
    """The pipe closes with the server, and a worker at rest ends; one at work ends with its task at the latest."""
    program = """
import os, signal
from runtime import workers
from tests.runtime import work_tasks
print(workers.run(work_tasks.process_id), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60)
    pid, until_s = int(done.stdout), time.monotonic() + 20
    while alive(pid) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert done.returncode == -signal.SIGKILL
    assert not alive(pid)
