"""The budget's guard: a cap is never passed and a record never lost, by racing processes or killed ones."""

import ast
import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import bench_ledger
from core.errors import OutOfRangeError, ShardlabError
from core.two_way_tp.spend import BudgetLimits
from runtime import budget
from runtime.budget import BudgetGuard, BudgetGuardExceeded, LedgerError

ROOT = Path(__file__).resolve().parents[2]
WIDE = BudgetLimits(lab_usd=100, phase_usd=100, gpu_hours=100, spin_up_usd=0)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "experiments" / "spend.jsonl"


def test_what_is_authorised_is_reserved_until_it_is_paid(ledger):
    """$5 - $1.40 = $3.60; paid $0.93 of it, $4.07 are left."""
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 1.40, gpu_hours=2)
    assert guard.account().remaining_usd() == 3.60
    assert guard.total_spent() == 0
    guard.record_actual("lab-02", 0.93, gpu_hours=1.3)
    assert guard.account().remaining_usd() == 4.07
    assert guard.total_spent() == 0.93
    assert guard.account().gpu_hours == 1.3


@pytest.mark.parametrize(
    ("before", "label", "usd", "message"),
    [
        ([("lab-02", 2.0)], "lab-02", 1.01, r"\$1.01 on top of \$2.00 passes the \$3.00 of lab-02"),
        ([("lab-02", 2.5), ("lab-03", 2.0)], "lab-04", 0.51, r"on top of \$4.50 passes the \$5.00 of the phase"),
        ([("lab-02/first", 2.0)], "lab-02/second", 1.5, "of lab-02"),
    ],
)
def test_a_cap_that_would_be_passed_is_refused_and_nothing_written(ledger, before, label, usd, message):
    guard = BudgetGuard(ledger)
    for one in before:
        guard.authorize(*one)
    written = ledger.read_bytes()
    with pytest.raises(BudgetGuardExceeded, match=message):
        guard.authorize(label, usd)
    assert ledger.read_bytes() == written


def test_a_cap_is_met_exactly_and_not_by_a_float_more(ledger):
    """Thirty times $0.10 is $3.00, which thirty additions of a float are not."""
    guard = BudgetGuard(ledger)
    for _ in range(30):
        guard.authorize("lab-02", 0.1)
    with pytest.raises(BudgetGuardExceeded):
        guard.authorize("lab-02", 0.000_000_1)


def test_two_hours_of_gpu_time_are_all(ledger):
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 0.7, gpu_hours=1.5)
    with pytest.raises(BudgetGuardExceeded, match=r"1 GPU hours on top of 1\.5 pass the 2 of the phase"):
        guard.authorize("lab-02", 0.7, gpu_hours=1)


def test_an_instance_is_not_started_on_the_last_dollars(ledger):
    """$5 - $1.60 leaves $3.40, less than the $3.50 that must remain before a spin-up."""
    guard = BudgetGuard(ledger)
    guard.record_actual("lab-01", 1.60)
    with pytest.raises(BudgetGuardExceeded, match=r"\$3.40 are left, and \$3.50 must be"):
        guard.authorize("lab-02", 0.10, spin_up=True)
    guard.authorize("lab-02", 0.10)


def test_money_that_is_gone_is_put_down_even_past_the_cap(ledger):
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 2.0)
    guard.record_actual("lab-02", 16.80)
    assert guard.total_spent() == 16.80
    assert guard.account().remaining_usd() == 0
    assert guard.account().alert


@pytest.mark.parametrize("usd", [0, -1, float("nan"), float("inf")])
def test_no_sum_is_no_estimate(ledger, usd):
    with pytest.raises(OutOfRangeError):
        BudgetGuard(ledger).authorize("lab-02", usd)
    assert not ledger.exists()


@pytest.mark.parametrize("label", ["", " ", "a\nb", "x" * 81])
def test_a_label_is_one_line(ledger, label):
    with pytest.raises(OutOfRangeError):
        BudgetGuard(ledger).authorize(label, 1)


KILLED = """
import os, sys
from runtime import budget
from runtime.budget import BudgetGuard
whole_write, left = os.write, int(sys.argv[3])
def torn(file, data):
    whole_write(file, data[:left])
    os.kill(os.getpid(), 9)
budget.os.write = torn
guard = BudgetGuard(sys.argv[1])
getattr(guard, sys.argv[2])("lab-02", 1.0)
"""


@pytest.mark.parametrize("action", ["authorize", "record_actual"])
def test_a_writer_killed_after_any_number_of_bytes_loses_no_other_record(ledger, action):
    """Every cut of the line: what was granted before stands, the next authorisation is whole, sums are right.

    The torn record itself was never answered for; it counts from the cut on where its JSON is whole.
    """
    guard = BudgetGuard(ledger, WIDE)
    guard.authorize("lab-02", 0.5)
    before = ledger.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "_now", lambda: "2026-01-31T12:00:00Z")
        length = len(budget.json.dumps(budget.asdict(guard.record_actual("lab-02", 1.0)))) + 1
    for cut in range(length + 1):
        line = _line_of(guard, action, before)
        ledger.write_bytes(before + line[:cut])
        whole = cut >= len(line) - 1
        guard.authorize("lab-03", 0.25)
        account = guard.account()
        committed = 0.75 + (1.0 if whole and action == "authorize" else 0)
        if whole and action == "record_actual":
            committed = 1.25
        assert account.committed_usd() == committed, cut
        assert ledger.read_bytes().startswith(before + line[:cut])


def _line_of(guard, action, before):
    """The bytes that one call writes behind `before`."""
    guard.path.write_bytes(before)
    getattr(guard, action)("lab-02", 1.0)
    return guard.path.read_bytes()[len(before) :]


@pytest.mark.parametrize("left", [0, 1, 30, 90, 10**6])
def test_a_real_process_killed_in_the_middle_of_a_write_leaves_a_ledger_that_goes_on(ledger, left):
    """SIGKILL with the lock held and part of the line written: the lock is free, and the line ends."""
    guard = BudgetGuard(ledger, WIDE)
    guard.authorize("lab-02", 0.5)
    done = subprocess.run([sys.executable, "-c", KILLED, ledger, "authorize", str(left)], cwd=ROOT, timeout=60)
    assert done.returncode == -signal.SIGKILL
    guard.authorize("lab-02", 0.25)
    assert guard.account().committed_usd() == (1.75 if left == 10**6 else 0.75)


SPENDER = """
import sys
from core.two_way_tp.spend import BudgetLimits
from runtime.budget import BudgetGuard, BudgetGuardExceeded
guard = BudgetGuard(sys.argv[1], BudgetLimits(lab_usd=100, phase_usd=float(sys.argv[2]), gpu_hours=100))
sys.stdin.readline()
while True:
    guard.authorize("lab-" + sys.argv[3], 0.05)
    print("granted", flush=True)
"""


def spender(ledger, cap, name):
    command = [sys.executable, "-c", SPENDER, str(ledger), str(cap), str(name)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)


@pytest.mark.slow
def test_processes_that_race_for_a_cap_never_pass_it_and_each_grant_is_on_record(ledger):
    """Six of them want $0.05 again and again of $3: sixty are given, and every one ends in the exception."""
    racing = [spender(ledger, 3, name) for name in range(6)]
    for one in racing:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate(timeout=120) for one in racing]
    granted = sum(out.count("granted") for out, _ in told)
    assert granted == 60
    assert all("BudgetGuardExceeded" in errors.splitlines()[-1] for _, errors in told)
    assert BudgetGuard(ledger, BudgetLimits(100, 3, 100)).account().committed_usd() == 3.0
    assert len(ledger.read_text().splitlines()) == 60


@pytest.mark.slow
def test_a_spender_killed_at_any_moment_has_every_grant_it_was_told_of_on_record(ledger):
    """Eight kills at moments from 0 to 40 ms into its spending; at most one more grant was written than told."""
    told = 0
    for delay_ms in (0, 1, 3, 6, 10, 16, 25, 40):
        one = spender(ledger, 50, "02")
        one.stdin.write("go\n")
        one.stdin.flush()
        time.sleep(delay_ms / 1e3)
        os.kill(one.pid, signal.SIGKILL)
        out, _ = one.communicate()
        told += out.count("granted")
        on_record = round(BudgetGuard(ledger, WIDE).account().committed_usd() / 0.05)
        assert told <= on_record <= told + 1
        told = on_record


@pytest.mark.parametrize(
    "line",
    ["no json", '{"event": "authorize", "label": "lab-02", "usd": -1}', '{"event": "gift"}', "[]", '{"usd": 1}'],
)
def test_a_line_that_no_killed_writer_can_have_left_is_not_spent_from(ledger, line):
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 1.0)
    with ledger.open("a") as file:
        file.write(line + "\n")
    for act in (guard.account, lambda: guard.authorize("lab-02", 0.1), lambda: guard.record_actual("lab-02", 1)):
        with pytest.raises(LedgerError, match="line 2 of the ledger is no entry"):
            act()


def test_a_file_system_that_filled_the_end_with_zeros_costs_nothing(ledger):
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 1.0)
    with ledger.open("ab") as file:
        file.write(b"\0" * 40)
    guard.authorize("lab-02", 0.5)
    assert guard.account().committed_usd() == 1.5


def test_nothing_in_the_project_catches_a_refused_authorisation():
    """No handler names it anywhere; where a budget is used, none is of a class above it either."""
    assert not issubclass(BudgetGuardExceeded, (ShardlabError, ValueError, OSError))
    above = {"RuntimeError", "Exception", "BaseException"}
    rooms = ("core", "runtime", "scripts", "ui", "pages", "distributed")
    for path in [path for room in rooms for path in (ROOT / room).rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        refused = {"BudgetGuardExceeded"} | (above if "BudgetGuard" in text or "paid_run" in text else set())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ExceptHandler):
                names = ast.walk(node.type) if node.type else [ast.Name("BaseException")]
                caught = {name.id for name in names if isinstance(name, ast.Name)}
                assert not caught & refused, f"{path.relative_to(ROOT)}:{node.lineno}"


def budget_command(ledger, tmp_path, *arguments):
    command = [sys.executable, "-m", "scripts.budget", *arguments, "--ledger", ledger, "--experiment", tmp_path]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_command_authorises_records_and_reports(ledger, tmp_path):
    budget_command(ledger, tmp_path, "authorize", "lab-02", "1.40", "--gpu-hours", "2", "--spin-up")
    budget_command(ledger, tmp_path, "record", "lab-02", "0.93", "--gpu-hours", "1.3")
    (tmp_path / "manifest.json").write_text('{"actual_cost_usd": 0.93}')
    status = json.loads(budget_command(ledger, tmp_path, "status", "--json").stdout)
    assert (status["total_spent_usd"], status["remaining_usd"], status["gpu_hours"]) == (0.93, 4.07, 1.3)
    assert status["may_spin_up"]
    assert status["manifest_agrees"]
    assert not status["alert"]


def test_a_later_bill_moves_the_manifest_with_the_ledger(ledger, tmp_path):
    (tmp_path / "manifest.json").write_text('{"actual_cost_usd": 0.0, "status": "CLOUD"}')
    budget_command(ledger, tmp_path, "record", "lab-02", "0.93")
    status = json.loads(budget_command(ledger, tmp_path, "record", "lab-02", "0.07", "--json").stdout)
    assert status["manifest_agrees"]
    assert json.loads((tmp_path / "manifest.json").read_text()) == {"actual_cost_usd": 1.0, "status": "CLOUD"}


def test_the_command_ends_in_the_exception_where_a_cap_would_be_passed(ledger, tmp_path):
    done = budget_command(ledger, tmp_path, "authorize", "lab-02", "3.01", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("runtime.budget.BudgetGuardExceeded: $3.01 on top of $0.00")


@pytest.mark.parametrize("bad", [("authorize", "lab-02", "nan"), ("authorize", "lab-02", "-1"), ("spend",), ()])
def test_bad_input_is_one_line_and_exit_2(ledger, tmp_path, bad):
    done = budget_command(ledger, tmp_path, *bad)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@pytest.mark.slow
def test_eight_writers_killed_at_random_lose_no_record_and_pass_no_cap(tmp_path):
    """The run of docs/operations.md, a twentieth as long."""
    found = bench_ledger.run(tmp_path / "spend.jsonl", kills=50, writers=8, seed=23)
    assert found.holds
    assert found.records > 8


@pytest.mark.parametrize("usd", [float("nan"), -0.01, float("-inf"), float("inf")])
@pytest.mark.parametrize("action", ["authorize", "record_actual"])
def test_no_price_that_is_none_is_written(ledger, action, usd):
    guard = BudgetGuard(ledger)
    guard.authorize("lab-02", 1.0)
    before = ledger.read_bytes()
    with pytest.raises(OutOfRangeError):
        getattr(guard, action)("lab-02", usd)
    with pytest.raises(OutOfRangeError):
        getattr(guard, action)("lab-02", 1.0, gpu_hours=usd)
    assert ledger.read_bytes() == before


@pytest.mark.parametrize("said", ["NaN", "-1", "Infinity", "1e999", "null", '"1"'])
def test_a_ledger_with_a_price_that_is_none_is_not_spent_from(ledger, said):
    ledger.parent.mkdir()
    ledger.write_text(f'{{"event": "actual", "label": "lab-02", "usd": {said}, "gpu_hours": 0, "at": ""}}\n')
    with pytest.raises(LedgerError, match="line 1"):
        BudgetGuard(ledger).authorize("lab-02", 0.1)


def test_a_clock_that_goes_back_changes_no_sum(ledger, monkeypatch):
    """What was first is told by the place in the file, and not by the hour written beside it."""
    guard, hours = BudgetGuard(ledger), iter(range(23, -1, -1))
    monkeypatch.setattr(budget, "_now", lambda: f"2026-01-31T{next(hours):02}:00:00Z")
    guard.authorize("lab-02", 1.0)
    guard.record_actual("lab-02", 0.5)
    guard.authorize("lab-02", 2.5)
    with pytest.raises(BudgetGuardExceeded):
        guard.authorize("lab-02", 0.01)
    assert guard.account().committed_usd() == 3.0


@pytest.mark.parametrize("action", ["authorize", "record_actual"])
@pytest.mark.parametrize("room", [0, 1, 50, 95])
def test_a_full_disk_is_an_error_and_no_record_before_it_is_lost(ledger, action, room, monkeypatch):
    """The line ends where the disk did. Nothing is granted, and the next one, with room again, stands whole."""
    guard, write, left = BudgetGuard(ledger, WIDE), os.write, [room]
    guard.authorize("lab-02", 0.5)

    def full(file, data):
        if not (some := left.pop() if left else 0):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[:some])

    with monkeypatch.context() as patch:
        patch.setattr(budget.os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            getattr(guard, action)("lab-02", 1.0)
    guard.authorize("lab-03", 0.25)
    assert guard.account().committed_usd() == 0.75
