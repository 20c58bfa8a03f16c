"""The paid run: its manifest says what is true of the machine it was made on, and costs what the ledger says."""

import json
import re
from dataclasses import replace

import pytest

from core.errors import remark
from core.two_way_tp import paid_run
from core.two_way_tp.predictions import GPTS, MINI_GPT
from core.two_way_tp.result import read_result
from runtime import captures
from runtime import paid_run as program
from runtime.budget import BudgetGuard, BudgetGuardExceeded
from runtime.torchrun import Outcome

VENDOR = ("--vendor", "somebody", "--instance-type", "2x4090", "--instance-id", "i-1", "--usd-per-hour", "0.70")
TOPOLOGY = """
        GPU0    GPU1    CPU Affinity
GPU0     X      {link}     0-31
GPU1    {link}      X      0-31
"""
NVLINK_STATUS = """
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)
     Link 0: 25 GB/s
     Link 1: <inactive>
"""


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The program with a recorded run in place of a new one."""

    def made(*arguments, capture="gloo-cpu", status="done", result=None):
        text = result or captures.load(capture).result_text
        lines = tuple(captures.load(capture).lines_text.splitlines())
        ended = remark("errors.run.rank_ended", signal="SIGKILL")
        outcome = Outcome(status, ended, 9.0, lines, text if status == "done" else None)
        monkeypatch.setattr(program, "_outcome", lambda options: outcome)
        where = ("--folder", str(tmp_path / "run"), "--ledger", str(tmp_path / "spend.jsonl"))
        return program.main(["--experiment", *where, *arguments])

    return made


def manifest(tmp_path):
    return json.loads((tmp_path / "run" / "manifest.json").read_text())


def test_without_a_cloud_account_the_manifest_is_an_honest_stub(run, tmp_path):
    assert run() == 0
    told = manifest(tmp_path)
    assert told["status"] == "EDUCATIONAL_STUB"
    assert (told["vendor"], told["instance_id"], told["actual_cost_usd"]) == (None, None, 0.0)
    assert told["nvlink_present"] is False
    assert not (tmp_path / "spend.jsonl").exists()
    result = captures.load("gloo-cpu").result
    assert told["tp2_token_ms"] == pytest.approx(1e3 * result.per_token.median_s, abs=1e-4)
    means_ms = [1e3 * took.mean_s for took in (result.single_per_token, result.per_token)]
    assert [told["tp1_token_mean_ms"], told["tp2_token_mean_ms"]] == pytest.approx(means_ms, abs=1e-4)
    assert told["speed_up"] == pytest.approx(result.single_per_token.median_s / result.per_token.median_s, abs=1e-4)


def test_a_paid_run_costs_in_the_manifest_what_it_costs_in_the_ledger(run, tmp_path):
    """An instance that has stood since an hour before at $0.70 an hour."""
    started = program._utc(program.time.time() - 3600)
    assert run(*VENDOR, "--instance-started", started) == 0
    told, guard = manifest(tmp_path), BudgetGuard(tmp_path / "spend.jsonl")
    assert told["status"] == "CLOUD"
    assert told["actual_cost_usd"] == guard.total_spent() == pytest.approx(0.70, abs=0.01)
    assert told["estimated_cost_usd"] == 0.70
    assert guard.account().open == ()
    assert json.loads((tmp_path / "run" / "instance.json").read_text())["instance_type"] == "2x4090"


def test_what_was_authorised_before_the_instance_was_started_is_not_authorised_again(run, tmp_path):
    guard = BudgetGuard(tmp_path / "spend.jsonl")
    guard.authorize("lab-02", 2.80)
    assert run(*VENDOR) == 0
    assert [entry.event for entry in (*guard.account().paid, *guard.account().open)] == ["actual"]


def test_a_run_past_the_cap_does_not_begin(run, tmp_path):
    guard = BudgetGuard(tmp_path / "spend.jsonl")
    guard.record_actual("lab-02", 2.80)
    with pytest.raises(BudgetGuardExceeded):
        run(*VENDOR)
    assert not (tmp_path / "run").exists()


def test_a_run_that_failed_was_paid_for_all_the_same(run, tmp_path, capsys):
    assert run(*VENDOR, status="failed") == 1
    assert BudgetGuard(tmp_path / "spend.jsonl").account().paid
    assert not (tmp_path / "run").exists()
    assert "A rank was ended from outside" in capsys.readouterr().err


@pytest.mark.parametrize("bad", [("--vendor", "somebody"), ("--hours", "-1"), (*VENDOR[:-1], "0")])
def test_a_run_that_cannot_be_billed_is_refused_in_a_line(run, bad, capsys):
    assert run(*bad) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_plan_says_what_to_copy_where_and_to_terminate_before_committing(run, capsys):
    run()
    said = capsys.readouterr().out
    for part in (
        "--spin-up",
        "shutdown -h +60",
        "rsync -a --exclude .git ./",
        "experiments/35-tp-inference/screenshot",
    ):
        assert part in said
    assert said.index("terminate the instance") < said.index("commit experiments/")


def test_a_half_million_parameters_that_gain_from_two_gpus_were_not_measured_against_one(run, tmp_path, capsys):
    """TP=1 stood in line with other work: the manifest is written, and doubted."""
    row = json.loads(captures.load("gloo-cpu").result_text)
    row["single_per_token_s"] = {name: 100 * value for name, value in row["single_per_token_s"].items()}
    assert run(result=json.dumps(row)) == 1
    assert "was not alone on one device" in manifest(tmp_path)["baseline_doubt"]
    assert "DOUBTFUL" in capsys.readouterr().err


def test_a_large_model_may_gain():
    shm = captures.load("gpt-30m-shm").result
    assert paid_run.speed_up(shm) > 1
    assert paid_run.baseline_doubt(shm, GPTS["gpt-30m"]) == ""
    assert "times as fast" in paid_run.lesson(shm, GPTS["gpt-30m"])


@pytest.mark.parametrize(
    ("text", "present"),
    [
        (TOPOLOGY.format(link="NV12"), True),
        (TOPOLOGY.format(link="SYS"), False),
        (TOPOLOGY.format(link="PHB"), False),
        (NVLINK_STATUS, True),
        (NVLINK_STATUS.replace("25 GB/s", "<inactive>"), False),
        ("", False),
    ],
)
def test_nvlink_is_read_from_what_the_driver_prints(text, present):
    """Two RTX 4090 show SYS or PHB: there is no NVLink to be present."""
    assert paid_run.nvlink_in(text) is present


def test_the_crossover_is_of_the_machine_that_was_measured():
    """sqrt(t_ar·BW·N/((N-1)·6b)) with 228 µs, 10 GB/s, fp32 and two ranks: sqrt(228e-6 · 10e9 / 12) = 436."""
    result = replace(
        read_result(captures.load("gloo-cpu").result_text),
        all_reduce_s_per_token=9 * 228e-6,
        memory_bytes_per_s=10e9,
    )
    assert paid_run.crossover_of(result, MINI_GPT) == 436
    assert paid_run.crossover_of(replace(result, memory_bytes_per_s=None), MINI_GPT) is None


def test_the_shipped_run_was_made_at_rest_and_doubted_for_its_two_cores():
    """It lies among the five runs at rest of data/repeats, and tells them beside its own."""
    manifest = json.loads((program.FOLDER / program.MANIFEST).read_text(encoding="utf-8"))
    result = read_result((program.FOLDER / "results.json").read_text(encoding="utf-8"))
    times = [run.per_token.median_s / run.single_per_token.median_s for run in captures.repeats("gloo-cpu")]
    took = manifest["tp2_token_ms"] / manifest["tp1_token_ms"]
    assert result.manifest.load_average <= 2 * result.manifest.cores
    assert min(times) <= took <= max(times)
    assert f"{took:.1f} times as long" in manifest["baseline_doubt"]
    assert f"{min(times):.1f} to {max(times):.1f} times in five runs" in manifest["baseline_doubt"]


def test_the_shipped_ddp_run_timed_sixty_steps_a_way():
    """Sixty steps for each way of sending, and the ways in turn: 120 losses. One bucket takes less."""
    ddp = json.loads((program.FOLDER / "ddp.json").read_text(encoding="utf-8"))
    assert len(ddp["losses"]) == 60 * len(ddp["ways"])
    assert "--steps 60 " in ddp["manifest"]["command"]
    one_by_one, in_one = (way["all_reduce_s_per_step"] for way in ddp["ways"])
    assert in_one["mean"] < one_by_one["mean"]
    assert ddp["manifest"]["load_average"] <= ddp["manifest"]["hardware"]["cores"]


def test_every_file_of_the_experiments_that_is_named_is_there():
    """The curve is a file too, and not only a button."""
    folder = program.FOLDER.parent
    named = re.findall(r"^\| `([^`]+)`", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert "35-tp-inference/scaling-curve.png" in named
    assert {name for name in named if not (folder / name).is_file()} == set()
    assert (folder / "35-tp-inference" / "scaling-curve.png").read_bytes().startswith(b"\x89PNG")
