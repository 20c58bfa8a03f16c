"""The run on rented GPUs, from the estimate to the manifest: python -m distributed.run_tp --experiment.

experiments/35-tp-inference/manifest.json    what was run, where, what it cost and what came of it
experiments/35-tp-inference/instance.json    the machine, as its driver told it
experiments/35-tp-inference/results.json     the object the run wrote
experiments/35-cloud-budget/spend.jsonl      what was authorised and paid; the manifest's cost is its total

Without a vendor the run is made here, costs nothing, and its manifest says EDUCATIONAL_STUB.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from core.errors import ShardlabError
from core.specs import ModelSpec
from core.two_way_tp import paid_run
from core.two_way_tp.paid_run import CLOUD, STUB, Instance
from core.two_way_tp.predictions import MINI_GPT
from core.two_way_tp.result import RunResult, read_result
from core.two_way_tp.run_log import read_log
from core.two_way_tp.spend import cost_usd
from runtime.budget import LEDGER, BudgetGuard
from runtime.files import ROOT, write_whole
from runtime.prose import worded
from runtime.run_request import RunRequest
from runtime.torchrun import Outcome, printed

FOLDER = ROOT / "experiments" / "35-tp-inference"
LABEL = "lab-02"
MANIFEST, INSTANCE, RESULTS = "manifest.json", "instance.json", "results.json"
NVLINK_COMMANDS = (("nvidia-smi", "nvlink", "--status"), ("nvidia-smi", "topo", "-m"))
PLAN = """\
A run on two rented GPUs, spot tier only. On your own machine:
  1  python -m scripts.budget status
  2  python -m scripts.budget authorize {label} {estimate} --gpu-hours {gpu_hours} --spin-up
  3  start the instance, note its id and its price, and set its own alarm clock first of all:
       ssh USER@HOST 'sudo shutdown -h +{minutes}'
  4  copy this folder there: rsync -a --exclude .git ./ USER@HOST:shardlab/
On the instance, in shardlab/:
  5  python -m pip install -r requirements.txt
  6  python -m distributed.run_tp --experiment --vendor NAME --instance-type TYPE --instance-id ID \\
       --usd-per-hour PRICE --instance-started {now}
Back on your own machine:
  7  rsync -a USER@HOST:shardlab/experiments/ experiments/
  8  take a screenshot of the vendor's bill: experiments/35-tp-inference/screenshot.png
  9  terminate the instance, look that it is gone, and only then commit experiments/
 10  python -m scripts.budget record {label} DIFFERENCE    where the bill says more than the ledger
"""


def main(arguments: Sequence[str]) -> int:
    """Say what to copy where, run, and write the three files. 1 when the run failed or its baseline is doubtful."""
    options = _parser().parse_args(arguments)
    try:
        estimate_usd = cost_usd(options.usd_per_hour or 0.0, options.hours)
        print(_plan(options, estimate_usd), flush=True)
        instance = _instance(options)
        manifest = _run(options, instance, estimate_usd)
    except ShardlabError as error:
        print(f"run_tp --experiment: {error}", file=sys.stderr)
        return 2
    if manifest is None:
        return 1
    print(f"{manifest['status']}: {manifest['lesson']}")
    print(f"wrote {MANIFEST}, {INSTANCE} and {RESULTS} in {options.folder}")
    if doubt := manifest["baseline_doubt"]:
        print(f"DOUBTFUL: {doubt}.", file=sys.stderr)
    return 1 if doubt else 0


def manifest_cost_usd(folder: Path = FOLDER) -> float:
    """What the manifest says was paid; nothing where there is no manifest."""
    path = folder / MANIFEST
    return float(json.loads(path.read_text(encoding="utf-8"))["actual_cost_usd"]) if path.is_file() else 0.0


def follow_ledger(guard: BudgetGuard, folder: Path = FOLDER) -> None:
    """Put the ledger's total into the manifest, where there is one."""
    path = folder / MANIFEST
    if path.is_file():
        manifest = json.loads(path.read_text(encoding="utf-8"))
        _write(path, {**manifest, "actual_cost_usd": guard.total_spent()})


def nvlink_here() -> tuple[bool, str]:
    """Whether two GPUs of this machine are joined by NVLink, and which command said so."""
    if shutil.which("nvidia-smi") is None:
        return False, "no nvidia-smi on this machine"
    for command in NVLINK_COMMANDS:
        if paid_run.nvlink_in(_output(command)):
            return True, " ".join(command)
    return False, "neither nvidia-smi nvlink --status nor nvidia-smi topo -m shows a link"


def gpu_names() -> tuple[str, ...]:
    """This machine's GPUs by the names their driver gives them."""
    if shutil.which("nvidia-smi") is None:
        return ()
    return tuple(_output(("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")).splitlines())


def _output(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _plan(options: argparse.Namespace, estimate_usd: float) -> str:
    return PLAN.format(
        label=LABEL,
        estimate=f"{estimate_usd:.2f}" if estimate_usd else "ESTIMATE",
        gpu_hours=f"{2 * options.hours:g}",
        minutes=round(60 * options.hours),
        now=_utc(time.time()),
    )


def _instance(options: argparse.Namespace) -> Instance | None:
    """The rented machine; None for a run that nobody pays.

    Raises ShardlabError when a vendor is named and what its bill needs is not.
    """
    if options.vendor is None:
        return None
    missing = [name for name in ("instance_type", "instance_id", "usd_per_hour") if getattr(options, name) is None]
    if missing:
        flags = ", ".join("--" + name.replace("_", "-") for name in missing)
        raise ShardlabError("paid_needs", flags=flags)
    told = (options.vendor, options.instance_type, options.instance_id, options.usd_per_hour)
    return Instance(*told, gpu_names(), *nvlink_here())


def _run(
    options: argparse.Namespace, instance: Instance | None, estimate_usd: float
) -> Mapping[str, object] | None:
    """Authorise, run, pay, write. What a failed run cost is put down too."""
    guard = BudgetGuard(options.ledger)
    if instance and not any(entry.label == LABEL for entry in guard.account().open):
        guard.authorize(LABEL, estimate_usd, 2 * options.hours)
    began_s, up_s = time.time(), time.monotonic()
    try:
        outcome = _outcome(options)
    finally:
        ended_s = began_s + time.monotonic() - up_s  # a clock that is set meanwhile makes no hour cheaper
        if instance:
            hours = (ended_s - min(began_s, options.instance_started or began_s)) / 3600
            guard.record_actual(LABEL, cost_usd(instance.usd_per_hour, hours), 2 * hours)
    if outcome.status != "done" or outcome.result is None:
        print(f"run_tp --experiment: {worded(outcome.message) if outcome.message else ''}", file=sys.stderr)
        return None
    manifest = _manifest(
        read_log(outcome.lines).model,
        read_result(outcome.result),
        options,
        instance,
        (began_s, ended_s),
        estimate_usd,
        guard.total_spent(),
    )
    _write_all(options.folder, manifest, instance, outcome.result)
    return manifest


def _outcome(options: argparse.Namespace) -> Outcome:
    """The run itself, its lines printed as they come."""
    given = ["--model", options.model, "--steps-per-prompt", str(options.steps_per_prompt)]
    given += ["--backend", options.backend] if options.backend else []
    return printed(RunRequest(options=tuple(given), wall_s=min(3600 * options.hours, 1800), silence_s=300))


def _manifest(
    model: ModelSpec,
    result: RunResult,
    options: argparse.Namespace,
    instance: Instance | None,
    clock_s: tuple[float, float],
    estimate_usd: float,
    spent_usd: float,
) -> Mapping[str, object]:
    """What a run leaves. A stub has no vendor and cost nothing. A token's time is a median, its mean beside it."""
    nvlink, told_by = (instance.nvlink_present, instance.nvlink_told_by) if instance else nvlink_here()
    return {
        "status": CLOUD if instance else STUB,
        "model": model.key,
        "backend": result.backend,
        "seed": result.manifest.seed,
        "vendor": instance.vendor if instance else None,
        "instance_type": instance.instance_type if instance else None,
        "instance_id": instance.instance_id if instance else None,
        "nvlink_present": nvlink,
        "nvlink_told_by": told_by,
        "started_at": _utc(clock_s[0]),
        "ended_at": _utc(clock_s[1]),
        "duration_s": round(clock_s[1] - clock_s[0], 1),
        "estimated_cost_usd": estimate_usd if instance else 0.0,
        "actual_cost_usd": spent_usd,
        "tp1_token_ms": round(1e3 * result.single_per_token.median_s, 4),
        "tp2_token_ms": round(1e3 * result.per_token.median_s, 4),
        "tp1_token_mean_ms": round(1e3 * result.single_per_token.mean_s, 4),
        "tp2_token_mean_ms": round(1e3 * result.per_token.mean_s, 4),
        "speed_up": round(paid_run.speed_up(result), 4),
        "comm_fraction": round(paid_run.comm_fraction_of(result), 4),
        "crossover_hidden_size": paid_run.crossover_of(result, model),
        "lesson": paid_run.lesson(result, model),
        "baseline_doubt": paid_run.baseline_doubt(result, model),
        "screenshot": options.screenshot,
    }


def _write_all(folder: Path, manifest: Mapping[str, object], instance: Instance | None, result: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / INSTANCE, asdict(instance) if instance else {"status": STUB, "instance": None})
    _write(folder / RESULTS, json.loads(result))
    _write(folder / MANIFEST, manifest)


def _write(path: Path, content: object) -> None:
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _utc(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _when(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m distributed.run_tp --experiment", description=__doc__)
    parser.add_argument("--experiment", action="store_true", required=True)
    parser.add_argument("--vendor")
    parser.add_argument("--instance-type")
    parser.add_argument("--instance-id")
    parser.add_argument("--usd-per-hour", type=float, help="of the whole instance, in the spot tier")
    parser.add_argument("--hours", type=float, default=1.0, help="how long the instance may stand: the estimate")
    parser.add_argument("--instance-started", type=_when, help="when its bill began, as 2026-01-31T12:00:00Z")
    parser.add_argument("--screenshot", default="experiments/35-tp-inference/screenshot.png")
    parser.add_argument("--model", default=MINI_GPT.key, help="as distributed.run_tp has it")
    parser.add_argument("--backend", choices=("gloo", "shm", "nccl"))
    parser.add_argument("--steps-per-prompt", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    return parser
