"""Submissions under their judge: right, wrong, endless, greedy, and those that would rather not compute.

The answers in `answers/` are written by hand as a student would, and share no code with the reference.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.tasks import LABS, earned
from core.errors import NotGradedError, OutOfRangeError
from runtime import confinement, grading
from runtime.conversation import Conversation
from runtime.grading import Patience, grade
from runtime.tree_limits import Tree
from tests.each import each
from tests.sandbox import CANNOT_CONFINE

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = Path(__file__).parent / "answers"
BILL = LABS["lab-03"]
SEED = 7
pytestmark = pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")


def answer(lab):
    return ANSWERS / f"{lab.key.replace('-', '_')}.py"


def submitted(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(code, encoding="utf-8")
    return path


def graded(tmp_path, code, lab=BILL, patience=None):
    return grade(lab, submitted(tmp_path, code), SEED, patience)


def right_but(code):
    """Lab 03 as it should be, and then something more."""
    return answer(BILL).read_text(encoding="utf-8") + "\n\n" + code


def problems(results):
    return [one.problem for result in results for one in result.outcomes if one.problem]


def all_but(number):
    """The points of the bill's tasks, none for one of them."""
    return {task.number: task.points * (task.number != number) for task in BILL.tasks}


def points(results):
    return {result.task.number: float(result.points) for result in results}


@pytest.mark.parametrize("lab", ["lab-01", "lab-03", "lab-04"])
def test_a_right_answer_earns_every_point_whatever_is_asked(lab):
    for seed in (1, 2**60):
        results = grade(LABS[lab], answer(LABS[lab]), seed)
        assert problems(results) == []
        assert earned(results) == LABS[lab].points == 40


@pytest.mark.slow
def test_two_real_ranks_are_asked_too():
    lab = LABS["lab-02"]
    assert problems(grade(lab, answer(lab), SEED)) == []


NO_MORE_USERS = ("bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--")
"""In front of a command that may make no user namespace, as in a container without the right to."""
REFUSED = """
from pathlib import Path
from core.course.grading.tasks import LABS
from core.errors import NotGradedError
from runtime.grading import grade
try:
    grade(LABS["lab-03"], Path(FILE), 7)
except NotGradedError as error:
    print(error)
"""


def test_where_nothing_can_be_confined_the_grader_refuses_and_names_the_package():
    program = REFUSED.replace("FILE", repr(str(answer(BILL))))
    command = [*NO_MORE_USERS, sys.executable, "-c", program]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("bubblewrap cannot confine a process here (")
    assert "--unconfined" in told.stdout


def test_where_bubblewrap_is_not_installed_the_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    confinement.missing.cache_clear()
    try:
        with pytest.raises(NotGradedError, match="apt-get install bubblewrap"):
            grade(BILL, answer(BILL), SEED)
    finally:
        confinement.missing.cache_clear()


def test_unconfined_is_asked_for_and_grades_the_same():
    assert earned(grade(BILL, answer(BILL), SEED, confine=False)) == 40


def test_unconfined_code_starts_no_process(tmp_path):
    """Nothing would end it; root's own processes alone are not counted."""
    if confinement.is_root() and not confinement.other_user():
        pytest.skip("nobody cannot run this Python, and root's processes are not counted")
    code = right_but("import subprocess\nsubprocess.Popen(['sleep', '99'])\n")
    results = grade(BILL, submitted(tmp_path, code), SEED, confine=False)
    assert "BlockingIOError" in problems(results)[0]


@pytest.mark.parametrize("lab", ["lab-01", "lab-03", "lab-04"])
def test_the_untouched_starter_earns_none_and_names_each_task(lab):
    lab = LABS[lab]
    results = grade(lab, ROOT / "labs" / lab.folder / "starter.py", SEED)
    assert earned(results) == 0
    for result in results:
        assert any(f"{lab.key}, task {result.task.number}" in one.problem for one in result.outcomes)


@pytest.mark.parametrize("lab", ["lab-01", "lab-03", "lab-04"])
def test_the_references_modules_are_refused(lab):
    """Its own file imports the reference: the code that is to be written."""
    lab = LABS[lab]
    results = grade(lab, ROOT / "labs" / lab.folder / "solution.py", SEED)
    assert earned(results) == 0
    assert "what the lab's starter imports" in problems(results)[0]


@pytest.mark.parametrize(
    "attack",
    [
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
        "import sys\nsys.modules['__main__'].plain = lambda value: 0\n",
        "from core.comm_cost.bill import *\n",
        "import os\nfor fd in range(3, 20):\n"
        "    try: os.write(fd, b'{\"value\": 1}\\n' * 20)\n    except OSError: pass\n",
        "class Equal:\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
        "allreduce_payload_bytes = ring_allreduce_traffic_per_rank = lambda *a, **k: Equal()\n"
        "allreduce_time_s = tp_comm_time_per_step = comm_fraction = lambda *a, **k: Equal()\n",
        "class Equal(float):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
        "allreduce_payload_bytes = ring_allreduce_traffic_per_rank = lambda *a, **k: Equal(3)\n"
        "allreduce_time_s = tp_comm_time_per_step = comm_fraction = lambda *a, **k: Equal(3)\n",
    ],
    ids=["pytest", "our encoder", "the reference", "the pipe", "equal to all", "a float equal to all"],
)
def test_what_does_not_compute_earns_nothing(tmp_path, attack):
    """Two lines once scored 80 of 80."""
    assert earned(graded(tmp_path, attack)) == 0


def test_a_lab_that_does_not_shard_is_wrong_though_its_product_is_right(tmp_path):
    code = answer(LABS["lab-01"]).read_text(encoding="utf-8")
    dense = "\ndef column_parallel(x, W, num_ranks, ledger=None, bias=None):\n    return x @ W.T\n"
    assert points(graded(tmp_path, code + dense, LABS["lab-01"]))[1] == 0


def test_one_wrong_task_costs_its_own_points(tmp_path):
    code = right_but("def comm_fraction(comm_s, step_s):\n    return comm_s / step_s\n")
    assert points(graded(tmp_path, code)) == all_but(5)


SEEN = """
import glob, os
def comm_fraction(comm_s, step_s):
    seen = []
    for path in glob.glob("/proc/[0-9]*/*"):
        if path.endswith(("cmdline", "environ")):
            try: seen.append(open(path, "rb").read())
            except OSError: pass
    raise RuntimeError("seen" if any(b"the-secret" in text for text in seen) else "not seen")
"""


def test_the_word_cannot_be_read_from_our_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARDLAB_GRADING_WORD", "the-secret")
    said = problems(graded(tmp_path, right_but(SEEN)))
    assert said == ["RuntimeError: not seen (line 34)"] or "not seen" in said[0]


def test_nothing_can_be_written_outside_of_its_own_folder(tmp_path):
    target = ROOT / "labs" / "left_behind.txt"
    code = right_but(f"open({str(target)!r}, 'w').write('x')\n")
    assert earned(graded(tmp_path, code)) == 0
    assert not target.exists()


SHUT = """
import os, socket, subprocess

def shut(path):
    try:
        open(path, "w").close()
    except OSError:
        return True

def empty(path):
    return not os.path.exists(path) or os.listdir(path) == []

assert all(map(shut, ["/x", "/dev/x", "/proc/sys/kernel/domainname", *(path + "/x" for path in {mounts!r})]))
assert all(map(empty, ["/home", "/run", "/var", "/mnt", "/srv", "/media", "/tmp"])), "nobody's files"
assert not os.path.exists({secret!r}) and not os.path.exists({root!r})
assert sorted(os.listdir("/proc/net/dev_snmp6") if os.path.isdir("/proc/net/dev_snmp6") else ["lo"]) == ["lo"]
assert not [line for line in open("/proc/net/unix") if "/" in line or "@" in line], "sockets of the machine"
assert os.getuid() != 0 and open("/proc/self/status").read().count("CapEff:\t0000000000000000") == 1
assert len([name for name in os.listdir("/proc") if name.isdigit()]) <= 4, "no process of the machine's"
for forked in (os.fork, lambda: subprocess.run(["true"])):
    try:
        forked()
    except OSError:
        continue
    raise AssertionError("another process")
written = 0
try:
    while written < 2**30:
        with open(f"/tmp/{{written}}", "wb") as file:
            written += file.write(bytes(2**23))
except OSError:
    pass
assert written <= 64 * 2**20, "a disk"
"""


def test_only_an_empty_tmp_of_bounded_size_can_be_written_and_nothing_of_the_machine_is_seen(tmp_path):
    secret = tmp_path / "seed.txt"
    secret.write_text("a secret")
    points = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    mounts = sorted(point for point in points - {"/dev/shm", "/tmp"} if os.path.isdir(point))
    code = SHUT.format(mounts=mounts, secret=str(secret), root=str(ROOT / "core"))
    results = grade(BILL, submitted(tmp_path, right_but(code)), SEED)
    assert problems(results) == []
    assert earned(results) == 40


def test_of_ours_only_what_the_starter_imports_is_there(tmp_path):
    code = "import os\nheld = sorted(os.listdir('/given'))\n"
    code += "assert held == ['given', 'graded_process.py', 'submission.py'], held\n"
    code += "import core, glob\nfiles = glob.glob('/given/given/**/*.py', recursive=True)\n"
    code += "text = ''.join(open(file).read() for file in files)\n"
    code += "assert 'class LinkSpec' in text and 'def tp_comm_time_per_step' not in text\n"
    assert earned(graded(tmp_path, right_but(code))) == 40


HANGS = {
    "descriptors closed": "import os, time\nos.closerange(0, 64)\ntime.sleep(1e6)\n",
    "closed in a task": right_but("") + "\ndef comm_fraction(comm_s, step_s):\n"
    "    import os, time\n    os.closerange(0, 64)\n    time.sleep(1e6)\n",
    "asks that are not read": "import time\ntime.sleep(1e6)\n",
    "signals ignored": "import signal, time\nfor n in range(1, 64):\n"
    "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ntime.sleep(1e6)\n",
}
SHORT = Patience(load_s=1.0, call_s=1.0, all_s=5.0)


@pytest.mark.parametrize("code", HANGS.values(), ids=HANGS)
@pytest.mark.parametrize("confine", [True, False])
def test_every_wait_has_an_end(tmp_path, monkeypatch, code, confine):
    monkeypatch.setattr("runtime.conversation.END_S", 1.0)
    began_s = time.monotonic()
    results = grade(BILL, submitted(tmp_path, code), SEED, SHORT, confine)
    assert any("was ended" in one or "closed what" in one for one in problems(results))
    assert time.monotonic() - began_s < 30


def test_a_request_that_nobody_reads_ends_too():
    """A pipe holds 64 KiB: a longer request waits for its reader."""
    sleeps = 'import time; print(\'{"begun": true}\\n{"loaded": true}\', flush=True); time.sleep(1e6)'
    tree = Tree(2**30, 16)
    asked = Conversation([sys.executable, "-c", sleeps], os.environ, 5.0, tree, {})
    try:
        assert "more than 0.5 s" in str(asked.ask("x" * 2**21, 0.5))
    finally:
        asked.end()


@pytest.mark.parametrize(
    ("program", "said"),
    [("raise SystemExit('no numpy')", "no numpy"), ("import time; time.sleep(9)", "it says nothing")],
)
def test_what_fails_before_the_submission_is_loaded_is_the_machines(monkeypatch, program, said):
    monkeypatch.setattr("runtime.conversation.BEGIN_S", 1.0)
    with pytest.raises(NotGradedError, match=f"the machine cannot run the code: {said}"):
        Conversation([sys.executable, "-c", program], os.environ, 1.0, Tree(2**30, 16), {})


def test_a_process_that_somebody_else_killed_is_tried_once_more(tmp_path, monkeypatch):
    """As the kernel does where memory is short; killed by its own hand twice, it is the code's."""
    killed = []

    def ask(conversation, request, wait_s, really=Conversation.ask):
        if not killed:
            killed.append(os.kill(conversation._process.pid, signal.SIGKILL))
        return really(conversation, request, wait_s)

    monkeypatch.setattr(Conversation, "ask", ask)
    assert earned(grade(BILL, answer(BILL), SEED)) == 40
    assert killed
    suicide = right_but("import os\ndef comm_fraction(comm_s, step_s):\n    os.kill(os.getpid(), 9)\n")
    results = graded(tmp_path, suicide)
    assert points(results) == all_but(5)
    assert "killed, and again" in problems(results)[0]


def test_a_fault_of_the_judge_or_of_the_machine_is_no_zero(monkeypatch, tmp_path):
    def fault(*given):
        raise ValueError("a slip of ours")

    monkeypatch.setattr(grading, "verdict", fault)
    with pytest.raises(NotGradedError, match=r"the judge failed at .*a slip of ours"):
        grade(BILL, answer(BILL), SEED)
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "a disk that is gone"))
    with pytest.raises(NotGradedError, match="the machine failed the judge"):
        grade(BILL, answer(BILL), SEED)


@pytest.mark.skipif(not Tree(2**30, 16).bounded, reason="this machine bounds no tree of processes")
def test_the_memory_of_all_processes_is_bounded_together(tmp_path):
    """Each of them alone is below its own limit."""
    code = right_but(
        "import os\nfor _ in range(12):\n    if not os.fork():\n"
        "        held = bytearray(2**27)\n        import time\n        time.sleep(60)\n        os._exit(0)\n"
        "os.wait()\nos._exit(1)\n"
    )
    waits = replace(SHORT, load_s=15.0, limits=replace(SHORT.limits, processes=64), tree_bytes=2**29)
    results = grade(BILL, submitted(tmp_path, code), SEED, waits)
    assert "more memory than it may" in problems(results)[0], problems(results)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_submission_is_a_file_of_its_own(tmp_path, kind):
    path = tmp_path / "starter.py"
    {"link": lambda: path.symlink_to(answer(BILL)), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    with pytest.raises(OutOfRangeError, match="is a link, or no file"):
        grade(BILL, path, SEED)


QUICK = Patience(load_s=6.0, call_s=3.0, all_s=20.0)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["while True: pass\n", "import time\ntime.sleep(600)\n"])
def test_a_file_without_an_end_is_ended_once_and_not_once_a_task(tmp_path, code):
    results = graded(tmp_path, code, patience=QUICK)
    assert earned(results) == 0
    assert set(problems(results)) == {"The code ran for more than 6 s and was ended."}


@pytest.mark.slow
def test_an_endless_task_costs_its_own_points_and_no_others(tmp_path):
    code = right_but("def ring_allreduce_traffic_per_rank(*a, **k):\n    while True: pass\n")
    results = graded(tmp_path, code, patience=QUICK)
    assert points(results) == all_but(2)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("raise SystemExit(0)\n", "SystemExit"),
        ("import os\nos._exit(0)\n", "ended before it answered"),
        ("import os\nos.abort()\n", "ended before it answered"),
        ("", "has no attribute"),
    ],
)
def test_a_file_that_cannot_be_loaded_earns_none_and_says_why(tmp_path, code, said):
    results = graded(tmp_path, code)
    assert earned(results) == 0
    assert said in problems(results)[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("bytearray(2**33)", "MemoryError"),
        ("'x' * 20_000_000", "too long"),
        ("float('nan')", "not finite"),
        ("10**5000", ""),
        ("[[[[1]]]]", "An array of the shape (1, 1, 1, 1) was returned, and a number is due."),
        ("object()", "has the type object, which is no answer"),
    ],
)
def test_an_answer_of_no_use_is_said_to_be_one(tmp_path, value, said):
    results = graded(tmp_path, right_but(f"def comm_fraction(comm_s, step_s):\n    return {value}\n"))
    assert points(results)[5] == 0
    assert said in problems(results)[0]


def test_a_file_that_is_not_there_or_too_long_is_refused(tmp_path):
    with pytest.raises(OutOfRangeError, match="is not there"):
        grade(BILL, tmp_path / "none.py", SEED)
    with pytest.raises(OutOfRangeError, match="longer than"):
        graded(tmp_path, "#" * (grading.MOST_BYTES + 1))


def test_our_environment_stays_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "do not tell")
    assert earned(graded(tmp_path, right_but("import os\nassert 'A_SECRET' not in os.environ\n"))) == 40


@pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.key)
def test_probes_speak_for_every_task_and_their_claims_are_the_same_for_all(lab):
    one, other = probes(lab, 1), probes(lab, 2)
    assert {probe.task for probe in one} == {task.number for task in lab.tasks}
    assert [(p.task, p.claim) for p in one] == [(p.task, p.claim) for p in other]
    assert [p.given for p in one] != [p.given for p in other]
    assert len({(p.task, p.claim) for p in one}) == len(one)


def test_a_verdict_needs_the_very_value():
    probe = probes(BILL, 1)[0]
    value = probe.expected["value"]
    assert verdict(probe, {"value": value}) is None
    for wrong in (
        None,
        [],
        {},
        {"value": str(value)},
        {"value": True},
        {"value": value * 1.001},
        {"value": [value]},
    ):
        assert verdict(probe, wrong)


@each(
    ("lab", "function", "wrong", "said"),
    [
        ("lab-01", "column_parallel", None, "Nothing was returned, and an array of the shape ("),
        ("lab-01", "column_parallel", [], "An empty list was returned, and an array"),
        (
            "lab-01",
            "mlp_tp",
            lambda due: [[9, *row[1:]] for row in due],
            " entries are wrong; the first of them, [0, 0], is 9.",
        ),
        ("lab-01", "row_parallel", lambda due: [*due[:-1], due[-1][:-1]], "A list of "),
        ("lab-02", "look_up", lambda due: [due[0], None], "On rank 1: Nothing was returned, and an array of"),
        ("lab-02", "row", lambda due: [[row[::-1] for row in due[0]], due[1]], "On rank 0: "),
        ("lab-04", "fill_drain", lambda due: due[::-1], " entries are wrong; the first of them, [0], is ["),
        ("lab-03", "comm_fraction", "7/23", "A Fraction was returned, and a number is due. The inputs: comm_s="),
        (
            "lab-03",
            "allreduce_time_s",
            7.5,
            "7.5 was returned, and another value is due. The inputs: payload_bytes=512, ",
        ),
        ("lab-04", "fill_drain", lambda due: [[0, 1], *due[1:]], "1 of "),
        ("lab-04", "bubble_fraction", 0.25, "A number was returned, and a Fraction is due. The inputs: stages="),
        ("lab-04", "is_valid", 1, "A number was returned, and a truth value is due."),
    ],
)
def test_a_wrong_value_is_told_with_its_kind_and_without_what_is_due(lab, function, wrong, said):
    probe = next(one for one in probes(LABS[lab], 1) if one.function == function and "value" in one.expected)
    due = probe.expected["value"]
    told = str(verdict(probe, {"value": wrong(due) if callable(wrong) else wrong}))
    assert said in told
    assert str(due)[:80] not in told
    assert "\n" not in told
    assert len(told) < 300
