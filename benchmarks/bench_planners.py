"""Shardlab and aiconfigurator held to the same published times, rows that neither was fitted to.

    python -m venv /tmp/other && /tmp/other/bin/pip install aiconfigurator     # 850 MB
    python -m benchmarks.bench_planners --python /tmp/other/bin/python --keep data/planners.json

Ours are predicted by constants that nothing of a row's source was fitted to; aiconfigurator's data base was
measured by its makers. Both are asked for a static batch: the time between tokens, the first token, or the whole
run. `--refresh` asks ours alone. Without an interpreter that has aiconfigurator the result that was kept is summed
up again, and that is said.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from core.evidence.calibration import calibration_of
from core.evidence.measurements import Measurement
from core.evidence.published_terms import prediction
from core.evidence.report import Residual, residuals
from core.placement.beside import Compared, promised, regimes
from core.specs import ModelSpec
from core.units import percent, plain
from runtime.published import COMPARED as KEPT
from runtime.published import planners, shipped_table
from scripts.terminal import print_aligned

ROWS = Path(__file__).with_name("aiconfigurator_rows.py")
MOST_OF_A_KIND = 40
"""Runs of one source and quantity: a table of 265 takes aiconfigurator twenty minutes, and says no more than 40."""
SYSTEMS = {
    "a100-80gb-sxm": "a100_sxm",
    "a100-40gb-sxm": "a100_sxm",
    "h100-sxm": "h100_sxm",
    "h200-sxm": "h200_sxm",
    "b200-sxm": "b200_sxm",
}
WIDTHS = {"bf16": None, "fp16": None, "fp8": "fp8", "int8": "int8_wo"}


def main() -> None:
    """Ask both, keep what was asked for, and print errors by regime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="an interpreter that has aiconfigurator")
    parser.add_argument("--keep", type=Path, help="where the result is written")
    parser.add_argument("--refresh", action="store_true", help="our half of what is kept, by today's constants")
    options = parser.parse_args()
    if options.refresh:
        _refresh()
        return
    if options.python is None or not _has_it(options.python):
        print(f"aiconfigurator is not installed for {options.python or 'any interpreter named'}: what {KEPT} keeps")
        _print(planners().rows)
        return
    result = _both(options.python)
    if options.keep:
        options.keep.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({name: value for name, value in result.items() if name != "rows"}, indent=1))
    _print([Compared(**row) for row in result["rows"]])


def _refresh() -> None:
    """Predict the kept rows anew by the constants that ship; what aiconfigurator answered stays."""
    kept, found = json.loads(KEPT.read_text(encoding="utf-8")), list(_chosen(residuals(shipped_table())))
    for row, each in zip(kept["rows"], found, strict=True):
        row["shardlab_s"] = each.predicted_s
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    _print([Compared(**row) for row in kept["rows"]])


def _has_it(python: Path) -> bool:
    done = subprocess.run([python, "-c", "import aiconfigurator"], capture_output=True, check=False)
    return done.returncode == 0


def _both(python: Path) -> dict[str, object]:
    found = residuals(shipped_table())
    chosen = list(_chosen(found))
    start = time.perf_counter()
    for each in chosen:
        said = each.measurement
        prediction(said).predicted_s(calibration_of(said.gpu, said.model).efficiency)
    ours_s = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        answers, version = _asked(python, chosen, Path(folder))
    rows = [_compared(each, theirs) for each, theirs in zip(chosen, answers, strict=True) if "error" not in theirs]
    failed = [theirs["error"] for theirs in answers if "error" in theirs]
    return {
        "date": datetime.now(tz=UTC).date().isoformat(),
        "aiconfigurator": version,
        "databases": sorted({str(theirs["backend"]) for theirs in answers if "backend" in theirs}),
        "python": sys.version.split()[0],
        "asked": len(chosen),
        "not_answered": {error[:90]: failed.count(error) for error in sorted(set(failed))},
        "seconds_aiconfigurator": sum(float(theirs.get("seconds", 0)) for theirs in answers),
        "seconds_shardlab": ours_s,
        "rows": [asdict(row) for row in rows],
    }


def _chosen(found: Sequence[Residual]) -> Iterator[Residual]:
    """Rows that both can be asked: a static batch of a model with gated layers; of a long table evenly some."""
    kinds: dict[tuple[str, str], list[Residual]] = {}
    for each in found:
        said = each.measurement
        if said.quantity != "saturated" and said.engine != "megatron" and _can_ask(said):
            kinds.setdefault((said.source, said.quantity), []).append(each)
    for rows in kinds.values():
        count = min(len(rows), MOST_OF_A_KIND)
        yield from (rows[place * len(rows) // count] for place in range(count))


def _can_ask(said: Measurement) -> bool:
    gated = said.model.mlp == "gated" and said.model.mla is None
    return gated and said.gpu.key in SYSTEMS and said.dtype in WIDTHS and said.batch is not None


def _asked(python: Path, chosen: Sequence[Residual], folder: Path) -> tuple[list[Mapping[str, object]], str]:
    lines = [json.dumps(_question(place, each.measurement, folder)) for place, each in enumerate(chosen)]
    done = subprocess.run(
        [python, ROWS], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, cwd=folder
    )
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    by_id = {one["id"]: one for one in said[1:]}
    return [by_id[place] for place in range(len(chosen))], said[0]["version"]


def _question(place: int, said: Measurement, folder: Path) -> Mapping[str, object]:
    tp_size = said.group.tp_size
    mixture = {"moe_tp_size": tp_size} if said.model.moe is not None else {}
    return {
        "id": place,
        "model_path": str(_config(said.model, folder)),
        "system_name": SYSTEMS[said.gpu.key],
        "backend_name": "vllm" if said.engine == "vllm" else "trtllm",
        "isl": said.prompt_tokens,
        "osl": max(2, said.output_tokens),
        "batch_size": said.batch,
        "tp_size": tp_size,
        "pp_size": said.pp_size,
        "gemm_quant_mode": WIDTHS[said.dtype],
        **mixture,
    }


def _config(model: ModelSpec, folder: Path) -> Path:
    """A config.json of the model's shape, in a folder of its own."""
    at = folder / model.key
    at.mkdir(exist_ok=True)
    config: dict[str, object] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": model.hidden_size,
        "intermediate_size": model.intermediate_size,
        "num_hidden_layers": model.num_hidden_layers,
        "num_attention_heads": model.num_attention_heads,
        "num_key_value_heads": model.num_key_value_heads,
        "head_dim": model.head_dim,
        "vocab_size": model.vocab_size,
        "max_position_embeddings": 131072,
        "torch_dtype": "bfloat16",
    }
    if model.moe is not None:
        config |= {
            "architectures": ["MixtralForCausalLM"],
            "model_type": "mixtral",
            "intermediate_size": model.moe.moe_intermediate_size,
            "num_local_experts": model.moe.num_experts,
            "num_experts_per_tok": model.moe.num_experts_per_tok,
        }
    (at / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return at


_TIMES = {"decode": "tpot_ms", "first_token": "ttft_ms", "run": "run_ms"}


def _compared(each: Residual, theirs: Mapping[str, object]) -> Compared:
    said = each.measurement
    return Compared(
        source=said.source,
        model=said.model.key,
        gpu=said.gpu.key,
        dtype=said.dtype,
        tp_size=said.group.tp_size,
        pp_size=said.pp_size,
        batch=said.batch or 0,
        prompt_tokens=said.prompt_tokens,
        output_tokens=said.output_tokens,
        quantity=said.quantity,
        measured_s=said.measured_s,
        shardlab_s=each.predicted_s,
        aiconfigurator_s=float(str(theirs[_TIMES[said.quantity]])) / 1e3,
    )


def _print(rows: Sequence[Compared]) -> None:
    heads = ("regime", "rows", "sources", "Shardlab", "8 in 10", "aiconfigurator", "8 in 10")
    cells = [
        (
            one.code,
            str(one.rows),
            str(one.sources),
            percent(one.shardlab.median_error),
            f"{plain(one.shardlab.low)} to {plain(one.shardlab.high)}",
            percent(one.aiconfigurator.median_error),
            f"{plain(one.aiconfigurator.low)} to {plain(one.aiconfigurator.high)}",
        )
        for one in regimes(rows)
    ]
    print_aligned([heads, *cells])
    print(f"decode times within the band that Shardlab gives: {percent(promised(rows))}")


if __name__ == "__main__":
    main()
