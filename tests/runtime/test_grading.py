"""Submissions under their judge: right, wrong, endless, greedy, and those that would rather not compute.

The answers in `answers/` are written by hand as a student would, and share no code with the reference.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.tasks import LABS, earned
from core.errors import OutOfRangeError
from runtime import confinement, grading
from runtime.grading import Patience, grade
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = Path(__file__).parent / "answers"
BILL = LABS["lab-03"]
SEED = 7
needs_namespaces = pytest.mark.skipif(confinement.way() != "namespaces", reason="this machine has no namespaces")


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


RIGHTS = """
import subprocess
from pathlib import Path
from runtime import confinement
done = subprocess.run(confinement.confined(["true"], Path.cwd(), []), **confinement.user())
print(confinement.way(), done.returncode)
"""


@needs_namespaces
@pytest.mark.parametrize("right", ["net_admin", "sys_admin"])
def test_a_container_with_half_the_rights_runs_a_submission_as_somebody_else(tmp_path, right):
    """Docker's root may make a network of its own where SYS_ADMIN is given, and not raise its loopback."""
    if os.geteuid():
        pytest.skip("a right can be taken from root alone")
    without = ("setpriv", f"--bounding-set=-{right}", f"--inh-caps=-{right}", sys.executable, "-c", RIGHTS)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    told = subprocess.run(without, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout == "another user 0\n"


@needs_namespaces
@pytest.mark.parametrize("lives", [True, False])
def test_nothing_is_run_for_whoever_has_ended(tmp_path, lives):
    """Where its pipe has no other end, the judge was killed before the kernel had tied the submission to it."""
    run = subprocess.Popen(confinement.confined(["true"], tmp_path, []), stdin=subprocess.PIPE)
    if not lives:
        run.stdin.close()
    assert (run.wait() == 0) == lives
    run.stdin.close()


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
    assert points(graded(tmp_path, code)) == {1: 3, 2: 4, 3: 6, 4: 5, 5: 0, 6: 7, 7: 3, 8: 4, 9: 2, 10: 4}


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


@needs_namespaces
def test_nothing_can_be_written_outside_of_its_own_folder(tmp_path):
    target = ROOT / "labs" / "left_behind.txt"
    code = right_but(f"open({str(target)!r}, 'w').write('x')\n")
    assert earned(graded(tmp_path, code)) == 0
    assert not target.exists()


SHUT = """
def shut(path):
    try:
        open(path, "w").close()
    except OSError:
        return True

assert shut("/proc/sys/kernel/domainname"), "uid 0 may write there whatever else it may not"
assert all(shut(path + "/x") for path in {mounts!r}), "a volume, another disk, memory"
assert open({word!r}).read() == ""
"""


@needs_namespaces
def test_no_other_mount_can_be_written_either_and_what_is_kept_from_it_is_empty(tmp_path):
    """A read-only `/` alone leaves a /home, a container's volume and the kernel's own settings as they were."""
    word = tmp_path / "word"
    word.write_text("a secret")
    points = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    mounts = sorted(point for point in points - {"/dev/shm"} if os.path.isdir(point) and os.access(point, os.W_OK))
    code = right_but(SHUT.format(mounts=mounts, word=str(word)))
    assert earned(grade(BILL, submitted(tmp_path, code), SEED, unseen=(word,))) == 40


@needs_namespaces
def test_neither_the_tests_nor_the_reference_can_be_read(tmp_path):
    code = right_but(
        f"import os\nassert os.listdir({str(ROOT / 'core')!r}) == [] == os.listdir({str(ROOT / 'labs')!r})\n"
    )
    assert earned(graded(tmp_path, code)) == 40


@needs_namespaces
def test_no_process_outlives_the_grade(tmp_path):
    """A daemon that left its session and changed its name; the kernel ends it soon after its namespace."""
    mark = f"shardlab-daemon-{time.time_ns()}"
    sleeper = f"[sys.executable, '-c', 'import time; time.sleep(99)', {mark!r}]"
    code = f"import subprocess, sys\nsubprocess.Popen({sleeper}, start_new_session=True)\n"
    assert earned(graded(tmp_path, right_but(code))) == 40
    until_s = time.monotonic() + 60
    while running := [path for path in Path("/proc").glob("[0-9]*/cmdline") if _holds(path, mark.encode())]:
        assert time.monotonic() < until_s, running
        time.sleep(0.05)


def _holds(path, mark):
    try:
        return mark in path.read_bytes()
    except OSError:
        return False


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
    assert points(results)[2] == 0
    assert points(results)[1] == 5
    assert points(results)[5] == 5


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
    assert verdict(probe, {"value": value}) == ""
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
    told = verdict(probe, {"value": wrong(due) if callable(wrong) else wrong})
    assert said in told
    assert str(due)[:80] not in told
    assert "\n" not in told
    assert len(told) < 300
